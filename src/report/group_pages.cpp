// Pages of a run, a variant, a model and a level, and the list of all items.
#include "report/page_figures.h"
#include "report/page_tables.h"
#include "report/pages.h"
#include "report/pass_table.h"
#include "report/words.h"
#include "util/text.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace sweep::report {

namespace {

// Above this a matrix is no longer readable, and an index is to open at once.
constexpr std::size_t kMostMatrixCells = 1500;
constexpr std::size_t kMostFailures = 100;

RowList all_of(const std::vector<Row>& rows) {
  RowList out;
  out.reserve(rows.size());
  for (const Row& row : rows) {
    out.push_back(&row);
  }
  return out;
}

std::size_t distinct_count(const RowList& rows, std::string Row::*member) {
  std::set<std::string_view> values;
  for (const Row* row : rows) {
    values.insert(row->*member);
  }
  return values.size();
}

// "2.80x inconclusive": the number never without the word of its verdict.
std::string cell_words(const Row& row) {
  return (row.speedup ? util::human_ratio(row.speedup->point) + " " : "") + standing(row);
}

Markup matrix_cell(const RowList& rows, const std::string& page) {
  Markup out;
  for (const Row* row : rows) {
    const Markup words = badge(*row, cell_words(*row));
    out += row->page.empty()
               ? words
               : element(
                     "a", {{"href", relative(page, row->page)}, {"title", reason_of(*row)}}, words);
    out += text(" ");
  }
  return out.empty() ? text("\u2014") : out;
}

// Problems by models, each cell leading to its trajectories; nothing where it would be too large.
Markup outcome_matrix(const RowList& rows, const std::string& page) {
  const auto models = grouped(rows, [](const Row& row) { return row.model; });
  const auto problems = grouped(rows, [](const Row& row) { return row.problem; });
  if (models.size() * problems.size() > kMostMatrixCells || rows.size() > kMostMatrixCells) {
    return {};
  }
  std::map<std::pair<std::string_view, std::string_view>, RowList> cells;
  for (const Row* row : rows) {
    cells[{row->problem, row->model}].push_back(row);
  }
  const auto link = [&](const std::string& to, const std::string& words) {
    return element("a", {{"href", relative(page, to)}}, text(words));
  };
  Markup head = element("th", {{"scope", "col"}}, text("problem"));
  for (const RowGroup& model : models) {
    head += element("th", {{"scope", "col"}}, link(model_page_name(model.name), model.name));
  }
  Markup body;
  for (const RowGroup& problem : problems) {
    Markup line = element("th",
                          {{"scope", "row"}, {"title", problem.rows.front()->title}},
                          link(problem_page_name(problem.name), problem.name));
    for (const RowGroup& model : models) {
      line += element("td", matrix_cell(cells[{problem.name, model.name}], page));
    }
    body += element("tr", line);
  }
  const Markup table = element("table",
                               {{"class", "matrix"}, {"id", "outcomes"}},
                               element("thead", element("tr", head)) + element("tbody", body));
  return element("h2", {{"id", "part-outcomes"}}, text("Outcomes")) +
         element("div", {{"class", "scroll"}}, table) +
         element("p",
                 {{"class", "meta"}},
                 text("Seed time over kernel time, and the word of the verdict: faster "
                      "(PASS_FASTER), equivalent, slower, inconclusive (no difference may be "
                      "claimed, whatever the number) or unstable. Each cell leads to its "
                      "trajectory."));
}

// What did not pass, the first ones.
Markup failures(const RowList& rows, const std::string& page) {
  RowList failed;
  for (const Row* row : rows) {
    if (row->finished() && row->outcome != "correct") {
      failed.push_back(row);
    }
  }
  Markup out = element("h2", {{"id", "part-failures"}}, text("What did not pass"));
  if (failed.size() > kMostFailures) {
    out += element("p",
                   {{"class", "meta"}},
                   text(fmt::format("The first {} of {}; ", kMostFailures, failed.size())) +
                       element("a", {{"href", relative(page, kItemsPage)}}, text("all items")) +
                       text(" can be filtered by outcome."));
    failed.resize(kMostFailures);
  }
  Table table{"failures",
              "",
              {"problem", "model", "outcome", "verdict", "why"},
              std::vector<bool>(5, false),
              {}};
  for (const Row* row : failed) {
    table.rows.push_back({element("a", {{"href", relative(page, row->page)}}, text(label_of(*row))),
                          text(row->model),
                          badge(*row, standing(*row)),
                          verdict_text(row->verdict),
                          text(reason_of(*row))});
  }
  return out + (table.rows.empty() ? element("p", text("None so far.")) : render(table));
}

Markup group_part(const char* title,
                  const RowList& rows,
                  const GroupView& view,
                  const std::string& page) {
  return element("h2", {{"id", "part-" + view.name}}, text(title)) + groups_view(rows, view, page);
}

// The tables of those parts that the rows have several of.
Markup group_parts(const RowList& rows, const std::string& page) {
  Markup out;
  if (distinct_count(rows, &Row::variant) > 1) {
    out += group_part("Variants", rows, by_variants(), page);
  }
  if (distinct_count(rows, &Row::model) > 1) {
    out += group_part("Models", rows, by_models(), page);
  }
  if (distinct_count(rows, &Row::level) > 1) {
    out += group_part("Levels", rows, by_levels(), page);
  }
  if (distinct_count(rows, &Row::domain) > 1) {
    out += group_part("Domains", rows, by_domains(), page);
  }
  return out;
}

Markup group_body(const std::string& page, const std::string& title, const RowList& rows) {
  Markup body = element("h1", text(title)) + cards(total(rows)) + group_parts(rows, page);
  body += pass_view(rows, page);
  body += element("h2", text("Items")) + items_view(rows, page, true);
  return body + figures_view(rows, page);
}

PagePlan group_page(const std::string& page, const std::string& title, const RowList& rows) {
  return {page, title, {{title, page}}, made_from(rows, title), [page, title, rows] {
            return group_body(page, title, rows);
          }};
}

Markup items_body(const RowList& rows) {
  return element("h1", text("All items")) + items_view(rows, kItemsPage, true);
}

Markup run_body(const std::string& run_name, const RowList& all) {
  const std::string page = "index.html";
  Markup links;
  Markup parts;
  const auto add = [&](const char* id, const char* word, const Markup& part) {
    if (!part.empty()) {
      links += element("li", element("a", {{"href", std::string("#") + id}}, text(word)));
      parts += part;
    }
  };
  const auto add_groups = [&](const char* id,
                              const char* word,
                              const char* title,
                              const GroupView& view,
                              std::string Row::*member) {
    if (distinct_count(all, member) > 1) {
      add(id, word, group_part(title, all, view, page));
    }
  };
  add("part-outcomes", "outcomes", outcome_matrix(all, page));
  add("part-models", "models", group_part("Models", all, by_models(), page));
  add("pass", "pass@k", pass_view(all, page));
  add_groups("part-variants", "variants", "Variants", by_variants(), &Row::variant);
  add_groups("part-levels", "levels", "Levels", by_levels(), &Row::level);
  add_groups("part-problems", "problems", "Problems", by_problems(), &Row::problem);
  add("figures", "figures", figures_view(all, page));
  add("part-failures", "what did not pass", failures(all, page));
  const Markup contents =
      element("nav", {{"class", "contents"}, {"aria-label", "Parts"}}, element("ul", links));
  return element("h1", text(run_name)) + cards(total(all)) + contents + parts;
}

}  // namespace

