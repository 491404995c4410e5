#include "evaluate/phases_json.h"

#include "wire/channel.h"

#include <nlohmann/json.hpp>

#include <array>
#include <utility>

namespace sweep::evaluate {
namespace {

using nlohmann::json;

constexpr std::array<std::pair<const char*, double TimePhases::*>, 6> kPhases{
    {{"pool", &TimePhases::pool},
     {"start", &TimePhases::start},
     {"warm", &TimePhases::warm},
     {"calls", &TimePhases::calls},
     {"slopes", &TimePhases::slopes},
     {"graphs", &TimePhases::graphs}}};

constexpr std::array<std::pair<const char*, double CallCosts::*>, 6> kCosts{
    {{"fill", &CallCosts::fill},
     {"poison", &CallCosts::poison},
     {"flush", &CallCosts::flush},
     {"run", &CallCosts::run},
     {"inspect", &CallCosts::inspect},
     {"compare", &CallCosts::compare}}};

constexpr std::array<std::pair<const char*, double JudgeCosts::*>, 7> kJudgeCosts{
    {{"bench", &JudgeCosts::bench},
     {"scales", &JudgeCosts::scales},
     {"fill", &JudgeCosts::fill},
     {"oracle", &JudgeCosts::oracle},
     {"seed", &JudgeCosts::seed},
     {"candidate", &JudgeCosts::candidate},
     {"compare", &JudgeCosts::compare}}};

}  // namespace

json to_json(const JudgeCosts& costs) {
  json body = json::object();
  for (const auto& [name, member] : kJudgeCosts) {
    body[name] = costs.*member;
  }
  body["ready"] = costs.ready;
  return body;
}

JudgeCosts judge_costs_in(const json& body) {
  JudgeCosts costs;
  if (const auto found = body.find("costs"); found != body.end()) {
    for (const auto& [name, member] : kJudgeCosts) {
      costs.*member = wire::field<double>(*found, name);
    }
    // Results before 0.2.0 lack it.
    if (found->contains("ready")) {
      costs.ready = static_cast<int>(wire::field<std::int64_t>(*found, "ready"));
    }
  }
  return costs;
}

json to_json(const TimePhases& phases) {
  json body = json::object();
  for (const auto& [name, member] : kPhases) {
    body[name] = phases.*member;
  }
  json& costs = body["costs"] = json::object();
  for (const auto& [name, member] : kCosts) {
    costs[name] = phases.costs.*member;
  }
  return body;
}

TimePhases phases_from_json(const json& body) {
  TimePhases phases;
  for (const auto& [name, member] : kPhases) {
    // Results of before slopes had a phase of their own count them among the calls; older ones have
    // no graphs.
    const bool later = member == &TimePhases::slopes || member == &TimePhases::graphs;
    if (!later || body.contains(name)) {
      phases.*member = wire::field<double>(body, name);
    }
  }
  if (const auto costs = body.find("costs"); costs != body.end()) {
    for (const auto& [name, member] : kCosts) {
      phases.costs.*member = wire::field<double>(*costs, name);
    }
  }
  return phases;
}

}  // namespace sweep::evaluate
