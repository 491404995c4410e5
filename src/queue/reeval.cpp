#include "queue/reeval.h"

#include "agent/agent.h"
#include "agent/session.h"
#include "agent/task.h"
#include "agent/tools.h"
#include "evaluate/preparation.h"
#include "queue/devices.h"
#include "queue/drive.h"
#include "queue/endings.h"
#include "queue/prepare.h"
#include "queue/recorded.h"
#include "queue/reeval_why.h"
#include "queue/resume.h"
#include "record/artifacts.h"
#include "record/json.h"
#include "record/ledger.h"
#include "record/plan.h"
#include "util/error.h"
#include "util/sha256.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace sweep::queue {

namespace fs = std::filesystem;

namespace {

bool is_chosen(const std::string& only, const config::WorkItem& item) {
  return only.empty() || config::glob_match(only, item.problem_id()) ||
         config::glob_match(only, item.id());
}

// None: damaged, or not there.
std::optional<std::string> read(const record::Artifacts& artifacts, const std::string& sha256) {
  try {
    return artifacts.get(sha256);
  } catch (const util::InfraError&) {
    return std::nullopt;
  }
}

// The text that was judged: the artifact, or where that is lost the file beside the trajectory.
std::optional<std::string> kernel_of(const record::RunDir& run,
                                     const record::Artifacts& artifacts,
                                     const record::ItemName& name,
                                     const std::string& sha256) {
  if (auto kernel = read(artifacts, sha256)) {
    return kernel;
  }
  try {
    std::string bytes = record::read_whole(run.kernel_file(name));
    const std::string marker = record::RunDir::kernel_text("");
    bytes.resize(bytes.ends_with(marker) ? bytes.size() - marker.size() : bytes.size());
    return util::sha256_hex(bytes) == sha256 ? std::optional(bytes) : std::nullopt;
  } catch (const util::InfraError&) {
    return std::nullopt;
  }
}

// The copy, or none for a dry run.
class Copy {
 public:
  Copy(const record::RunDir& old,
       const fs::path& out,
       const std::function<void(const std::string&)>& damaged)
      : old_(old), run_(out) {
    std::error_code error;
    if (fs::exists(out, error) && !fs::is_empty(out, error)) {
      throw util::UsageError({out.string(), "already holds something", "give a new folder"},
                             "E_REEVAL_OUT");
    }
    run_.create();
    artifacts_.emplace(run_.artifacts_folder());
    ledger_.emplace(run_.ledger_file());
    const record::Artifacts from(old.artifacts_folder(), record::Artifacts::Use::read);
    for (const auto& entry : fs::directory_iterator(old.artifacts_folder())) {
      const std::string name = entry.path().filename().string();
      if (!record::is_sha256(name)) {
        continue;
      }
      const auto bytes = read(from, name);
      if (bytes) {
        (void)artifacts_->put(*bytes);
      } else if (damaged) {
        damaged(name);
      }
    }
  }

  // A submission that the run's artifacts may have lost.
  void keep(const std::string& kernel) { (void)artifacts_->put(kernel); }

  void begin(const std::vector<record::Row>& rows,
             const std::vector<record::ItemName>& names,
             const Installation& installation,
             const Lane& lane) {
    nlohmann::json data{{"items_sha256", artifacts_->put(record::plan_json(names))},
                        {"sweep_version", installation.version},
                        {"git_commit", installation.commit},
                        {"gpu", lane.info.name},
                        {"reeval_of", rows.empty() ? "" : rows.back().hash},
                        {"policy", record::kPolicy}};
    for (const char* field : {"identity_sha256", "toml_sha256"}) {
      if (const std::string hash = named_by(rows, field); !hash.empty()) {
        data[field] = hash;
      }
    }
    (void)ledger_->append(record::kind::run_start, {}, data);
    std::error_code error;
    if (fs::is_regular_file(old_.config_file(), error)) {
      record::write_whole(run_.config_file(), record::read_whole(old_.config_file()));
    }
  }

