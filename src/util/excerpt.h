#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sweep::util {

// Whether a line of a compiler's or a tool's log states an error ("mine.cu(12): error: ..", "ptxas
// fatal : ..", "undefined reference to .."). Source text that a log quotes can look like one.
[[nodiscard]] bool states_error(std::string_view line);

// One line: cut in its middle to about `max_bytes` (the marker comes on top), line breaks made
// blanks.
[[nodiscard]] std::string narrowed(std::string_view line, std::size_t max_bytes);

// At most `max_bytes` of text: its head, its tail, and between them the lines that state an error
// with the two lines behind each (source line and caret), the first ones first. Gaps are marked
// "... N lines left out ...", lines longer than an eighth of the room are cut in themselves.
// Shorter text returns unchanged. Under 512 bytes it is head_and_tail().
[[nodiscard]] std::string excerpt(std::string_view text, std::size_t max_bytes);

// The first line that states an error, trimmed and cut to `max_bytes`; empty: none.
[[nodiscard]] std::string first_error(std::string_view text, std::size_t max_bytes);

// Absolute paths of at least two parts ("/usr/include/math.h") become ".../math.h": where this
// machine keeps its files is nobody's business. "//", "/*" and divisions stay.
[[nodiscard]] std::string without_folders(std::string_view text);

}  // namespace sweep::util
