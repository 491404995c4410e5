#pragma once

#include "record/chains.h"
#include "record/ledger.h"
#include "record/run_dir.h"

#include <cstddef>
#include <string>
#include <vector>

namespace sweep::record {

struct RunVerification {
  Verification ledger;              // the root
  std::size_t chains = 0;           // of tasks
  std::size_t chain_rows = 0;       // in them
  std::size_t artifacts = 0;        // files whose bytes were compared with their names
  std::size_t trajectories = 0;     // finished items whose file was compared with its ledger row
  std::size_t kernels = 0;          // kernel files that were compared with the judged text's hash
  std::vector<std::string> broken;  // "file: what is wrong", artifacts first

  [[nodiscard]] bool intact() const { return ledger.intact && broken.empty(); }
};

// Compares a run with its ledger without changing anything: the chain, every artifact with its
// name, every artifact that a row names, the chains of tasks with what the
// root says of them, the copy of the configuration, and the trajectory file of
// every finished item with the hash in its last `item_end` row, and the kernel file beside it with
// the hash of the judged text. Trajectory files that no row names, kernel files without a
// trajectory and other files beside them are findings too. Items in progress are not compared: they
// are still being written. Unfinished files that a killed sweep left are passed over, and so are
// artifacts that nothing names (record/garbage.h).
[[nodiscard]] RunVerification verify_run(const RunDir& run);

}  // namespace sweep::record
