#include "report/tables.h"

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

std::vector<DataTable> run_tables(const RowPointers& rows) {
  std::vector<DataTable> tables;
  tables.push_back(items_table(rows));
  tables.push_back(models_table(rows));
  tables.push_back(problems_table(rows));
  tables.push_back(outcomes_table(rows));
  tables.push_back(failures_table(rows));
  tables.push_back(shapes_table(rows));
  tables.push_back(item_metrics_table(rows));
  tables.push_back(roofline_table(rows));
  tables.push_back(stages_table(rows));
  tables.push_back(turns_table(rows));
  tables.push_back(tool_calls_table(rows));
  tables.push_back(tools_table(rows));
  return tables;
}

}  // namespace sweep::report
