#include "agent/sampling.h"

#include "record/json.h"
#include "util/sha256.h"

#include <nlohmann/json.hpp>

namespace sweep::agent {

std::optional<std::int64_t> sampling_seed(const config::SweepConfig& config,
                                          const config::Model& model,
                                          const config::WorkItem& item) {
  const auto& keys = model.endpoint.values;
  const auto strict = keys.find("strict_params");
  if (!model.sampling.seed && strict != keys.end() && strict->second == "true")
    return std::nullopt;
  const std::string key = record::canonical({{"what", "sampling seed"},
                                             {"run", config.run.seed},
                                             {"model", model.sampling.seed.value_or(-1)},
                                             {"problem", item.problem_id()},
                                             {"attempt", item.attempt}});
  // 31 bits: some servers keep a seed as a 32-bit number. 0 means "none" to others.
  constexpr std::uint64_t range = (std::uint64_t{1} << 31U) - 1;
  return static_cast<std::int64_t>(util::leading_u64(util::sha256(key)) % range + 1);
}

}  // namespace sweep::agent
