// Tables that sum items up.
#include "report/summary.h"
#include "report/table_fields.h"
#include "report/tables.h"
#include "report/words.h"
#include "stats/resample.h"
#include "stats/stats.h"
#include "stats/summary.h"

#include <algorithm>
#include <map>

namespace sweep::report {

namespace {

struct SumGroup {
  std::string name, title, domain;
  RowPointers rows;
  std::size_t finished = 0, judged = 0, correct = 0, compiled = 0, faster = 0;
  stats::GeometricMean mean;
  std::optional<double> cost;
};

void sum_up_group(SumGroup& group) {
  stats::Numbering problems;
  std::vector<stats::Attempt> attempts;
  std::vector<stats::Expense> expenses;
  for (const Row* row : group.rows) {
    group.finished += row->finished() ? 1U : 0U;
    if (!row->page.empty()) {
      expenses.push_back({row->model, row->cost_usd, row->wasted_usd});
    }
    if (!counts(*row)) {
      continue;
    }
    ++group.judged;
    group.correct += row->outcome == "correct" ? 1U : 0U;
    group.compiled += row->has_result && row->compiled ? 1U : 0U;
    group.faster += row->verdict == "PASS_FASTER" ? 1U : 0U;
    attempts.push_back(
        {problems.of(row->variant + "/" + row->problem), row->speedup ? row->speedup->point : 0.0});
  }
  if (!attempts.empty()) {
    group.mean = stats::geometric_mean(attempts, stats::Failures::leave_out, {});
  }
  group.cost = stats::cost_ledger(expenses).total.spent();
}

// By `key`, in order of first appearance.
std::vector<SumGroup> sum_groups(const RowPointers& rows,
                                 const std::function<std::string(const Row&)>& key) {
  std::vector<SumGroup> groups;
  std::map<std::string, std::size_t> places;
  for (const Row* row : rows) {
    const auto [place, fresh] = places.emplace(key(*row), groups.size());
    if (fresh) {
      groups.push_back({place->first, row->title, row->domain, {}, 0, 0, 0, 0, 0, {}, {}});
    }
    groups[place->second].rows.push_back(row);
  }
  for (SumGroup& group : groups) {
    sum_up_group(group);
  }
  return groups;
}

Cell group_rate(const SumGroup& group) {
  if (group.judged == 0) {
    return missing("no item was judged");
  }
  const stats::Interval wilson = stats::wilson_interval(group.correct, group.judged, 0.95);
  return cell(
      record::Interval{static_cast<double>(group.correct) / static_cast<double>(group.judged),
                       wilson.low,
                       wilson.high});
}

Cell group_mean(const SumGroup& group) {
  if (!group.mean.value) {
    return missing("no correct kernel was timed");
  }
  if (!group.mean.interval) {
    return missing("one problem says nothing about others: no interval");
  }
  return cell(
      record::Interval{*group.mean.value, group.mean.interval->low, group.mean.interval->high});
}

Fields<SumGroup> group_rate_fields() {
  const auto count = [](const char* key,
                        const char* title,
                        const char* description,
                        std::size_t SumGroup::*member) {
    return count_field<SumGroup>(key, title, description, [member](const SumGroup& g) {
      return static_cast<std::int64_t>(g.*member);
    });
  };
  return {count_field<SumGroup>(
              "items",
              "items",
              "Planned or begun.",
              [](const SumGroup& g) { return static_cast<std::int64_t>(g.rows.size()); }),
          count("finished", "finished", "Ended, whatever came of them.", &SumGroup::finished),
          count("judged",
                "judged",
                "Finished, less skipped items, infrastructure errors and problems that were not "
                "admitted: the n of every rate.",
                &SumGroup::judged),
          count("correct", "correct", "Of the judged.", &SumGroup::correct),
          {{"correct_rate",
            "correct rate",
            "1",
            Type::interval,
            Show::percent,
            "Correct over judged, with Wilson's 95% interval over attempts."},
           group_rate},
          data_only(count("compiled", "compiled", "Of the judged.", &SumGroup::compiled))};
}

Fields<SumGroup> group_speed_fields() {
  return {
      number_field<SumGroup>(
          "geometric_mean",
          "geometric mean",
          "seed time / kernel time",
          Show::ratio,
          "Of the speedups of correct kernels that were timed; others are left out.",
          [](const SumGroup& g) { return g.mean.value; },
          "no correct kernel was timed"),
      {{"geometric_mean_interval",
        "95% interval",
        "seed time / kernel time",
        Type::interval,
        Show::ratio,
        "The same with a bootstrap interval over problems."},
       group_mean},
      count_field<SumGroup>("timed",
                            "timed",
                            "Attempts in the geometric mean.",
                            [](const SumGroup& g) { return static_cast<std::int64_t>(g.mean.n); }),
      count_field<SumGroup>(
          "left_out",
          "left out",
          "Judged attempts without a speedup.",
          [](const SumGroup& g) { return static_cast<std::int64_t>(g.mean.failed); }),
      count_field<SumGroup>(
          "faster", "PASS_FASTER", "Judged faster than the seed.", [](const SumGroup& g) {
            return static_cast<std::int64_t>(g.faster);
          })};
}

std::int64_t group_sum(const SumGroup& group, std::int64_t Row::*member) {
  std::int64_t total = 0;
  for (const Row* row : group.rows) {
    total += row->*member;
  }
  return total;
}

Fields<SumGroup> group_effort_fields() {
  return {
      count_field<SumGroup>(
          "tokens",
          "tokens",
          "In and out, of the answers that count.",
          [](const SumGroup& g) {
            return group_sum(g, &Row::input_tokens) + group_sum(g, &Row::output_tokens);
          },
          Show::count),
      data_only(count_field<SumGroup>("turns",
                                      "turns",
                                      "Answers of the models.",
                                      [](const SumGroup& g) { return group_sum(g, &Row::turns); })),
      data_only(
          count_field<SumGroup>("tool_calls",
                                "tool calls",
                                "Of all tools.",
                                [](const SumGroup& g) { return group_sum(g, &Row::tool_calls); })),
      number_field<SumGroup>(
          "cost_usd",
          "cost",
          "usd",
          Show::dollars,
          "Of the answers that count.",
          [](const SumGroup& g) { return g.cost; },
          "a price is not known")};
}

Fields<SumGroup> group_fields(Fields<SumGroup> fields) {
  for (const Fields<SumGroup>& more :
       {group_rate_fields(), group_speed_fields(), group_effort_fields()}) {
    fields.insert(fields.end(), more.begin(), more.end());
  }
  return fields;
}

struct TableTally {
  std::string model, what;
  std::int64_t count = 0, failed = 0;
};

}  // namespace

DataTable models_table(const RowPointers& rows) {
  return table_of("models",
                  "Models",
                  "One row a model, over all its items.",
                  group_fields({text_field<SumGroup>("model",
                                                     "model",
                                                     "Name in the configuration.",
                                                     [](const SumGroup& g) { return g.name; })}),
                  sum_groups(rows, [](const Row& row) { return row.model; }));
}

DataTable problems_table(const RowPointers& rows) {
  Field<SumGroup> title = data_only(text_field<SumGroup>(
      "title", "title", "The problem's own.", [](const SumGroup& g) { return g.title; }));
  Field<SumGroup> domain = data_only(text_field<SumGroup>(
      "domain", "domain", "Field that the problem is from.", [](const SumGroup& g) {
        return g.domain;
      }));
  return table_of("problems",
                  "Problems",
                  "One row a problem, over all models and variants.",
                  group_fields({text_field<SumGroup>("problem",
                                                     "problem",
                                                     "Level and problem.",
                                                     [](const SumGroup& g) { return g.name; }),
                                title,
                                domain}),
                  sum_groups(rows, [](const Row& row) { return row.problem; }));
}

DataTable outcomes_table(const RowPointers& rows) {
  std::vector<TableTally> tallies;
  for (const SumGroup& group : sum_groups(rows, [](const Row& row) { return row.model; })) {
    std::map<std::string, std::int64_t> outcomes;
    for (const Row* row : group.rows) {
      ++outcomes[row->outcome];
    }
    for (const auto& [outcome, count] : outcomes) {
      tallies.push_back({group.name, outcome, count, 0});
    }
  }
  Field<TableTally> outcome = text_field<TableTally>(
      "outcome", "outcome", "How the items ended.", [](const TableTally& t) { return t.what; });
  outcome.value = [](const TableTally& t) {
    Cell out = cell(t.what);
    out.words = outcome_words(t.what);
    return out;
  };
  return table_of(
      "outcomes",
      "Outcomes",
      "How many items of each model ended how.",
      {text_field<TableTally>("model",
                              "model",
                              "Name in the configuration.",
                              [](const TableTally& t) { return t.model; }),
       outcome,
       count_field<TableTally>(
           "items", "items", "That ended so.", [](const TableTally& t) { return t.count; })},
      tallies);
}

DataTable tools_table(const RowPointers& rows) {
  std::vector<TableTally> tallies;
  for (const SumGroup& group : sum_groups(rows, [](const Row& row) { return row.model; })) {
    std::map<std::string, ToolCount> tools;
    for (const Row* row : group.rows) {
      for (const auto& [tool, count] : row->tools) {
        tools[tool].calls += count.calls;
        tools[tool].failed += count.failed;
      }
    }
    for (const auto& [tool, count] : tools) {
      tallies.push_back({group.name, tool, count.calls, count.failed});
    }
  }
  return table_of(
      "tools",
      "Tools",
      "Calls of each tool by each model.",
      {text_field<TableTally>("model",
                              "model",
                              "Name in the configuration.",
                              [](const TableTally& t) { return t.model; }),
       text_field<TableTally>(
           "tool", "tool", "Name of the tool.", [](const TableTally& t) { return t.what; }),
       count_field<TableTally>("calls",
                               "calls",
                               "How often it was called.",
                               [](const TableTally& t) { return t.count; }),
       count_field<TableTally>("failed",
                               "failed",
                               "Calls without success.",
                               [](const TableTally& t) { return t.failed; })},
      tallies);
}

}  // namespace sweep::report
