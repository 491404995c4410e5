#include "config/dotenv.h"

#include "util/error.h"
#include "util/file.h"
#include "util/text.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <system_error>

namespace sweep::config {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxDotenvBytes = std::size_t{1} << 20;

using Take = std::function<void(std::string_view name, std::string&& value)>;

[[noreturn]] void fail(const std::string& file, std::size_t line, const std::string& what) {
  // The text of the line is withheld: it may hold a key.
  throw util::UsageError(
      {file + ":" + std::to_string(line), what, "write lines of the form NAME=value"},
      "E_ENV_SYNTAX");
}

bool is_name(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && letter(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9');
  });
}

// A bare value ends before a # behind white space.
std::string bare_value(std::string_view text) {
  std::size_t comment = 0;
  while ((comment = text.find('#', comment)) != std::string_view::npos &&
         (comment == 0 || (text[comment - 1] != ' ' && text[comment - 1] != '\t'))) {
    ++comment;
  }
  return std::string(util::trim(text.substr(0, comment)));
}

// Value of what stands behind the "=": 'literal', "with \n \" \\ escapes", or bare.
std::string value_of(std::string_view behind, const std::string& file, std::size_t line) {
  const std::string_view text = util::trim(behind);
  if (text.empty() || (text[0] != '"' && text[0] != '\'')) {
    return bare_value(behind);
  }
  const char quote = text[0];
  std::string value;
  std::size_t at = 1;
  for (; at < text.size() && text[at] != quote; ++at) {
    if (quote == '"' && text[at] == '\\' && at + 1 < text.size()) {
      ++at;
      value += text[at] == 'n' ? '\n' : text[at];
    } else {
      value += text[at];
    }
  }
  if (at == text.size()) {
    fail(file, line, "a quoted value without its end");
  }
  const std::string_view rest = util::trim(text.substr(at + 1));
  if (!rest.empty() && rest[0] != '#') {
    fail(file, line, "text after a quoted value");
  }
  return value;
}

void read_lines(std::string_view text, const std::string& file, const Take& take) {
  if (text.starts_with("\xef\xbb\xbf")) {  // the byte-order mark of some editors
    text.remove_prefix(3);
  }
  if (text.size() > kMaxDotenvBytes) {
    throw util::UsageError({file, "larger than 1 MiB", "an .env file is small"}, "E_ENV_SYNTAX");
  }
  std::size_t number = 0;
  for (std::string_view line : util::split(text, '\n')) {
    ++number;
    line = util::trim(line);
    if (line.empty() || line[0] == '#') {
      continue;
    }
    if (line.starts_with("export ")) {
      line = util::trim(line.substr(7));
    }
    const std::size_t equals = line.find('=');
    const std::string_view name = util::trim(line.substr(0, equals));
    if (equals == std::string_view::npos || !is_name(name)) {
      fail(file, number, "not of the form NAME=value");
    }
    take(name, value_of(line.substr(equals + 1), file, number));
  }
}

// The value of a variable that holds more than white space.
std::optional<std::string_view> in_environment(const std::string& name) {
  const char* set = std::getenv(name.c_str());
  if (set == nullptr || util::trim(set).empty()) {
    return std::nullopt;
  }
  return set;
}

bool ascii_prefix(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() &&
         std::equal(lower.begin(), lower.end(), text.begin(), [](char want, char c) {
           return want == (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
         });
}

// A key without white space around it. UsageError E_KEY_VALUE, without the value, for one that no
// header can carry or that holds more than a key.
std::string checked_key(const std::string& name, const std::string& place, std::string value) {
  const std::string_view key = util::trim(value);
  const auto refuse = [&](const char* what, const char* next) {
    throw util::UsageError({place, name + " " + what, next}, "E_KEY_VALUE");
  };
  const char ends = key.front();
  if (ends == '"' || ends == '\'' || ends == '`') {
    refuse("begins with a quotation mark", "set the key alone, without quotes");
  }
  if (ascii_prefix(key, "bearer ") || ascii_prefix(key, "authorization:")) {
    refuse("holds a whole header", "set the key alone, without \"Bearer\"; it is added");
  }
  if (key.find_first_of("\r\n") != std::string_view::npos) {
    refuse("has a line break inside", "set the key alone, on one line");
  }
  for (const char c : key) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte >= 0x7f) {
      refuse(byte < 0x80 ? "has a control character inside" : "has a character outside ASCII",
             "copy the key again; a typed or formatted text may have slipped in");
    }
  }
  return std::string(key);
}

}  // namespace

std::vector<fs::path> dotenv_files(const fs::path& toml, const fs::path& root) {
  std::error_code error;
  std::vector<fs::path> files;
  const fs::path beside = fs::absolute(toml, error).lexically_normal().parent_path() / ".env";
  for (const fs::path& file : {beside, root / ".env"}) {
    if (fs::is_regular_file(file, error) &&
        std::find(files.begin(), files.end(), file) == files.end()) {
      files.push_back(file);
    }
  }
  return files;
}

std::set<std::string> dotenv_names(std::string_view text, const std::string& file) {
  std::set<std::string> names;
  read_lines(text, file, [&](std::string_view name, std::string&& value) {
    // A blank value counts as not set.
    if (!util::trim(value).empty()) {
      names.emplace(name);
    }
  });
  return names;
}

std::optional<std::string> find_key(const std::string& name, const std::vector<fs::path>& files) {
  if (in_environment(name)) {
    return "the environment";
  }
  for (const fs::path& file : files) {
    if (dotenv_names(util::read_file(file, kMaxDotenvBytes), file.string()).contains(name)) {
      return file.string();
    }
  }
  return std::nullopt;
}

std::vector<Diagnostic> open_to_others(const std::set<std::string>& names,
                                       const std::vector<fs::path>& files) {
  std::vector<Diagnostic> out;
  for (const fs::path& file : files) {
    std::error_code error;
    const auto others = fs::perms::group_all | fs::perms::others_all;
    const fs::perms mode = fs::status(file, error).permissions();
    if (error ||
        (mode & others & ~(fs::perms::group_exec | fs::perms::others_exec)) == fs::perms::none) {
      continue;
    }
    const auto set = dotenv_names(util::read_file(file, kMaxDotenvBytes), file.string());
    if (std::any_of(set.begin(), set.end(), [&](const std::string& name) {
          return names.contains(name);
        })) {
      out.push_back({file.string(), "holds a key and is open to other users", "chmod 600 it"});
    }
  }
  return out;
}

std::vector<Diagnostic> open_to_others(const SweepConfig& config) {
  std::set<std::string> names;
  for (const Model& model : config.models) {
    if (!model.api_key_env.empty()) {
      names.insert(model.api_key_env);
    }
  }
  return open_to_others(names, dotenv_files(config.file, config.root));
}

std::optional<std::string> read_key_value(const std::string& name,
                                          const std::vector<fs::path>& files) {
  if (const auto set = in_environment(name)) {
    return checked_key(name, "the environment", std::string(*set));
  }
  for (const fs::path& file : files) {
    std::optional<std::string> found;
    read_lines(util::read_file(file, kMaxDotenvBytes),
               file.string(),
               [&](std::string_view key, std::string&& value) {
                 if (key == name && !util::trim(value).empty()) {
                   found = std::move(value);
                 }
               });
    if (found) {
      return checked_key(name, file.string(), std::move(*found));
    }
  }
  return std::nullopt;
}

}  // namespace sweep::config
