#include "evaluate/metrics.h"

#include "evaluate/json_fields.h"
#include "wire/channel.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace sweep::evaluate {
namespace {

using nlohmann::json;
using wire::field;

constexpr std::size_t kMostMetrics = 10000;

// The measured figure that a work model's unit is held against.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kUnitFigures{
    {{"fp32", "fp32 FMA"},
     {"fp64", "fp64 FMA"},
     {"int32", "int32 multiply-add"},
     {"tensor-tf32", "tf32 tensor"},
     {"tensor-bf16", "bf16 tensor"},
     {"tensor-f16", "fp16 tensor"},
     {"tensor-int8", "int8 tensor"}}};

Metric with(std::string name, const ShapeTiming& shape, double value, std::string unit = {}) {
  return {std::move(name), shape.shape, value, std::move(unit), ""};
}

Metric without(std::string name, const ShapeTiming& shape, std::string reason) {
  return {std::move(name), shape.shape, std::nullopt, "", std::move(reason)};
}

const Figure* figure(const Ceilings& ceilings, std::string_view name) {
  const auto found = std::ranges::find(ceilings.figures, name, &Figure::name);
  return found == ceilings.figures.end() || !(found->value > 0) ? nullptr : &*found;
}

// The fastest way that the device was seen to move bytes: no kernel's share is flattered.
const Figure* memory_ceiling(const Ceilings& ceilings) {
  const Figure* best = nullptr;
  for (const char* name : {"DRAM read", "DRAM write", "DRAM copy"}) {
    const Figure* one = figure(ceilings, name);
    best = one != nullptr && (best == nullptr || one->value > best->value) ? one : best;
  }
  return best;
}

const Figure* compute_ceiling(const Ceilings& ceilings, const std::string& unit) {
  const auto* found = std::ranges::find(
      kUnitFigures, unit, [](const auto& pair) { return std::string(pair.first); });
  return found == kUnitFigures.end() ? nullptr : figure(ceilings, found->second);
}

Metric rate(const char* name,
            const ShapeTiming& shape,
            double work,
            const char* unit,
            const char* missing) {
  return work > 0 ? with(name, shape, work / shape.candidate_seconds, unit)
                  : without(name, shape, missing);
}

// The longer of the times that bytes and flops take at the measured ceilings, over the call's.
Metric roofline(const ShapeTiming& shape, const Ceilings& ceilings) {
  if (!ceilings.reason.empty()) {
    return without("roofline", shape, ceilings.reason);
  }
  const Figure* memory = memory_ceiling(ceilings);
  if (memory == nullptr) {
    return without("roofline", shape, "the device's calibration has no ceiling of its memory");
  }
  double least = shape.bytes / memory->value;
  std::string bound = memory->name;
  if (shape.flops > 0 && shape.flops_needed) {
    const Figure* compute = compute_ceiling(ceilings, shape.unit);
    if (compute == nullptr) {
      return without("roofline", shape, "no ceiling of " + shape.unit + " was measured");
    }
    if (const double seconds = shape.flops / compute->value; seconds > least) {
      least = seconds;
      bound = compute->name;
    }
  }
  if (!(least > 0)) {
    return without("roofline", shape, "the problem states no bytes and no flops");
  }
  Metric made = with("roofline", shape, least / shape.candidate_seconds);
  made.text = bound;
  return made;
}

Metric speed_of_light(const ShapeTiming& shape, bool cuda) {
  if (!cuda) {
    return without("speed_of_light", shape, "the datasheet is that of an H200");
  }
  return shape.floor_seconds > 0
             ? with("speed_of_light", shape, shape.floor_seconds / shape.candidate_seconds)
             : without("speed_of_light", shape, "all of its bytes fit in L2");
}

// All that a call's plan is given, seed over candidate: above 1 the candidate needs less.
Metric memory_ratio(const ShapeTiming& shape) {
  const auto seed = static_cast<double>(shape.tensor_bytes + shape.seed_scratch_bytes);
  const auto candidate = static_cast<double>(shape.tensor_bytes + shape.scratch_bytes);
  if (!(candidate > 0)) {
    return without("memory_ratio", shape, "no buffer has any bytes");
  }
  Metric made = with("memory_ratio", shape, seed / candidate);
  made.text = "tensors and scratch as allocated";
  return made;
}

