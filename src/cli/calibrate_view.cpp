#include "cli/calibrate_view.h"

#include "stats/stats.h"
#include "util/text.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace sweep::cli {
namespace {

constexpr double kDay = 86400;
constexpr std::size_t kNameColumn = 26;

std::string percent(double share) {
  return fmt::format("{:.2f}%", 100 * share);
}

// "PASS_EQUIVALENT 4, PASS_INCONCLUSIVE 1" without the common start.
std::string verdicts_text(const evaluate::CalibratedBand& band) {
  std::vector<std::string> parts;
  for (const auto& [name, count] : band.verdicts) {
    const std::string word = name.starts_with("PASS_") ? name.substr(5) : name;
    parts.push_back(fmt::format("{} {}", count, util::printable(word)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// "3/60 [1.7, 13.7]%": Wilson's 95% interval.
std::string rate_text(int count, int of) {
  if (of <= 0) {
    return "-";
  }
  const stats::Interval wilson = stats::wilson_interval(
      static_cast<std::uint64_t>(count), static_cast<std::uint64_t>(of), 0.95);
  return fmt::format("{}/{} [{:.1f}, {:.1f}]%", count, of, 100 * wilson.low, 100 * wilson.high);
}

}  // namespace

std::string figure_text(const evaluate::Figure& figure) {
  if (figure.unit == "s") {
    return util::human_seconds(figure.value);
  }
  constexpr std::array<std::pair<double, const char*>, 3> kUnits{
      {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}}};
  for (const auto& [size, letter] : kUnits) {
    if (figure.value >= size) {
      return fmt::format("{:.4g} {}{}", figure.value / size, letter, util::printable(figure.unit));
    }
  }
  return fmt::format("{:.4g} {}", figure.value, util::printable(figure.unit));
}

std::string calibration_text(const evaluate::Calibration& calibration, const Style& style) {
  std::string out =
      "\n " + style.strong("a kernel against itself") + "\n " +
      style.dim(pad_right("band", kNameColumn) + pad_left("call", 12) + pad_left("sessions", 10) +
                pad_left("without 1", 11) + pad_left("|ln| 95%", 10) + pad_left("half 95%", 10) +
                pad_left("noise", 9) + "  verdicts") +
      "\n";
  for (const evaluate::CalibratedBand& band : calibration.bands) {
    out += " " + pad_right(util::printable(band.name), kNameColumn) +
           pad_left(util::human_seconds(band.measured_seconds), 12) +
           pad_left(std::to_string(band.sessions), 10) +
           pad_left(std::to_string(band.excludes_one), 11) + pad_left(percent(band.ratio_q95), 10) +
           pad_left(percent(band.half_width_q95), 10) + pad_left(percent(band.half_width), 9) +
           "  " + verdicts_text(band) + "\n";
  }
  if (!calibration.figures.empty()) {
    out += "\n " + style.strong("reached") + "\n";
    for (const evaluate::Figure& figure : calibration.figures) {
      out += " " + pad_right(util::printable(figure.name), kNameColumn) +
             pad_left(figure_text(figure), 16) +
             (figure.note.empty() ? "" : "  " + style.dim(util::printable(figure.note))) + "\n";
    }
  }
  if (!calibration.controls.empty()) {
    out += "\n " + style.strong("controls") + "\n";
    for (const evaluate::ControlResult& control : calibration.controls) {
      out += " " + pad_right(util::printable(control.name), kNameColumn) +
             (control.passed ? style.good("ok  ") : style.bad("FAIL")) +
             fmt::format("  {:.4f} [{:.4f}, {:.4f}]  ",
                         control.ratio.point,
                         control.ratio.low,
                         control.ratio.high) +
             style.dim(util::printable(control.text)) + "\n";
    }
  }
  for (const auto& [name, reason] : calibration.absent) {
    out += style.dim(" not measured: " + util::printable(name) + ": " + util::printable(reason)) +
           "\n";
  }
  return out;
}

std::string study_text(const std::vector<calibrate::StudyRow>& rows, const Style& style) {
  std::string out = "\n " + style.strong("sessions so far; rates with Wilson's 95% interval") +
                    "\n " +
                    style.dim(pad_right("band", kNameColumn) + pad_left("call", 12) +
                              pad_left("interval without 1", 22) +
                              pad_left("FASTER or SLOWER", 22) + pad_left("half-width", 11) +
                              pad_left("its 95%", 9) + pad_left("usual differs", 22) +
                              pad_left("usual over 1% off", 22) + pad_left("3% slower found", 22)) +
                    "\n";
  for (const calibrate::StudyRow& row : rows) {
    out += " " + pad_right(row.band, kNameColumn) +
           pad_left(row.sessions > 0 ? util::human_seconds(row.seconds) : "-", 12) +
           pad_left(rate_text(row.excludes_one, row.sessions), 22) +
           pad_left(rate_text(row.faster_or_slower, row.sessions), 22) +
           pad_left(percent(row.half_width), 11) + pad_left(percent(row.half_width_q95), 9) +
           pad_left(rate_text(row.usual_differs, row.usual), 22) +
           pad_left(rate_text(row.usual_apart, row.usual), 22) +
           pad_left(rate_text(row.controls_found, row.controls), 22) + "\n";
  }
  return out;
}

std::string calibration_line(const evaluate::FoundCalibration& found, double now) {
  if (!found.calibration) {
    return "none: " + found.reason;
  }
  const evaluate::Calibration& made = *found.calibration;
  const double days = std::max(now - made.made, 0.0) / kDay;
  double least = 1, most = 0;
  for (const evaluate::CalibratedBand& band : made.bands) {
    least = std::min(least, band.half_width);
    most = std::max(most, band.half_width);
  }
  std::string text = fmt::format("{} of driver {}, {:.1f} days old",
                                 made.id,
                                 made.device.driver.empty() ? "-" : made.device.driver,
                                 days);
  if (!made.bands.empty()) {
    text += fmt::format(", noise {} .. {}", percent(least), percent(most));
  }
  for (const evaluate::Figure& figure : made.figures) {
    if (figure.name == "DRAM copy") {
      text += ", DRAM copy " + figure_text(figure);
    }
  }
  for (const evaluate::ControlResult& control : made.controls) {
    text += control.passed ? "" : "; control failed: " + control.name;
  }
  return text;
}

}  // namespace sweep::cli
