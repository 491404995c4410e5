#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace sweep::util {

// A fenced block of Markdown: a line of three or more ` or of three or more ~, behind any blanks
// and before any info text, opens it; a line of as many or more of the same, and nothing else,
// closes it. Within a block a line that would open another of the same kind ends it as well: its
// end was forgotten.
struct FencedBlock {
  std::size_t begin = 0;     // of the opening line
  std::size_t end = 0;       // behind the closing line, or of the text
  std::string_view content;  // the lines between
  bool closed = true;        // false: the text ended first
};

// The block that the line at `at`, a line's start, opens; none: it opens none.
[[nodiscard]] std::optional<FencedBlock> fence_at(std::string_view text, std::size_t at);

[[nodiscard]] std::vector<FencedBlock> fenced_blocks(std::string_view text);

}  // namespace sweep::util
