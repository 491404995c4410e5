#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sweep::util {

// Columns of a text on a terminal: UTF-8 code points outside colour sequences.
[[nodiscard]] std::size_t columns(std::string_view text);

// `text` behind `indent` blanks, broken at blanks where a line would pass `width` columns (0:
// never), with a newline at its end. Line breaks of the text stay.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t indent, std::size_t width);

}  // namespace sweep::util