  // The item's rows of requests and tools stand in the copy as in the old run.
  void add(const record::ItemName& name,
           const std::vector<record::Row>& rows,
           const record::Trajectory& trajectory,
           const nlohmann::json& reeval) {
    const std::string id = item_of(name).id();
    const std::string file =
        run_.trajectory_file(name).lexically_relative(run_.folder()).generic_string();
    (void)ledger_->append(record::kind::item_start, id, {{"file", file}});
    for (const record::Row& row : rows) {
      if (row.item == id && (row.kind == record::kind::request || row.kind == record::kind::tool)) {
        (void)ledger_->append(row.kind, id, row.data);
      }
    }
    if (!reeval.is_null()) {
      (void)ledger_->append("reeval", id, reeval);
    }
    run_.save(name, trajectory);
    const std::string bytes = record::read_whole(run_.trajectory_file(name));
    (void)ledger_->append(record::kind::item_end,
                          id,
                          {{"outcome", trajectory.outcome},
                           {"file", file},
                           {"trajectory_sha256", util::sha256_hex(bytes)},
                           {"facts", facts_json(ending_of(trajectory))}});
    ++outcomes_[trajectory.outcome];
  }

  void end() {
    (void)ledger_->append(
        record::kind::run_end, {}, {{"outcomes", outcomes_}, {"interrupted", false}});
  }

  [[nodiscard]] std::string name() const { return run_.folder().filename().string(); }

 private:
  const record::RunDir& old_;
  record::RunDir run_;
  std::optional<record::Artifacts> artifacts_;
  std::optional<record::Ledger> ledger_;
  std::map<std::string, std::size_t> outcomes_;
};

class Judge {
 public:
  Judge(const config::SweepConfig& config, const ReevalOptions& options, const Installation& where)
      : config_(config), options_(options), installation_(where) {
    const std::string wanted = options.device.empty() ? config.run.device : options.device;
    lane_ = lanes(where.program, wanted, 1, config.run.require_gpu).front();
    check_machine(lane_, config.run.nvcc, options.allow_unsandboxed);
    evaluator_ = agent::real_evaluator(where.evaluation, nullptr, lane_.info);
  }

  [[nodiscard]] const Lane& lane() const { return lane_; }

  // `before` with the result and the provenance of today.
  [[nodiscard]] record::Trajectory judge(const config::WorkItem& item,
                                         const record::Trajectory& before,
                                         const std::string& kernel) const {
    const agent::ToolSettings settings =
        agent::tool_settings(config_, item, lane_.id, options_.allow_unsandboxed);
    const agent::ToolOutcome outcome =
        agent::run_tool("submit_kernel", kernel, settings, *evaluator_);
    const evaluate::Evaluation evaluation = evaluate::evaluation_from_json(outcome.evaluation);
    record::Trajectory now = before;
    record::FinalResult result = agent::final_result(evaluation);
    result.kernel_sha256 = before.final_result->kernel_sha256;
    result.evaluation = outcome.evaluation;
    now.outcome = result.metadata.value("outcome", "infra_error");
    now.final_result = std::move(result);
    if (now.outcome == "infra_error") {
      now.error = evaluation.infra.empty() ? "the judge failed" : evaluation.infra;
      now.error_code = "E_REEVAL_JUDGE";
    } else {
      now.error.clear();
      now.error_code.clear();
    }
    set_provenance(item, evaluation, now.provenance);
    return now;
  }

 private:
  void set_provenance(const config::WorkItem& item,
                      const evaluate::Evaluation& evaluation,
                      record::Provenance& p) const {
    const problem::Problem problem =
        evaluate::find_problem(installation_.evaluation, item.problem_id());
    const agent::Task task = agent::make_task(
        problem, lane_.info, lane_.id.kind, evaluate::seed_file(installation_.evaluation, problem));
    p.sweep_version = installation_.version;
    p.git_commit = installation_.commit;
    p.judge_version = evaluation.version;
    p.device = device::text(lane_.id);
    p.gpu_name = lane_.info.name;
    p.gpu_uuid = lane_.info.uuid;
    p.driver = lane_.info.driver;
    p.arch = lane_.info.arch;
    p.compiler = evaluation.compile ? evaluation.compile->compiler : "";
    p.host = host_name();
    p.problem_sha256 = task.sha256;
    p.seed_sha256 = task.seed_sha256;
    p.sandboxed = evaluation.protections.landlock;
  }

