#include "queue/prepare.h"

#include "agent/agent.h"
#include "agent/no_effect.h"
#include "config/dotenv.h"
#include "evaluate/preparation.h"
#include "evaluate/salt.h"
#include "problem/problem.h"
#include "queue/endings.h"
#include "record/artifacts.h"
#include "record/chains.h"
#include "record/foreign.h"
#include "record/plan.h"
#include "util/error.h"
#include "util/file.h"
#include "util/sha256.h"
#include "util/text.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>

#include <fmt/format.h>
#include <unistd.h>

namespace sweep::queue {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxToml = std::size_t{1} << 20;
constexpr std::size_t kDiffLines = 12;  // changes that a refusal lists

bool chosen_by(const std::string& only, const config::WorkItem& item) {
  return only.empty() || config::glob_match(only, item.problem_id()) ||
         config::glob_match(only, item.id());
}

std::string folder_text(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().filename() != "admission.json") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::string all;
  for (const fs::path& file : files) {
    all +=
        file.filename().string() + "\n" + util::sha256_hex(util::read_file(file, kMaxToml)) + "\n";
  }
  return all;
}

// The changes that a run does not go on with.
std::vector<config::Change> refusals(std::string_view before, std::string_view after) {
  std::vector<config::Change> changes = config::drift(before, after);
  std::erase_if(changes, [](const config::Change& change) {
    return change.kind == config::Change::Kind::fine;
  });
  return changes;
}

std::string drift_text(const std::vector<config::Change>& refused) {
  std::string out;
  for (std::size_t i = 0; i < refused.size() && i < kDiffLines; ++i) {
    out += fmt::format("{} {}: {} -> {}",
                       i == 0 ? "" : ",",
                       refused[i].path,
                       refused[i].before.empty() ? "(none)" : refused[i].before,
                       refused[i].after.empty() ? "(none)" : refused[i].after);
  }
  return refused.size() > kDiffLines
             ? out + fmt::format(", and {} more", refused.size() - kDiffLines)
             : out;
}

// What decides results and differs from the identity of this hash.
std::vector<config::Change> accepted_changes(const record::RunDir& run,
                                             const std::string& before,
                                             const std::string& identity,
                                             bool accept_drift) {
  const record::Artifacts artifacts(run.artifacts_folder());
  std::vector<config::Change> changes = refusals(artifacts.get(before), identity);
  if (!changes.empty() && !accept_drift) {
    throw util::UsageError(
        {run.folder().string(),
         "what decides results changed since this run began:" + drift_text(changes),
         "undo the change, start anew with --run-name NEW, or go on with --accept-drift "
         "(recorded and shown on every page)"},
        "E_RUN_DRIFT");
  }
  return changes;
}

// Whether a problem of the chosen items names families of instructions.
bool names_families(const Plan& plan, const Installation& installation) {
  return std::ranges::any_of(plan.chosen, [&](const config::WorkItem& item) {
    const auto folder = installation.folders.find(item.problem_id());
    return folder != installation.folders.end() &&
           !problem::require(folder->second).policy.isa_families.empty();
  });
}

void check_variant(const Plan& plan, const std::string& variant) {
  if (record::is_own_part(record::encode_part(variant))) {
    throw util::UsageError({plan.config.file.string(),
                            "the variant '" + variant + "' has the name of a run's own files",
                            "give the slate's file another name, or set [run] variant"},
                           "E_SWEEP_VARIANT");
  }
}

void warn_of_no_effect(Plan& plan, const Installation& installation) {
  const bool cpu = plan.config.run.device == "cpu";
  const std::string& policy = plan.config.run.isa_policy;
  const bool asked = !cpu && (policy == "warn" || policy == "gate");  // else no problem is read
  for (config::Diagnostic& one : agent::without_effect(
           plan.config, cpu, !asked || plan.chosen.empty() || names_families(plan, installation))) {
    plan.warnings.push_back(std::move(one));
  }
}

}  // namespace

Plan make_plan(const SweepOptions& options, const Installation& installation) {
  std::error_code error;
  if (!fs::is_regular_file(options.config, error)) {
    const std::string name = options.config.string();
    throw util::UsageError({util::printable(name.substr(0, 200)) + (name.size() > 200 ? "..." : ""),
                            "no such config file",
                            "give a sweep's TOML file, e.g. configs/demo.toml"},
                           "E_CLI_NO_CONFIG");
  }
  Plan plan;
  config::Loaded loaded = config::load(options.config);
  plan.toml = util::read_file(options.config, kMaxToml);
  plan.config = std::move(loaded.config);
  plan.warnings = std::move(loaded.warnings);
  for (config::Diagnostic& open : config::open_to_others(plan.config)) {
    plan.warnings.push_back(std::move(open));
  }
  if (!options.run_name.empty()) {
    plan.config.run.name = options.run_name;
  }
  plan.matrix = config::expand(plan.config, installation.problems);
  for (const config::WorkItem& item : plan.matrix.items) {
    check_variant(plan, item.variant);
    if (item.availability == config::Availability::ready && chosen_by(options.only, item)) {
      plan.chosen.push_back(item);
    }
  }
  if (plan.chosen.empty() && !options.only.empty() && !plan.matrix.items.empty()) {
    throw util::UsageError({"--only " + options.only,
                            "matches no item that could run",
                            "see the items with --dry-run"},
                           "E_SWEEP_ONLY");
  }
  warn_of_no_effect(plan, installation);
  return plan;
}

