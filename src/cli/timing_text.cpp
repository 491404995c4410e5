#include "cli/timing_text.h"

#include <fmt/format.h>

namespace sweep::cli {

const evaluate::TimeResult* deciding_time(const evaluate::Evaluation& e) {
  if (e.heldout) {
    const auto& time = e.heldout->time.for_archive();
    if (time && time->decision && e.time) {
      return &*time;
    }
  }
  return e.time && !e.time->failure && !e.time->shapes.empty() ? &*e.time : nullptr;
}

std::string interval_text(const evaluate::Interval& ratio) {
  return fmt::format("{:.3f}x [{:.3f}, {:.3f}]", ratio.point, ratio.low, ratio.high);
}

}  // namespace sweep::cli
