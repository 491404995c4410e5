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
  const std::size_t used = util::columns(text);
  return used >= width ? text : text + std::string(width - used, ' ');
}

std::string pad_left(const std::string& text, std::size_t width) {
  const std::size_t used = util::columns(text);
  return used >= width ? text : std::string(width - used, ' ') + text;
}

std::size_t output_columns() {
  winsize size{};
  const bool terminal =
      ::isatty(STDOUT_FILENO) == 1 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return !terminal ? 0 : size.ws_col == 0 ? 80 : std::max<std::size_t>(40, size.ws_col);
}

}  // namespace sweep::cli
