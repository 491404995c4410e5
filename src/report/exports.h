#pragma once

#include "report/tables.h"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace sweep::report {

struct Built;

// What an export says of where it is from.
struct Source {
  std::string run;          // name
  std::string version;      // of sweep
  std::string ledger_head;  // empty: no ledger
  std::size_t ledger_rows = 0;
  std::string as_of;   // time of the last row, UTC
  std::string device;  // "NVIDIA H200, driver 580.95"; several with "; " between
  bool on_cpu = false;
  bool scripted = false;  // some model is a script
};

// Of what build() read; `run` is its name.
[[nodiscard]] Source source_of(const std::string& run, const Built& built);

// One sentence on what the numbers are: what 1.0x is, device, n, attempts, interval.
[[nodiscard]] std::string meaning(const Source& source, const RowPointers& rows);

// PopcornBench's result table, the columns of its published CSV in its order and spelling (Python's
// True and False, empty where there is nothing); and its trajectory head and final_result for each
// item, with -1 where it has -1. docs/exports.md says how our outcomes map to its.
[[nodiscard]] std::string popcorn_csv(const RowPointers& rows);
[[nodiscard]] std::string_view popcorn_csv_head();
[[nodiscard]] nlohmann::json popcorn_json(const RowPointers& rows);

// One HTML document without any link out and without files beside it: style and script within.
[[nodiscard]] std::string summary_page(const Source& source, const RowPointers& rows);

// Writes into `folder` every table as NAME.csv, NAME.json, NAME.md and NAME.tex, schema.json, which
// describes every column, popcorn_results.csv and .json, and summary.html. The folder is made if
// absent, and otherwise must be empty or hold an export, which is replaced file by file. Files
// appear whole; one that is unchanged is left alone. Returns their names. UsageError E_EXPORT_OUT
// for another folder or a link, InfraError on disk trouble.
struct ExportOptions {
  unsigned workers = 0;  // threads; 0: one a core
  bool remember = true;  // leave .pieces (export_pieces.h), by which the next export saves time
};

std::vector<std::string> write_exports(const std::filesystem::path& folder,
                                       const Source& source,
                                       const RowPointers& rows,
                                       const ExportOptions& options = {});

}  // namespace sweep::report