config::Conditions conditions_of(const Plan& plan,
                                 const Installation& installation,
                                 const std::string& gpu) {
  config::Conditions conditions;
  conditions["judge"] = installation.version;
  conditions["gpu"] = gpu;
  conditions["prompts"] = agent::prompts_sha256();
  for (const config::WorkItem& item : plan.chosen) {
    const std::string id = item.problem_id();
    const auto folder = installation.folders.find(id);
    if (folder == installation.folders.end() || conditions.contains("problem:" + id)) {
      continue;
    }
    const std::string level = id.substr(0, id.find('/'));
    const fs::path seed =
        installation.data / "seeds" / level / (folder->second.filename().string() + ".cu");
    conditions["problem:" + id] = util::sha256_hex(folder_text(folder->second));
    if (fs::exists(seed)) {
      conditions["seed:" + id] = util::sha256_hex(util::read_file(seed, kMaxToml));
    }
  }
  return conditions;
}

std::vector<config::WorkItem> pending_of(const std::vector<Task>& tasks) {
  std::vector<config::WorkItem> out;
  for (const Task& task : tasks) {
    if (task.action != Action::finished) {
      out.push_back(task.item);
    }
  }
  return out;
}

record::Verification ledger_of(const record::RunDir& run) {
  std::error_code error;
  if (fs::is_regular_file(run.ledger_file(), error)) {
    record::Chains chains = record::read_chains(run);
    record::Verification out = chains.root;
    out.intact = out.intact && chains.problems.empty();
    out.problem = chains.problem();
    out.read = std::move(chains).rows();
    return out;
  }
  if (!run.trajectory_files().empty()) {
    throw util::UsageError({run.folder().string(),
                            "holds trajectories and no ledger.jsonl",
                            "copy the run again, whole, or start anew with --run-name"},
                           "E_RUN_LEDGER");
  }
  return {};
}

std::vector<Task> tasks_of(const Plan& plan,
                           const record::RunDir& run,
                           const std::vector<record::Row>& rows,
                           Retry retry) {
  const Endings endings(rows);
  std::vector<Task> tasks;
  for (const config::WorkItem& item : config::start_order(plan.chosen)) {
    Task task{item, Action::run, {}};
    const std::string id = item.id();
    if (const Ending* ending = standing(endings, run, id, name_of(item))) {
      task.outcome = ending->outcome;
    } else if (endings.begun(id)) {
      task.outcome = "in_progress";
    }
    task.action = decide(task.outcome, retry);
    if (plan.config.run.force_rerun && task.action == Action::finished) {
      task.action = Action::again;
    }
    tasks.push_back(std::move(task));
  }
  return tasks;
}

bool check_drift(const Plan& plan,
                 const config::Conditions& conditions,
                 const record::RunDir& run,
                 const std::vector<record::Row>& rows,
                 bool accept_drift) {
  const std::string identity = config::identity_json(plan.config, conditions);
  const auto before = identity_of(rows);
  return before && *before != util::sha256_hex(identity) &&
         !accepted_changes(run, *before, identity, accept_drift).empty();
}

namespace {

std::vector<record::ItemName> names_of(const std::vector<config::WorkItem>& items) {
  std::vector<record::ItemName> names;
  for (const config::WorkItem& item : items) {
    names.push_back(name_of(item));
  }
  return names;
}

}  // namespace

nlohmann::json start_data(const Plan& plan,
                          const config::Conditions& conditions,
                          const record::RunDir& run,
                          const std::string& version) {
  const record::Artifacts artifacts(run.artifacts_folder());
  return {
      {"identity_sha256", artifacts.put(config::identity_json(plan.config, conditions))},
      {"items_sha256", artifacts.put(record::plan_json(names_of(plan.chosen)))},
      {"toml_sha256", artifacts.put(config::recorded_text(plan.toml, plan.config.file.string()))},
      {"sweep_version", version},
      {"policy", record::kPolicy}};
}

