#include "evaluate/evaluation_json.h"
#include "evaluate/phases_json.h"
#include "util/text.h"
#include "wire/channel.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace sweep::evaluate {
namespace {

using nlohmann::json;
using wire::field;

[[noreturn]] void broken(const std::string& what) {
  throw wire::WireError({"evaluation", what, "was it written by another version?"}, "E_WIRE_FIELD");
}

// JSON has no infinities and no NaN: they travel as text.
json number(double value) {
  if (std::isfinite(value)) {
    return value;
  }
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

double number_from(const json& body, const char* key) {
  const auto found = body.find(key);
  if (found != body.end() && found->is_string()) {
    const auto text = found->get<std::string>();
    if (text == "nan") {
      return std::nan("");
    }
    return text == "inf" ? HUGE_VAL : text == "-inf" ? -HUGE_VAL : (broken("not a number"), 0.0);
  }
  return field<double>(body, key);
}

int int_from(const json& body, const char* key) {
  const auto value = field<std::int64_t>(body, key);
  if (value < INT32_MIN || value > INT32_MAX) {
    broken(std::string("'") + key + "' is out of range");
  }
  return static_cast<int>(value);
}

Verdict verdict_from(const json& body, const char* key) {
  const auto verdict = parse_verdict(field<std::string>(body, key));
  return verdict ? *verdict : (broken("unknown verdict"), Verdict::review);
}

expr::IntEnv dims_from(const json& body, const char* key) {
  expr::IntEnv dims;
  if (!body.contains(key) || !body.at(key).is_object()) {
    broken("dims are missing");
  }
  for (const auto& [name, value] : body.at(key).items()) {
    if (!value.is_number_integer()) {
      broken("a dim is no integer");
    }
    dims[name] = value.get<std::int64_t>();
  }
  return dims;
}

json dims_to_json(const expr::IntEnv& dims) {
  json body = json::object();
  for (const auto& [name, value] : dims) {
    body[name] = value;
  }
  return body;
}

const json& list_in(const json& body, const char* key) {
  const auto found = body.find(key);
  if (found == body.end() || !found->is_array()) {
    broken(std::string("list '") + key + "' is missing");
  }
  return *found;
}

template <class T>
json optional_to_json(const std::optional<T>& value) {
  return value ? to_json(*value) : json(nullptr);
}

std::optional<Failure> optional_failure(const json& body, const char* key) {
  const auto found = body.find(key);
  return found == body.end() || found->is_null() ? std::nullopt
                                                 : std::optional(failure_from_json(*found));
}

json calls_to_json(const std::vector<Call>& calls) {
  json list = json::array();
  for (const Call& call : calls) {
    list.push_back(to_json(call));
  }
  return list;
}

std::vector<Call> calls_from(const json& list) {
  std::vector<Call> calls;
  for (const json& item : list) {
    calls.push_back(call_from_json(item));
  }
  return calls;
}

json to_json(const Interval& interval) {
  return {{"low", number(interval.low)},
          {"point", number(interval.point)},
          {"high", number(interval.high)}};
}

Interval interval_from(const json& body, const char* key) {
  const json& part = body.at(key);
  return {number_from(part, "low"), number_from(part, "point"), number_from(part, "high")};
}

json to_json(const ShapeTiming& shape) {
  return {{"shape", shape.shape},
          {"dims", dims_to_json(shape.dims)},
          {"seed_seconds", shape.seed_seconds},
          {"candidate_seconds", shape.candidate_seconds},
          {"ratio", to_json(shape.ratio)},
          {"uneven", shape.uneven},
          {"floor_seconds", shape.floor_seconds}};
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

std::vector<Sample> samples_from(const json& body) {
  std::vector<Sample> samples;
  for (const json& row : list_in(body, "rows")) {
    if (!row.is_array() || row.size() != 8 ||
        !std::all_of(row.begin(), row.end(), [](const json& value) { return value.is_number(); })) {
      broken("a sample is not eight numbers");
    }
    samples.push_back({row[0].get<int>(),
                       row[1].get<int>(),
                       row[2].get<int>(),
                       row[3].get<int>(),
                       row[4].get<int>() != 0,
                       row[5].get<double>(),
                       row[6].get<double>(),
                       row[7].get<double>()});
  }
  return samples;
}

}  // namespace

json to_json(const Failure& failure) {
  return {{"verdict", name(failure.verdict)},
          {"text", util::to_valid_utf8(failure.text)},
          {"hint", util::to_valid_utf8(failure.hint)},
          {"tensor", failure.tensor},
          {"index", failure.index},
          {"got", number(failure.got)},
          {"expected", number(failure.expected)},
          {"allowed", number(failure.allowed)},
          {"wrong", failure.wrong},
          {"total", failure.total},
          {"pattern", failure.pattern},
          {"defence", failure.defence ? json(name(*failure.defence)) : json()}};
}

Failure failure_from_json(const json& body) {
  Failure failure;
  failure.verdict = verdict_from(body, "verdict");
  failure.text = field<std::string>(body, "text");
  failure.hint = field<std::string>(body, "hint");
  failure.tensor = field<std::string>(body, "tensor");
  failure.index = field<std::vector<std::int64_t>>(body, "index");
  failure.got = number_from(body, "got");
  failure.expected = number_from(body, "expected");
  failure.allowed = number_from(body, "allowed");
  failure.wrong = field<std::int64_t>(body, "wrong");
  failure.total = field<std::int64_t>(body, "total");
  failure.pattern = field<std::string>(body, "pattern");
  // Results before 0.2.0 lack it.
  if (body.contains("defence") && body.at("defence").is_string()) {
    failure.defence = parse_defence(field<std::string>(body, "defence"));
  }
  return failure;
}

json to_json(const Call& call) {
  return {{"shape", call.shape},
          {"dims", dims_to_json(call.dims)},
          {"draw", call.draw},
          {"content", call.content},
          {"worst_share", number(call.worst_share)},
          {"device_seconds", call.device_seconds},
          {"failure", optional_to_json(call.failure)}};
}

Call call_from_json(const json& body) {
  Call call;
  call.shape = field<std::string>(body, "shape");
  call.dims = dims_from(body, "dims");
  call.draw = field<std::uint64_t>(body, "draw");
  call.content = field<std::string>(body, "content");
  call.worst_share = number_from(body, "worst_share");
  call.device_seconds = field<double>(body, "device_seconds");
  call.failure = optional_failure(body, "failure");
  return call;
}

json to_json(const CheckResult& result) {
  return {{"calls", calls_to_json(result.calls)},
          {"worst_share", number(result.worst_share)},
          {"failure", optional_to_json(result.failure)},
          {"seconds", result.seconds}};
}

CheckResult check_from_json(const json& body) {
  CheckResult result;
  result.calls = calls_from(list_in(body, "calls"));
  result.worst_share = number_from(body, "worst_share");
  result.failure = optional_failure(body, "failure");
  result.seconds = field<double>(body, "seconds");
  return result;
}

json to_json(const StressResult& result, View view) {
  json body = {{"passed", result.passed},
               {"random_shapes", result.random_shapes},
               {"edge_shapes", result.edge_shapes},
               {"contents", result.contents},
               {"seconds", result.seconds}};
  if (view == View::archive) {
    body["inner"] = optional_to_json(result.inner.for_archive());
    body["calls"] = calls_to_json(result.calls.for_archive());
  }
  return body;
}

StressResult stress_from_json(const json& body) {
  StressResult result;
  result.passed = field<bool>(body, "passed");
  result.random_shapes = int_from(body, "random_shapes");
  result.edge_shapes = int_from(body, "edge_shapes");
  result.contents = int_from(body, "contents");
  result.seconds = field<double>(body, "seconds");
  if (body.contains("calls")) {
    result.inner = Hidden(optional_failure(body, "inner"));
    result.calls = Hidden(calls_from(list_in(body, "calls")));
  }
  return result;
}

json to_json(const TimeResult& result) {
  json shapes = json::array();
  for (const ShapeTiming& shape : result.shapes) {
    shapes.push_back(to_json(shape));
  }
  return {{"shapes", std::move(shapes)},
          {"ratio", to_json(result.ratio)},
          {"bootstrap", to_json(result.bootstrap)},
          {"margin", result.margin},
          {"replicates", result.replicates},
          {"blocks", result.blocks},
          {"discarded", result.discarded},
          {"uneven", result.uneven},
          {"drift", result.drift},
          {"decision", result.decision ? json(name(*result.decision)) : json(nullptr)},
          {"failure", optional_to_json(result.failure)},
          {"clock", result.clock},
          {"samples", samples_to_json(result.samples)},
          {"phases", to_json(result.phases)},
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
  result.replicates = int_from(body, "replicates");
  result.blocks = int_from(body, "blocks");
  result.discarded = int_from(body, "discarded");
  result.uneven = field<bool>(body, "uneven");
  result.drift = field<double>(body, "drift");
  if (body.contains("decision") && !body.at("decision").is_null()) {
    result.decision = verdict_from(body, "decision");
  }
  result.failure = optional_failure(body, "failure");
  result.clock = field<std::string>(body, "clock");
  result.samples = samples_from(body.at("samples"));
  if (body.contains("phases")) {
    result.phases = phases_from_json(body.at("phases"));
  }
  result.seconds = field<double>(body, "seconds");
  return result;
}

json to_json(const HeldoutResult& result, View view) {
  json body = {{"passed", result.passed}, {"seconds", result.seconds}};
  if (view == View::archive) {
    body["inner"] = optional_to_json(result.inner.for_archive());
    body["calls"] = calls_to_json(result.calls.for_archive());
    body["time"] = optional_to_json(result.time.for_archive());
  }
  return body;
}

HeldoutResult heldout_from_json(const json& body) {
  HeldoutResult result;
  result.passed = field<bool>(body, "passed");
  result.seconds = field<double>(body, "seconds");
  if (body.contains("calls")) {
    result.inner = Hidden(optional_failure(body, "inner"));
    result.calls = Hidden(calls_from(list_in(body, "calls")));
    const json& time = body.at("time");
    result.time = Hidden(time.is_null() ? std::nullopt : std::optional(time_from_json(time)));
  }
  return result;
}

json to_json(const Protections& p) {
  return {{"landlock", p.landlock},
          {"seccomp", p.seccomp},
          {"network", p.network},
          {"pids", p.pids},
          {"user", p.user},
          {"sealed", p.sealed},
          {"note", p.note}};
}

Protections protections_from_json(const json& body) {
  Protections p;
  p.landlock = field<bool>(body, "landlock");
  p.seccomp = field<bool>(body, "seccomp");
  p.network = field<bool>(body, "network");
  p.pids = field<bool>(body, "pids");
  p.user = field<bool>(body, "user");
  p.sealed = field<bool>(body, "sealed");
  p.note = field<std::string>(body, "note");
  return p;
}

}  // namespace sweep::evaluate
