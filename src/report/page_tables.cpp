#include "report/page_tables.h"

#include "report/page.h"
#include "report/pages.h"
#include "report/table.h"
#include "report/words.h"
#include "util/text.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace sweep::report {

namespace {

Column column_of(
    const char* key, const char* title, Type type, Show show, const char* description) {
  Column column;
  column.key = key;
  column.title = title;
  column.type = type;
  column.show = show;
  column.description = description;
  return column;
}

std::string no_speedup_of(const Row& row) {
  return !row.finished() ? "not finished" : row.correct ? "not timed" : "not correct";
}

std::string why_shown(const Row& row) {
  const std::string why = row.outcome == "correct" ? row.verdict : reason_of(row);
  return row.scored() ? why : why + " (problem not admitted: in no rate or mean)";
}

// Which columns say something about these rows.
struct ItemColumns {
  bool model = false, variant = false, harness = false, domain = false;
};

ItemColumns needed_columns(const RowList& rows) {
  ItemColumns needed;
  for (const Row* row : rows) {
    needed.model = needed.model || row->model != rows.front()->model;
    needed.variant = needed.variant || row->variant != rows.front()->variant;
    needed.harness = needed.harness || row->harness != rows.front()->harness;
    needed.domain = needed.domain || !row->domain.empty();
  }
  return needed;
}

std::vector<Column> item_columns(const ItemColumns& needed) {
  std::vector<Column> columns = {
      column_of("problem", "problem", Type::text, Show::plain, "Leads to the trajectory.")};
  const auto optional = [&](bool use, const char* key, Type type, const char* description) {
    if (use) {
      columns.push_back(column_of(key, key, type, Show::plain, description));
    }
  };
  optional(needed.model, "model", Type::text, "Name in the configuration.");
  optional(needed.variant, "variant", Type::text, "Problem set that the run names.");
  optional(needed.domain, "domain", Type::text, "Field that the problem is from.");
  optional(needed.harness, "harness", Type::text, "How the model was led.");
  const std::vector<Column> rest = {
      column_of("outcome",
                "outcome",
                Type::text,
                Show::plain,
                "By the verdict: faster is PASS_FASTER alone."),
      column_of("speedup",
                "speedup [95%]",
                Type::interval,
                Show::ratio,
                "Seed time over kernel time; of correct kernels."),
      column_of("runtime_us",
                "kernel",
                Type::number,
                Show::micros,
                "Geometric mean over the timed shapes."),
      column_of("turns", "turns", Type::integer, Show::plain, "Answers of the model."),
      column_of("tokens", "tokens", Type::integer, Show::count, "In and out."),
      column_of("cost_usd", "cost", Type::number, Show::dollars, "Of the answers that count."),
      column_of("why", "why", Type::text, Show::plain, "Made from the verdict.")};
  columns.insert(columns.end(), rest.begin(), rest.end());
  return columns;
}

std::vector<Cell> item_cells(const Row& row, const ItemColumns& needed) {
  Cell problem = cell(label_of(row));
  problem.page = row.page;
  problem.note = row.title;
  Cell outcome = cell(standing(row));
  outcome.badge = tone(row);
  outcome.badge = outcome.badge.empty() ? "idle" : outcome.badge;
  outcome.note = row.verdict;
  std::vector<Cell> cells = {problem};
  const auto optional = [&](bool use, Cell value) {
    if (use) {
      cells.push_back(std::move(value));
    }
  };
  optional(needed.model, cell(row.model));
  optional(needed.variant, cell(row.variant));
  optional(needed.domain, row.domain.empty() ? missing("not recorded") : cell(row.domain));
  optional(needed.harness, cell(row.harness));
  const std::string none = no_speedup_of(row);
  const std::vector<Cell> rest = {outcome,
                                  cell(row.speedup, none),
                                  cell(row.runtime_us, none),
                                  cell(row.turns),
                                  cell(row.input_tokens + row.output_tokens),
                                  cell(row.cost_usd, "a price is not known"),
                                  cell(why_shown(row))};
  cells.insert(cells.end(), rest.begin(), rest.end());
  return cells;
}

std::vector<Column> group_columns(const GroupView& view) {
  return {
      column_of(view.word.c_str(), view.word.c_str(), Type::text, Show::plain, "Group."),
      column_of("finished", "finished", Type::integer, Show::plain, "Ended, of the items."),
      column_of("judged",
                "judged",
                Type::integer,
                Show::plain,
                "Finished, without skipped items and infrastructure errors: the n of the rate."),
      column_of("correct", "correct", Type::integer, Show::plain, "Of the judged."),
      column_of("correct_rate",
                "rate [Wilson 95%]",
                Type::interval,
                Show::percent,
                "Correct over judged."),
      column_of("geometric_mean",
                "geometric mean",
                Type::number,
                Show::ratio,
                "Of the speedups of correct kernels that were timed; others are left out."),
      column_of("timed", "timed", Type::integer, Show::plain, "In the geometric mean."),
      column_of("faster", "PASS_FASTER", Type::integer, Show::plain, "Of the timed."),
      column_of("tokens", "tokens", Type::integer, Show::count, "In and out."),
      column_of("cost_usd", "cost", Type::number, Show::dollars, "Of the answers that count.")};
}

std::vector<Cell> group_cells(const RowGroup& group, const GroupView& view) {
  const Totals t = total(group.rows);
  Cell name = cell(group.name.empty() ? std::string("not recorded") : group.name);
  name.page = view.link ? view.link(group.name) : std::string();
  Cell finished = cell(t.finished);
  finished.words = fmt::format("{} / {}", t.finished, t.items);
  return {name,
          finished,
          cell(t.judged),
          cell(t.correct),
          cell(t.correct_rate, "no item was judged"),
          cell(t.geometric_mean, "no correct kernel was timed"),
          cell(t.timed),
          cell(t.faster),
          cell(t.input_tokens + t.output_tokens),
          cell(t.cost_usd, "a price is not known")};
}

}  // namespace

