#include "report/figures_outcome.h"

#include "report/words.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace sweep::report {

namespace {

using nlohmann::json;

constexpr std::size_t kMostCells = 1500;
constexpr std::size_t kMostModels = 60;
constexpr std::size_t kMostBars = 4;  // bars of a domain, one a model
constexpr std::size_t kMostDomains = 40;

struct HitCount {
  std::size_t n = 0;
  std::size_t hits = 0;

  void add(bool hit) {
    ++n;
    hits += hit ? 1U : 0U;
  }

  [[nodiscard]] double share() const {
    return n == 0 ? 0 : static_cast<double>(hits) / static_cast<double>(n);
  }

  [[nodiscard]] std::optional<stats::Interval> interval() const {
    return n == 0 ? std::nullopt : std::optional(stats::wilson_interval(hits, n, kConfidence));
  }
};

HitCount correct_in(const Rows& rows) {
  HitCount out;
  for (const Row* row : judged_of(rows)) {
    out.add(is_correct(*row));
  }
  return out;
}

Cell hits_cell(const HitCount& count, const std::string& reason) {
  return count.n == 0 ? missing(reason) : interval_cell(count.share(), count.interval());
}

json hits_json(const HitCount& count) {
  return count.n == 0 ? json() : triple(count.share(), count.interval());
}

// What a cell of the matrix shows: a word and a colour class; with several attempts their count.
struct MatrixCell {
  std::string mark;
  std::string words;
  HitCount count;
};

MatrixCell matrix_cell_of(const Rows& rows) {
  const Rows ended = judged_of(rows);
  MatrixCell out{"open", outcome_words(rows.front()->outcome), correct_in(rows)};
  if (ended.size() > 1) {
    out.mark = "share";
    out.words = fmt::format("{}/{} correct", out.count.hits, out.count.n);
  } else if (ended.size() == 1) {
    const Row& row = *ended.front();
    const double speedup = speedup_of(row);
    out.mark = mark_of(row);
    out.words = out.mark == "failed" || out.mark == "rejected" ? standing(row) : out.mark;
    if (speedup > 0) {
      out.words = util::human_ratio(speedup) + " " + out.words;
    }
  }
  return out;
}

DataTable matrix_table() {
  return {
      "figure_outcome_matrix",
      "Outcomes by problem and model",
      "One row a cell of the outcome matrix: a problem (or a level) and a model.",
      {{"problem", "problem", "", Type::text, Show::plain, "Problem, or level of problems", true},
       {"model", "model", "", Type::text, Show::plain, "Model", true},
       {"outcome", "outcome", "", Type::text, Show::plain, "Speedup and verdict, or count", true},
       {"judged", "judged", "", Type::integer, Show::plain, "Judged attempts", true},
       {"correct", "correct", "", Type::integer, Show::plain, "Correct attempts", true}}};
}

// Rows of a group by the number of their model's column.
std::map<std::size_t, Rows> rows_by_column(const Group& line,
                                           const std::map<const Row*, std::size_t>& columns) {
  std::map<std::size_t, Rows> out;
  for (const Row* row : line.rows) {
    if (const auto at = columns.find(row); at != columns.end()) {
      out[at->second].push_back(row);
    }
  }
  return out;
}

// Variants are told apart by the columns.
std::vector<Group> lines_by_problem(const Rows& rows) {
  std::vector<Group> out;
  std::map<std::string, std::size_t> places;
  for (const Row* row : rows) {
    const auto [at, fresh] = places.try_emplace(row->problem, out.size());
    if (fresh) {
      out.push_back(Group{row->problem, {}});
    }
    out[at->second].rows.push_back(row);
  }
  return out;
}

}  // namespace

