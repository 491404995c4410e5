#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// What a problem must show before kernels are scored on it (docs/admission.md), as plain values.
namespace sweep::evaluate::admission {

enum class Rule { golden, nulls, precision, honest, influence, work, draws };

struct RuleInfo {
  Rule rule{};
  std::string_view name;  // "null"
  std::string_view what;  // one line
};

// All rules in order; the first has number 1.
[[nodiscard]] std::span<const RuleInfo> rules();
[[nodiscard]] const RuleInfo& info(Rule rule);
[[nodiscard]] std::optional<Rule> parse_rule(
    std::string_view name);  // a name, or a number "1".."7"

enum class State { holds, fails, not_measured };

[[nodiscard]] std::string_view name(State state);  // "holds", "fails", "not measured"

// A named number of a rule's result.
struct Number {
  std::string name;
  double value = 0;
};

struct RuleResult {
  Rule rule{};
  State state = State::holds;
  std::string worst;                  // what came nearest to failing, or why nothing was measured
  std::vector<std::string> failures;  // each names shape and case
  std::string next;                   // what to change; empty if it holds
  std::vector<Number> numbers;
  double seconds = 0;

  // Adds a failure; the state is `fails` then. The first twenty are kept.
  void fail(std::string text);
};

// What admission is asked for. Travels to the judge.
struct Options {
  std::vector<Rule> rules;    // empty: all
  int draws = 200;            // of [stress]
  int heldout_draws = 20;     // of a secret that is none
  int replicates = 3;         // draws of each visible shape and content
  double draw_seconds = 120;  // the draws of rule 7 end after this time, however many there were
  // Rules that copy tensors to the host leave out visible shapes of more bytes of inputs and
  // outputs, except the smallest.
  std::int64_t host_bytes = std::int64_t{128} << 20;
  std::string golden;       // text of the vectors; empty: there are none
  std::string golden_file;  // where they belong
  // The candidate of the session is the reference in fp32 (honest.h); else why there is none.
  bool narrowed = false;
  std::string narrowed_reason;

  [[nodiscard]] bool wants(Rule rule) const;
};

[[nodiscard]] nlohmann::json to_json(const RuleResult& result);
// Throws wire::WireError for a member that is missing or of another type.
[[nodiscard]] RuleResult rule_result_from_json(const nlohmann::json& body);
[[nodiscard]] nlohmann::json to_json(const Options& options);
[[nodiscard]] Options options_from_json(const nlohmann::json& body);

}  // namespace sweep::evaluate::admission
