#pragma once

#include "config/config.h"

namespace sweep::config {

// Conditions of a run that stand outside the TOML: "judge", "gpu", "prompts", "seed:level1/3" ->
// hash or name.
using Conditions = std::map<std::string, std::string>;

struct Change {
  enum class Kind { fine, refuses };
  Kind kind = Kind::refuses;
  std::string path;  // "agent.max_turns", "models.gpt-5.5.sampling.temperature", "conditions.gpu"
  std::string before;
  std::string after;
};

// What a run is made of, as canonical JSON: {"conditions": {...}, "config": {...}}. Stored as an
// artifact; its SHA-256 is in the ledger.
[[nodiscard]] std::string identity_json(const SweepConfig& config, const Conditions& conditions);

// Compares two identities. Added models, problems, attempts and levels, parallelism, report, limits
// of rate and money, priorities are fine; everything that can change a result (budgets, harness,
// tools, sampling, endpoint, conditions, seed, trials) refuses. UsageError E_RUN_IDENTITY if one is
// not such a document.
[[nodiscard]] std::vector<Change> drift(std::string_view before, std::string_view after);

}  // namespace sweep::config
