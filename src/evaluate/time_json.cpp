#include "device/info_json.h"
#include "evaluate/evaluation_json.h"
#include "evaluate/json_fields.h"
#include "evaluate/phases_json.h"
#include "wire/channel.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sweep::evaluate {
namespace {

using nlohmann::json;
using wire::field;

json to_json(const Interval& interval) {
  return {{"low", number(interval.low)},
          {"point", number(interval.point)},
          {"high", number(interval.high)}};
}

Interval interval_from(const json& body, const char* key) {
  const json& part = body.at(key);
  return {number_from(part, "low"), number_from(part, "point"), number_from(part, "high")};
}

json to_json(const Guard& guard) {
  return {
      {"point", number(guard.point)}, {"low", number(guard.low)}, {"limit", number(guard.limit)}};
}

Guard guard_from(const json& body, const char* key) {
  const json& part = body.at(key);
  return {number_from(part, "point"), number_from(part, "low"), number_from(part, "limit")};
}

json to_json(const CalibrationUsed& used) {
  return {{"id", used.id}, {"age_seconds", used.age_seconds}, {"half_width", used.half_width}};
}

std::optional<CalibrationUsed> calibration_from(const json& body) {
  const auto part = body.find("calibration");
  if (part == body.end() || part->is_null()) {
    return std::nullopt;
  }
  return CalibrationUsed{field<std::string>(*part, "id"),
                         field<double>(*part, "age_seconds"),
                         field<double>(*part, "half_width")};
}

json to_json(const EnergyResult& energy) {
  return {{"shape", energy.shape},
          {"seed_joules", number(energy.seed_joules)},
          {"candidate_joules", number(energy.candidate_joules)},
          {"seconds", energy.seconds},
          {"reason", energy.reason}};
}

EnergyResult energy_from(const json& body) {
  EnergyResult energy;
  energy.shape = field<std::string>(body, "shape");
  energy.seed_joules = number_from(body, "seed_joules");
  energy.candidate_joules = number_from(body, "candidate_joules");
  energy.seconds = field<double>(body, "seconds");
  energy.reason = field<std::string>(body, "reason");
  return energy;
}

json to_json(const GraphTiming& timing) {
  return {{"calls", timing.calls},
          {"seed_seconds", timing.seed_seconds},
          {"candidate_seconds", timing.candidate_seconds},
          {"ratio", to_json(timing.ratio)},
          {"reason", timing.reason}};
}

GraphTiming graphs_from(const json& body) {
  GraphTiming timing;
  timing.calls = int_from(body, "calls");
  timing.seed_seconds = field<double>(body, "seed_seconds");
  timing.candidate_seconds = field<double>(body, "candidate_seconds");
  timing.ratio = interval_from(body, "ratio");
  timing.reason = field<std::string>(body, "reason");
  return timing;
}

json to_json(const ShapeTiming& shape) {
  return {{"shape", shape.shape},
          {"dims", dims_to_json(shape.dims)},
          {"seed_seconds", shape.seed_seconds},
          {"candidate_seconds", shape.candidate_seconds},
          {"ratio", to_json(shape.ratio)},
          {"uneven", shape.uneven},
          {"floor_seconds", shape.floor_seconds},
          {"launches", shape.launches},
          {"seed_launches", shape.seed_launches},
          {"bytes", number(shape.bytes)},
          {"flops", number(shape.flops)},
          {"unit", shape.unit},
          {"flops_needed", shape.flops_needed},
          {"tensor_bytes", shape.tensor_bytes},
          {"scratch_bytes", shape.scratch_bytes},
          {"seed_scratch_bytes", shape.seed_scratch_bytes},
          {"throughput", to_json(shape.throughput)}};
}

ShapeTiming shape_from(const json& body) {
  ShapeTiming shape;
  shape.shape = field<std::string>(body, "shape");
  shape.dims = dims_from(body, "dims");
  shape.seed_seconds = field<double>(body, "seed_seconds");
  shape.candidate_seconds = field<double>(body, "candidate_seconds");
  shape.ratio = interval_from(body, "ratio");
  shape.uneven = field<bool>(body, "uneven");
  shape.floor_seconds = field<double>(body, "floor_seconds");
  shape.launches = body.contains("launches") ? int_from(body, "launches") : 1;
  if (body.contains("seed_launches")) {  // older results lack these
    shape.seed_launches = int_from(body, "seed_launches");
    shape.bytes = number_from(body, "bytes");
    shape.flops = number_from(body, "flops");
    shape.unit = field<std::string>(body, "unit");
    shape.flops_needed = field<bool>(body, "flops_needed");
    shape.tensor_bytes = field<std::int64_t>(body, "tensor_bytes");
    shape.scratch_bytes = field<std::int64_t>(body, "scratch_bytes");
    shape.seed_scratch_bytes = field<std::int64_t>(body, "seed_scratch_bytes");
  }
  if (body.contains("throughput")) {
    shape.throughput = graphs_from(body.at("throughput"));
  }
  return shape;
}

// Rows of numbers: a time stage has thousands.
json samples_to_json(const std::vector<Sample>& samples) {
  json rows = json::array();
  for (const Sample& s : samples) {
    rows.push_back({s.replicate,
                    s.shape,
                    s.block,
                    s.position,
                    s.candidate ? 1 : 0,
                    s.device_seconds,
                    s.host_seconds,
                    s.flushed});
  }
  return {{"columns",
           {"replicate",
            "shape",
            "block",
            "position",
            "candidate",
            "device_seconds",
            "host_seconds",
            "flushed"}},
          {"rows", std::move(rows)}};
}

void require_numbers(const json& row, std::size_t count, const char* otherwise) {
  if (!row.is_array() || row.size() != count ||
      !std::ranges::all_of(row, [](const json& value) { return value.is_number(); })) {
    broken(otherwise);
  }
}

int whole(const json& value) {
  constexpr std::int64_t kMost = INT32_MAX;
  if (!value.is_number_integer() || value < -kMost || value > kMost) {
    broken("a place of a sample is not a whole number");
  }
  return value.get<int>();
}

std::vector<Sample> samples_from(const json& body) {
  std::vector<Sample> samples;
  for (const json& row : list_in(body, "rows")) {
    require_numbers(row, 8, "a sample is not eight numbers");
    samples.push_back({whole(row[0]),
                       whole(row[1]),
                       whole(row[2]),
                       whole(row[3]),
                       whole(row[4]) != 0,
                       row[5].get<double>(),
                       row[6].get<double>(),
                       row[7].get<double>()});
  }
  return samples;
}

json slopes_to_json(const std::vector<SlopeSample>& slopes) {
  json rows = json::array();
  for (const SlopeSample& s : slopes) {
    rows.push_back({s.replicate, s.shape, s.seed, s.candidate});
  }
  return {{"columns", {"replicate", "shape", "seed_seconds", "candidate_seconds"}},
          {"rows", std::move(rows)}};
}

std::vector<SlopeSample> slopes_from(const json& body) {
  std::vector<SlopeSample> slopes;
  for (const json& row : list_in(body, "rows")) {
    require_numbers(row, 4, "a slope is not four numbers");
    slopes.push_back({whole(row[0]), whole(row[1]), row[2].get<double>(), row[3].get<double>()});
  }
  return slopes;
}

}  // namespace

