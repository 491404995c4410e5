#include "cli/style.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace sweep::cli {

namespace {

bool wants_colour(int fd) {
  const char* term = std::getenv("TERM");
  return ::isatty(fd) == 1 && std::getenv("NO_COLOR") == nullptr && term != nullptr &&
         std::string_view(term) != "dumb";
}

// Characters outside colour sequences.
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

}  // namespace

Style Style::for_stdout() {
  return Style(wants_colour(STDOUT_FILENO));
}

Style Style::for_stderr() {
  return Style(wants_colour(STDERR_FILENO));
}

std::string Style::paint(std::string_view code, std::string_view text) const {
  return colour_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

std::string pad_right(const std::string& text, std::size_t width) {
  const std::size_t used = columns(text);
  return used >= width ? text : text + std::string(width - used, ' ');
}

std::string pad_left(const std::string& text, std::size_t width) {
  const std::size_t used = columns(text);
  return used >= width ? text : std::string(width - used, ' ') + text;
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

std::size_t output_columns() {
  winsize size{};
  const bool terminal =
      ::isatty(STDOUT_FILENO) == 1 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return !terminal ? 0 : size.ws_col == 0 ? 80 : std::max<std::size_t>(40, size.ws_col);
}

}  // namespace sweep::cli
