#include "queue/dry_run.h"

#include "endpoint/profile.h"
#include "http/client.h"
#include "queue/dollars.h"
#include "queue/summary.h"
#include "util/text.h"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>

namespace sweep::queue {

namespace {

// One word for an item: what would become of it.
std::string_view state_of(const DryRun& dry, const config::WorkItem& item) {
  if (item.availability != config::Availability::ready) {
    return item.availability == config::Availability::planned ? "planned" : "absent";
  }
  const auto found = dry.tasks.find(item.id());
  if (found == dry.tasks.end()) {
    return "not chosen";
  }
  if (found->second.action == Action::finished) {
    return "finished";
  }
  return found->second.action == Action::run     ? "run"
         : found->second.action == Action::go_on ? "go on"
                                                 : "again";
}

std::string harness_line(const config::Harness& h) {
  return fmt::format("  {}{} turn{}, {} tool call{}; {}; tools {}\n",
                     h.builtin() ? "" : "based on " + h.base + ": ",
                     h.max_turns,
                     h.max_turns == 1 ? "" : "s",
                     h.max_tool_calls,
                     h.max_tool_calls == 1 ? "" : "s",
                     config::rules_text(h),
                     fmt::join(h.tools, ", "));
}

// What prompts hold beyond the harness, where the configuration says so.
std::string prompt_line(const config::SweepConfig& config) {
  std::vector<std::string> set;
  if (config.agent.ptx_hub != "off") {
    set.push_back("ptx_hub " + config.agent.ptx_hub);
  }
  if (config.run.isa_policy != "problem") {
    set.push_back("isa_policy " + config.run.isa_policy);
  }
  return set.empty() ? "" : fmt::format("  {}\n", fmt::join(set, ", "));
}

std::string standing_text(const DryRun& dry) {
  const Standing& standing = dry.standing;
  if (!standing.begun) {
    return "";
  }
  std::string out = fmt::format("{}: {} finished, {} left\n",
                                util::printable(dry.folder),
                                dry.tasks.size() - dry.left.size(),
                                dry.left.size());
  if (!standing.busy.empty()) {
    out += "busy: another sweep works on this run (" + standing.busy + ")\n";
  }
  if (!standing.drift.empty()) {
    out += "drift: what decides results changed since this run began:" +
           util::printable(standing.drift) +
           "; undo the change, or give --run-name NEW or --accept-drift\n";
  }
  if (!standing.unreadable.empty()) {
    out += "broken: " + util::printable(standing.unreadable) + "; see  sweep verify\n";
  }
  return out;
}

const config::Model* model_of(const config::SweepConfig& config, const std::string& name) {
  const auto found = std::ranges::find(config.models, name, &config::Model::name);
  return found == config.models.end() ? nullptr : &*found;
}

// "key in NAME (not set)".
std::string key_text(const DryRun& dry, const config::Model& model) {
  if (model.api_key_env.empty()) {
    return "no key";
  }
  return fmt::format("key in {} ({})",
                     model.api_key_env,
                     dry.lacking.unusable.contains(model.name)  ? "not usable"
                     : dry.lacking.keyless.contains(model.name) ? "not set"
                                                                : "set");
}

// How a model's server is reached and spoken to; nothing for a scripted model.
std::string reach_lines(const DryRun& dry, const config::ModelCost& cost) {
  const config::Model* model = model_of(dry.plan.config, cost.model);
  if (cost.scripted || model == nullptr) {
    return "";
  }
  std::string out = fmt::format("    {} at {}, {}",
                                config::name(model->api_kind),
                                http::public_url(model->base_url),
                                key_text(dry, *model));
  if (model->rpm) {
    out += fmt::format(", rpm {}", *model->rpm);
  }
  if (model->tpm) {
    out += fmt::format(", tpm {}", *model->tpm);
  }
  const std::string profile = endpoint::summary(model->endpoint, model->base_url);
  return util::printable(out) + "\n" +
         (profile == "generic" ? "" : "    endpoint profile " + profile + "\n");
}

// "4 items, 1 chosen, 0 of them can run; 1 lacks a key (NAME) or the device".
std::string counts_text(const DryRun& dry) {
  const Plan& plan = dry.plan;
  std::set<std::string> keys;
  for (const std::string& name : dry.lacking.keyless) {
    if (const config::Model* model = model_of(plan.config, name)) {
      keys.insert(model->api_key_env);
    }
  }
  const auto hindered = std::ranges::count_if(
      plan.chosen, [&](const config::WorkItem& item) { return dry.lacking.hinders(item); });
  const auto ready = std::ssize(plan.chosen) - hindered;
  const std::size_t all = plan.matrix.items.size();
  std::string out = fmt::format("{} item{}", all, all == 1 ? "" : "s");
  if (plan.chosen.size() != plan.matrix.ready()) {
    out += fmt::format(", {} chosen", plan.chosen.size());
  }
  out += fmt::format(", {} of them can run", ready);
  if (hindered > 0) {
    std::vector<std::string> what;
    if (!keys.empty()) {
      what.push_back(fmt::format("a key ({})", fmt::join(keys, ", ")));
    }
    if (!dry.lacking.scriptless.empty()) {
      what.emplace_back("a script");
    }
    if (dry.lacking.device) {
      what.push_back("the device " + plan.config.run.device);
    }
    out +=
        fmt::format("; {} lack{} {}", hindered, hindered == 1 ? "s" : "", fmt::join(what, " or "));
  }
  return util::printable(out) + "\n";
}

// One line for each budget that does not hold what the items may take at most.
std::string budget_lines(const config::Run& run, const config::CostPreview& cost) {
  constexpr std::string_view kStops = ", the sweep may stop early\n";
  std::string out;
  if (run.budget_usd && cost.usd && *run.budget_usd < *cost.usd) {
    out += fmt::format("budget {}: less than the upper bound {}{}",
                       dollars(*run.budget_usd),
                       dollars(*cost.usd),
                       kStops);
  }
  const double tokens = cost.input_tokens + cost.output_tokens;
  if (run.budget_tokens && static_cast<double>(*run.budget_tokens) < tokens) {
    out += fmt::format("budget {} tokens: less than the upper bound {} tokens{}",
                       util::human_count(static_cast<std::uint64_t>(*run.budget_tokens)),
                       util::human_count(static_cast<std::uint64_t>(tokens)),
                       kStops);
  }
  return out;
}

nlohmann::json models_json(const DryRun& dry) {
  nlohmann::json out = nlohmann::json::array();
  const auto limit = [](const std::optional<std::int64_t>& value) {
    return value ? nlohmann::json(*value) : nlohmann::json();
  };
  for (const config::Model& model : dry.plan.config.models) {
    out.push_back({{"name", model.name},
                   {"api_kind", config::name(model.api_kind)},
                   {"base_url", util::to_valid_utf8(http::public_url(model.base_url))},
                   {"key", model.api_key_env},
                   {"key_set", !dry.lacking.keyless.contains(model.name)},
                   {"rpm", limit(model.rpm)},
                   {"tpm", limit(model.tpm)},
                   {"priority", model.priority},
                   {"profile", endpoint::summary(model.endpoint, model.base_url)}});
  }
  return out;
}

}  // namespace

DryRun dry_run(const Plan& plan,
               const Installation& installation,
               const record::RunDir& run,
               Retry retry) {
  DryRun dry{plan,
             {},
             {},
             standing_of(plan, installation, run),
             run.folder().string(),
             lacks(plan, installation)};
  for (Task& task : tasks_of(plan, run, ledger_of(run).read, retry)) {
    if (task.action != Action::finished) {
      dry.left.push_back(task.item);
    }
    const std::string id = task.item.id();
    dry.tasks.emplace(id, std::move(task));
  }
  return dry;
}

std::string text(const DryRun& dry) {
  const Plan& plan = dry.plan;
  std::string out = fmt::format("run {}   device {}   harness {}\n",
                                plan.config.run.name,
                                plan.config.run.device,
                                plan.config.agent.harness.name) +
                    harness_line(plan.config.agent.harness) + prompt_line(plan.config);
  for (const config::WorkItem& item : plan.matrix.items) {
    out += fmt::format("  {:<10}  {}\n", state_of(dry, item), item.id());
  }
  out += counts_text(dry);
  out += standing_text(dry);
  for (const std::string& note : plan.matrix.notes) {
    out += "note: " + note + "\n";
  }
  const config::CostPreview cost = config::preview_cost(plan.config, dry.left);
  for (const config::ModelCost& model : cost.models) {
    const config::Model* known = model_of(plan.config, model.model);
    const std::int64_t priority = known == nullptr ? 0 : known->priority;
    out += fmt::format("  {}: {} item{}{}, at most {} tokens in, {} out, {}\n",
                       model.model,
                       model.items,
                       model.items == 1 ? "" : "s",
                       priority == 0 ? "" : fmt::format(", priority {}", priority),
                       util::human_count(static_cast<std::uint64_t>(model.input_tokens)),
                       util::human_count(static_cast<std::uint64_t>(model.output_tokens)),
                       bound_text(model.usd, model.scripted));
    out += reach_lines(dry, model);
  }
  return out + (dry.left.empty() ? "nothing to run: every item is finished" : cost_line(cost)) +
         "\n" + budget_lines(plan.config.run, cost);
}

namespace {

nlohmann::json harness_json(const config::Harness& h) {
  return {{"name", h.name},
          {"base", h.base},
          {"tools", h.tools},
          {"max_turns", h.max_turns},
          {"max_tool_calls", h.max_tool_calls},
          {"stop", config::name(h.stop)},
          {"feedback", h.tries() ? config::name(h.feedback) : ""},
          {"show_seed", h.show_seed}};
}

}  // namespace

nlohmann::json to_json(const DryRun& dry) {
  const Plan& plan = dry.plan;
  nlohmann::json items = nlohmann::json::array();
  for (const config::WorkItem& item : plan.matrix.items) {
    const auto found = dry.tasks.find(item.id());
    items.push_back({{"id", item.id()},
                     {"model", item.model},
                     {"variant", item.variant},
                     {"problem", item.problem_id()},
                     {"attempt", item.attempt},
                     {"ready", item.availability == config::Availability::ready},
                     {"state", state_of(dry, item)},
                     {"outcome", found == dry.tasks.end() ? "" : found->second.outcome}});
  }
  const config::CostPreview cost = config::preview_cost(plan.config, dry.left);
  const auto& budget_usd = plan.config.run.budget_usd;
  const auto& budget_tokens = plan.config.run.budget_tokens;
  const auto hindered = std::ranges::count_if(
      plan.chosen, [&](const config::WorkItem& item) { return dry.lacking.hinders(item); });
  return {{"schema", 1},
          {"run", plan.config.run.name},
          {"items", items},
          {"ready", plan.matrix.ready()},
          {"begun", dry.standing.begun},
          {"finished", dry.tasks.size() - dry.left.size()},
          {"left", dry.left.size()},
          {"harness", harness_json(plan.config.agent.harness)},
          {"ptx_hub", plan.config.agent.ptx_hub},
          {"isa_policy", plan.config.run.isa_policy},
          {"busy", dry.standing.busy},
          {"drift", util::to_valid_utf8(dry.standing.drift)},
          {"broken", util::to_valid_utf8(dry.standing.unreadable)},
          {"notes", plan.matrix.notes},
          {"lacking", dry.lacking.texts},
          {"lacking_items", hindered},
          {"models", models_json(dry)},
          {"budget_usd", budget_usd ? nlohmann::json(*budget_usd) : nlohmann::json()},
          {"budget_tokens", budget_tokens ? nlohmann::json(*budget_tokens) : nlohmann::json()},
          {"budget_may_stop", !budget_lines(plan.config.run, cost).empty()},
          {"scripted", cost.scripted},
          {"input_tokens", cost.input_tokens},
          {"output_tokens", cost.output_tokens},
          {"usd", cost.usd ? nlohmann::json(*cost.usd) : nlohmann::json()}};
}

}  // namespace sweep::queue
