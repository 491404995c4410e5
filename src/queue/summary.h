#pragma once

#include "config/matrix.h"
#include "queue/prepare.h"
#include "record/run_dir.h"

#include <nlohmann/json.hpp>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sweep::queue {

// One line of the final table.
struct FinalRow {
  std::string problem;
  std::string model;
  std::string outcome;  // "" = never begun
  std::string verdict;
  std::optional<record::Interval> speedup;
  std::string reason;
  std::string id{};  // WorkItem::id()
  std::string variant{};
  std::int64_t attempt = 1;
};

// Why a session ended before its items did.
struct Stopped {
  std::string kind{};  // "budget", "refused", "interrupted"; empty: it did not
  std::string text{};
  std::set<std::string> models{};  // refused: those whose items do not go on
};

// Where a run stands, read from its files: the same for an undisturbed and a resumed run.
struct Final {
  std::vector<FinalRow> rows;  // in the matrix's order
  std::map<std::string, std::size_t> outcomes;
  std::size_t infra = 0;  // infra_error
  std::size_t left = 0;   // never begun or in progress
  std::int64_t tokens = 0;
  std::optional<double> cost_usd;  // unset: a price is unknown
  double wasted_usd = 0;           // of answers that were lost, as far as prices are known
  bool scripted = false;           // every model is scripted: nothing was charged
  bool on_cpu = false;             // something was timed on the cpu device
  Stopped stopped{};
};

// `rows`: of the run's ledger.
[[nodiscard]] Final final_of(const std::vector<config::WorkItem>& items,
                             const record::RunDir& run,
                             const std::vector<record::Row>& rows,
                             const Stopped& stopped);

// The table, counts, cost, where the report is, and what to do about what is left. `width`: columns
// of the terminal, at least 40; 0: no limit (a file or a pipe).
[[nodiscard]] std::string final_text(const Final& final,
                                     const record::RunDir& run,
                                     std::size_t worked,
                                     const std::string& config,
                                     std::size_t width);
[[nodiscard]] nlohmann::json to_json(const Final& final,
                                     const record::RunDir& run,
                                     std::size_t worked);

// "at most $1.20 at example prices: scripted, nothing is charged".
[[nodiscard]] std::string bound_text(std::optional<double> usd, bool scripted);

// "16 items to run, at most 3.2M tokens in and 0.4M out, at most $1.20"; says where nothing is
// charged.
[[nodiscard]] std::string cost_line(const config::CostPreview& cost);

}  // namespace sweep::queue