json to_json(const TimeResult& result) {
  json shapes = json::array();
  for (const ShapeTiming& shape : result.shapes) {
    shapes.push_back(to_json(shape));
  }
  json earlier = json::array();
  for (const TimeResult& session : result.earlier) {
    earlier.push_back(to_json(session));
  }
  return {{"shapes", std::move(shapes)},
          {"ratio", to_json(result.ratio)},
          {"bootstrap", to_json(result.bootstrap)},
          {"margin", result.margin},
          {"calibration", result.calibration ? to_json(*result.calibration) : json(nullptr)},
          {"replicates", result.replicates},
          {"blocks", result.blocks},
          {"discarded", result.discarded},
          {"uneven", result.uneven},
          {"drift", result.drift.point},
          {"guards",
           {{"drift", to_json(result.drift)},
            {"carryover", to_json(result.carryover)},
            {"hidden_seconds", to_json(result.hidden)},
            {"slope_seconds", to_json(result.slope)}}},
          {"decision", result.decision ? json(name(*result.decision)) : json(nullptr)},
          {"failure", optional_to_json(result.failure)},
          {"clock", result.clock},
          {"samples", samples_to_json(result.samples)},
          {"slopes", slopes_to_json(result.slopes)},
          {"graphs", samples_to_json(result.graphs)},
          {"pilot", samples_to_json(result.pilot)},
          {"earlier", std::move(earlier)},
          {"phases", to_json(result.phases)},
          {"energy", to_json(result.energy)},
          {"conditions", device::to_json(result.conditions)},
          {"overhead_per_call", result.overhead_per_call()},
          {"seconds", result.seconds}};
}

TimeResult time_from_json(const json& body) {
  TimeResult result;
  for (const json& shape : list_in(body, "shapes")) {
    result.shapes.push_back(shape_from(shape));
  }
  result.ratio = interval_from(body, "ratio");
  result.bootstrap = interval_from(body, "bootstrap");
  result.margin = field<double>(body, "margin");
  result.calibration = calibration_from(body);
  result.replicates = int_from(body, "replicates");
  result.blocks = int_from(body, "blocks");
  result.discarded = int_from(body, "discarded");
  result.uneven = field<bool>(body, "uneven");
  result.drift.point = field<double>(body, "drift");
  if (body.contains("guards")) {
    const json& guards = body.at("guards");
    result.drift = guard_from(guards, "drift");
    result.carryover = guard_from(guards, "carryover");
    result.hidden = guard_from(guards, "hidden_seconds");
    if (guards.contains("slope_seconds")) {
      result.slope = guard_from(guards, "slope_seconds");
    }
  }
  if (body.contains("decision") && !body.at("decision").is_null()) {
    result.decision = verdict_from(body, "decision");
  }
  result.failure = optional_failure(body, "failure");
  result.clock = field<std::string>(body, "clock");
  result.samples = samples_from(body.at("samples"));
  if (body.contains("slopes")) {
    result.slopes = slopes_from(body.at("slopes"));
  }
  if (body.contains("graphs")) {
    result.graphs = samples_from(body.at("graphs"));
  }
  if (body.contains("pilot")) {
    result.pilot = samples_from(body.at("pilot"));
  }
  if (body.contains("earlier")) {
    for (const json& session : list_in(body, "earlier")) {
      result.earlier.push_back(time_from_json(session));
    }
  }
  if (body.contains("phases")) {
    result.phases = phases_from_json(body.at("phases"));
  }
  if (body.contains("energy")) {
    result.energy = energy_from(body.at("energy"));
  }
  if (body.contains("conditions")) {
    result.conditions = device::conditions_from_json(body.at("conditions"));
  }
  result.seconds = field<double>(body, "seconds");
  return result;
}

}  // namespace sweep::evaluate
