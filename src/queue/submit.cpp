// Submits a run as a job array.
#include "queue/cost.h"
#include "queue/join.h"
#include "queue/needs.h"
#include "queue/prepare.h"
#include "queue/share.h"
#include "queue/slurm.h"
#include "record/artifacts.h"
#include "record/json.h"
#include "util/error.h"
#include "util/process.h"
#include "util/text.h"

#include <algorithm>
#include <iostream>

#include <fmt/format.h>
#include <unistd.h>

namespace sweep::queue {

namespace fs = std::filesystem;

namespace {

constexpr double kSbatchSeconds = 120;

// A script's line must end where ours ends.
void require_one_line(const fs::path& path) {
  const std::string text = path.string();
  if (text.find_first_of("\n\r\"\\") != std::string::npos) {
    throw util::UsageError({util::printable(text),
                            "a path with a line break, a quote or a backslash cannot stand in a "
                            "batch script",
                            "move or rename the folder"},
                           "E_SUBMIT_PATH");
  }
}

std::int64_t tasks_for(const SubmitOptions& options, const Plan& plan, std::size_t pending) {
  std::int64_t tasks = options.tasks;
  if (tasks == 0) {
    tasks = std::clamp<std::int64_t>(
        plan.config.parallelism.num_gpu_devices, 1, static_cast<std::int64_t>(pending));
  }
  const auto most = most_tasks(plan.config);
  if (most && tasks > most->tasks) {
    throw util::UsageError(
        {"--tasks " + std::to_string(tasks),
         most->limit + " cannot be divided among more tasks than that",
         fmt::format("give --tasks {} at most, or raise the limit", most->tasks)},
        "E_SUBMIT_TASKS");
  }
  return tasks;
}

std::vector<std::string> arguments_of(const SweepOptions& o) {
  std::vector<std::string> out;
  const auto add = [&](bool wanted, std::initializer_list<std::string> words) {
    if (wanted) {
      out.insert(out.end(), words);
    }
  };
  add(!o.only.empty(), {"--only", o.only});
  add(!o.run_name.empty(), {"--run-name", o.run_name});
  add(o.retry != Retry::none,
      {"--retry",
       o.retry == Retry::errors     ? "errors"
       : o.retry == Retry::timeouts ? "timeouts"
                                    : "all"});
  add(o.accept_drift, {"--accept-drift"});
  add(o.allow_unsandboxed, {"--allow-unsandboxed"});
  return out;
}

// The GPU that the run's results are of; a login node has none.
std::string stored_gpu(const record::RunDir& run, const std::string& identity) {
  try {
    const auto stored = record::parse_bounded(
        record::Artifacts(run.artifacts_folder()).get(identity), "identity of the run");
    return stored.at("conditions").value("gpu", "");
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

// Brings a run that has begun to where an array can go on: what other tasks left is joined, a
// changed configuration recorded.
void prepare_run(const Plan& plan,
                 const SubmitOptions& options,
                 const Installation& installation,
                 const record::RunDir& run) {
  run.create();
  require_no_tasks(run);
  const record::RunLock lock(run);
  std::error_code error;
  if (!fs::is_regular_file(run.ledger_file(), error)) {
    fs::remove_all(run.claims_folder(), error);
    return;  // the first task begins it, which knows the GPU
  }
  for (const std::string& refused : join_tasks(run).refused) {
    std::cerr << "sweep: " << util::printable(refused)
              << "; it does not count, see `sweep verify`\n";
  }
  record::Ledger ledger(run.ledger_file());
  const std::string gpu = stored_gpu(run, identity_of(ledger.rows()).value_or(""));
  open_run(plan,
           conditions_of(plan, installation, gpu),
           run,
           ledger,
           options.sweep.accept_drift,
           installation.version);
}

// Standard output of sbatch: the job's number. Empty, with a message, when it refused.
std::string sbatch(const std::vector<std::string>& arguments) {
  const auto program = util::find_program("sbatch");
  if (!program) {
    throw util::UsageError({"sbatch",
                            "not on PATH",
                            "submit on a machine of the cluster; --print writes the scripts only"},
                           "E_SUBMIT_SBATCH");
  }
  util::SpawnSpec spec;
  spec.argv = {"sbatch", "--parsable"};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  // Tasks get what their user has, keys among it, as sbatch passes it on.
  for (char** entry = environ; *entry != nullptr; ++entry) {
    spec.env.emplace_back(*entry);
  }
  spec.work_folder = fs::current_path();
  spec.deadline = kSbatchSeconds;
  const util::Captured done = util::run_program(*program, spec);
  const std::string id(util::trim(done.out.substr(0, done.out.find_first_of(";\n"))));
  const bool number =
      !id.empty() && id.find_first_not_of("0123456789") == std::string::npos && done.status.ok();
  if (!number) {
    std::cerr << "sweep: sbatch: " << done.status.text() << ": "
              << util::printable(std::string(util::trim(done.err + " " + done.out))) << '\n';
    return {};
  }
  return id;
}

int submit_scripts(const SlurmJob& job, const SubmitOptions& options) {
  const fs::path folder = job.run / "slurm";
  record::make_run_folder(folder);
  const fs::path array = folder / "array.sh";
  const fs::path join = folder / "join.sh";
  record::write_whole(array, array_script(job), 0755);
  record::write_whole(join, join_script(job), 0755);
  std::vector<std::string> arguments = options.site;
  arguments.push_back(array.string());
  const std::string id = sbatch(arguments);
  if (id.empty()) {
    return 3;
  }
  arguments = options.site;
  arguments.insert(arguments.end(), {"--gres=none", "--dependency=afterany:" + id, join.string()});
  const std::string joins = sbatch(arguments);
  if (options.sweep.json) {
    std::cout << nlohmann::json{{"schema", 1},
                                {"run", job.run.string()},
                                {"job", id},
                                {"join_job", joins},
                                {"tasks", job.tasks}}
                     .dump(2)
              << '\n';
  } else {
    std::cout << fmt::format("array {} of {} task{}; job {} joins it and builds the report\n",
                             id,
                             job.tasks,
                             job.tasks == 1 ? "" : "s",
                             joins.empty() ? "?" : joins)
              << "see     sweep status " << util::printable(job.run.string()) << '\n';
  }
  if (joins.empty()) {
    std::cerr << "sweep: the array was submitted, the job that joins it was not: run `sweep join "
              << util::printable(job.run.string()) << "` after its end\n";
    return 3;
  }
  return 0;
}

SlurmJob job_of(const Plan& plan,
                const SubmitOptions& options,
                const Installation& installation,
                const record::RunDir& run,
                std::size_t pending) {
  SlurmJob job;
  job.program = fs::absolute(installation.program);
  job.config = fs::absolute(options.sweep.config);
  job.run = fs::absolute(run.folder()).lexically_normal();
  job.name = plan.config.run.name;
  job.tasks = tasks_for(options, plan, pending);
  job.lease_s = options.lease_s;
  job.gpu = plan.config.run.device != "cpu";
  job.arguments = arguments_of(options.sweep);
  job.on_finish = plan.config.run.on_finish;
  for (const fs::path& path : {job.program, job.config, job.run}) {
    require_one_line(path);
  }
  return job;
}

}  // namespace

int submit(const SubmitOptions& options, const Installation& installation) {
  const Plan plan = make_plan(options.sweep, installation);
  if (!options.sweep.quiet) {
    for (const config::Diagnostic& warning : plan.warnings) {
      std::cerr << "warning: " << warning.text() << '\n';
    }
  }
  const record::RunDir run(plan.config.run.runs_dir / record::encode_part(plan.config.run.name));
  check_keys(plan);
  check_budget(plan);
  check_scripts(plan, installation);
  if (!options.print) {
    prepare_run(plan, options, installation, run);
  }
  const auto pending = pending_of(tasks_of(plan, run, ledger_of(run).read, options.sweep.retry));
  if (pending.empty()) {
    std::cout << "nothing is left to run; `sweep report " << util::printable(run.folder().string())
              << "` builds the pages\n";
    return 0;
  }
  const SlurmJob job = job_of(plan, options, installation, run, pending.size());
  if (options.print) {
    std::string site;
    for (const std::string& flag : options.site) {
      site += " " + shell_word(flag);
    }
    std::cout << array_script(job) << "# end of array.sh; sbatch --parsable" << site
              << " array.sh\n\n"
              << join_script(job) << "# end of join.sh; sbatch" << site
              << " --gres=none --dependency=afterany:JOB join.sh\n";
    return 0;
  }
  confirm_cost(plan, pending, options.sweep);
  return submit_scripts(job, options);
}

}  // namespace sweep::queue
