#pragma once

#include "record/run_dir.h"

#include <filesystem>
#include <string>
#include <vector>

namespace sweep::report {

struct BuildOptions {
  int refresh_seconds = 0;  // above 0: pages served live follow the run
};

struct Built {
  std::filesystem::path index;  // report/index.html
  std::size_t pages = 0;        // written by this call
  std::size_t unchanged = 0;    // left alone: their trajectory file is older than the page
  std::vector<std::string>
      unreadable;  // "file: reason" of trajectories that could not be read; they are shown nowhere
};

// (Re)builds the static pages of a run below its report/ folder from its trajectory files and
// ledger. Pages appear whole. Opens from disk without a server or a network. Throws
// util::UsageError when `run` is no run folder ("E_RUN_MISSING") or a link stands where the report
// has a folder ("E_REPORT_LINK"), InfraError on disk trouble.
Built build(const record::RunDir& run, const BuildOptions& options = {});

}  // namespace sweep::report
