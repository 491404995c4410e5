#include "calibrate/study_plot.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

namespace sweep::calibrate {
namespace {

constexpr double kWidth = 960, kPanel = 130, kHead = 44;
constexpr double kLeft = 190, kRight = 16, kInset = 10;  // of a panel's plot
constexpr const char* kHolds = "#2a6fb0";
constexpr const char* kLeavesOut = "#c03a2b";
constexpr const char* kUsual = "#888";

double percent(double ratio) {
  return 100 * std::log(ratio);
}

bool leaves_out_one(const BandSession& session) {
  return session.ratio.low > 1 || session.ratio.high < 1;
}

// The largest distance from 0 that a panel shows, rounded up to 1, 2 or 5 times a power of ten.
double reach_of(const std::vector<BandSession>& sessions) {
  double most = 0.01;
  for (const BandSession& session : sessions) {
    most = std::max({most, -percent(session.ratio.low), percent(session.ratio.high)});
    most = session.usual ? std::max(most, std::abs(percent(session.usual->ratio))) : most;
  }
  const double power = std::pow(10, std::floor(std::log10(most)));
  for (const double step : {1.0, 2.0, 5.0}) {
    if (most <= step * power) {
      return step * power;
    }
  }
  return 10 * power;
}

// The plot of one band: where sessions and per cents lie.
struct Panel {
  double top = 0, reach = 1;
  std::size_t sessions = 1;

  [[nodiscard]] double x(std::size_t i) const {
    return kLeft + (kWidth - kLeft - kRight) * (static_cast<double>(i) + 0.5) /
                       static_cast<double>(sessions);
  }

  [[nodiscard]] double y(double value) const {
    const double half = (kPanel - 2 * kInset) / 2;
    return top + kPanel / 2 - half * std::clamp(value / reach, -1.0, 1.0);
  }
};

std::string level(const Panel& panel, double value, const char* colour) {
  const double y = panel.y(value);
  return fmt::format(
      "<line x1='{:.1f}' x2='{:.1f}' y1='{:.1f}' y2='{:.1f}' stroke='{}'/>"
      "<text x='{:.1f}' y='{:.1f}' text-anchor='end'>{}</text>\n",
      kLeft,
      kWidth - kRight,
      y,
      y,
      colour,
      kLeft - 6,
      y + 4,
      value == 0 ? "0" : fmt::format("{:+g}%", value));
}

std::string mark(const Panel& panel, std::size_t i, const BandSession& session) {
  const double x = panel.x(i);
  const char* colour = leaves_out_one(session) ? kLeavesOut : kHolds;
  std::string out = fmt::format(
      "<line x1='{:.1f}' x2='{:.1f}' y1='{:.1f}' y2='{:.1f}' stroke='{}' stroke-width='2'/>"
      "<circle cx='{:.1f}' cy='{:.1f}' r='2.2' fill='{}'/>",
      x,
      x,
      panel.y(percent(session.ratio.low)),
      panel.y(percent(session.ratio.high)),
      colour,
      x,
      panel.y(percent(session.ratio.point)),
      colour);
  if (session.usual) {
    out += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='2.6' fill='none' stroke='{}'/>",
                       x,
                       panel.y(percent(session.usual->ratio)),
                       kUsual);
  }
  return out + "\n";
}

std::string panel_svg(const Panel& panel,
                      const Band& band,
                      const std::vector<BandSession>& sessions) {
  const auto out = std::ranges::count_if(sessions, leaves_out_one);
  std::string svg = fmt::format(
      "<text x='8' y='{:.1f}' font-weight='bold'>{}</text>"
      "<text x='8' y='{:.1f}'>{} of {} leave out 1</text>\n",
      panel.top + kPanel / 2 - 4,
      band.name,
      panel.top + kPanel / 2 + 14,
      out,
      sessions.size());
  svg += level(panel, panel.reach, "#ddd") + level(panel, 0, "#999") +
         level(panel, -panel.reach, "#ddd");
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    svg += mark(panel, i, sessions[i]);
  }
  return svg;
}

}  // namespace

std::string study_svg(const Study& study) {
  std::string panels;
  double top = kHead;
  for (const Band& band : kBands) {
    const std::vector<BandSession> sessions = study.of(band.name, false);
    if (!sessions.empty()) {
      panels += panel_svg({top, reach_of(sessions), sessions.size()}, band, sessions);
      top += kPanel;
    }
  }
  return fmt::format(
             "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0:g} {1:g}' "
             "font-family='sans-serif' font-size='12' fill='#222'>\n"
             "<rect width='{0:g}' height='{1:g}' fill='#fff'/>\n"
             "<text x='8' y='18'>A kernel against itself: ln(ratio) of each session with its 95% "
             "interval; <tspan fill='{2}'>it leaves out 1</tspan>; "
             "<tspan fill='{3}'>ring: the usual method</tspan></text>\n",
             kWidth,
             top + 8,
             kLeavesOut,
             kUsual) +
         panels + "</svg>\n";
}

}  // namespace sweep::calibrate
