#pragma once

#include "queue/sweep.h"
#include "record/run_dir.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace sweep::queue {

struct ReplayOptions {
  std::filesystem::path out;     // folder of the new run; empty: nothing is kept
  std::filesystem::path config;  // in place of the recorded TOML; empty: that
  std::string only;              // as SweepOptions::only
  bool judge = true;             // judge every recorded kernel again and compare the verdicts
  bool allow_unsandboxed = false;
  // Told before each item: its number from 1, how many there are, and its id. May be empty.
  std::function<void(std::size_t, std::size_t, const std::string&)> next{};
};

// What became of one item.
struct ReplayedItem {
  std::string item;        // WorkItem::id()
  std::string outcome;     // as recorded
  std::size_t tries = 0;   // requests on the wire that were asked again
  std::size_t judged = 0;  // tool calls that were judged again
  std::string skipped;     // why it was not played: not finished, no request; empty: it was
  std::vector<std::string> differences;  // "turn 2: ...", from the first on; empty: the same
};

struct Replayed {
  std::vector<ReplayedItem> items;

  // Every item that was played is as recorded, and one was played at least.
  [[nodiscard]] bool same() const;
};

// Leads every finished conversation of a run again through the real client, in front of a loopback
// server that answers from the record: no key is read, and no other network is used. Compared are
// the requests byte by byte, the conversations, the outcomes and, with `judge`, the verdicts of the
// kernels. Hostile run files are refused or a difference, never trusted: UsageError E_REPLAY_*, for
// a run without what a replay needs, a configuration without a recorded model, an `only` that
// matches nothing (E_SWEEP_ONLY), or an `out` that holds something; InfraError E_LEDGER_BROKEN for
// a broken chain. `each` is told every item at its end.
[[nodiscard]] Replayed replay_run(const record::RunDir& run,
                                  const ReplayOptions& options,
                                  const Installation& installation,
                                  const std::function<void(const ReplayedItem&)>& each);

}  // namespace sweep::queue
