#include "evaluate/evaluation_json.h"
#include "evaluate/json_fields.h"
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
          {"costs", to_json(result.costs)},
          {"seconds", result.seconds}};
}

CheckResult check_from_json(const json& body) {
  CheckResult result;
  result.calls = calls_from(list_in(body, "calls"));
  result.worst_share = number_from(body, "worst_share");
  result.failure = optional_failure(body, "failure");
  result.costs = judge_costs_in(body);
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
    body["costs"] = to_json(result.costs);
  }
  return body;
}

StressResult stress_from_json(const json& body) {
  StressResult result;
  result.passed = field<bool>(body, "passed");
  result.costs = judge_costs_in(body);
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