  const config::SweepConfig& config_;
  const ReevalOptions& options_;
  const Installation& installation_;
  Lane lane_;
  std::unique_ptr<agent::Evaluator> evaluator_;
};

// Why an item is not judged again; empty: it is.
std::string not_judged(const Past& past, const config::WorkItem& item, const std::string& only) {
  return !past.trajectory || !past.trajectory->finished()
             ? past.unreadable.empty() ? "not finished" : past.unreadable
         : !past.trajectory->final_result || past.trajectory->final_result->kernel_sha256.empty()
             ? "no kernel was handed in"
         : !is_chosen(only, item) ? "not chosen by --only"
                                  : std::string();
}

std::size_t judgements(const record::RunDir& run,
                       const std::vector<record::ItemName>& names,
                       const std::string& only) {
  return static_cast<std::size_t>(std::ranges::count_if(names, [&](const auto& name) {
    return not_judged(past_of(run, item_of(name)), item_of(name), only).empty();
  }));
}

}  // namespace

std::vector<Reevaluated> reevaluate(const record::RunDir& run,
                                    const ReevalOptions& options,
                                    const Installation& installation,
                                    const std::function<void(const Reevaluated&)>& each) {
  const std::vector<record::Row> rows = recorded_rows(run);
  const config::SweepConfig config = recorded_config(run, rows, options.config);
  const std::vector<record::ItemName> names = record::planned_items(run, rows);
  const std::size_t all = judgements(run, names, options.only);
  if (all == 0) {
    throw util::UsageError({options.only.empty() ? run.folder().string() : "--only " + options.only,
                            "has no finished item with a kernel",
                            "`sweep status` shows the items"},
                           "E_SWEEP_ONLY");
  }
  const record::Artifacts artifacts(run.artifacts_folder(), record::Artifacts::Use::read);
  const Judge judge(config, options, installation);
  std::optional<Copy> copy;
  if (!options.dry_run) {
    copy.emplace(run, options.out, options.damaged);
    copy->begin(rows, names, installation, judge.lane());
  }
  std::vector<Reevaluated> out;
  std::size_t number = 0;
  for (const record::ItemName& name : names) {
    const config::WorkItem item = item_of(name);
    const Past past = past_of(run, item);
    Reevaluated one;
    one.item = item.id();
    one.skipped = not_judged(past, item, options.only);
    std::optional<std::string> kernel;
    if (one.skipped.empty()) {
      kernel = kernel_of(run, artifacts, name, past.trajectory->final_result->kernel_sha256);
      one.lost = !kernel;
      one.skipped = kernel ? "" : "the text that was handed in is lost (see `sweep verify`)";
    }
    if (kernel) {
      if (options.next) {
        options.next(++number, all, one.item);
      }
      record::Trajectory now = judge.judge(item, *past.trajectory, *kernel);
      one = compared(*past.trajectory, now);
      if (copy) {
        copy->keep(*kernel);
        now.run_name = copy->name();
        now.final_result->metadata["reeval_of"] = to_json(one).at("before");
        copy->add(name, rows, now, to_json(one));
      }
    } else if (copy && past.trajectory && past.trajectory->finished()) {
      record::Trajectory same = *past.trajectory;
      same.run_name = copy->name();
      copy->add(name, rows, same, nullptr);
    }
    if (each) {
      each(one);
    }
    out.push_back(std::move(one));
  }
  if (copy) {
    copy->end();
  }
  return out;
}

}  // namespace sweep::queue