void begin_root(const Plan& plan,
                const config::Conditions& conditions,
                const record::RunDir& run,
                const std::string& version) {
  std::error_code error;
  if (fs::is_regular_file(run.ledger_file(), error)) {
    return;
  }
  // Written whole beside its place and linked there: of several tasks one succeeds.
  const util::TempDir beside("root", run.folder());
  const fs::path file = beside.path() / "ledger.jsonl";
  (void)record::Ledger(file).append(
      record::kind::run_start, {}, start_data(plan, conditions, run, version));
  if (::link(file.c_str(), run.ledger_file().c_str()) == 0) {
    util::sync_folder(run.folder());
    record::write_whole(run.config_file(), config::identity_json(plan.config, conditions) + "\n");
  } else if (errno != EEXIST) {
    record::throw_write("link", run.ledger_file());
  }
}

Standing standing_of(const Plan& plan,
                     const Installation& installation,
                     const record::RunDir& run) {
  Standing standing;
  std::error_code error;
  if (!fs::is_regular_file(run.ledger_file(), error)) {
    return standing;
  }
  standing.begun = true;
  standing.busy = record::lock_holder(run);
  try {
    const record::Verification ledger = record::verify_ledger(run.ledger_file());
    standing.unreadable = ledger.problem;
    const auto hash = identity_of(ledger.read);
    if (!hash || !record::is_sha256(*hash) || !ledger.problem.empty()) {
      return standing;
    }
    const std::string before = record::read_whole(run.artifacts_folder() / *hash);
    const auto stored = nlohmann::json::parse(before);
    const std::string gpu = stored.at("conditions").value("gpu", "");
    const std::vector<config::Change> changes = refusals(
        before, config::identity_json(plan.config, conditions_of(plan, installation, gpu)));
    standing.drift = changes.empty() ? "" : drift_text(changes);
  } catch (const util::Error& failure) {
    standing.unreadable = failure.what();
  } catch (const nlohmann::json::exception& failure) {
    standing.unreadable = failure.what();
  }
  return standing;
}

namespace {

// What the ledger says of the held-out draws before anything is asked: their epoch, and a
// commitment to their salt. Null on the cpu device, which holds nothing out.
nlohmann::json held_out_of(const config::SweepConfig& config) {
  if (config.run.device == "cpu") {
    return nullptr;
  }
  return {{"epoch", config.run.epoch},
          {"salt_commitment", evaluate::salt_commitment(evaluate::read_salt({}))}};
}

}  // namespace

void open_run(const Plan& plan,
              const config::Conditions& conditions,
              const record::RunDir& run,
              record::Ledger& ledger,
              bool accept_drift,
              const std::string& version) {
  const record::Artifacts artifacts(run.artifacts_folder());
  const std::string identity = config::identity_json(plan.config, conditions);
  const std::string hash = util::sha256_hex(identity);
  const std::string planned = artifacts.put(record::plan_json(names_of(plan.chosen)));
  if (!ledger.rows().empty() && ledger.rows().front().kind == record::kind::import_start) {
    throw util::UsageError({run.folder().string(),
                            "was imported: it holds others' results",
                            "give the sweep another --run-name"},
                           "E_RUN_FOREIGN");
  }
  const auto before = identity_of(ledger.rows());
  const nlohmann::json held_out = held_out_of(plan.config);
  nlohmann::json data{
      {"identity_sha256", hash},
      {"items_sha256", planned},
      {"toml_sha256", artifacts.put(config::recorded_text(plan.toml, plan.config.file.string()))},
      {"sweep_version", version},
      {"policy", record::kPolicy}};
  if (!held_out.is_null()) {
    data["held_out"] = held_out;
  }
  if (!before) {
    (void)artifacts.put(identity);
    // Before the row that names it: a run that is killed between the two is intact.
    record::write_whole(run.config_file(), identity + "\n");
    (void)ledger.append(record::kind::run_start, {}, data);
    return;
  }
  if (*before != hash) {
    const auto changes = accepted_changes(run, *before, identity, accept_drift);
    (void)artifacts.put(identity);
    nlohmann::json row = data;
    row["drift"] = !changes.empty();
    (void)ledger.append(record::kind::config, {}, row);
    record::write_whole(run.config_file(), identity + "\n");
  } else {
    nlohmann::json row{{"items_sha256", planned}, {"sweep_version", version}};
    if (!held_out.is_null()) {
      row["held_out"] = held_out;
    }
    (void)ledger.append(record::kind::run_resume, {}, row);
    // A process that was killed may have left an older one, or none.
    std::error_code error;
    if (!fs::is_regular_file(run.config_file(), error) ||
        record::read_whole(run.config_file()) != identity + "\n") {
      record::write_whole(run.config_file(), identity + "\n");
    }
  }
}

}  // namespace sweep::queue