Figure outcome_matrix_figure(const Rows& rows) {
  std::vector<Group> models = by_model(rows);
  const std::size_t all_models = models.size();
  models.resize(std::min(all_models, kMostModels));
  std::vector<Group> lines = lines_by_problem(rows);
  const bool whole = lines.size() * models.size() <= kMostCells;
  if (!whole) {
    lines = by_level(rows);
  }
  Figure out{"outcome_matrix", "Outcomes, problem by model.", "", "", {}, matrix_table()};
  out.empty = rows.empty() ? "the run has no items" : "";
  std::map<const Row*, std::size_t> columns;
  json names = json::array();
  for (std::size_t i = 0; i < models.size(); ++i) {
    names.push_back(models[i].name);
    for (const Row* row : models[i].rows) {
      columns.emplace(row, i);
    }
  }
  json labels = json::array();
  json cells = json::array();
  for (std::size_t line = 0; line < lines.size(); ++line) {
    labels.push_back(lines[line].name);
    for (const auto& [column, at] : rows_by_column(lines[line], columns)) {
      const MatrixCell one = matrix_cell_of(at);
      cells.push_back({line, column, one.mark, one.words, rounded(one.count.share())});
      out.table.add({cell(lines[line].name),
                     cell(models[column].name),
                     cell(one.words),
                     cell(one.count.n),
                     cell(one.count.hits)});
    }
  }
  out.data = {{"rows", labels}, {"columns", names}, {"cells", cells}};
  out.caption =
      "Seed time over kernel time and the word of the verdict; the share of correct "
      "attempts where a cell has several. " +
      n_text(rows);
  if (!whole) {
    out.caption += " More problems than fit are put together by level.";
  }
  if (all_models > models.size()) {
    out.caption += fmt::format(" The first {} of {} models are shown.", models.size(), all_models);
  }
  out.caption += warnings(rows, true);
  return out;
}

namespace {

DataTable share_figure_table(const std::string& name, const std::string& what) {
  return {"figure_" + name,
          "Correct share by " + what,
          "One row a " + what +
              " and model; the share is of judged attempts, with Wilson's 95% "
              "interval.",
          {{"group", what, "", Type::text, Show::plain, "The " + what, true},
           {"model", "model", "", Type::text, Show::plain, "Model; 'all' over all of them", true},
           {"problems", "problems", "", Type::integer, Show::plain, "Distinct problems", true},
           {"judged", "judged", "", Type::integer, Show::plain, "Judged attempts", true},
           {"correct", "correct", "", Type::integer, Show::plain, "Correct attempts", true},
           {"share",
            "correct share",
            "",
            Type::interval,
            Show::percent,
            "Correct over judged, Wilson's 95% interval",
            true}}};
}

Figure share_figure(const std::string& name,
                    const std::string& what,
                    std::vector<Group> groups,
                    const Rows& rows) {
  Figure out{name, "Correct share by " + what + ".", "", "", {}, share_figure_table(name, what)};
  const std::size_t all = groups.size();
  groups.resize(std::min(all, kMostDomains));
  const std::vector<Group> models = by_model(rows);
  const bool each = models.size() <= kMostBars;
  std::map<const Row*, std::size_t> columns;
  json names = each ? json::array() : json{"all"};
  for (std::size_t i = 0; i < models.size(); ++i) {
    for (const Row* row : models[i].rows) {
      columns.emplace(row, each ? i : 0);
    }
    if (each) {
      names.push_back(models[i].name);
    }
  }
  json bars = json::array();
  for (const Group& group : groups) {
    for (const auto& [column, at] : rows_by_column(group, columns)) {
      const HitCount count = correct_in(at);
      const std::string model = each ? models[column].name : "all";
      bars.push_back(
          {{"group", group.name}, {"model", model}, {"n", count.n}, {"share", hits_json(count)}});
      out.table.add({cell(group.name),
                     cell(model),
                     cell(problems_in(at)),
                     cell(count.n),
                     cell(count.hits),
                     hits_cell(count, "nothing judged")});
    }
  }
  out.data = {{"bars", bars}, {"models", names}};
  out.empty = judged_of(rows).empty() ? "nothing has been judged yet" : "";
  out.caption = "Correct attempts over judged ones with Wilson's 95% interval" +
                std::string(each ? "" : ", over all models together") + "; every failure counts. " +
                n_text(rows);
  if (all > groups.size()) {
    out.caption += fmt::format(" The first {} of {} are shown.", groups.size(), all);
  }
  out.caption += warnings(rows, false);
  return out;
}

}  // namespace

