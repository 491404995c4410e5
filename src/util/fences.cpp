#include "util/fences.h"

#include "util/text.h"

#include <algorithm>

namespace sweep::util {
namespace {

constexpr std::size_t kShortest = 3;

// What a line is as a fence.
struct Fence {
  char mark = 0;           // 0: it is none
  std::size_t length = 0;  // of the run of marks
  bool bare = false;       // nothing follows
};

Fence fence_of(std::string_view line) {
  const std::string_view text = trim(line);
  if (text.empty() || (text.front() != '`' && text.front() != '~'))
    return {};
  const std::size_t length = std::min(text.find_first_not_of(text.front()), text.size());
  const std::string_view info = text.substr(length);
  // "```x```" is code within a line.
  if (length < kShortest || (text.front() == '`' && info.find('`') != std::string_view::npos))
    return {};
  return {text.front(), length, info.empty()};
}

}  // namespace

std::optional<FencedBlock> fence_at(std::string_view text, std::size_t at) {
  const std::size_t line = std::min(text.find('\n', at), text.size());
  const Fence open = fence_of(text.substr(at, line - at));
  if (open.mark == 0)
    return std::nullopt;
  const std::size_t content = std::min(line + 1, text.size());
  for (std::size_t here = content; here < text.size();) {
    const std::size_t end = std::min(text.find('\n', here), text.size());
    const Fence fence = fence_of(text.substr(here, end - here));
    if (fence.mark == open.mark && fence.length >= open.length)
      return FencedBlock{at,
                         fence.bare ? std::min(end + 1, text.size()) : here,
                         text.substr(content, here - content),
                         true};
    here = end + 1;
  }
  return FencedBlock{at, text.size(), text.substr(content), false};
}

std::vector<FencedBlock> fenced_blocks(std::string_view text) {
  std::vector<FencedBlock> out;
  for (std::size_t at = 0; at < text.size();) {
    if (auto block = fence_at(text, at)) {
      at = block->end;
      out.push_back(*block);
    } else {
      at = std::min(text.find('\n', at), text.size()) + 1;
    }
  }
  return out;
}

}  // namespace sweep::util
