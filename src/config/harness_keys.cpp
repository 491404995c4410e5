// [harness.NAME] tables, [run] tools, and what [agent] says about the harness.
#include "config/schema.h"
#include "config/toml_reader.h"
#include "util/text.h"

#include <algorithm>
#include <array>

namespace sweep::config {
namespace {

constexpr std::size_t kMaxHarnesses = 100;

bool contains(const std::vector<std::string>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

std::vector<std::string> names_of(std::span<const Harness> harnesses) {
  std::vector<std::string> out;
  for (const Harness& harness : harnesses) {
    out.push_back(harness.name);
  }
  return out;
}

struct Tools {
  std::vector<std::string> names;  // in order; submit_kernel last
  std::string set;                 // "default" or "all" when a set was named, else empty
};

// The tools that `tools` names: a set, a comma list or a list. None: the key is not there.
std::optional<Tools> read_tools(TomlReader& reader, const toml::table& table) {
  std::vector<std::string> wanted;
  if (!reader.texts(table, "tools", wanted)) {
    return std::nullopt;
  }
  Tools out;
  std::vector<std::string> names = {"submit_kernel"};
  const std::vector<std::string> known = all_tools();
  for (const std::string& entry : wanted) {
    for (const std::string_view part : util::split(entry, ',')) {
      const std::string name(util::trim(part));
      if (wanted.size() == 1 && (name == "default" || name == "all")) {
        const auto& set = builtin_harness(name).tools;
        names.insert(names.end(), set.begin(), set.end());
        out.set = name;
      } else if (!name.empty() && !contains(known, name)) {
        reader.error(
            place_of(table, "tools"), "unknown tool " + in_quotes(name), did_you_mean(name, known));
      } else if (!name.empty()) {
        names.push_back(name);
      }
    }
  }
  for (const std::string& name : known) {
    if (contains(names, name)) {
      out.names.push_back(name);
    }
  }
  return out;
}

// A word of a short list. False: absent or wrong.
template <class Enum>
bool read_word(TomlReader& reader, const toml::table& table, const char* key, Enum& into) {
  std::string word;
  if (!reader.text(table, key, word)) {
    return false;
  }
  std::vector<std::string> words;
  for (int i = 0; i < 3; ++i) {
    words.emplace_back(name(static_cast<Enum>(i)));
    if (words.back() == word) {
      into = static_cast<Enum>(i);
      return true;
    }
  }
  reader.error(place_of(table, key),
               "unknown " + std::string(key) + " " + in_quotes(word),
               did_you_mean(word, words));
  return false;
}

// Rules that contradict each other would be broken silently by one of the two.
void check_rules(TomlReader& reader, const toml::table& table, const Harness& harness) {
  if (!harness.tries() && table.get("feedback") != nullptr) {
    reader.error(place_of(table, "feedback"),
                 "feedback is about versions that are tried, and with stop = \"submitted\" the "
                 "first one counts",
                 "remove feedback, or set stop = \"first_correct\" or \"turns\"");
  }
  // What takes a kernel says more of it than the one word of this feedback.
  constexpr std::array<std::string_view, 3> discreet = {
      "get_gpu_specs", "ert_roofline", "submit_kernel"};
  if (!harness.tries() || harness.feedback != Feedback::sanitised) {
    return;
  }
  for (const std::string& tool : harness.tools) {
    if (std::find(discreet.begin(), discreet.end(), tool) == discreet.end()) {
      const bool own = table.get("tools") != nullptr;
      reader.error(place_of(table, own ? "tools" : "feedback"),
                   "feedback = \"sanitised\" tells one word about an attempt, and the tool " +
                       tool + " tells more",
                   (own ? "leave " + tool + " out" : "set tools = []") +
                       ", or choose feedback \"check\" or \"timing\"");
    }
  }
}

Harness read_one(TomlReader& reader, const toml::table& table, std::string name) {
  std::string base = "default";
  if (reader.text(table, "base", base)) {
    const auto known = names_of(builtin_harnesses());
    if (!contains(known, base)) {
      reader.error(
          place_of(table, "base"), "unknown base " + in_quotes(base), did_you_mean(base, known));
      base = "default";
    }
  }
  Harness out = builtin_harness(base);
  out.name = std::move(name);
  if (auto tools = read_tools(reader, table)) {
    out.tools = std::move(tools->names);
  }
  reader.integer(table, "max_turns", out.max_turns, 1, 10000);
  const bool stop_given = read_word(reader, table, "stop", out.stop);
  if (out.tries() && (stop_given || table.get("max_turns") != nullptr)) {
    out.max_tool_calls = std::max(out.max_tool_calls, out.max_turns);
  }
  reader.integer(table, "max_tool_calls", out.max_tool_calls, 1, 100000);
  reader.integer(table, "warn_turns_remaining", out.warn_turns_remaining, 0, 10000);
  read_word(reader, table, "feedback", out.feedback);
  reader.boolean(table, "show_seed", out.show_seed);
  reader.integer(table, "samples", out.samples, 1, 10000);
  check_rules(reader, table, out);
  return out;
}

bool names_harness(std::string_view text) {
  return !text.empty() && text.size() <= 40 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

// The built-in ones and those of the file.
std::vector<Harness> read_all(TomlReader& reader, const toml::table& root) {
  const auto builtin = builtin_harnesses();
  std::vector<Harness> out(builtin.begin(), builtin.end());
  const std::vector<std::string> reserved = names_of(builtin);
  const toml::table* tables = reader.table(root, "harness");
  if (tables == nullptr) {
    return out;
  }
  for (auto&& [key, node] : *tables) {
    const std::string name(key.str());
    if (!node.is_table()) {
      reader.error(key.source(),
                   "harness." + util::printable(name.substr(0, 80)) + " is no table",
                   "write [harness.NAME] and its keys below; the harness of the run is named by "
                   "[agent] harness");
      continue;
    }
    if (!names_harness(name) || contains(reserved, name)) {
      reader.error(key.source(),
                   contains(reserved, name) ? in_quotes(name) + " is a built-in harness"
                                            : in_quotes(name) + " is no name for a harness",
                   contains(reserved, name) ? "choose another name, and base = \"" + name + "\""
                                            : "1 to 40 letters, digits, '_' and '-' are allowed");
      continue;
    }
    if (out.size() >= kMaxHarnesses) {
      reader.error(key.source(), "too many harnesses", "at most 94 of your own are allowed");
      break;
    }
    reader.check_keys(*node.as_table(), "harness.NAME");
    out.push_back(read_one(reader, *node.as_table(), name));
  }
  return out;
}

}  // namespace

void read_harness(TomlReader& reader,
                  const toml::table& root,
                  const toml::table& run,
                  const toml::table& agent,
                  Harness& harness) {
  const std::vector<Harness> all = read_all(reader, root);
  const auto tools = read_tools(reader, run);
  std::string wanted = tools && tools->set == "all" ? "all" : "default";
  const bool named = reader.text(agent, "harness", wanted);
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Harness& one) { return one.name == wanted; });
  if (found == all.end()) {
    reader.error(place_of(agent, "harness"),
                 "unknown harness " + in_quotes(wanted),
                 did_you_mean(wanted, names_of(all)));
  }
  harness = found == all.end() ? builtin_harness("default") : *found;
  if (tools) {
    const bool open = harness.builtin() && !harness.tries() && harness.tools.size() > 1;
    if (!open && tools->names != harness.tools) {
      reader.error(place_of(agent, "harness"),
                   "harness " + in_quotes(wanted) + " has its own tools",
                   "remove [run] tools, or use harness \"default\"");
    }
    harness.tools = tools->names;
  }
  const bool single = !named && harness.tools.size() == 1 && agent.get("max_turns") != nullptr &&
                      agent.get("max_turns")->value_or(0) == 1;
  if (single) {
    harness = builtin_harness("single_turn");
  }
  const bool one_turn = harness.builtin() && harness.max_turns == 1;
  const std::int64_t calls = harness.max_tool_calls;
  reader.integer(agent, "max_turns", harness.max_turns, 1, 10000);
  reader.integer(agent, "max_tool_calls", harness.max_tool_calls, 1, 100000);
  reader.integer(agent, "warn_turns_remaining", harness.warn_turns_remaining, 0, 10000);
  if (one_turn && harness.max_turns != 1) {
    reader.error(place_of(agent, "max_turns"),
                 "this harness has one turn, max_turns is " + std::to_string(harness.max_turns),
                 "write max_turns = 1, or choose harness \"default\"");
  }
  if (one_turn) {
    harness.max_tool_calls = calls;
  } else if (harness.tries() && agent.get("max_turns") != nullptr &&
             agent.get("max_tool_calls") == nullptr) {
    harness.max_tool_calls = std::max(harness.max_tool_calls, harness.max_turns);
  }
}

}  // namespace sweep::config