std::vector<RowGroup> grouped(const RowList& rows,
                              const std::function<std::string(const Row&)>& key) {
  std::vector<RowGroup> groups;
  std::unordered_map<std::string, std::size_t> places;
  for (const Row* row : rows) {
    const auto [place, fresh] = places.emplace(key(*row), groups.size());
    if (fresh) {
      groups.push_back({place->first, {}});
    }
    groups[place->second].rows.push_back(row);
  }
  return groups;
}

Markup items_view(const RowList& rows, const std::string& page, bool filters) {
  if (rows.empty()) {
    return element("p", text("None."));
  }
  const ItemColumns needed = needed_columns(rows);
  DataTable table("items", "Items", "One row an item.", item_columns(needed));
  const std::size_t shown = std::min(rows.size(), kMostItems);
  for (std::size_t i = 0; i < shown; ++i) {
    table.add(item_cells(*rows[i], needed));
  }
  Markup out;
  if (shown < rows.size()) {
    out += element("p",
                   {{"class", "meta"}},
                   text(fmt::format("The first {} of {} items. The pages of models, levels and "
                                    "problems have the others, and the data files have all.",
                                    shown,
                                    rows.size())));
  }
  out += html(table, {"items", page, false});
  return filters && shown > 1
             ? element("div",
                       {{"data-filter", "outcome model variant problem:level domain harness"}},
                       out)
             : out;
}

Markup groups_view(const RowList& rows, const GroupView& view, const std::string& page) {
  DataTable table(view.name, view.name, "One row a " + view.word + ".", group_columns(view));
  for (const RowGroup& group : grouped(rows, view.key)) {
    table.add(group_cells(group, view));
  }
  return html(table, {view.name, page, false});
}

GroupView by_models() {
  return {"models", "model", [](const Row& row) { return row.model; }, model_page_name};
}

GroupView by_problems() {
  return {"problems", "problem", [](const Row& row) { return row.problem; }, problem_page_name};
}

GroupView by_levels() {
  return {"levels", "level", [](const Row& row) { return row.level; }, level_page_name};
}

GroupView by_variants() {
  return {"variants", "variant", [](const Row& row) { return row.variant; }, variant_page_name};
}

GroupView by_domains() {
  return {"domains", "domain", [](const Row& row) { return row.domain; }, {}};
}

}  // namespace sweep::report
