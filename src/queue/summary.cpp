#include "queue/summary.h"

#include "util/text.h"

#include <algorithm>

#include <fmt/format.h>

namespace sweep::queue {

namespace {

constexpr std::size_t kReasonColumns = 60;

std::string speedup_text(const FinalRow& row) {
  return row.speedup ? fmt::format("{:.2f}x [{:.2f}, {:.2f}]",
                                   row.speedup->point,
                                   row.speedup->low,
                                   row.speedup->high)
                     : "";
}

std::string reason_of(const record::Trajectory& t) {
  if (!t.error.empty()) {
    return t.error;
  }
  return t.final_result ? t.final_result->reason : t.stop_reason;
}

}  // namespace

Final final_of(const std::vector<config::WorkItem>& items, const record::RunDir& run) {
  Final final;
  double cost = 0;
  bool priced = true;
  for (const config::WorkItem& item : items) {
    FinalRow row{item.problem_id() + (item.attempt > 1 ? fmt::format(" #{}", item.attempt) : ""),
                 item.model,
                 {},
                 {},
                 {},
                 {}};
    const Past past = past_of(run, item);
    if (past.trajectory) {
      const record::Trajectory& t = *past.trajectory;
      row.outcome = t.outcome;
      row.reason = reason_of(t);
      if (t.final_result) {
        row.verdict = t.final_result->verdict;
        row.speedup = t.final_result->speedup;
      }
      final.tokens += t.llm_total_tokens;
      priced = priced && t.cost_usd.has_value();
      cost += t.cost_usd.value_or(0);
    }
    final.infra += row.outcome == "infra_error" ? 1U : 0U;
    final.left += row.outcome.empty() || row.outcome == "in_progress" ? 1U : 0U;
    ++final.outcomes[row.outcome.empty() ? "not begun" : row.outcome];
    final.rows.push_back(std::move(row));
  }
  if (priced) {
    final.cost_usd = cost;
  }
  return final;
}

std::string final_text(const Final& final,
                       const record::RunDir& run,
                       std::size_t worked,
                       const std::string& config) {
  std::string out;
  if (worked == 0) {
    out += "nothing to do: every item is finished\n";
  }
  std::size_t problem = 7;
  std::size_t model = 5;
  for (const FinalRow& row : final.rows) {
    problem = std::max(problem, row.problem.size());
    model = std::max(model, row.model.size());
  }
  out += fmt::format("{:{}}  {:{}}  {:12}  {:27}  {:20}\n",
                     "problem",
                     problem,
                     "model",
                     model,
                     "outcome",
                     "verdict",
                     "speedup");
  for (const FinalRow& row : final.rows) {
    std::string line = fmt::format("{:{}}  {:{}}  {:12}  {:27}  {:20}",
                                   row.problem,
                                   problem,
                                   row.model,
                                   model,
                                   row.outcome.empty() ? "not begun" : row.outcome,
                                   row.verdict,
                                   speedup_text(row));
    if (row.outcome != "correct" && !row.reason.empty()) {
      line += "  " + row.reason.substr(0, kReasonColumns);
    }
    out += util::printable(line.substr(0, line.find_last_not_of(' ') + 1)) + "\n";
  }
  std::vector<std::string> counts;
  for (const auto& [outcome, count] : final.outcomes) {
    counts.push_back(fmt::format("{} {}", outcome, count));
  }
  out += fmt::format("\n{}   {} tokens   {}\n",
                     fmt::join(counts, "  "),
                     util::human_count(static_cast<std::uint64_t>(final.tokens)),
                     final.cost_usd ? fmt::format("${:.4f}", *final.cost_usd)
                                    : "cost unknown (no [models.price])");
  out += "report  " + (run.report_folder() / "index.html").string() + "\n";
  if (final.infra + final.left > 0) {
    out += fmt::format("left    {} unfinished or lost to infrastructure; go on with  sweep {}\n",
                       final.infra + final.left,
                       config);
  }
  return out;
}

nlohmann::json to_json(const Final& final, const record::RunDir& run, std::size_t worked) {
  nlohmann::json rows = nlohmann::json::array();
  for (const FinalRow& row : final.rows) {
    nlohmann::json speedup;
    if (row.speedup) {
      speedup = {
          {"point", row.speedup->point}, {"low", row.speedup->low}, {"high", row.speedup->high}};
    }
    rows.push_back({{"problem", row.problem},
                    {"model", row.model},
                    {"outcome", row.outcome},
                    {"verdict", row.verdict},
                    {"speedup", speedup},
                    {"reason", row.reason}});
  }
  return {{"schema", 1},
          {"run", run.folder().string()},
          {"worked", worked},
          {"items", rows},
          {"outcomes", final.outcomes},
          {"infra", final.infra},
          {"left", final.left},
          {"tokens", final.tokens},
          {"cost_usd", final.cost_usd ? nlohmann::json(*final.cost_usd) : nlohmann::json()},
          {"report", (run.report_folder() / "index.html").string()}};
}

std::string cost_line(const config::CostPreview& cost) {
  return fmt::format("{} items to run, at most {} tokens in and {} out, {}",
                     cost.items,
                     util::human_count(static_cast<std::uint64_t>(cost.input_tokens)),
                     util::human_count(static_cast<std::uint64_t>(cost.output_tokens)),
                     cost.usd ? fmt::format("at most ${:.2f}", *cost.usd) : "price unknown");
}

std::string dry_run_text(const Plan& plan) {
  std::string out = fmt::format("run {}   device {}   harness {}\n",
                                plan.config.run.name,
                                plan.config.run.device,
                                config::name(plan.config.agent.harness));
  for (const config::WorkItem& item : plan.matrix.items) {
    const bool ready = item.availability == config::Availability::ready;
    const char* state = ready                                                ? "run    "
                        : item.availability == config::Availability::planned ? "planned"
                                                                             : "absent ";
    out += fmt::format("  {}  {}\n", state, item.id());
  }
  out +=
      fmt::format("{} items, {} of them can run\n", plan.matrix.items.size(), plan.matrix.ready());
  for (const std::string& note : plan.matrix.notes) {
    out += "note: " + note + "\n";
  }
  const config::CostPreview cost = config::preview_cost(plan.config, plan.chosen);
  for (const config::ModelCost& model : cost.models) {
    out += fmt::format("  {}: {} items, at most {} tokens in, {} out, {}\n",
                       model.model,
                       model.items,
                       util::human_count(static_cast<std::uint64_t>(model.input_tokens)),
                       util::human_count(static_cast<std::uint64_t>(model.output_tokens)),
                       model.usd ? fmt::format("${:.2f}", *model.usd) : "price unknown");
  }
  return out + cost_line(cost) + "\n";
}

nlohmann::json dry_run_json(const Plan& plan) {
  nlohmann::json items = nlohmann::json::array();
  for (const config::WorkItem& item : plan.matrix.items) {
    items.push_back({{"id", item.id()},
                     {"model", item.model},
                     {"variant", item.variant},
                     {"problem", item.problem_id()},
                     {"attempt", item.attempt},
                     {"ready", item.availability == config::Availability::ready}});
  }
  const config::CostPreview cost = config::preview_cost(plan.config, plan.chosen);
  return {{"schema", 1},
          {"run", plan.config.run.name},
          {"items", items},
          {"ready", plan.matrix.ready()},
          {"notes", plan.matrix.notes},
          {"input_tokens", cost.input_tokens},
          {"output_tokens", cost.output_tokens},
          {"usd", cost.usd ? nlohmann::json(*cost.usd) : nlohmann::json()}};
}

}  // namespace sweep::queue
