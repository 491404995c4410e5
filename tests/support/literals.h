#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sweep::test {

// The string literals of C++ source, one after the other: what a program may say, whatever its
// layout. Comments, characters and includes are left out.
inline std::string literals_of(std::string_view source) {
  std::string out;
  const auto skip = [&source](std::string_view end, std::size_t from) {
    const std::size_t at = source.find(end, from);
    return at == std::string_view::npos ? source.size() : at + end.size();
  };
  for (std::size_t at = 0; at < source.size();) {
    const std::string_view rest = source.substr(at);
    if (rest.starts_with("//") || rest.starts_with("#include")) {
      at = skip("\n", at);
    } else if (rest.starts_with("/*")) {
      at = skip("*/", at + 2);
    } else if (rest.starts_with("R\"")) {
      const std::size_t open = source.find('(', at);
      const std::string end = ")" + std::string(source.substr(at + 2, open - at - 2)) + "\"";
      const std::size_t close = skip(end, open);
      out += source.substr(open + 1, close - end.size() - open - 1);
      at = close;
    } else if (rest.front() == '"' || rest.front() == '\'') {
      std::size_t end = at + 1;
      while (end < source.size() && source[end] != rest.front())
        end += source[end] == '\\' ? 2U : 1U;
      if (rest.front() == '"')
        out += source.substr(at + 1, end - at - 1);
      // 1'000'000 has no characters.
      at = rest.front() == '\'' && at > 0 && source[at - 1] >= '0' && source[at - 1] <= '9'
               ? at + 1
               : end + 1;
    } else {
      ++at;
    }
  }
  return out;
}

}  // namespace sweep::test
