#include "agent/prompt.h"

#include "agent/tools.h"
#include "embedded_agent_prompts.h"
#include "util/error.h"
#include "util/sha256.h"
#include "util/text.h"

#include <algorithm>

namespace sweep::agent {
namespace {

std::string amount(std::int64_t number, const std::string& noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

// How a conversation goes on and ends, in the words of its harness.
std::string rule_of(const Harness& harness) {
  std::string rule;
  if (harness.tries()) {
    const std::string told =
        fill_prompt("told_" + std::string(config::name(harness.feedback)) + ".md");
    rule = fill_prompt("rule_" + std::string(config::name(harness.stop)) + ".md", {{"told", told}});
  } else if (harness.max_turns > 1) {
    rule = fill_prompt("rule.md");
  } else {
    rule = fill_prompt(harness.samples > 1 ? "rule_one_shot.md" : "rule_single_turn.md");
  }
  return harness.show_seed ? fill_prompt("rule_seed.md") + " " + rule : rule;
}

}  // namespace

Shown shown_by(const Harness& harness, device::Kind kind) {
  Shown out;
  out.cpu = kind == device::Kind::cpu;
  out.seed = harness.show_seed;
  return out;
}

std::string fill_prompt(std::string_view file, const Values& values) {
  const auto files = embedded::agent_prompts();
  const auto found = std::find_if(
      files.begin(), files.end(), [&](const embedded::File& one) { return one.name == file; });
  if (found == files.end())
    throw util::InfraError({std::string(file), "no such prompt in this program", "rebuild it"},
                           "E_PROMPT");
  // One pass, so that a value that holds "{{" is text and nothing else.
  std::string out;
  std::string_view rest = found->text;
  for (std::size_t open = rest.find("{{"); open != std::string_view::npos; open = rest.find("{{")) {
    const std::size_t close = rest.find("}}", open);
    const std::string_view name =
        rest.substr(open + 2, close == std::string_view::npos ? 0 : close - open - 2);
    const auto* const value = std::find_if(
        values.begin(), values.end(), [&](const auto& one) { return one.first == name; });
    if (close == std::string_view::npos || value == values.end())
      throw util::InfraError(
          {std::string(file), "no value for '" + std::string(name) + "'", "rebuild the program"},
          "E_PROMPT");
    out.append(rest.substr(0, open)).append(value->second);
    rest.remove_prefix(close + 2);
  }
  out.append(rest);
  return std::string(util::trim(out));
}

std::string system_prompt(const Harness& harness) {
  std::string list;
  for (const endpoint::ToolDefinition& tool : tool_definitions(harness))
    list += "- " + tool.name + ": " + tool.description + "\n";
  return fill_prompt("system.md",
                     {{"turns", amount(harness.max_turns, "turn")},
                      {"tool_calls", amount(harness.max_tool_calls, "tool call")},
                      {"tool_list", std::string(util::trim(list))},
                      {"rule", rule_of(harness)}});
}

std::string task_prompt(const Task& task, const Shown& shown) {
  std::string out = fill_prompt(
      "task.md",
      {{"id", task.id},
       {"title", task.title},
       {"statement", task.statement},
       {"contract", task.contract},
       {"device", task.device + (shown.cpu ? "\n\n" + fill_prompt("cpu_device.md") : "")},
       {"reference", task.reference}});
  const auto add = [&](const std::string& section) { out += "\n\n" + section; };
  if (shown.seed && !task.seed.empty())
    add(fill_prompt("seed.md", {{"seed", task.seed}}));
  add(fill_prompt("submission.md", {{"id", task.id}, {"example", fill_prompt("example.cu")}}));
  return out;
}

std::vector<PromptFile> prompts() {
  std::vector<PromptFile> out;
  for (const embedded::File& file : embedded::agent_prompts())
    out.push_back({std::string(file.name), std::string(file.text)});
  std::sort(out.begin(), out.end(), [](const PromptFile& a, const PromptFile& b) {
    return a.name < b.name;
  });
  return out;
}

int prompts_version() {
  return std::stoi(fill_prompt("version.txt"));
}

std::string prompts_sha256() {
  util::Sha256 hash;
  for (const PromptFile& file : prompts())
    hash.update(std::to_string(file.name.size()) + ":" + file.name +
                std::to_string(file.text.size()) + ":" + file.text);
  return util::to_hex(hash.finish());
}

}  // namespace sweep::agent
