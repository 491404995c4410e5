#include "endpoint/think.h"

#include "util/fences.h"
#include "util/text.h"

#include <algorithm>

namespace sweep::endpoint {
namespace {

constexpr std::string_view kOpen = "<think>";
constexpr std::string_view kClose = "</think>";
constexpr std::size_t kNone = std::string_view::npos;

// The tag that closes the one before `text`: the one that balances it, else the last one.
std::size_t closing_tag(std::string_view text) {
  int depth = 1;
  for (std::size_t at = text.find('<'); at != kNone; at = text.find('<', at + 1)) {
    const std::string_view rest = text.substr(at);
    depth += rest.starts_with(kOpen) ? 1 : rest.starts_with(kClose) ? -1 : 0;
    if (depth == 0)
      return at;
  }
  return text.rfind(kClose);
}

// The last closing tag that is not inside a fenced block.
std::size_t last_outside_fences(std::string_view text) {
  std::size_t found = kNone;
  for (std::size_t at = 0; at < text.size();) {
    if (const auto fence = util::fence_at(text, at)) {
      at = fence->end;
      continue;
    }
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (const std::size_t tag = text.substr(at, end - at).rfind(kClose); tag != kNone)
      found = at + tag;
    at = end + 1;
  }
  return found;
}

}  // namespace

ThinkSplit split_think(std::string_view text, bool prefilled) {
  const std::string_view start =
      text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  if (start.starts_with(kOpen)) {
    const std::string_view inside = start.substr(kOpen.size());
    const std::size_t end = closing_tag(inside);
    if (end == kNone)
      return {std::string(inside), {}, false};
    return {std::string(util::trim(inside.substr(0, end))),
            std::string(util::trim(inside.substr(end + kClose.size()))),
            false};
  }
  const std::size_t end = last_outside_fences(text);
  if (end == kNone || !prefilled)
    return {{}, std::string(text), end != kNone};
  return {std::string(util::trim(text.substr(0, end))),
          std::string(util::trim(text.substr(end + kClose.size()))),
          false};
}

}  // namespace sweep::endpoint
