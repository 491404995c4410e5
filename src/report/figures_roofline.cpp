#include "report/figures_speed.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace sweep::report {

namespace {

using nlohmann::json;

constexpr std::size_t kMostPoints = 400;
constexpr std::size_t kMostRoofs = 4;
constexpr std::size_t kMostReasons = 3;  // that the caption names
constexpr double kBinsADecade = 8;       // of a grid that stands for many points, each way

struct RoofPoint {
  const Row* row = nullptr;
  const RooflinePoint* at = nullptr;
};

// The shape with the most work is the last that was timed with both numbers known.
std::vector<RoofPoint> roof_points(const Rows& rows) {
  std::vector<RoofPoint> out;
  for (const Row* row : rows) {
    const auto known =
        std::find_if(row->roofline.rbegin(), row->roofline.rend(), [](const RooflinePoint& point) {
          return point.intensity > 0 && point.achieved > 0;
        });
    if (is_correct(*row) && known != row->roofline.rend()) {
      out.push_back({row, &*known});
    }
  }
  return out;
}

DataTable roofline_table() {
  return {"figure_roofline",
          "Kernels under the roofline",
          "One row a kernel, or a cell of a grid where there are many: the largest timed shape.",
          {{"kernel", "kernel", "", Type::text, Show::plain, "Problem, model and shape", true},
           {"intensity",
            "intensity",
            "flop/byte",
            Type::number,
            Show::plain,
            "Work over bytes by the problem's model",
            true},
           {"achieved",
            "achieved",
            "flop/s",
            Type::number,
            Show::count,
            "Work over the kernel's time",
            true},
           {"share",
            "of roofline",
            "",
            Type::number,
            Show::percent,
            "Shortest time that the ceilings allow over the kernel's time",
            true},
           {"n", "kernels", "", Type::integer, Show::plain, "Kernels in it", true}}};
}

// Why a kernel has no share, as the judge said: which ceiling was missing.
std::string why_no_share(const RooflinePoint& at) {
  return at.bound.empty() ? "no ceiling is known" : at.bound;
}

// " No share: no ceiling of fp16 was measured (2)." over the kernels; empty where all have one.
std::string without_share(const std::vector<RoofPoint>& points) {
  std::map<std::string, std::size_t> reasons;
  for (const RoofPoint& point : points) {
    if (!(point.at->share > 0)) {
      ++reasons[why_no_share(*point.at)];
    }
  }
  std::string out;
  std::size_t named = 0;
  for (const auto& [reason, n] : reasons) {
    if (named++ == kMostReasons) {
      out += fmt::format("; {} more reasons", reasons.size() - kMostReasons);
      break;
    }
    out += fmt::format("{}{} ({})", out.empty() ? " No share of a roofline: " : "; ", reason, n);
  }
  return out.empty() ? out : out + ".";
}

json roofs_of(const std::vector<RoofPoint>& points) {
  std::set<std::pair<double, double>> seen;
  json out = json::array();
  for (const RoofPoint& point : points) {
    const RooflinePoint& at = *point.at;
    if (at.memory_ceiling > 0 && at.compute_ceiling > 0 && out.size() < kMostRoofs &&
        seen.insert({rounded(at.memory_ceiling), rounded(at.compute_ceiling)}).second) {
      out.push_back({{"memory", rounded(at.memory_ceiling)},
                     {"compute", rounded(at.compute_ceiling)},
                     {"name", at.unit},
                     {"source", at.source}});
    }
  }
  return out;
}

void add_points(const std::vector<RoofPoint>& points, Figure& out, json& list) {
  for (const RoofPoint& point : points) {
    const std::string label =
        fmt::format("{} {}, {}", point.row->problem, point.row->model, point.at->shape);
    const double share = point.at->share;
    list.push_back({{"x", rounded(point.at->intensity)},
                    {"y", rounded(point.at->achieved)},
                    {"n", 1},
                    {"mark", mark_of(*point.row)},
                    {"label", label}});
    out.table.add({cell(label),
                   cell(point.at->intensity),
                   cell(point.at->achieved),
                   share > 0 ? cell(share) : missing(why_no_share(*point.at)),
                   cell(std::size_t{1})});
  }
}

// Points on a logarithmic grid, each standing for those near it.
void add_grid(const std::vector<RoofPoint>& points, Figure& out, json& list) {
  std::map<std::pair<int, int>, std::size_t> cells;
  const auto place = [](double value) {
    return static_cast<int>(std::floor(kBinsADecade * std::log10(value)));
  };
  for (const RoofPoint& point : points) {
    ++cells[{place(point.at->intensity), place(point.at->achieved)}];
  }
  const auto middle = [](int at) { return std::pow(10.0, (at + 0.5) / kBinsADecade); };
  for (const auto& [at, n] : cells) {
    const double x = middle(at.first);
    const double y = middle(at.second);
    list.push_back({{"x", rounded(x)}, {"y", rounded(y)}, {"n", n}});
    out.table.add({cell(fmt::format("{} kernel{}", n, n == 1 ? "" : "s")),
                   cell(rounded(x)),
                   cell(rounded(y)),
                   missing("many kernels"),
                   cell(n)});
  }
}

}  // namespace

Figure roofline_figure(const Rows& rows) {
  Figure out{"roofline", "Roofline.", "", "", {}, roofline_table()};
  const std::vector<RoofPoint> points = roof_points(rows);
  const bool grid = points.size() > kMostPoints;
  json list = json::array();
  if (grid) {
    add_grid(points, out, list);
  } else {
    add_points(points, out, list);
  }
  const json roofs = roofs_of(points);
  out.data = {{"points", list}, {"roofs", roofs}, {"grid", grid}};
  out.empty = points.empty() ? "no correct kernel has a work model and a timing" : "";
  out.caption = fmt::format(
      "Work over bytes and work over time by the problem's model, on the largest timed shape of "
      "each correct kernel, n = {}; failed attempts have no place here.{}{} No intervals: each is "
      "one kernel's median.",
      points.size(),
      grid ? " Kernels that lie close are drawn as one dot, larger the more there are." : "",
      without_share(points));
  if (roofs.empty() && std::ranges::any_of(points, [](auto& p) { return p.at->share > 0; })) {
    out.caption += " No roof is drawn: the record names only the ceiling that bounds each kernel.";
  }
  out.caption += warnings(rows, true);
  return out;
}

}  // namespace sweep::report
