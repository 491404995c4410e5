#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sweep::cli {

// Thrown after --help was printed; the program ends with code 0.
struct HelpShown {};

// Parses a command's arguments. Prints help on --help and throws HelpShown; throws util::UsageError
// naming the option and the nearest known one otherwise.
void parse(CLI::App& app, const std::vector<std::string>& arguments);

// Options that every command takes.
struct GlobalOptions {
  bool quiet = false;
  bool allow_unsandboxed = false;
  bool json = false;
};

void add_global_options(CLI::App& app, GlobalOptions& options);

using Assignments = std::vector<std::pair<std::string, std::int64_t>>;

// The value of --shape: "rows=1000,cols=77" -> pairs in order. Throws util::UsageError naming the
// part that is wrong.
[[nodiscard]] Assignments parse_shape(const std::string& text);

// The value of -D: "TILE=64", or several with commas. Throws util::UsageError as parse_shape does.
[[nodiscard]] Assignments parse_define(const std::string& text);

}  // namespace sweep::cli
