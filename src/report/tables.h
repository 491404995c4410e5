#pragma once

#include "report/row.h"
#include "report/table.h"

#include <vector>

// The tables of a run, each with a stable name; docs/exports.md lists their columns. Pages show
// them and exports write them. Private facts (host, endpoint, deployment) are in none.
namespace sweep::report {

using RowPointers = std::vector<const Row*>;

// "items": one row an item, with all that is known of it.
[[nodiscard]] DataTable items_table(const RowPointers& rows);

// "models" and "problems": rates with Wilson intervals, geometric means with a bootstrap over
// problems, what it took. A geometric mean leaves out attempts without a speedup and says how many.
[[nodiscard]] DataTable models_table(const RowPointers& rows);
[[nodiscard]] DataTable problems_table(const RowPointers& rows);

// "outcomes": how many items of a model ended how.
[[nodiscard]] DataTable outcomes_table(const RowPointers& rows);

// "failures": finished items that are not correct, with the reason.
[[nodiscard]] DataTable failures_table(const RowPointers& rows);

// One row for each of an item's timed shapes ("shapes"), numbers of the judge ("metrics"), roofline
// points ("roofline"), stages ("stages"), turns ("turns") and tool calls ("tool_calls").
[[nodiscard]] DataTable shapes_table(const RowPointers& rows);
[[nodiscard]] DataTable item_metrics_table(const RowPointers& rows);
[[nodiscard]] DataTable roofline_table(const RowPointers& rows);
[[nodiscard]] DataTable stages_table(const RowPointers& rows);
[[nodiscard]] DataTable turns_table(const RowPointers& rows);
[[nodiscard]] DataTable tool_calls_table(const RowPointers& rows);

// "tools": calls and failures by model and tool.
[[nodiscard]] DataTable tools_table(const RowPointers& rows);

struct RunTable {
  DataTable (*make)(const RowPointers& rows);
  bool by_item;  // each row is of one item: the table of some items is that part of the table
};

// All of them and "pass_at_k" (report/pass_table.h), in the order of docs/exports.md.
[[nodiscard]] const std::vector<RunTable>& run_tables();

// Why a correct or failed item has no speedup: "not correct", "not timed", "not finished".
[[nodiscard]] std::string no_speedup(const Row& row);

// Geometric mean of a metric ("memory_ratio") over an item's timed shapes; unset: none is known or
// one is not above 0.
[[nodiscard]] std::optional<double> metric_of(const Row& row, std::string_view name);

}  // namespace sweep::report
