#include "report/page.h"
#include "report/words.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <map>
#include <utility>

#include <fmt/format.h>

namespace sweep::report {

namespace {

std::vector<const Row*> of_model(const std::vector<Row>& rows, const std::string& model) {
  std::vector<const Row*> out;
  for (const Row& row : rows) {
    if (row.model == model) {
      out.push_back(&row);
    }
  }
  return out;
}

// "2.80x inconclusive": the number never without the word of its verdict.
std::string cell_words(const Row& row) {
  return (row.speedup ? util::human_ratio(row.speedup->point) + " " : "") + standing(row);
}

using Cells = std::map<std::pair<std::string, std::string>, std::vector<const Row*>>;

Markup matrix_cell(const std::vector<const Row*>& rows) {
  Markup cell;
  for (const Row* row : rows) {
    const Markup words = badge(*row, cell_words(*row));
    cell += row->page.empty()
                ? words
                : element("a",
                          {{"href", relative("index.html", row->page)}, {"title", reason_of(*row)}},
                          words);
    cell += text(" ");
  }
  return cell.empty() ? text("\u2014") : cell;
}

Markup matrix(const std::vector<Row>& items) {
  const auto models = models_of(items);
  Cells cells;
  for (const Row& row : items) {
    cells[{row.problem, row.model}].push_back(&row);
  }
  Markup head = element("th", {{"scope", "col"}}, text("problem"));
  for (const std::string& model : models) {
    head += element("th", {{"scope", "col"}}, text(model));
  }
  Markup rows;
  for (const std::string& problem : problems_of(items)) {
    Markup row = element("th", {{"scope", "row"}}, text(problem));
    for (const std::string& model : models) {
      row += element("td", matrix_cell(cells[{problem, model}]));
    }
    rows += element("tr", row);
  }
  const Markup table = element("table",
                               {{"class", "matrix"}, {"id", "outcomes"}},
                               element("thead", element("tr", head)) + element("tbody", rows));
  return element("div", {{"class", "scroll"}}, table);
}

Markup model_table(const std::vector<Row>& items) {
  Table table{"models",
              "",
              {"model",
               "done",
               "correct",
               "95% interval",
               "geometric mean",
               "timed",
               "PASS_FASTER",
               "tokens",
               "cost"},
              {false, true, true, true, true, true, true, true, true},
              {}};
  for (const std::string& model : models_of(items)) {
    const Totals t = total(of_model(items, model));
    table.rows.push_back(
        {element("a", {{"href", relative("index.html", model_page_name(model))}}, text(model)),
         text(fmt::format("{}/{}", t.finished, t.items)),
         text(fmt::format("{}/{}", t.correct, t.judged)),
         text(t.correct_rate ? fmt::format("{:.0f}%\u2013{:.0f}%",
                                           100 * t.correct_rate->low,
                                           100 * t.correct_rate->high)
                             : "\u2014"),
         mean_text(t),
         text(std::to_string(t.timed)),
         text(std::to_string(t.faster)),
         text(util::human_count(static_cast<std::uint64_t>(t.input_tokens + t.output_tokens))),
         text(dollars(t.cost_usd))});
  }
  return render(table);
}

Markup failures(const std::vector<Row>& rows) {
  Table table{"failures",
              "",
              {"problem", "model", "outcome", "verdict", "why"},
              {false, false, false, false, false},
              {}};
  for (const Row& row : rows) {
    if (row.outcome == "correct" || !row.finished()) {
      continue;
    }
    table.rows.push_back(
        {element("a", {{"href", relative("index.html", row.page)}}, text(label_of(row))),
         text(row.model),
         badge(row, standing(row)),
         verdict_text(row.verdict),
         text(reason_of(row))});
  }
  return table.rows.empty() ? element("p", text("None so far.")) : render(table);
}

}  // namespace

std::string run_page(const Context& context, const std::vector<Row>& items) {
  std::vector<const Row*> all;
  nlohmann::json rows = nlohmann::json::array();
  for (const Row& row : items) {
    all.push_back(&row);
    if (const auto& s = row.speedup) {
      rows.push_back({{"label", label_of(row) + " " + row.model},
                      {"standing", standing(row)},
                      {"ratio", s->point},
                      {"low", s->low},
                      {"high", s->high}});
    }
  }
  Markup body = element("h1", text(context.run_name)) + cards(total(all));
  body +=
      element("h2", text("Outcomes")) + matrix(items) +
      element("p",
              {{"class", "meta"}},
              text("Seed time over kernel time, and the word of the verdict: faster (PASS_FASTER), "
                   "equivalent, slower, inconclusive (no difference may be claimed, whatever the "
                   "number) or unstable. Each cell leads to its trajectory.")) +
      element("h2", text("Models")) + model_table(items);
  if (!rows.empty()) {
    body += element("h2", text("Speedups"));
    body += element(
        "figure",
        {{"data-figure", "speedup"}, {"data-source", "speedups"}},
        element(
            "figcaption",
            text(fmt::format(
                "Correct kernels, seed time over kernel time with 95% interval; n = {}. The same "
                "numbers are on each trajectory's page.",
                rows.size()))));
    body +=
        json_block("speedups", rows.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
  }
  body += element("h2", text("What did not pass")) + failures(items);
  return document(context, "index.html", "Results", {}, body);
}

std::string model_page(const Context& context,
                       const std::string& model,
                       const std::vector<Row>& items) {
  const std::string page = model_page_name(model);
  const auto mine = of_model(items, model);
  Markup list;
  for (const Row* row : mine) {
    Markup inner = element("strong", text(label_of(*row))) + text(" ") +
                   badge(*row, standing(*row)) + void_element("br", {});
    inner += element("span", text(row->title)) + element("b", text(speedup_text(row->speedup))) +
             element("span",
                     text(fmt::format("{} turns, {} tokens",
                                      row->turns,
                                      util::human_count(static_cast<std::uint64_t>(
                                          row->input_tokens + row->output_tokens)))));
    list += element(
        "li",
        row->page.empty()
            ? element("div", {{"class", "card"}}, inner)
            : element("a", {{"class", "card"}, {"href", relative(page, row->page)}}, inner));
  }
  const Markup body = element("h1", text(model)) + cards(total(mine)) +
                      element("h2", text("Trajectories")) +
                      element("ul", {{"class", "grid"}}, list);
  return document(context, page, model, {{model, page}}, body);
}

std::string methods_page(const Context& context) {
  const auto paragraph = [](std::string_view words) { return element("p", text(words)); };
  Markup body = element("h1", text("How to read this"));
  body += element("h2", text("Speedup")) +
          paragraph(
              "Time of the problem's seed kernel divided by the time of the model's kernel. Both "
              "run in alternating order on the same "
              "device with fresh, equal inputs, on a GPU with cold caches; every timed call is "
              "judged too. "
              "Point and 95% interval come from the log "
              "ratios of whole blocks, over fresh process pairs. Means over problems are "
              "geometric, over correct kernels only, and say n.");
  body += element("h2", text("Correct")) +
          paragraph(
              "A kernel must match an fp64 reference on the published shapes, and then on random "
              "and edge shapes which the model "
              "never sees. How far it may be off is a multiple of the seed's own rounding error on "
              "the same inputs.");
  body +=
      element("h2", text("Outcomes")) +
      paragraph(
          "correct; incorrect (wrong values, or right only on the published shapes); compile_fail "
          "(the plan or the code does not "
          "compile); error (fault while running, or no kernel: none was handed in); timeout; "
          "rejected (breaks a rule, with "
          "evidence); skipped; infra_error (the "
          "harness or an endpoint failed: it counts for nobody and is left out of every rate).");
  body +=
      element("h2", text("Verdicts")) +
      paragraph(
          "PASS_FASTER, PASS_SLOWER and PASS_EQUIVALENT are said only where the whole interval "
          "and the margin allow it; PASS_INCONCLUSIVE is everything else that is correct: an "
          "interval that leaves it open, no timing, or the cpu device, which never says faster. "
          "INCORRECT_GENERALISATION: right on the published shapes, wrong on others. REJECTED_* "
          "is shown with its evidence. UNEVEN: some calls took far longer than most, so the "
          "ratio of means decides while the table shows medians. Of roofline: the shortest time "
          "that the hardware allows, as a share of the kernel's time.");
  body +=
      element("h2", text("Rates")) +
      paragraph(
          "Correct rates are over judged trajectories, with Wilson 95% intervals. A problem that "
          "had not been admitted by test when its item began (no cheap wrong kernel passes, no "
          "honest one fails) is listed and in no rate or mean. Results on "
          "the cpu device are unsealed and their "
          "timings must not be ranked beside GPU timings.");
  return document(context, "methods.html", "How to read this", {}, body);
}

}  // namespace sweep::report
