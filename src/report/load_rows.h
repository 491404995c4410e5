#pragma once

#include "record/run_dir.h"
#include "report/row_cache.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace sweep::report {

// The page of one item, as load_rows() needs it. Both are called from several threads.
struct ItemPage {
  // What the page is made from besides the trajectory `file`, e.g. the run's name.
  std::function<std::string(const Row&, const std::filesystem::path& file)> made_with;
  std::function<std::string(
      const Row&, const record::Trajectory&, const std::filesystem::path& file)>
      html;
};

struct Loaded {
  std::size_t pages = 0;                // written
  std::size_t unchanged = 0;            // left alone
  bool changed = false;                 // the cache is another than before
  std::vector<std::string> unreadable;  // "file: reason"
};

// Brings `cache` up to what the run's trajectory files are now, and their pages below its report
// folder with it. A file is read only where it, its page, or made_with() is another than the cache
// says; `workers` threads read, each one trajectory at a time. Files that are gone leave the cache.
// InfraError on disk trouble.
[[nodiscard]] Loaded load_rows(const record::RunDir& run,
                               const ItemPage& page,
                               unsigned workers,
                               RowCache& cache);

}  // namespace sweep::report
