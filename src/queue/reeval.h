#pragma once

#include "queue/sweep.h"
#include "record/run_dir.h"
#include "record/trajectory.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sweep::queue {

struct ReevalOptions {
  std::filesystem::path out;     // folder of the new run
  std::filesystem::path config;  // in place of the recorded TOML; empty: that
  std::string only;              // items that are judged again, as SweepOptions::only
  std::string device;            // in place of [run] device; empty: that
  bool dry_run = false;          // judge and say what would change; write nothing
  bool allow_unsandboxed = false;
  // Told before each judgement: its number from 1, how many there are, and the item. May be empty.
  std::function<void(std::size_t, std::size_t, const std::string&)> next{};
  // Told of each artifact that the copy goes without: it cannot be read. May be empty.
  std::function<void(const std::string&)> damaged{};
};

// What a judgement says, in short.
struct Judgement {
  std::string outcome;
  std::string verdict;
  std::string reason;
  std::optional<record::Interval> speedup;
};

// One item, before and now.
struct Reevaluated {
  std::string item;     // WorkItem::id()
  std::string skipped;  // why it was not judged again; empty: it was
  bool lost = false;    // skipped: its submission is in no file of the run any more
  Judgement before, now;
  bool changed = false;          // the verdict, or whether an outcome counts as correct
  std::vector<std::string> why;  // what differs in the record of the two judgements; changed only
};

// Why two judgements of one text may differ: what their records say of problem, seed, program,
// judge, device, driver and compiler; else whether the timings agree within their intervals, or
// that nothing recorded differs.
[[nodiscard]] std::vector<std::string> why_changed(const record::Trajectory& before,
                                                   const record::Trajectory& now);

// Judges each submission of a run again, as it was handed in and with the run's seeds, and writes a
// copy of the run with the new results; the old run is only read. The copy is a run that verify,
// report and reeval take: its ledger begins anew and names the old one's head, its trajectories are
// the old ones with results and provenance of today, and a `reeval` row an item has both
// judgements. Items without a submission, or whose text is lost, are copied as they are. UsageError
// E_REPLAY_CONFIG, E_SWEEP_ONLY, E_REEVAL_OUT for a folder that holds something; InfraError
// E_LEDGER_BROKEN, E_RUN_WRITE.
[[nodiscard]] std::vector<Reevaluated> reevaluate(
    const record::RunDir& run,
    const ReevalOptions& options,
    const Installation& installation,
    const std::function<void(const Reevaluated&)>& each);

[[nodiscard]] nlohmann::json to_json(const Reevaluated& item);

}  // namespace sweep::queue
