#include "report/timing_view.h"

#include "report/baseline_table.h"
#include "report/figures_speed.h"
#include "report/json_look.h"
#include "report/page.h"
#include "report/shown_text.h"
#include "report/table.h"
#include "util/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sweep::report {

namespace {

using nlohmann::json;

constexpr std::size_t kMostShapes = 200;  // rows of a table
// Columns of a stored sample: replicate, shape, block, position, candidate, device seconds, ...
constexpr std::size_t kCandidateColumn = 4;
constexpr std::size_t kSecondsColumn = 5;
constexpr std::size_t kSampleColumns = 6;
constexpr int kCallsOfBlock = 4;

std::string share_text(const std::optional<double>& share) {
  return share && *share >= 0.005 ? fmt::format("{:.0f}%", 100 * *share) : "\u2014";
}

std::optional<record::Interval> interval_in(const json& holder) {
  const auto point = look_number(holder, {"ratio", "point"});
  const auto low = look_number(holder, {"ratio", "low"});
  const auto high = look_number(holder, {"ratio", "high"});
  return point && low && high ? std::optional(record::Interval{*point, *low, *high}) : std::nullopt;
}

// Of the shapes whose calls are short enough; empty where none is.
Markup throughput_table(const record::FinalResult& result) {
  Table table{
      "throughput",
      "Short calls in graphs of many, each on buffers of its own: beside the time of a call "
      "alone, which decides",
      {"shape", "seed", "kernel", "speedup [95%]"},
      {false, true, true, true},
      {}};
  for (const record::ShapeTiming& s : result.timings) {
    if (s.throughput_us && s.seed_throughput_us) {
      table.rows.push_back({text(s.shape),
                            text(util::human_seconds(*s.seed_throughput_us * 1e-6)),
                            text(util::human_seconds(*s.throughput_us * 1e-6)),
                            text(speedup_text(s.throughput_speedup))});
    }
  }
  return table.rows.empty() ? Markup() : render(table);
}

Markup shape_table(const record::FinalResult& result) {
  Table table{"timings",
              "Visible shapes: median time of a call, and seed time over kernel time, paired "
              "within blocks",
              {"shape", "seed", "kernel", "speedup [95%]", "replicates", "blocks", "of roofline"},
              {false, true, true, true, true, true, true},
              {}};
  for (const record::ShapeTiming& s : result.timings) {
    table.rows.push_back({text(s.shape),
                          text(util::human_seconds(s.seed_us * 1e-6)),
                          text(util::human_seconds(s.candidate_us * 1e-6)),
                          text(speedup_text(s.speedup)),
                          text(std::to_string(s.replicates)),
                          text(std::to_string(s.blocks)),
                          text(share_text(s.share_of_floor))});
  }
  return render(table) + throughput_table(result);
}

Markup heldout_table(const record::FinalResult& result) {
  Table table{"held-out",
              "Held-out shapes, which the model never sees",
              {"shape", "seed", "kernel", "speedup [95%]"},
              {false, true, true, true},
              {}};
  const json* time = look(result.evaluation, {"stages", "heldout", "time"});
  if (time == nullptr) {
    return {};
  }
  for (const json& shape : look_list(*time, {"shapes"})) {
    if (table.rows.size() < kMostShapes && shape.is_object()) {
      const json* dims = look(shape, {"dims"});
      table.rows.push_back(
          {text(dims == nullptr ? look_text(shape, {"shape"}) : sizes_text(*dims)),
           text(util::human_seconds(look_number(shape, {"seed_seconds"}).value_or(0))),
           text(util::human_seconds(look_number(shape, {"candidate_seconds"}).value_or(0))),
           text(speedup_text(interval_in(shape)))});
    }
  }
  const auto mean = interval_in(*time);
  if (table.rows.empty() || !mean) {
    return {};
  }
  return render(table) + element("p",
                                 {{"class", "meta"}},
                                 text(fmt::format("Geometric mean over the held-out shapes: {}.",
                                                  speedup_text(mean))));
}

// A whole number that an index may be; -1: none.
int index_in(const json& cell) {
  const double value = cell.get<double>();
  return value >= 0 && value < 1e6 && value == std::floor(value) ? static_cast<int>(value) : -1;
}

struct BlockRatio {
  std::size_t shape = 0;  // of the result's timings
  int replicate = 0;
  double ratio = 0;
};

// One ratio a block, as the statistic takes it: exp((log s1 + log s2 - log c1 - log c2) / 2) over
// the block's four calls. Empty when the record holds no samples.
std::vector<BlockRatio> block_ratios(const record::FinalResult& result) {
  // Sum of the logs of the seed's calls less the candidate's, and how many calls there were.
  std::map<std::array<int, 3>, std::pair<double, int>> blocks;
  for (const json& row : look_list(result.evaluation, {"stages", "time", "samples", "rows"})) {
    const bool numbers =
        row.is_array() && row.size() >= kSampleColumns &&
        std::all_of(row.begin(), row.end(), [](const auto& v) { return v.is_number(); });
    const double seconds = numbers ? row[kSecondsColumn].get<double>() : 0;
    if (seconds > 0) {
      auto& [logs, calls] = blocks[{index_in(row[0]), index_in(row[1]), index_in(row[2])}];
      logs += row[kCandidateColumn] != 0 ? -std::log(seconds) : std::log(seconds);
      ++calls;
    }
  }
  std::vector<BlockRatio> dots;
  for (const auto& [key, block] : blocks) {
    const bool known = key[1] >= 0 && static_cast<std::size_t>(key[1]) < result.timings.size();
    if (known && block.second == kCallsOfBlock) {
      dots.push_back({static_cast<std::size_t>(key[1]), key[0], std::exp(block.first / 2)});
    }
  }
  return dots;
}

std::string json_text(const json& value) {
  return value.dump(-1, ' ', true, json::error_handler_t::replace);
}

// The figure's data. There are hundreds of dots a page, so their text is put together at once; the
// keys stand in the order of the alphabet, as nlohmann's.
std::string block_data(const record::FinalResult& result, const std::vector<BlockRatio>& dots) {
  json intervals = json::array();
  std::vector<std::string> fields, names;  // of each shape, as CSV and JSON have it
  for (const record::ShapeTiming& s : result.timings) {
    const std::string shape = visible(s.shape);
    fields.push_back(csv_field(shape));
    names.push_back(json_text(shape));
    if (s.speedup) {
      intervals.push_back({{"shape", shape},
                           {"point", s.speedup->point},
                           {"low", s.speedup->low},
                           {"high", s.speedup->high}});
    }
  }
  std::string table = "shape,replicate,ratio\r\n";
  std::string list;
  for (const BlockRatio& dot : dots) {
    fmt::format_to(
        std::back_inserter(table), "{},{},{}\r\n", fields[dot.shape], dot.replicate, dot.ratio);
    fmt::format_to(std::back_inserter(list),
                   R"({}{{"ratio":{},"replicate":{},"shape":{}}})",
                   list.empty() ? "" : ",",
                   json_text(dot.ratio),
                   dot.replicate,
                   names[dot.shape]);
  }
  return fmt::format(
      R"({{"csv":{},"dots":[{}],"intervals":{},"schema":1,"title":"Every block of the timing."}})",
      json_text(table),
      list,
      json_text(intervals));
}

// The figure of all blocks; its table view is the table of shapes above it.
Markup block_figure(const record::FinalResult& result) {
  const std::vector<BlockRatio> dots = block_ratios(result);
  if (dots.empty()) {
    return {};
  }
  const Markup caption =
      element("figcaption",
              text(fmt::format(
                  "Seed time over kernel time of every block of four calls, n = {} block{}; the "
                  "bar is the shape's 95% interval over replicates. The table above has the "
                  "intervals.",
                  dots.size(),
                  dots.size() == 1 ? "" : "s")));
  return element("figure",
                 {{"class", "chart"}, {"id", "fig-blocks"}, {"data-figure", "blocks"}},
                 caption + json_block("fig-blocks-data", block_data(result, dots)));
}

// "kernel clock 1980 of 1980 MHz, 48 C, 389 W"
Markup conditions(const record::FinalResult& result) {
  const json* c = look(result.evaluation, {"stages", "time", "conditions"});
  if (c == nullptr) {
    return {};
  }
  std::string words = look_text(*c, {"reason"});
  if (words.empty()) {
    const auto part = [&](const char* key, const char* form) {
      if (const auto value = look_number(*c, {key})) {
        words += fmt::format(fmt::runtime(form), words.empty() ? "" : ", ", *value);
      }
    };
    part("sm_clock_mhz", "{}SM clock at least {:.0f} MHz");
    part("max_sm_clock_mhz", "{}device's highest {:.0f} MHz");
    part("memory_clock_mhz", "{}memory {:.0f} MHz");
    part("temperature_c", "{}{:.0f} \u00b0C");
    part("power_watts", "{}{:.0f} W");
    const auto& throttle = look_list(*c, {"throttle"});
    words += throttle.empty() ? ", clocks not held back" : ", clocks held back";
    for (const json& why : throttle) {
      words += why.is_string() ? " (" + why.get<std::string>() + ")" : "";
    }
  }
  constexpr std::size_t kMostNeighbours = 8;
  const auto& neighbours = look_list(*c, {"neighbours"});
  for (std::size_t i = 0; i < std::min(neighbours.size(), kMostNeighbours); ++i) {
    const json* busy = look(neighbours[i], {"busy"});
    words += fmt::format(", beside another program ({}){}",
                         look_text(neighbours[i], {"name"}),
                         busy != nullptr && *busy == true ? " that computed" : "");
  }
  return element("p", {{"class", "meta"}}, text("While it was timed: " + words + "."));
}

// How the measurement was watched: each guard's estimate beside its limit.
Markup guards(const record::FinalResult& result) {
  struct Row {
    const char* key;
    const char* words;
    bool seconds;
  };

  constexpr std::array rows = {
      Row{"drift", "the seed's own time over a replicate", false},
      Row{"carryover", "of the kernel on the seed's next call", false},
      Row{"hidden_seconds", "device events against the host's clock", true},
      Row{"slope_seconds", "device events against the judge's clock", true}};
  Table table{"guards",
              "Disturbances that were looked for. Only the 99% lower bound decides",
              {"what", "estimate", "lower bound", "limit"},
              {false, true, true, true},
              {}};
  for (const Row& row : rows) {
    const json* guard = look(result.evaluation, {"stages", "time", "guards", row.key});
    if (guard == nullptr) {
      continue;
    }
    const auto cell = [&](const char* key) {
      const double value = look_number(*guard, {key}).value_or(0);
      return text(row.seconds ? util::human_seconds(value) : fmt::format("{:.2f}%", 100 * value));
    };
    table.rows.push_back({text(row.words), cell("point"), cell("low"), cell("limit")});
  }
  return table.rows.empty() ? Markup{}
                            : fold("guards-fold", "How the timing was watched", render(table));
}

std::string metric_value(const json& metric) {
  const auto value = look_number(metric, {"value"});
  if (!value) {
    return "\u2014";
  }
  const std::string unit = look_text(metric, {"unit"});
  if (unit == "s") {
    return util::human_seconds(*value);
  }
  const bool countable = *value >= 0 && *value < 1e18;
  if ((unit == "B/s" || unit == "flop/s") && countable) {
    return util::human_count(static_cast<std::uint64_t>(*value)) + " " + unit;
  }
  return fmt::format("{:.3g}{}", *value, unit.empty() ? "" : " " + unit);
}

// What the kernel reaches, one row a figure and shape.
Markup metric_table(const record::FinalResult& result) {
  Table table{"metrics",
              "What the kernel reaches on each visible shape",
              {"figure", "shape", "value", "note"},
              {false, false, true, false},
              {}};
  for (const json& metric : look_list(result.evaluation, {"metrics"})) {
    if (table.rows.size() < kMostShapes && metric.is_object()) {
      const std::string why = look_text(metric, {"reason"});
      std::string name = look_text(metric, {"name"});
      std::replace(name.begin(), name.end(), '_', ' ');
      table.rows.push_back({text(name),
                            text(look_text(metric, {"shape"})),
                            text(metric_value(metric)),
                            text(why.empty() ? look_text(metric, {"text"}) : why)});
    }
  }
  return table.rows.empty() ? Markup{}
                            : fold("metrics-fold",
                                   "Bandwidth, operations, launches, memory, energy",
                                   render(table));
}

// "3.35T flop/s"; an em dash where it is unknown.
std::string rate_text(double rate, const char* unit) {
  return rate > 0 && rate < 1e18 ? util::human_count(static_cast<std::uint64_t>(rate)) + " " + unit
                                 : std::string("\u2014");
}

// Where the kernel stands under the roofline; nothing where the work of the problem is unknown.
Markup roofline_table_of(const Row& row) {
  Table table{"roofline-points",
              "Roofline: the work that the problem states, over the kernel's time",
              {"shape",
               "flop a byte",
               "achieved",
               "ridge",
               "memory",
               "arithmetic",
               "of it",
               "bound",
               "ceilings from"},
              {false, true, true, true, true, true, true, false, false},
              {}};
  for (const RooflinePoint& point : row.roofline) {
    const auto figure = [](double value, const char* form) {
      return text(value > 0 ? fmt::format(fmt::runtime(form), value) : std::string("\u2014"));
    };
    const std::string unit = point.unit.empty() ? "flop/s" : "flop/s, " + point.unit;
    table.rows.push_back({text(point.shape),
                          figure(point.intensity, "{:.3g}"),
                          text(rate_text(point.achieved, unit.c_str())),
                          figure(point.ridge(), "{:.3g} flop/B"),
                          text(rate_text(point.memory_ceiling, "B/s")),
                          text(rate_text(point.compute_ceiling, "flop/s")),
                          figure(100 * point.share, "{:.1f}%"),
                          text(point.bound),
                          text(point.source)});
  }
  return table.rows.empty() ? Markup{} : html(roofline_figure({&row}), row.page) + render(table);
}

}  // namespace

Markup timing_view(const record::FinalResult& result, const Row& row) {
  if (result.timings.empty()) {
    return {};
  }
  return element("h2", {{"id", "timing"}}, text("Timing")) + shape_table(result) +
         block_figure(result) + conditions(result) + heldout_table(result) +
         baseline_table(result) + roofline_table_of(row) + metric_table(result) + guards(result);
}

}  // namespace sweep::report