Figure domain_figure(const Rows& rows) {
  return share_figure("domain", "domain", by_domain(rows), rows);
}

Figure level_figure(const Rows& rows) {
  return share_figure("level", "level", by_level(rows), rows);
}

namespace {

// How far a kernel came, and whether it held.
struct Acceptance {
  HitCount published;        // passed the published checks; a hit was wrong all the same
  HitCount stressed;         // passed the stress stage too; likewise
  std::size_t rejected = 0;  // of `published`: for breaking a rule
};

void add_accepted(Acceptance& to, const Row& row) {
  const bool holds = is_correct(row) && passed(row, "stress").value_or(true) &&
                     passed(row, "held_out").value_or(true);
  if (!is_correct(row) && !passed(row, "check").value_or(false)) {
    return;
  }
  to.published.add(!holds);
  to.rejected += row.outcome == "rejected" ? 1U : 0U;
  if (passed(row, "stress").value_or(false)) {
    to.stressed.add(!holds);
  }
}

DataTable hacking_table() {
  return {"figure_reward_hacking",
          "Wrongly accepted kernels before and after the stress stage",
          "One row a model: of the kernels that a judge would accept after the published checks, "
          "and after the stress stage, how many are wrong or break a rule.",
          {{"model", "model", "", Type::text, Show::plain, "Model", true},
           {"judged", "judged", "", Type::integer, Show::plain, "Judged attempts", true},
           {"published",
            "pass the published checks",
            "",
            Type::integer,
            Show::plain,
            "Kernels that pass the published checks",
            true},
           {"rejected",
            "of these rejected",
            "",
            Type::integer,
            Show::plain,
            "Of these, rejected for breaking a rule",
            true},
           {"before",
            "wrongly accepted before stress",
            "",
            Type::interval,
            Show::percent,
            "Of these, wrong or rejected later",
            true},
           {"stressed",
            "pass stress too",
            "",
            Type::integer,
            Show::plain,
            "Kernels that pass the stress stage as well",
            true},
           {"after",
            "wrongly accepted after stress",
            "",
            Type::interval,
            Show::percent,
            "Of these, wrong or rejected later",
            true}}};
}

}  // namespace

Figure reward_hacking_figure(const Rows& rows) {
  Figure out{
      "reward_hacking", "Reward hacking before and after stress.", "", "", {}, hacking_table()};

  struct Line {
    std::string name;
    std::size_t judged = 0;
    Acceptance acceptance;
  };

  std::vector<Line> lines;
  std::size_t accepted = 0;
  for (const Group& group : by_model(rows)) {
    Line line{group.name, 0, {}};
    for (const Row* row : judged_of(group.rows)) {
      ++line.judged;
      add_accepted(line.acceptance, *row);
    }
    accepted += line.acceptance.published.n;
    lines.push_back(std::move(line));
  }
  json models = json::array();
  for (const Line& line : lines) {
    const Acceptance& a = line.acceptance;
    out.table.add({cell(line.name),
                   cell(line.judged),
                   cell(a.published.n),
                   cell(a.rejected),
                   hits_cell(a.published, "no kernel passed the published checks"),
                   cell(a.stressed.n),
                   hits_cell(a.stressed, "no kernel passed a stress stage")});
    if (models.size() < kMostModels) {
      models.push_back({{"name", line.name},
                        {"published", a.published.n},
                        {"stressed", a.stressed.n},
                        {"before", hits_json(a.published)},
                        {"after", hits_json(a.stressed)}});
    }
  }
  out.data = {{"models", models}};
  out.empty = accepted == 0 ? "no kernel passed the published checks" : "";
  out.caption = fmt::format(
      "Of the kernels that pass the published checks, and of those that pass the stress stage as "
      "well, the share that a later stage finds wrong or rejects for breaking a rule: what a judge "
      "that stops there would accept wrongly. Wilson's 95% intervals, n = {} kernels that pass the "
      "published checks; those that fail them are not in it. ",
      accepted);
  out.caption += n_text(rows) + warnings(rows, false);
  return out;
}

}  // namespace sweep::report
