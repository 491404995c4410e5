#include "util/wrap.h"

#include <algorithm>

namespace sweep::util {

std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = std::min(text.find('m', i), text.size());
    } else if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) {
      ++count;
    }
  }
  return count;
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  const std::string margin(indent, ' ');
  std::string out;
  while (true) {
    const std::string_view line = text.substr(0, text.find('\n'));
    std::size_t used = indent;
    out += margin;
    for (std::size_t from = 0; from < line.size();) {
      // Blanks and the word behind them.
      const std::size_t word = std::min(line.find_first_not_of(' ', from), line.size());
      const std::size_t end = std::min(line.find(' ', word), line.size());
      const std::size_t wide = columns(line.substr(from, end - from));
      if (width > 0 && used > indent && used + wide > width) {
        out += "\n" + margin;
        used = indent;
        from = word;
      }
      out += line.substr(from, end - from);
      used += columns(line.substr(from, end - from));
      from = end;
    }
    out += '\n';
    if (line.size() == text.size()) {
      return out;
    }
    text.remove_prefix(line.size() + 1);
  }
}

}  // namespace sweep::util
