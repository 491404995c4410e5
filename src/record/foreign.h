#pragma once

#include <string_view>

// Runs that were imported: judged by others, for reading only.
namespace sweep::record {

namespace kind {
inline constexpr std::string_view import_start = "import";  // first row; data: source, of
}

// In the place of a problem's admission and as a flag: counts in no rate, mean or comparison.
inline constexpr const char* kForeign = "foreign";

}  // namespace sweep::record
