#include "queue/share.h"

#include "queue/budget.h"
#include "queue/drive.h"
#include "queue/resume.h"
#include "util/error.h"

#include <algorithm>
#include <cmath>

#include <fcntl.h>
#include <unistd.h>

namespace sweep::queue {

namespace fs = std::filesystem;

namespace {

constexpr int kMostRestarts = 10000;

std::string chain_name(const std::string& task, int restart) {
  return restart == 0 ? task : task + "r" + std::to_string(restart);
}

// Whether a chain is of a process of this task.
bool of_task(const record::Chain& chain, const std::string& task) {
  const std::string& name = chain.task;
  return name == task ||
         (name.starts_with(task + "r") && name.size() > task.size() + 1 &&
          name.find_first_not_of("0123456789", task.size() + 1) == std::string::npos);
}

// No two processes write one chain, so that a node that was thought dead breaks nothing.
std::string new_chain(const record::RunDir& run, const std::string& task) {
  for (int restart = 0; restart < kMostRestarts; ++restart) {
    const std::string name = chain_name(task, restart);
    const fs::path file = run.chain_file(name);
    const util::Fd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (fd) {
      return name;
    }
    if (errno != EEXIST) {
      record::throw_write("open", file);
    }
  }
  throw util::InfraError({run.chain_file(task).string(),
                          "this task was started too often",
                          "look at its log; `sweep submit` begins a new array"},
                         "E_TASK_RESTARTS");
}

std::int64_t part(std::int64_t whole, std::int64_t tasks) {
  return std::max<std::int64_t>(1, whole / tasks);
}

}  // namespace

void divide_limits(config::SweepConfig& config, std::int64_t tasks) {
  if (tasks <= 1) {
    return;
  }
  for (config::Model& model : config.models) {
    if (config::on_this_machine(model.base_url) || config::scripted(model)) {
      continue;  // each task has a server of its own
    }
    if (model.rpm) {
      model.rpm = part(*model.rpm, tasks);
    }
    if (model.tpm) {
      model.tpm = part(*model.tpm, tasks);
    }
    model.max_concurrency = part(model.max_concurrency, tasks);
  }
  if (config.parallelism.llm_global_concurrency > 0) {
    config.parallelism.llm_global_concurrency =
        part(config.parallelism.llm_global_concurrency, tasks);
  }
}

std::optional<MostTasks> most_tasks(const config::SweepConfig& config) {
  std::optional<MostTasks> most;
  const auto limit = [&](std::int64_t value, const std::string& name) {
    if (!most || value < most->tasks) {
      most = {value, name + " = " + std::to_string(value)};
    }
  };
  for (const config::Model& model : config.models) {
    if (config::on_this_machine(model.base_url) || config::scripted(model)) {
      continue;
    }
    if (model.rpm) {
      limit(*model.rpm, "models." + model.name + " rpm");
    }
    limit(model.max_concurrency, "models." + model.name + " max_concurrency");
  }
  if (config.parallelism.llm_global_concurrency > 0) {
    limit(config.parallelism.llm_global_concurrency, "parallelism.llm_global_concurrency");
  }
  return most;
}

Share::Share(const record::RunDir& run, const TaskOptions& options, util::Clock& clock)
    : run_(run),
      options_(options),
      task_(new_chain(run, options.task)),
      own_(run.folder(), run.claims_folder() / ("work." + task_)) {
  claims_ = std::make_unique<record::Claims>(run.claims_folder(),
                                             record::Claims::Owner{task_, host_name(), ::getpid()},
                                             options.lease_s,
                                             clock);
  ledger_ = std::make_unique<record::Ledger>(run.chain_file(task_));
}

Share::~Share() {
  claims_->release();
}

void Share::begin(const record::Verification& root, nlohmann::json data) {
  chains_ = record::read_chains(run_);
  before_ = std::as_const(chains_).rows();
  data["root_sha256"] = root.head;
  data["root_rows"] = root.rows;
  data["task"] = options_.task;
  data["tasks"] = options_.tasks;
  data["lease_s"] = options_.lease_s;
  data["host"] = host_name();
  (void)ledger_->append(record::kind::task_start, {}, data);
}

Share::Claimed Share::claim(const config::WorkItem& item) {
  const std::string id = item.id();
  const record::Claims::Attempt attempt = claims_->claim(id);
  switch (attempt.state) {
    case record::Claims::State::mine:
      looked_.erase(id);
      return Claimed::mine;
    case record::Claims::State::finished:
      return Claimed::finished;
    case record::Claims::State::busy:
      break;
  }
  // One that is renewed between two looks is at work, and its task will end it.
  const auto [known, first] = looked_.emplace(id, attempt.renewed);
  return first || known->second == attempt.renewed ? Claimed::later : Claimed::elsewhere;
}

record::StopAsked Share::stop_asked() const {
  return claims_->open() ? record::stop_asked(run_.claims_folder()) : record::StopAsked::stop;
}

bool Share::publish(const config::WorkItem& item) {
  const record::ItemName name = name_of(item);
  const fs::path trajectory = own_.trajectory_file(name);
  const fs::path kernel = own_.kernel_file(name);
  std::error_code error;
  const bool submitted = fs::is_regular_file(kernel, error);
  if (!claims_->publish(item.id(), trajectory, submitted ? std::optional(kernel) : std::nullopt)) {
    return false;
  }
  // For readers while the tasks are at work; the last word on which result counts is the claims'.
  if (submitted) {
    record::put_in_place(kernel, run_.kernel_file(name));
  } else {
    fs::remove(run_.kernel_file(name), error);
  }
  record::put_in_place(trajectory, run_.trajectory_file(name));
  return true;
}

std::vector<record::Row> Share::rows_of(const std::string& item) const {
  std::vector<record::Row> rows = record::read_chains(run_).rows();
  std::erase_if(rows, [&](const record::Row& row) { return row.item != item; });
  return rows;
}

Share::Part Share::part_of(const config::Run& run) const {
  Part part;
  std::vector<record::Row> others = chains_.root.read;
  for (const record::Chain& chain : chains_.tasks) {
    const auto& read = chain.read.read;
    if (of_task(chain, options_.task)) {
      part.spent.insert(part.spent.end(), read.begin(), read.end());
    }
    // What no `task_head` row commits to is of this array, and each task counts its own.
    others.insert(others.end(), read.begin(), read.begin() + static_cast<long>(chain.committed));
  }
  const Budget spent({}, {}, others);
  const auto tasks = static_cast<double>(options_.tasks);
  if (run.budget_usd) {
    part.usd = std::max(0.0, *run.budget_usd - spent.spent_usd()) / tasks;
  }
  if (run.budget_tokens) {
    part.tokens =
        std::max<std::int64_t>(0, *run.budget_tokens - spent.spent_tokens()) / options_.tasks;
  }
  return part;
}

}  // namespace sweep::queue
