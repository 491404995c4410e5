#include "queue/dry_run.h"

#include "endpoint/profile.h"
#include "queue/summary.h"
#include "util/text.h"

#include <algorithm>

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
  if (!dry.plan.unsupported.empty()) {
    return "skip";
  }
  return found->second.action == Action::run     ? "run"
         : found->second.action == Action::go_on ? "go on"
                                                 : "again";
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

// How a model's server is spoken to; nothing for a scripted model.
std::string profile_line(const config::SweepConfig& config, const config::ModelCost& cost) {
  if (cost.scripted) {
    return "";
  }
  for (const config::Model& model : config.models) {
    if (model.name == cost.model) {
      return "    endpoint profile " + endpoint::summary(model.endpoint, model.base_url) + "\n";
    }
  }
  return "";
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
  for (Task& task : tasks_of(plan, run, retry)) {
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
                                config::name(plan.config.agent.harness));
  for (const config::WorkItem& item : plan.matrix.items) {
    out += fmt::format("  {:<10}  {}\n", state_of(dry, item), item.id());
  }
  const std::size_t ready = plan.unsupported.empty() ? plan.matrix.ready() : 0;
  out += fmt::format("{} item{}, {} of them can run\n",
                     plan.matrix.items.size(),
                     plan.matrix.items.size() == 1 ? "" : "s",
                     ready);
  out += standing_text(dry);
  for (const std::string& note : plan.matrix.notes) {
    out += "note: " + note + "\n";
  }
  if (!plan.unsupported.empty()) {
    return out + fmt::format("nothing to run: {} to skip\n", dry.left.size());
  }
  const config::CostPreview cost = config::preview_cost(plan.config, dry.left);
  for (const config::ModelCost& model : cost.models) {
    out += fmt::format("  {}: {} item{}, at most {} tokens in, {} out, {}\n",
                       model.model,
                       model.items,
                       model.items == 1 ? "" : "s",
                       util::human_count(static_cast<std::uint64_t>(model.input_tokens)),
                       util::human_count(static_cast<std::uint64_t>(model.output_tokens)),
                       bound_text(model.usd, model.scripted));
    out += profile_line(plan.config, model);
  }
  return out + (dry.left.empty() ? "nothing to run: every item is finished" : cost_line(cost)) +
         "\n";
}

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
  const auto run = plan.unsupported.empty() ? dry.left : std::vector<config::WorkItem>();
  const config::CostPreview cost = config::preview_cost(plan.config, run);
  return {{"schema", 1},
          {"run", plan.config.run.name},
          {"items", items},
          {"ready", plan.matrix.ready()},
          {"begun", dry.standing.begun},
          {"finished", dry.tasks.size() - dry.left.size()},
          {"left", dry.left.size()},
          {"unsupported", plan.unsupported},
          {"busy", dry.standing.busy},
          {"drift", util::to_valid_utf8(dry.standing.drift)},
          {"broken", util::to_valid_utf8(dry.standing.unreadable)},
          {"notes", plan.matrix.notes},
          {"lacking", dry.lacking},
          {"scripted", cost.scripted},
          {"input_tokens", cost.input_tokens},
          {"output_tokens", cost.output_tokens},
          {"usd", cost.usd ? nlohmann::json(*cost.usd) : nlohmann::json()}};
}

}  // namespace sweep::queue
