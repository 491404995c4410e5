#include "cli/style.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <unistd.h>

namespace sweep::cli {

namespace {

bool wants_colour(int fd) {
  const char* term = std::getenv("TERM");
  return ::isatty(fd) == 1 && std::getenv("NO_COLOR") == nullptr && term != nullptr &&
         std::string_view(term) != "dumb";
}

std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
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

std::string pad_right(std::string text, std::size_t width) {
  const std::size_t used = columns(text);
  return used >= width ? text : text + std::string(width - used, ' ');
}

std::string pad_left(std::string text, std::size_t width) {
  const std::size_t used = columns(text);
  return used >= width ? text : std::string(width - used, ' ') + text;
}

}  // namespace sweep::cli
