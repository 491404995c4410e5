#include "queue/view.h"

#include "queue/dollars.h"
#include "util/text.h"
#include "util/wrap.h"

#include <cmath>
#include <iostream>
#include <sstream>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace sweep::queue {

namespace {

constexpr double kPlainEvery = 30;    // seconds between lines when piped
constexpr double kRedrawEvery = 0.2;  // seconds between redraws of a terminal
constexpr std::size_t kEvents = 4;

std::string geometric_mean(const std::vector<double>& values) {
  if (values.empty()) {
    return "-";
  }
  double logs = 0;
  for (const double value : values) {
    logs += std::log(value);
  }
  return util::human_ratio(std::exp(logs / static_cast<double>(values.size())));
}

std::string cost_text(const ViewState& state) {
  double cost = 0;
  bool known = true;
  for (const ModelRow& model : state.models) {
    cost += model.cost;
    known = known && model.price_known;
  }
  const std::string of = state.budget ? " of " + dollars(*state.budget) : "";
  const std::string lost = state.wasted > 0 ? " + " + dollars(state.wasted) + " lost" : "";
  if (!known && cost <= 0 && state.wasted <= 0)
    return "price unknown";
  return (known ? "" : "at least ") + dollars(cost) + lost + of;
}

std::string outcomes_text(const ViewState& state) {
  std::vector<std::string> parts;
  for (const auto& [outcome, count] : state.outcomes) {
    parts.push_back(fmt::format("{} {}", outcome, count));
  }
  return fmt::format("{}", fmt::join(parts, "  "));
}

// Asked each time: a window changes its size.
struct Terminal {
  std::size_t width = 80, height = 24;
};

Terminal terminal_size() {
  winsize size{};
  Terminal out;
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0) {
    out.width = size.ws_col > 20 ? size.ws_col : out.width;
    out.height = size.ws_row > 2 ? size.ws_row : out.height;
  }
  return out;
}

}  // namespace

std::size_t ViewState::items() const {
  std::size_t sum = 0;
  for (const ModelRow& model : models) {
    sum += model.items;
  }
  return sum;
}

std::size_t ViewState::done() const {
  std::size_t sum = 0;
  for (const ModelRow& model : models) {
    sum += model.done;
  }
  return sum;
}

namespace {

// "9 s"; from 100 s on as util::human_seconds.
std::string whole_seconds(double seconds) {
  return seconds < 100 ? fmt::format("{:.0f} s", std::ceil(seconds)) : util::human_seconds(seconds);
}

// "unreachable, next try in 12 s".
std::string counted_down(const std::string& state, std::optional<double> at, double now) {
  if (!at) {
    return state;
  }
  return *at > now ? state + ", next try in " + whole_seconds(*at - now) : state + ", trying now";
}

}  // namespace

std::string time_left(const ViewState& state) {
  const double finished = static_cast<double>(state.done());
  if (state.done() < 5 || state.done() >= state.items()) {
    return {};
  }
  const double left = state.seconds / finished * static_cast<double>(state.items() - state.done());
  // One standard error of a Poisson count of finished items.
  const double spread = 1 / std::sqrt(finished);
  // A guess of this kind has no parts of a second.
  return fmt::format(
      "{} to {} left", whole_seconds(left * (1 - spread)), whole_seconds(left * (1 + spread)));
}

