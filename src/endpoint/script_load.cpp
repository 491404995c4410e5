#include "endpoint/script.h"
#include "util/error.h"
#include "util/text.h"

#include <toml++/toml.h>

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <iterator>

namespace sweep::endpoint {
namespace {

constexpr std::size_t kMaxFile = std::size_t{4} << 20;
constexpr int kMaxDelay = 600'000;

// Reads one script file; every error names file, line and column.
class Reader {
 public:
  explicit Reader(std::filesystem::path file) : file_(std::move(file)) {}

  Script read();

 private:
  [[noreturn]] void fail(const toml::source_position& at,
                         const std::string& what,
                         const std::string& next,
                         const std::string& code = "E_SCRIPT_SYNTAX") const {
    throw util::UsageError(
        {file_.string() + ":" + std::to_string(at.line) + ":" + std::to_string(at.column),
         what,
         next},
        code);
  }

  [[nodiscard]] std::string slurp(const std::filesystem::path& path,
                                  const toml::source_position& at) const;
  void only(const toml::table& table, std::initializer_list<std::string_view> keys) const;
  [[nodiscard]] std::string text(const toml::table& table, std::string_view key) const;
  [[nodiscard]] double number(const toml::table& table,
                              std::string_view key,
                              double low,
                              double high) const;
  [[nodiscard]] const toml::array* tables(const toml::table& table, std::string_view key) const;
  [[nodiscard]] std::string kernel(const std::string& name, const toml::source_position& at) const;
  [[nodiscard]] ScriptCall call(const toml::table& table) const;
  [[nodiscard]] ScriptFault fault(const toml::table& table) const;
  [[nodiscard]] ScriptTurn turn(const toml::table& table) const;

