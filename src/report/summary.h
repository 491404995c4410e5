#pragma once

#include "report/row.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::report {

// False for "in_progress", "unfinished" and the outcomes of items without a file.
[[nodiscard]] bool has_ended(std::string_view outcome);

// "level1/3", with " #2" and so on from the second attempt on.
[[nodiscard]] std::string label_of(const Row& row);

// One sentence on why the item ended as it did, made from the verdict; never empty.
[[nodiscard]] std::string reason_of(const Row& row);

// Whether the row is one of the n of every rate, mean and figure: it ended, was not skipped and did
// not fail for the machine's sake, and its problem was admitted (Row::scored).
[[nodiscard]] bool counts(const Row& row);

struct Totals {
  std::size_t items = 0;
  std::size_t finished = 0;  // has_ended()
  std::size_t unscored = 0;  // of problems that were not admitted: in no number from `judged` to
                             // `geometric_mean`
  std::map<std::string, std::size_t> outcomes;  // of all items
  std::size_t judged = 0;                       // counts(): the n of every rate
  std::size_t correct = 0;
  std::size_t compiled = 0;
  std::size_t timed = 0;   // correct with a speedup
  std::size_t faster = 0;  // of these, with the verdict PASS_FASTER
  std::optional<double>
      geometric_mean;  // of the speedups of correct kernels; never an arithmetic mean
  std::int64_t input_tokens = 0, output_tokens = 0;
  std::optional<double> cost_usd;  // unset as soon as one price is unknown
  double known_usd = 0;            // the sum of those that are known
  std::size_t unpriced = 0;        // items that began and have no price
  double wasted_usd = 0;           // of answers that were lost, as far as prices are known
  double wall_seconds = 0;
  std::optional<record::Interval> correct_rate;  // Wilson 95% over `judged`
};

[[nodiscard]] Totals total(const std::vector<const Row*>& rows);

// Models, problems (with variant) in order of first appearance.
[[nodiscard]] std::vector<std::string> models_of(const std::vector<Row>& rows);
[[nodiscard]] std::vector<std::string> problems_of(const std::vector<Row>& rows);

}  // namespace sweep::report
