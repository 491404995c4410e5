#include "cli/metrics_view.h"

#include "cli/timing_text.h"
#include "evaluate/metrics.h"
#include "util/text.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sweep::cli {
namespace {

// "1.23 TB/s"
std::string rate_text(const evaluate::Metric* metric) {
  if (metric == nullptr || !metric->value) {
    return "-";
  }
  constexpr std::array<std::pair<double, const char*>, 4> kSizes{
      {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
  for (const auto& [size, letter] : kSizes) {
    if (*metric->value >= size) {
      return fmt::format("{:.3g} {}{}", *metric->value / size, letter, metric->unit);
    }
  }
  return fmt::format("{:.3g} {}", *metric->value, metric->unit);
}

// "43% of DRAM read"
std::string share_text(const evaluate::Metric* metric) {
  return metric == nullptr || !metric->value
             ? "-"
             : fmt::format("{:.0f}% of {}", 100 * *metric->value, util::printable(metric->text));
}

std::string launches_text(const evaluate::ShapeTiming& shape) {
  return fmt::format("{} / {}", shape.launches, shape.seed_launches);
}

std::string scratch_text(const evaluate::ShapeTiming& shape) {
  const auto bytes = [](std::int64_t count) {
    return util::human_bytes(static_cast<std::uint64_t>(std::max<std::int64_t>(count, 0)));
  };
  return bytes(shape.scratch_bytes) + " / " + bytes(shape.seed_scratch_bytes);
}

// Each reason once, in the order in which it is met.
std::vector<std::string> reasons_of(const std::vector<evaluate::Metric>& metrics) {
  std::vector<std::string> reasons;
  for (const evaluate::Metric& metric : metrics) {
    const std::string text = metric.name + ": " + metric.text;
    if (!metric.value && metric.name == "roofline" &&
        std::ranges::find(reasons, text) == reasons.end()) {
      reasons.push_back(text);
    }
  }
  return reasons;
}

// What the kernel reaches of the device, for each shape.
std::string reached_table(const evaluate::Evaluation& e, const Style& style) {
  std::size_t name = 5;
  for (const evaluate::ShapeTiming& shape : e.time->shapes) {
    name = std::max(name, shape.shape.size());
  }
  std::string out = "\n " +
                    style.dim(pad_right("shape", name) + pad_left("bytes/s", 12) +
                              pad_left("flop/s", 14) + "  " + pad_right("of measured ceiling", 24) +
                              pad_right("launches, seed", 16) + "scratch, seed") +
                    "\n";
  for (const evaluate::ShapeTiming& shape : e.time->shapes) {
    const auto metric = [&](const char* what) {
      return evaluate::find_metric(e.metrics, what, shape.shape);
    };
    out += " " + pad_right(shape.shape, name) +
           pad_left(rate_text(metric("bytes_per_second")), 12) +
           pad_left(rate_text(metric("flop_per_second")), 14) + "  " +
           pad_right(share_text(metric("roofline")), 24) + pad_right(launches_text(shape), 16) +
           scratch_text(shape) + "\n";
  }
  return out;
}

// Short calls in graphs of many, beside their times alone.
std::string throughput_text(const evaluate::TimeResult& time) {
  std::string out;
  for (const evaluate::ShapeTiming& shape : time.shapes) {
    const evaluate::GraphTiming& graphs = shape.throughput;
    if (graphs.reason.empty()) {
      out += " " +
             util::printable(fmt::format(
                 "{} calls in one graph at {}: {} a call, the seed {}, {} (decides nothing)",
                 graphs.calls,
                 shape.shape,
                 util::human_seconds(graphs.candidate_seconds),
                 util::human_seconds(graphs.seed_seconds),
                 interval_text(graphs.ratio))) +
             "\n";
    }
  }
  return out;
}

}  // namespace

std::string conditions_text(const device::Conditions& conditions) {
  std::vector<std::string> parts;
  if (conditions.sm_clock_mhz) {
    parts.push_back(fmt::format("SM clock {:.0f}{} MHz",
                                *conditions.sm_clock_mhz,
                                conditions.max_sm_clock_mhz
                                    ? fmt::format(" of {:.0f}", *conditions.max_sm_clock_mhz)
                                    : ""));
  }
  if (conditions.power_watts) {
    parts.push_back(fmt::format("{:.0f} W", *conditions.power_watts));
  }
  if (conditions.temperature_c) {
    parts.push_back(fmt::format("{:.0f} C", *conditions.temperature_c));
  }
  if (!conditions.throttle.empty()) {
    parts.push_back(fmt::format("held back by {}", fmt::join(conditions.throttle, ", ")));
  }
  for (const device::Neighbour& one : conditions.neighbours) {
    parts.push_back(
        fmt::format("beside pid {} ({}){}", one.pid, one.name, one.busy ? ", which computed" : ""));
  }
  return util::printable(fmt::format("{}", fmt::join(parts, ", ")));
}

std::string metrics_text(const evaluate::Evaluation& e, const Style& style, std::size_t width) {
  if (e.metrics.empty() || !e.time) {
    return "";
  }
  std::string out = e.device == "cpu" ? "" : reached_table(e, style);
  if (const std::string at = conditions_text(e.time->conditions); !at.empty()) {
    out += style.dim(wrapped("timed at " + at, 1, width));
  }
  out += throughput_text(*e.time);
  for (const evaluate::ShapeTiming& shape : e.time->shapes) {
    const auto* energy = evaluate::find_metric(e.metrics, "energy_per_call", shape.shape);
    const auto* ratio = evaluate::find_metric(e.metrics, "energy_ratio", shape.shape);
    if (energy != nullptr && energy->value && ratio != nullptr && ratio->value) {
      out += " " +
             util::printable(
                 fmt::format("energy of a call at {}: {:.3g} mJ, the seed's {:.2f} times that",
                             shape.shape,
                             1e3 * *energy->value,
                             *ratio->value)) +
             "\n";
    }
  }
  for (const std::string& reason : reasons_of(e.metrics)) {
    out += style.dim(wrapped(util::printable(reason), 1, width));
  }
  return out;
}

}  // namespace sweep::cli
