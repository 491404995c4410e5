#include "report/tables.h"

#include "report/pass_table.h"

#include <cmath>

namespace sweep::report {

std::string no_speedup(const Row& row) {
  if (!row.finished()) {
    return "not finished";
  }
  return row.outcome == "correct" ? "not timed" : "not correct";
}

std::optional<double> metric_of(const Row& row, std::string_view name) {
  double logs = 0;
  double count = 0;
  double last = 0;
  for (const RowMetric& metric : row.metrics) {
    if (metric.name != name) {
      continue;
    }
    if (!(metric.value > 0)) {
      return std::nullopt;
    }
    logs += std::log(metric.value);
    ++count;
    last = metric.value;
  }
  if (count == 1) {
    return last;  // as it is, without the rounding of a logarithm
  }
  return count > 0 ? std::optional(std::exp(logs / count)) : std::nullopt;
}

const std::vector<RunTable>& run_tables() {
  static const std::vector<RunTable> kTables = {{items_table, true},
                                                {models_table, false},
                                                {problems_table, false},
                                                {outcomes_table, false},
                                                {failures_table, true},
                                                {shapes_table, true},
                                                {item_metrics_table, true},
                                                {roofline_table, true},
                                                {stages_table, true},
                                                {turns_table, true},
                                                {tool_calls_table, true},
                                                {tools_table, false},
                                                {pass_table, false}};
  return kTables;
}

}  // namespace sweep::report
