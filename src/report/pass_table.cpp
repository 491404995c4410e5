#include "report/pass_table.h"

#include "report/words.h"
#include "stats/pass_at_k.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace sweep::report {

namespace {

bool is_script(const Row& row) {
  return row.base_url.starts_with("builtin:");
}

// What must be equal for attempts to be attempts at the same thing.
std::string conditions_of(const Row& row) {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}",
                     row.variant,
                     row.harness,
                     row.max_turns,
                     row.max_tool_calls,
                     row.base_url,
                     row.deployment,
                     row.api_kind,
                     row.prompts_sha256);
}

stats::Unit unit_of(const Row& row) {
  return {cluster_of(row), conditions_of(row), "", is_correct(row)};
}

// 1, 2, 4, .. and the most attempts that the plan has for a problem.
std::vector<std::int64_t> ks_of(const Rows& rows) {
  std::int64_t most = 1;
  for (const Row* row : rows) {
    most = std::max(most, row->attempt);
  }
  std::vector<std::int64_t> out;
  for (std::int64_t k = 1; k < most; k *= 2) {
    out.push_back(k);
  }
  out.push_back(most);
  return out;
}

std::vector<Cell> pass_cells(const Group& group, const Rows& judged, std::int64_t k) {
  std::vector<stats::Unit> units;
  for (const Row* row : judged) {
    units.push_back(unit_of(*row));
  }
  stats::PassAtK found = stats::pass_at_k(units, static_cast<std::uint64_t>(k), figure_bootstrap());
  if (k > 1 && std::ranges::any_of(judged, [](const Row* row) { return is_script(*row); })) {
    found.value.reset();
    found.why_not = "a script gives the same answers again: its attempts are not independent";
  }
  Cell value = missing(found.why_not);
  value.words = "N/A";
  if (found.value) {
    value = interval_cell(*found.value, found.interval);
  }
  return {cell(group.name),
          cell(k),
          cell(found.problems),
          cell(found.units),
          value,
          found.value ? missing("there is a value") : cell(found.why_not)};
}

}  // namespace

DataTable pass_table(const Rows& rows) {
  DataTable table(
      "pass_at_k",
      "pass@k",
      "One row a model and k: the chance that at least one of k attempts at a problem is correct, "
      "estimated without bias from the judged attempts at each problem, mean over problems.",
      {{"model", "model", "", Type::text, Show::plain, "Model, harness and variant", true},
       {"k", "k", "", Type::integer, Show::plain, "Attempts", true},
       {"problems", "problems", "", Type::integer, Show::plain, "Problems with attempts", true},
       {"attempts", "attempts", "", Type::integer, Show::plain, "Judged attempts at them", true},
       {"pass",
        "pass@k [95%]",
        "",
        Type::interval,
        Show::percent,
        "Mean over problems; bootstrap over problems",
        true},
       {"why", "why not", "", Type::text, Show::plain, "Why there is no value", true}});
  const std::vector<std::int64_t> ks = ks_of(rows);
  for (const Group& group : by_model(rows)) {
    const Rows judged = judged_of(group.rows);
    for (const std::int64_t k : ks) {
      table.add(pass_cells(group, judged, k));
    }
  }
  return table;
}

Markup pass_view(const Rows& rows, const std::string& page) {
  if (judged_of(rows).empty()) {
    return {};
  }
  const std::vector<std::int64_t> ks = ks_of(rows);
  std::string words =
      "The chance that at least one of k attempts at a problem is correct. Turns of one "
      "conversation are no attempts.";
  if (ks.back() == 1) {
    words += " For k above 1 it is N/A: no problem has a second attempt.";
  }
  return element("h2", {{"id", "pass"}}, text("pass@k")) +
         element("p", {{"class", "meta"}}, text(words)) +
         html(pass_table(rows), {"pass_at_k", page, false});
}

}  // namespace sweep::report