// Of short calls in graphs of many.
void add_throughput(const ShapeTiming& shape, std::vector<Metric>& out) {
  const GraphTiming& graphs = shape.throughput;
  if (!graphs.reason.empty() || !(graphs.candidate_seconds > 0)) {
    const std::string reason = graphs.reason.empty() ? "its graphs took no time" : graphs.reason;
    out.push_back(without("throughput_per_call", shape, reason));
    out.push_back(without("throughput_ratio", shape, reason));
    return;
  }
  out.push_back(with("throughput_per_call", shape, graphs.candidate_seconds, "s"));
  out.back().text = fmt::format("graphs of {} calls", graphs.calls);
  out.push_back(with("throughput_ratio", shape, graphs.ratio.point));
}

void add_energy(const ShapeTiming& shape,
                const EnergyResult& energy,
                bool cuda,
                std::vector<Metric>& out) {
  const std::string reason = !cuda                         ? "the cpu device has no NVML"
                             : !energy.reason.empty()      ? energy.reason
                             : energy.shape != shape.shape ? "measured at " + energy.shape + " only"
                                                           : "";
  if (!reason.empty()) {
    out.push_back(without("energy_per_call", shape, reason));
    out.push_back(without("energy_ratio", shape, reason));
    return;
  }
  out.push_back(with("energy_per_call", shape, energy.candidate_joules, "J"));
  out.push_back(with("energy_ratio", shape, energy.seed_joules / energy.candidate_joules));
}

void add_shape(const ShapeTiming& shape,
               bool cuda,
               const Ceilings& ceilings,
               std::vector<Metric>& out) {
  out.push_back(
      rate("bytes_per_second", shape, shape.bytes, "B/s", "the problem's work model has no bytes"));
  out.push_back(rate(
      "flop_per_second", shape, shape.flops, "flop/s", "the problem's work model has no flops"));
  out.push_back(roofline(shape, ceilings));
  out.push_back(speed_of_light(shape, cuda));
  out.push_back(
      shape.launches > 0
          ? with("launch_ratio", shape, static_cast<double>(shape.seed_launches) / shape.launches)
          : without("launch_ratio", shape, "the plan has no step at this shape"));
  out.push_back(memory_ratio(shape));
  add_throughput(shape, out);
}

}  // namespace

// On the cpu device nothing holds: what it reaches is what the machine's other work leaves.
Ceilings ceilings_of(const std::filesystem::path& cache,
                     device::Kind kind,
                     const device::Info& info) {
  if (kind == device::Kind::cpu) {
    return {{}, "the cpu device has no ceilings"};
  }
  FoundCalibration found = find_calibration(cache, info);
  return found.calibration ? Ceilings{std::move(found.calibration->figures), ""}
                           : Ceilings{{}, "not calibrated: " + found.reason};
}

std::vector<Metric> metrics_of(const TimeResult& time,
                               device::Kind kind,
                               const Ceilings& ceilings) {
  std::vector<Metric> out;
  for (const ShapeTiming& shape : time.shapes) {
    if (shape.candidate_seconds > 0) {
      add_shape(shape, kind == device::Kind::cuda, ceilings, out);
      add_energy(shape, time.energy, kind == device::Kind::cuda, out);
    }
  }
  return out;
}

const Metric* find_metric(const std::vector<Metric>& metrics,
                          std::string_view name,
                          std::string_view shape) {
  const auto found = std::ranges::find_if(
      metrics, [&](const Metric& metric) { return metric.name == name && metric.shape == shape; });
  return found == metrics.end() ? nullptr : &*found;
}

json to_json(const std::vector<Metric>& metrics) {
  json list = json::array();
  for (const Metric& metric : metrics) {
    list.push_back({{"name", metric.name},
                    {"shape", metric.shape},
                    {"value", metric.value ? number(*metric.value) : json(nullptr)},
                    {"unit", metric.unit},
                    {metric.value ? "text" : "reason", metric.text}});
  }
  return list;
}

std::vector<Metric> metrics_from_json(const json& list) {
  if (!list.is_array() || list.size() > kMostMetrics) {
    broken("metrics are not a list");
  }
  std::vector<Metric> metrics;
  for (const json& item : list) {
    Metric metric;
    metric.name = field<std::string>(item, "name");
    metric.shape = field<std::string>(item, "shape");
    if (!item.at("value").is_null()) {
      metric.value = number_from(item, "value");
    }
    metric.unit = field<std::string>(item, "unit");
    metric.text = field<std::string>(item, metric.value ? "text" : "reason");
    metrics.push_back(std::move(metric));
  }
  return metrics;
}

}  // namespace sweep::evaluate