std::vector<std::string> screen(const ViewState& state, std::size_t width) {
  std::vector<std::string> lines;
  const std::size_t all = std::max<std::size_t>(1, state.items());
  lines.push_back(fmt::format("{}   {}/{} done  {}%   {}   {}   {}",
                              state.run,
                              state.done(),
                              state.items(),
                              100 * state.done() / all,
                              util::human_seconds(state.seconds),
                              time_left(state),
                              cost_text(state)));
  lines.push_back(outcomes_text(state));
  std::size_t name_width = 5;
  for (const ModelRow& model : state.models) {
    name_width = std::max(name_width, model.name.size());
  }
  lines.push_back(fmt::format(" {:{}}  {:>9}  {:>7}  {:>8}  {:>7}  {:>8}  state",
                              "",
                              name_width,
                              "done",
                              "correct",
                              "geo.mean",
                              "tokens",
                              "$"));
  for (const ModelRow& model : state.models) {
    lines.push_back(fmt::format(" {:{}}  {:>9}  {:>7}  {:>8}  {:>7}  {:>8}  {}",
                                model.name,
                                name_width,
                                fmt::format("{}/{}", model.done, model.items),
                                model.correct,
                                geometric_mean(model.speedups),
                                util::human_count(static_cast<std::uint64_t>(model.tokens)),
                                model.price_known ? fmt::format("{:.4f}", model.cost) : "?",
                                counted_down(model.state, model.next_try, state.seconds)));
  }
  for (const LaneRow& lane : state.lanes) {
    if (!lane.item.empty()) {
      lines.push_back(fmt::format(
          " > {}  {}", lane.item, counted_down(lane.state, lane.next_try, state.seconds)));
    }
  }
  const std::size_t first = state.events.size() > kEvents ? state.events.size() - kEvents : 0;
  for (std::size_t i = first; i < state.events.size(); ++i) {
    std::istringstream wrapped(util::wrapped(util::printable(state.events[i]), 0, width));
    for (std::string line; std::getline(wrapped, line);) {
      lines.push_back(line);
    }
  }
  if (!state.url.empty()) {
    lines.push_back(state.url);
  }
  lines.emplace_back(
      state.stopping
          ? "stopping: unfinished items stay, the same command resumes; Ctrl-C again kills"
          : "Ctrl-C stops cleanly; the same command resumes");
  for (std::string& line : lines) {
    line = util::printable(line);
    if (line.size() > width) {
      line = util::to_valid_utf8(line.substr(0, width));
    }
  }
  return lines;
}

std::size_t rows_taken(const std::vector<std::size_t>& columns, std::size_t width) {
  std::size_t rows = 0;
  for (const std::size_t one : columns) {
    rows += one == 0 || width == 0 ? 1 : (one + width - 1) / width;
  }
  return rows;
}

std::vector<std::string> fitted(std::vector<std::string> lines, std::size_t height) {
  if (lines.size() <= height || height < 3) {
    return lines;
  }
  // The last line says how to stop, the first how far it is.
  const std::size_t out = lines.size() - height + 1;
  const auto begin = lines.end() - 1 - static_cast<std::ptrdiff_t>(out);
  *begin = fmt::format(" .. and {} more lines", out);
  lines.erase(begin + 1, lines.end() - 1);
  return lines;
}

std::string plain_line(const ViewState& state) {
  const std::string outcomes = outcomes_text(state);
  std::string troubles;
  for (const ModelRow& model : state.models) {
    if (model.state != "ok") {
      troubles +=
          "; " + model.name + " " + counted_down(model.state, model.next_try, state.seconds);
    }
  }
  return util::printable(fmt::format("{}: {}/{} done after {}{}{}, {}{}",
                                     state.run,
                                     state.done(),
                                     state.items(),
                                     util::human_seconds(state.seconds),
                                     outcomes.empty() ? "" : ", ",
                                     outcomes,
                                     cost_text(state),
                                     troubles));
}

View::View(bool quiet) : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1) {}

View::~View() {
  erase();
}

void View::erase() {
  if (!drawn_.empty()) {
    const Terminal terminal = terminal_size();
    // No further than to the top, where the cursor stops.
    const std::size_t rows = std::min(rows_taken(drawn_, terminal.width), terminal.height - 1);
    std::cerr << fmt::format("\x1b[{}A\x1b[J", rows) << std::flush;
    drawn_.clear();
  }
}

void View::event(const std::string& line) {
  if (!quiet_ && !terminal_) {
    std::cerr << util::printable(line) << std::endl;
  }
}

void View::update(const ViewState& state) {
  if (quiet_ || state.seconds - last_ < (terminal_ ? kRedrawEvery : kPlainEvery)) {
    return;
  }
  last_ = state.seconds;
  if (!terminal_) {
    std::cerr << plain_line(state) << std::endl;
    return;
  }
  const Terminal terminal = terminal_size();
  const auto lines = fitted(screen(state, terminal.width - 1), terminal.height - 1);
  erase();
  for (const std::string& line : lines) {
    std::cerr << line << '\n';
    drawn_.push_back(line.size());
  }
  std::cerr << std::flush;
}

void View::finish() {
  erase();
}

}  // namespace sweep::queue
