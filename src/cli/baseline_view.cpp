#include "cli/baseline_view.h"

#include "cli/metrics_view.h"
#include "cli/timing_text.h"
#include "util/text.h"

#include <algorithm>

#include <fmt/format.h>

namespace sweep::cli {
namespace {

constexpr double kDaySeconds = 86400;

std::string title_of(const std::string& name, const std::string& library, const std::string& math) {
  std::string text = name;
  if (!library.empty()) {
    text += " (" + library + (math.empty() ? "" : ", " + math) + ")";
  }
  return util::printable(text);
}

std::string entry_text(const evaluate::RecordedBaseline& entry,
                       const Style& style,
                       std::size_t width,
                       double now) {
  const std::string title = title_of(entry.name, entry.library, entry.math);
  if (!entry.failure.empty()) {
    return "  " + style.bad(title) + "\n" + wrapped(util::printable(entry.failure), 4, width);
  }
  std::string out =
      "  " +
      (entry.name == evaluate::kSeedBaseline ? title + style.dim("   against itself ")
                                             : style.strong(title) + "   ") +
      interval_text(entry.ratio) +
      style.dim(fmt::format("   {:.1f} days old", std::max(now - entry.made, 0.0) / kDaySeconds)) +
      "\n";
  for (const evaluate::BaselineShape& shape : entry.shapes) {
    out += "    " + pad_right(util::printable(shape.shape), 14) +
           pad_left(util::human_seconds(shape.seconds), 12) + "  seed " +
           pad_left(util::human_seconds(shape.seed_seconds), 12) + "  " + bounds_text(shape.ratio) +
           "\n";
  }
  if (const std::string at = conditions_text(entry.conditions); !at.empty()) {
    out += style.dim(wrapped("timed at " + at, 4, width));
  }
  return out;
}

}  // namespace

std::string shown_baselines_text(const std::vector<evaluate::ShownBaseline>& baselines,
                                 const Style& style,
                                 std::size_t width) {
  std::string out;
  for (const evaluate::ShownBaseline& shown : baselines) {
    const std::string title = title_of(shown.name, shown.library, shown.math);
    if (!shown.reason.empty()) {
      out += style.dim(wrapped(title + ": " + util::printable(shown.reason), 1, width));
      continue;
    }
    out += wrapped(fmt::format("{}: {} of it ({} of the seed, {} shape{}, recorded {:.1f} "
                               "days ago)",
                               title,
                               util::human_ratio(shown.candidate),
                               util::human_ratio(shown.ratio),
                               shown.shapes,
                               shown.shapes == 1 ? "" : "s",
                               shown.age_seconds / kDaySeconds),
                   1,
                   width);
  }
  return out.empty() ? "" : "\n" + out;
}

std::string baselines_text(const evaluate::BaselineTable& table,
                           const std::vector<std::string>& problems,
                           const Style& style,
                           std::size_t width,
                           double now) {
  std::string out = style.strong(util::printable(table.device.name)) +
                    style.dim("   driver " + util::printable(table.device.driver) + ", table " +
                              util::printable(table.id)) +
                    "\n";
  std::string last;
  for (const evaluate::RecordedBaseline& entry : table.entries) {
    if (!problems.empty() && std::ranges::find(problems, entry.problem) == problems.end()) {
      continue;
    }
    if (entry.problem != last) {
      out += style.strong(util::printable(entry.problem)) + "\n";
      last = entry.problem;
    }
    out += entry_text(entry, style, width, now);
  }
  return out;
}

}  // namespace sweep::cli