  std::filesystem::path file_;
};

std::string Reader::slurp(const std::filesystem::path& path,
                          const toml::source_position& at) const {
  std::ifstream stream(path, std::ios::binary);
  std::string out(kMaxFile + 1, '\0');
  stream.read(out.data(), static_cast<std::streamsize>(out.size()));
  out.resize(static_cast<std::size_t>(stream.gcount()));
  if (!stream.eof() || stream.bad() || out.size() > kMaxFile)
    fail(at,
         "'" + path.string() + "' cannot be read, or is larger than 4 MiB",
         "check that the file is there",
         "E_SCRIPT_FILE");
  return out;
}

void Reader::only(const toml::table& table, std::initializer_list<std::string_view> keys) const {
  const std::vector<std::string> known(keys.begin(), keys.end());
  for (const auto& [key, value] : table) {
    if (std::find(known.begin(), known.end(), key.str()) != known.end())
      continue;
    const auto near = util::closest(key.str(), known);
    fail(key.source().begin,
         "unknown key '" + std::string(key.str()) + "'",
         near ? "did you mean '" + *near + "'?" : "see docs/scripts.md",
         "E_SCRIPT_UNKNOWN_KEY");
  }
}

std::string Reader::text(const toml::table& table, std::string_view key) const {
  const toml::node* node = table.get(key);
  if (node == nullptr)
    return {};
  if (!node->is_string())
    fail(node->source().begin, "'" + std::string(key) + "' must be a string", "put it in quotes");
  return **node->as_string();
}

double Reader::number(const toml::table& table,
                      std::string_view key,
                      double low,
                      double high) const {
  const toml::node* node = table.get(key);
  if (node == nullptr)
    return 0;
  const auto value = node->value<double>();
  if (!value || !(*value >= low && *value <= high))
    fail(node->source().begin,
         "'" + std::string(key) + "' must be a number from " + std::to_string(low) + " to " +
             std::to_string(high),
         "correct the value");
  return *value;
}

const toml::array* Reader::tables(const toml::table& table, std::string_view key) const {
  const toml::node* node = table.get(key);
  if (node == nullptr)
    return nullptr;
  const toml::array* array = node->as_array();
  if (array == nullptr || !std::all_of(array->begin(), array->end(), [](const toml::node& item) {
        return item.is_table();
      }))
    fail(node->source().begin,
         "'" + std::string(key) + "' must be a list of tables",
         "see docs/scripts.md");
  return array;
}

std::string Reader::kernel(const std::string& name, const toml::source_position& at) const {
  const std::filesystem::path relative(name);
  if (relative.is_absolute() || std::find(relative.begin(), relative.end(), "..") != relative.end())
    fail(at,
         "kernel '" + name + "' leaves the folder of the script",
         "put the file beside the script",
         "E_SCRIPT_FILE");
  return slurp(file_.parent_path() / relative, at);
}

ScriptCall Reader::call(const toml::table& table) const {
  only(table, {"tool", "kernel", "arguments"});
  ScriptCall out{text(table, "tool"), "{}"};
  if (out.tool.empty())
    fail(table.source().begin, "a call needs a 'tool'", "e.g. tool = \"submit_kernel\"");
  if (const toml::node* file = table.get("kernel"))
    out.arguments = dump({{"kernel_code", kernel(text(table, "kernel"), file->source().begin)}});
  if (table.contains("arguments"))
    out.arguments = text(table, "arguments");
  return out;
}

ScriptFault Reader::fault(const toml::table& table) const {
  only(table, {"status", "retry_after", "body", "cut"});
  ScriptFault out;
  out.status = static_cast<int>(number(table, "status", 300, 599));
  out.retry_after = text(table, "retry_after");
  out.body = text(table, "body");
  out.cut = number(table, "cut", 0, 0.999);
  if ((out.status == 0) == (out.cut == 0))
    fail(table.source().begin,
         "a fault is either a 'status' or a 'cut'",
         "e.g. { status = 429, retry_after = \"1\" }");
  return out;
}

ScriptTurn Reader::turn(const toml::table& table) const {
  only(table, {"reasoning", "text", "calls", "faults", "delay_ms", "pace_ms", "finish"});
  ScriptTurn out;
  out.reasoning = text(table, "reasoning");
  out.text = text(table, "text");
  out.finish = text(table, "finish");
  out.delay_ms = static_cast<int>(number(table, "delay_ms", 0, kMaxDelay));
  out.pace_ms = static_cast<int>(number(table, "pace_ms", 0, kMaxDelay));
  if (const toml::array* calls = tables(table, "calls"))
    for (const toml::node& item : *calls)
      out.calls.push_back(call(*item.as_table()));
  if (const toml::array* faults = tables(table, "faults"))
    for (const toml::node& item : *faults)
      out.faults.push_back(fault(*item.as_table()));
  return out;
}

Script Reader::read() {
  const std::string source = slurp(file_, {1, 1});
  toml::table root;
  try {
    root = toml::parse(source, file_.string());
  } catch (const toml::parse_error& error) {
    fail(error.source().begin, std::string(error.description()), "correct the TOML");
  }
  only(root, {"model", "conversation"});
  Script out;
  out.model = text(root, "model");
  out.file = file_.filename().string();
  const toml::array* conversations = tables(root, "conversation");
  if (out.model.empty() || conversations == nullptr)
    fail({1, 1}, "a script needs 'model' and [[conversation]]", "see docs/scripts.md");
  for (const toml::node& item : *conversations) {
    const toml::table& table = *item.as_table();
    only(table, {"problem", "turn"});
    ScriptConversation conversation;
    conversation.problem = text(table, "problem");
    const toml::array* turns = tables(table, "turn");
    if (conversation.problem.empty() || turns == nullptr)
      fail(table.source().begin,
           "a conversation needs 'problem' and [[conversation.turn]]",
           "problem = \"*\" fits any problem");
    for (const toml::node& one : *turns)
      conversation.turns.push_back(turn(*one.as_table()));
    out.conversations.push_back(std::move(conversation));
  }
  return out;
}

}  // namespace

std::vector<Script> load_scripts(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".toml")
      files.push_back(entry.path());
  if (error || files.empty())
    throw util::UsageError({folder.string(),
                            error ? error.message() : "no *.toml scripts here",
                            "name a folder with scripts (docs/scripts.md)"},
                           "E_SCRIPT_FILE");
  std::sort(files.begin(), files.end());
  std::vector<Script> scripts;
  for (const std::filesystem::path& file : files)
    scripts.push_back(Reader(file).read());
  return scripts;
}

}  // namespace sweep::endpoint
