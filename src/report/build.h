#pragma once

#include "record/run_dir.h"
#include "report/row.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace sweep::report {

struct BuildOptions {
  int refresh_seconds = 0;    // above 0: pages served live follow the run
  unsigned workers = 0;       // threads that read trajectories; 0: one a core
  bool use_cache = true;      // false: everything is made anew, e.g. to publish it
  std::string run_name = {};  // on pages; empty: the folder's name
};

// Where the ledger stood when the run was read.
struct LedgerState {
  std::string head;      // hash, 64 hex digits
  std::size_t rows = 0;  // 0: there is none
  std::string as_of;     // time of the last row, UTC; empty: no row
};

struct Built {
  std::filesystem::path index;  // report/index.html
  std::size_t pages = 0;        // written by this call
  std::size_t unchanged = 0;    // left alone
  std::vector<std::string>
      unreadable;  // "file: reason" of trajectories that could not be read; they are shown nowhere
  std::vector<Row> rows = {};  // every item, as the pages say it
  LedgerState ledger = {};
};

// Builds the static pages of a run below its report/ folder from its trajectory files and ledger,
// and again after the run has gone on: only trajectory files that have changed are read, and pages
// that stay the same keep their files; of a page of several items only head and foot are made
// where its items are as before. What was read is kept in report/.rows (row_cache.h) for
// other processes. Pages appear whole. They open from disk without a server or a network.
class Builder {
 public:
  explicit Builder(record::RunDir run);
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;
  ~Builder();

  // Throws util::UsageError when it is no run folder ("E_RUN_MISSING") or a link stands where the
  // report has a folder ("E_REPORT_LINK"), InfraError on disk trouble.
  Built build(const BuildOptions& options = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Once.
Built build(const record::RunDir& run, const BuildOptions& options = {});

}  // namespace sweep::report
