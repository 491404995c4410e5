#include "evaluate/admission/admission.h"

#include "evaluate/json_fields.h"
#include "wire/channel.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace sweep::evaluate::admission {
namespace {

using nlohmann::json;
using wire::field;

constexpr std::size_t kMostFailures = 20;
constexpr std::array kRules = std::to_array<RuleInfo>({
    {Rule::golden, "golden", "the reference agrees with an independent program"},
    {Rule::nulls, "null", "solvers that compute nothing, or not everything, fail at every shape"},
    {Rule::precision, "precision", "arithmetic of the next lower class fails by a factor of 3"},
    {Rule::honest, "honest", "the seed and other honest arithmetic pass"},
    {Rule::influence, "influence", "every input matters, errors stay bounded, outputs vary"},
    {Rule::work, "work", "the seed lies between the roofline floor and 20 times that"},
    {Rule::draws, "draws", "the reference runs on every draw that can be asked for"},
});

State state_from(const std::string& text) {
  for (const State state : {State::holds, State::fails, State::not_measured}) {
    if (name(state) == text) {
      return state;
    }
  }
  broken("'" + text + "' is no state of a rule");
}

Rule rule_from(const std::string& text) {
  const auto rule = parse_rule(text);
  return rule ? *rule : (broken("'" + text + "' is no rule"), Rule::golden);
}

}  // namespace

std::span<const RuleInfo> rules() {
  return kRules;
}

const RuleInfo& info(Rule rule) {
  return *std::ranges::find(kRules, rule, &RuleInfo::rule);
}

std::optional<Rule> parse_rule(std::string_view name) {
  for (std::size_t i = 0; i < kRules.size(); ++i) {
    if (kRules[i].name == name || std::to_string(i + 1) == name) {
      return kRules[i].rule;
    }
  }
  return std::nullopt;
}

std::string_view name(State state) {
  switch (state) {
    case State::holds:
      return "holds";
    case State::fails:
      return "fails";
    case State::not_measured:
      return "not measured";
  }
  return "";
}

void RuleResult::fail(std::string text) {
  state = State::fails;
  if (failures.size() < kMostFailures) {
    failures.push_back(std::move(text));
  }
}

bool Options::wants(Rule rule) const {
  return rules.empty() || std::ranges::find(rules, rule) != rules.end();
}

json to_json(const RuleResult& result) {
  json numbers = json::object();
  for (const Number& one : result.numbers) {
    numbers[one.name] = number(one.value);
  }
  return {{"rule", info(result.rule).name},
          {"state", name(result.state)},
          {"worst", result.worst},
          {"failures", result.failures},
          {"next", result.next},
          {"numbers", std::move(numbers)},
          {"seconds", number(result.seconds)}};
}

RuleResult rule_result_from_json(const json& body) {
  RuleResult result;
  result.rule = rule_from(field<std::string>(body, "rule"));
  result.state = state_from(field<std::string>(body, "state"));
  result.worst = field<std::string>(body, "worst");
  result.failures = field<std::vector<std::string>>(body, "failures");
  result.next = field<std::string>(body, "next");
  const auto numbers = body.find("numbers");
  if (numbers == body.end() || !numbers->is_object()) {
    broken("a rule's result has no numbers");
  }
  for (const auto& [key, value] : numbers->items()) {
    result.numbers.push_back({key, number_from(*numbers, key.c_str())});
  }
  result.seconds = number_from(body, "seconds");
  return result;
}

json to_json(const Options& options) {
  json rules = json::array();
  for (const Rule rule : options.rules) {
    rules.push_back(info(rule).name);
  }
  return {{"rules", std::move(rules)},
          {"draws", options.draws},
          {"heldout_draws", options.heldout_draws},
          {"replicates", options.replicates},
          {"draw_seconds", options.draw_seconds},
          {"host_bytes", options.host_bytes},
          {"golden", options.golden},
          {"golden_file", options.golden_file},
          {"narrowed", options.narrowed},
          {"narrowed_reason", options.narrowed_reason}};
}

Options options_from_json(const json& body) {
  Options options;
  for (const auto& rule : field<std::vector<std::string>>(body, "rules")) {
    options.rules.push_back(rule_from(rule));
  }
  options.draws = int_from(body, "draws");
  options.heldout_draws = int_from(body, "heldout_draws");
  options.replicates = int_from(body, "replicates");
  options.draw_seconds = number_from(body, "draw_seconds");
  options.host_bytes = field<std::int64_t>(body, "host_bytes");
  options.golden = field<std::string>(body, "golden");
  options.golden_file = field<std::string>(body, "golden_file");
  options.narrowed = field<bool>(body, "narrowed");
  options.narrowed_reason = field<std::string>(body, "narrowed_reason");
  return options;
}

}  // namespace sweep::evaluate::admission
