#include "cli/options.h"

#include "util/error.h"
#include "util/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <utility>

namespace sweep::cli {

namespace {

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

// CLI11 says which arguments were left over only in its message, so the unknown option is looked up
// here.
std::string unknown_option(const CLI::App& app, const std::vector<std::string>& arguments) {
  const std::vector<std::string> known = option_names(app);
  for (const std::string& argument : arguments) {
    std::string name = argument.substr(0, argument.find('='));
    if (name.starts_with("--") && std::find(known.begin(), known.end(), name) == known.end()) {
      return name;
    }
  }
  return {};
}

// "a=1,b=2" -> pairs in order. UsageError at `where` with what to do `next`.
Assignments assignments(const std::string& text,
                        const std::string& where,
                        const std::string& next,
                        const std::string& code) {
  Assignments out;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    const std::size_t equals = part.find('=');
    std::int64_t value = 0;
    const char* last = part.data() + part.size();
    const auto parsed = equals == std::string::npos
                            ? std::from_chars_result{nullptr, std::errc::invalid_argument}
                            : std::from_chars(part.data() + equals + 1, last, value);
    if (parsed.ec != std::errc{} || parsed.ptr != last || equals == 0) {
      throw util::UsageError({where, "'" + part + "' is not NAME=INTEGER", next}, code);
    }
    std::string name = part.substr(0, equals);
    if (std::ranges::find(out, name, &Assignments::value_type::first) != out.end()) {
      throw util::UsageError({where, "'" + name + "' is there twice", next}, code);
    }
    out.emplace_back(std::move(name), value);
    begin = end + 1;
  }
  return out;
}

// CLI::Range takes NaN for a number between any two.
void require_finite(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_type_name().starts_with("FLOAT")) {
      continue;
    }
    for (const std::string& text : option->results()) {
      if (!std::isfinite(std::strtod(text.c_str(), nullptr))) {
        throw util::UsageError({app.get_name(),
                                option->get_name() + ": '" + text + "' is not a finite number",
                                "see `" + app.get_name() + " --help`"},
                               "E_CLI_USAGE");
      }
    }
  }
}

}  // namespace

void parse(CLI::App& app, const std::vector<std::string>& arguments) {
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    throw HelpShown{};
  } catch (const CLI::ParseError& error) {
    std::string next = "see `" + app.get_name() + " --help`";
    if (const std::string name = unknown_option(app, arguments); !name.empty()) {
      if (const auto near = util::closest(name, option_names(app))) {
        next = "did you mean '" + *near + "'? (" + next + ")";
      }
      throw util::UsageError({app.get_name(), "unknown option '" + name + "'", next},
                             "E_CLI_UNKNOWN_OPTION");
    }
    throw util::UsageError({app.get_name(), error.what(), next}, "E_CLI_USAGE");
  }
  require_finite(app);
}

void add_global_options(CLI::App& app, GlobalOptions& options) {
  app.add_flag("--json", options.json, "print one JSON document (\"schema\": 1) on stdout");
  app.add_flag("-q,--quiet", options.quiet, "no progress; the result only");
  app.add_flag("--allow-unsandboxed",
               options.allow_unsandboxed,
               "run model code although a mandatory protection is missing; every result says so");
}

Assignments parse_shape(const std::string& text) {
  return assignments(
      text,
      "--shape",
      "write e.g. --shape rows=1000,cols=77; `sweep problems show ID` lists the dims of each named "
      "shape",
      "E_CLI_SHAPE");
}

Assignments parse_define(const std::string& text) {
  return assignments(text,
                     "-D",
                     "write e.g. -D TILE=64, for a constant that the plan declares with `const`",
                     "E_CLI_DEFINE");
}

}  // namespace sweep::cli
