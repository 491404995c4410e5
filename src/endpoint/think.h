#pragma once

#include <string>
#include <string_view>

namespace sweep::endpoint {

struct ThinkSplit {
  std::string reasoning;
  std::string text;
  bool stray = false;  // a </think> stands in the text that ends no reasoning
};

// Takes a leading <think>..</think> out of an answer, nested ones included; unclosed, all of it is
// reasoning. `prefilled`: the prompt may have opened the tag, so that everything before the last
// closing tag outside fenced blocks is reasoning.
[[nodiscard]] ThinkSplit split_think(std::string_view text, bool prefilled);

}  // namespace sweep::endpoint
