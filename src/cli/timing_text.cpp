#include "cli/timing_text.h"

#include "util/text.h"

#include <fmt/format.h>

namespace sweep::cli {

std::string interval_text(const evaluate::Interval& ratio) {
  const auto [low, high] = util::human_bounds(ratio.low, ratio.high);
  return fmt::format("{} [{}, {}]", util::human_ratio(ratio.point), low, high);
}

std::string bounds_text(const evaluate::Interval& ratio) {
  const auto [low, high] = util::human_bounds(ratio.low, ratio.high);
  return low + " .. " + high;
}

}  // namespace sweep::cli
