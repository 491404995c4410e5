#include "queue/join.h"

#include "queue/endings.h"
#include "queue/recorded.h"
#include "queue/resume.h"
#include "record/artifacts.h"
#include "record/chains.h"
#include "record/claims.h"
#include "record/fields.h"
#include "record/ledger.h"
#include "util/error.h"
#include "util/sha256.h"
#include "util/text.h"

#include <algorithm>
#include <map>

namespace sweep::queue {

namespace fs = std::filesystem;

namespace {

constexpr double kLookSeconds = 0.5;

// A result that counts takes the place of one that was published beside it later.
bool settle(const record::RunDir& run,
            const record::Published& published,
            const record::ItemName& name) {
  const fs::path place = run.trajectory_file(name);
  std::error_code error;
  const bool same = fs::equivalent(published.trajectory, place, error) && !error;
  const bool kernel =
      published.kernel && fs::equivalent(*published.kernel, run.kernel_file(name), error) && !error;
  if (same && (kernel || !published.kernel)) {
    return false;
  }
  if (published.kernel) {
    record::put_in_place(*published.kernel, run.kernel_file(name));
  } else {
    fs::remove(run.kernel_file(name), error);
  }
  record::put_in_place(published.trajectory, place);
  return true;
}

// Hash of each item's trajectory as its last end says; empty once it was begun again.
std::map<std::string, std::string> ends_of(const std::vector<record::Row>& rows) {
  std::map<std::string, std::string> ends;
  for (const record::Row& row : rows) {
    if (row.kind == record::kind::item_end) {
      ends[row.item] = record::text_in(row.data, "trajectory_sha256");
    } else if (row.kind == record::kind::item_start || row.kind == record::kind::retry) {
      ends[row.item].clear();
    }
  }
  return ends;
}

// The last word on an item whose task died between its result and the row about it.
void add_end(const record::RunDir& run,
             const record::ItemName& name,
             const record::Trajectory& t,
             const std::map<std::string, std::string>& ends,
             record::Ledger& root) {
  const std::string id = item_of(name).id();
  const fs::path file = run.trajectory_file(name);
  const std::string hash = util::sha256_hex(record::read_whole(file));
  const auto known = ends.find(id);
  if (known == ends.end() || known->second != hash) {
    (void)root.append(record::kind::item_end,
                      id,
                      {{"outcome", t.outcome},
                       {"file", file.lexically_relative(run.folder()).generic_string()},
                       {"trajectory_sha256", hash},
                       {"facts", facts_json(ending_of(t))}});
  }
}

// The copy of the configuration, which a task may have died before it wrote.
void restore_config(const record::RunDir& run, const std::vector<record::Row>& root) {
  std::error_code error;
  const auto identity = identity_of(root);
  if (identity && record::is_sha256(*identity) && !fs::is_regular_file(run.config_file(), error)) {
    record::write_whole(run.config_file(),
                        record::Artifacts(run.artifacts_folder()).get(*identity) + "\n");
  }
}

bool committed(const std::vector<record::Row>& root,
               const std::string& name,
               const std::string& head) {
  return std::ranges::any_of(root, [&](const record::Row& row) {
    return row.kind == record::kind::task_head && record::text_in(row.data, "ledger") == name &&
           record::text_in(row.data, "head") == head;
  });
}

// The signs of life of tasks that did not say goodbye.
std::vector<record::TaskSign> signs_of(const record::RunDir& run) {
  std::error_code error;
  const fs::path claims = run.claims_folder();
  return fs::exists(claims, error) ? record::task_signs(claims, record::server_time(claims))
                                   : std::vector<record::TaskSign>();
}

std::string text_of(const record::TaskSign& sign) {
  return "task " + sign.task + " on " + (sign.host.empty() ? "?" : sign.host);
}

// Puts one result that counts in its place.
void join_result(const record::RunDir& run,
                 const record::Published& published,
                 const std::map<std::string, std::string>& ends,
                 record::Ledger& root,
                 Joined& joined) {
  const std::string file = published.trajectory.lexically_relative(run.folder()).generic_string();
  record::Trajectory t;
  try {
    t = run.load(published.trajectory);
  } catch (const util::Error& failure) {
    joined.refused.push_back(file + ": " + failure.message().what);
    return;
  }
  const record::ItemName name{t.variant, t.model_name, t.level, t.problem_id, t.attempt};
  if (record::claim_stem(item_of(name).id()) != published.stem) {
    joined.refused.push_back(file + ": is the result of another item");
    return;
  }
  joined.results += settle(run, published, name) ? 1U : 0U;
  add_end(run, name, t, ends, root);
}

}  // namespace

std::vector<std::string> tasks_at_work(const record::RunDir& run) {
  std::vector<std::string> out;
  for (const record::TaskSign& sign : signs_of(run)) {
    if (sign.alive()) {
      out.push_back(text_of(sign));
    }
  }
  return out;
}

void require_none(const record::RunDir& run, const std::vector<std::string>& at_work) {
  if (!at_work.empty()) {
    throw util::UsageError(
        {run.folder().string(),
         std::to_string(at_work.size()) + " task" + (at_work.size() == 1 ? "" : "s") +
             " of an array work on this run (" + util::printable(at_work.front()) + ")",
         "wait for them, or end them with `sweep stop`; `sweep join` waits for a dead one's lease"},
        "E_RUN_BUSY");
  }
}

void require_no_tasks(const record::RunDir& run) {
  require_none(run, tasks_at_work(run));
}

std::vector<std::string> wait_for_tasks(const record::RunDir& run,
                                        double seconds,
                                        util::Clock& clock) {
  const double end = clock.monotonic() + seconds;
  // By task: its sign's time of change, and since when it has been that.
  std::map<std::string, std::pair<std::int64_t, double>> seen;
  while (true) {
    const double now = clock.monotonic();
    std::vector<std::string> at_work;
    for (const record::TaskSign& sign : signs_of(run)) {
      auto& [changed, since] = seen.try_emplace(sign.task, sign.changed_ns, now).first->second;
      if (changed != sign.changed_ns) {
        changed = sign.changed_ns;
        since = now;
      }
      if (sign.alive() && now - since < sign.lease_s) {
        at_work.push_back(text_of(sign));
      }
    }
    if (at_work.empty() || now >= end) {
      return at_work;
    }
    clock.sleep(std::min(kLookSeconds, end - now));
  }
}

Joined join_tasks(const record::RunDir& run) {
  Joined joined;
  std::error_code error;
  record::Ledger root(run.ledger_file());  // mends its last row
  const record::Chains chains = record::read_chains(run);
  if (chains.tasks.empty()) {
    fs::remove_all(run.claims_folder(), error);
    return joined;
  }
  if (!chains.root.problem.empty() || !chains.problems.empty()) {
    throw util::InfraError({run.folder().string(),
                            chains.problem(),
                            "restore the file from a copy, or start anew with --run-name"},
                           "E_LEDGER_BROKEN");
  }
  const std::map<std::string, std::string> ends = ends_of(chains.rows());
  for (const record::Chain& chain : chains.tasks) {
    // Opening cuts a last line that was never acknowledged.
    const record::Ledger ledger(run.chain_file(chain.task));
    if (ledger.rows().empty() || committed(root.rows(), chain.name, ledger.head())) {
      continue;
    }
    (void)root.append(
        record::kind::task_head,
        {},
        {{"ledger", chain.name}, {"rows", ledger.rows().size()}, {"head", ledger.head()}});
    ++joined.chains;
  }
  for (const record::Published& published : record::published_of(run.claims_folder())) {
    join_result(run, published, ends, root, joined);
  }
  restore_config(run, root.rows());
  fs::remove_all(run.claims_folder(), error);
  return joined;
}

}  // namespace sweep::queue
