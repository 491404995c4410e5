#include "cli/progress_line.h"

#include "util/text.h"

#include <iostream>

#include <fmt/format.h>
#include <unistd.h>

namespace sweep::cli {

ProgressLine::ProgressLine(bool on) : on_(on && ::isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(const evaluate::ProgressEvent& event) {
  if (event.state == evaluate::ProgressEvent::State::finished) {
    return;
  }
  std::string line(evaluate::name(event.stage));
  if (event.total > 0) {
    line += fmt::format(" {}/{}", event.done, event.total);
  }
  say(line + " " + event.text);
}

void ProgressLine::say(const std::string& what) {
  if (on_) {
    std::cerr << "\r\x1b[K " << util::printable(prefix_.empty() ? what : prefix_ + "  " + what)
              << std::flush;
    shown_ = true;
  }
}

void ProgressLine::clear() {
  if (shown_) {
    std::cerr << "\r\x1b[K" << std::flush;
    shown_ = false;
  }
}

}  // namespace sweep::cli
