#pragma once

#include <filesystem>
#include <string_view>

namespace sweep::problem {

// Writes a small complete problem (problem.toml, reference.cu) that reads and checks clean as
// ROOT/<level>/<id>_<name>. `id` is "level/name" or "level/number_name". Returns the new folder.
// UsageError if it exists or the id is malformed.
std::filesystem::path write_template(const std::filesystem::path& root, std::string_view id);

}  // namespace sweep::problem
