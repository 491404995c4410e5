#include "config/matrix.h"

#include <algorithm>
#include <map>

namespace sweep::config {

namespace {

// Output tokens a reply where the configuration sets no limit: large replies of today's reasoning
// models.
constexpr double kOutputLimit = 32768;
// Tokens of one tool result where it is not cut off: 120,000 characters at 4 a token.
constexpr double kCharsPerToken = 4;

}  // namespace

CostPreview preview_cost(const SweepConfig& config,
                         std::span<const WorkItem> items,
                         double prompt_tokens) {
  const Agent& agent = config.agent;
  const auto turns = static_cast<double>(agent.harness.max_turns);
  const double tool_chars = agent.tool_output_context_max_chars > 0
                                ? static_cast<double>(agent.tool_output_context_max_chars)
                                : 120000;
  const double calls_a_turn =
      std::min(1.0, static_cast<double>(agent.harness.max_tool_calls) / turns);
  std::map<std::string, std::size_t> counts;
  for (const WorkItem& item : items) {
    ++counts[item.model];
  }
  CostPreview preview;
  preview.usd = 0;
  for (const Model& model : config.models) {
    ModelCost cost;
    cost.model = model.name;
    cost.items = counts[model.name];
    cost.scripted = scripted(model);
    const auto n = static_cast<double>(cost.items);
    const double reply =
        model.sampling.max_tokens ? static_cast<double>(*model.sampling.max_tokens) : kOutputLimit;
    // Turn t sends the prompt, t earlier replies and their tool results again.
    const double grown = reply + calls_a_turn * tool_chars / kCharsPerToken;
    cost.input_tokens = n * (turns * prompt_tokens + grown * turns * (turns - 1) / 2);
    cost.output_tokens = n * turns * reply;
    if (model.price) {
      const Rates most = largest_rates(*model.price);
      const auto in =
          static_cast<double>(std::max({most.input, most.cached_input, most.cache_write}));
      cost.usd = cost.input_tokens * in * 1e-12 +
                 cost.output_tokens * static_cast<double>(most.output) * 1e-12 +
                 n * turns * static_cast<double>(model.price->per_request) * 1e-9;
    } else if (cost.items == 0) {
      cost.usd = 0;
    }
    preview.items += cost.items;
    preview.scripted += cost.scripted ? cost.items : 0;
    preview.input_tokens += cost.input_tokens;
    preview.output_tokens += cost.output_tokens;
    preview.usd = preview.usd && cost.usd ? std::optional(*preview.usd + *cost.usd) : std::nullopt;
    preview.models.push_back(std::move(cost));
  }
  return preview;
}

}  // namespace sweep::config
