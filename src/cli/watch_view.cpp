#include "cli/watch_view.h"

#include "cli/timing_text.h"
#include "evaluate/confirmation.h"
#include "util/text.h"

#include <cmath>

#include <fmt/format.h>

namespace sweep::cli {

namespace {

using evaluate::Evaluation;
using evaluate::Interval;

// "PASS_FASTER 1.520x"
std::string short_verdict(const Evaluation& e) {
  const evaluate::TimeResult* time = evaluate::deciding_time(e);
  return std::string(evaluate::name(e.verdict)) +
         (time != nullptr ? " " + util::human_ratio(time->ratio.point) : "");
}

// Processes differ, and the interval of one replicate leaves that out.
bool shows_speed(const Evaluation& e) {
  return evaluate::deciding_time(e)->replicates > 1 && e.verdict != evaluate::Verdict::unstable;
}

// Both were timed.
std::string speed_change(const Evaluation& earlier, const Evaluation& later) {
  const Interval& before = evaluate::deciding_time(earlier)->ratio;
  const Interval& now = evaluate::deciding_time(later)->ratio;
  if (earlier.source_sha256 == later.source_sha256) {
    return "the same text: what differs is noise";
  }
  if (!shows_speed(earlier) || !shows_speed(later)) {
    return "no statement about speed: one replicate (--fast) or an unstable session";
  }
  if (before.high >= now.low && now.high >= before.low) {
    return "no clear change of speed, the intervals overlap";
  }
  const double gain = now.point / before.point;
  return gain > 1 ? fmt::format("about {:.1f}% faster", 100 * (gain - 1))
                  : fmt::format("about {:.1f}% slower", 100 * (1 / gain - 1));
}

}  // namespace

std::string change_text(const WatchPast& past,
                        const Evaluation& now,
                        const Style& style,
                        std::size_t width) {
  if (!past.last) {
    return {};
  }
  std::string text = short_verdict(*past.last) + " -> " + short_verdict(now);
  const evaluate::TimeResult* time = evaluate::deciding_time(now);
  if (time != nullptr && past.timed && past.timed->problem == now.problem) {
    text += ", " + speed_change(*past.timed, now);
    if (evaluate::deciding_time(*past.last) == nullptr) {
      text += " (last timed " +
              util::human_ratio(evaluate::deciding_time(*past.timed)->ratio.point) + ")";
    }
  }
  return style.dim(" change  ") + wrapped(text, 9, width).substr(9);
}

void remember(WatchPast& past, const Evaluation& now) {
  past.last = now;
  if (evaluate::deciding_time(now) != nullptr) {
    past.timed = now;
  }
}

}  // namespace sweep::cli