std::string run_page(const Context& context, const std::vector<Row>& rows) {
  return document(context, "index.html", "Results", {}, run_body(context.run_name, all_of(rows)));
}

std::string model_page(const Context& context,
                       const std::string& model,
                       const std::vector<Row>& rows) {
  RowList mine;
  for (const Row& row : rows) {
    if (row.model == model) {
      mine.push_back(&row);
    }
  }
  return document(context, group_page(model_page_name(model), model, mine));
}

std::string variant_page_name(const std::string& variant) {
  return "v/" + util::encode_path_part(variant) + ".html";
}

std::string level_page_name(const std::string& level) {
  return "l/" + util::encode_path_part(level) + ".html";
}

std::string problem_page_name(const std::string& problem) {
  return "p/" + util::encode_path_part(problem) + ".html";
}

std::string scope_text(const std::vector<Row>& rows) {
  const RowList all = all_of(rows);
  std::int64_t attempts = 0;
  for (const Row* row : all) {
    attempts = std::max(attempts, row->attempt);
  }
  const auto count = [](std::size_t n, const char* word) {
    return fmt::format("{} {}{}", n, word, n == 1 ? "" : "s");
  };
  if (all.empty()) {
    return "";
  }
  return count(distinct_count(all, &Row::problem), "problem") + ", " +
         count(distinct_count(all, &Row::model), "model") + ", " +
         (attempts > 1 ? fmt::format("up to {} attempts each", attempts)
                       : std::string("1 attempt each"));
}

std::string kernels_there(const RowList& rows, const KernelText& kernel) {
  std::string out;
  for (const Row* row : rows) {
    out += fmt::format("{} ", kernel(*row).size());
  }
  return out;
}

std::vector<PagePlan> page_plans(const Context& context,
                                 const std::vector<Row>& rows,
                                 const KernelText& kernel) {
  const RowList all = all_of(rows);
  std::vector<PagePlan> plans;
  const std::string from_all = made_from(all, context.run_name);
  plans.push_back({"index.html", "Results", {}, from_all, [name = context.run_name, all] {
                     return run_body(name, all);
                   }});
  for (const GroupView& view : {by_variants(), by_levels(), by_models()}) {
    for (const RowGroup& group : grouped(all, view.key)) {
      plans.push_back(group_page(view.link(group.name), group.name, group.rows));
    }
  }
  plans.push_back({kItemsPage, "All items", {{"all items", kItemsPage}}, from_all, [all] {
                     return items_body(all);
                   }});
  plans.push_back(rejected_page(all, kernel));
  // It says where the ledger is, so it is made with every row of it.
  plans.push_back(
      {kEnvironmentPage, "Environment", {{"environment", kEnvironmentPage}}, "", [context, all] {
         return environment_body(context, all);
       }});
  for (const RowGroup& group : grouped(all, by_problems().key)) {
    plans.push_back(problem_page(group.name, group.rows, kernel));
  }
  plans.push_back({kMethodsPage, "How to read this", {}, kMethodsPage, methods_body});
  return plans;
}

}  // namespace sweep::report
