#pragma once

#include "config/config.h"

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::config {

// The `.env` files that count for a configuration: beside the TOML, then at its root; only existing
// ones, each once.
[[nodiscard]] std::vector<std::filesystem::path> dotenv_files(const std::filesystem::path& toml,
                                                              const std::filesystem::path& root);

// Names set in a `.env` text of at most 1 MiB; values are parsed over and dropped. UsageError
// E_ENV_SYNTAX with line, never with the text.
[[nodiscard]] std::set<std::string> dotenv_names(std::string_view text, const std::string& file);

// Where a variable is set, without its value: "the environment", a path, or empty optional.
[[nodiscard]] std::optional<std::string> find_key(const std::string& name,
                                                  const std::vector<std::filesystem::path>& files);

// The files that set one of `names` and that others than their owner may read or change; one remark
// a file.
[[nodiscard]] std::vector<Diagnostic> open_to_others(
    const std::set<std::string>& names, const std::vector<std::filesystem::path>& files);

// The same for the keys of a configuration's models.
[[nodiscard]] std::vector<Diagnostic> open_to_others(const SweepConfig& config);

// The value without white space around it, from the environment first, then from the files in
// order. Never logged, never in an error. UsageError E_KEY_VALUE when a header cannot carry it, or
// when it is quoted or begins with "Bearer ".
[[nodiscard]] std::optional<std::string> read_key_value(
    const std::string& name, const std::vector<std::filesystem::path>& files);

}  // namespace sweep::config
