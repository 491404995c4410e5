#include "report/page_tables.h"
#include "report/pages.h"
#include "report/shown_text.h"
#include "report/words.h"
#include "util/text.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace sweep::report {

namespace {

constexpr std::size_t kMostSections = 200;  // kernels that are shown with their evidence

bool has_flag(const Row& row, std::string_view flag) {
  return std::find(row.flags.begin(), row.flags.end(), flag) != row.flags.end();
}

// Why a kernel stands on this page; empty: it does not.
std::string ground_of(const Row& row) {
  if (row.outcome == "rejected") {
    return "a rule was broken";
  }
  if (row.verdict == "INCORRECT_GENERALISATION") {
    return "right on the published shapes only";
  }
  if (has_flag(row, "fails stress") || has_flag(row, "fails held-out")) {
    return "fails on shapes that were not published, which here decides nothing";
  }
  return has_flag(row, "specialised") ? "much slower on shapes that were not published" : "";
}

struct Rejected {
  const Row* row;
  std::string ground;
};

Markup ground_table(const std::vector<Rejected>& list, std::size_t judged) {
  std::map<std::pair<std::string, std::string>, std::size_t> counts;
  for (const Rejected& one : list) {
    ++counts[{one.row->verdict, one.ground}];
  }
  Table table{"grounds", "", {"verdict", "ground", "kernels"}, {false, false, true}, {}};
  for (const auto& [key, count] : counts) {
    table.rows.push_back({verdict_text(key.first), text(key.second), text(std::to_string(count))});
  }
  return render(table) +
         element("p", {{"class", "meta"}}, text(fmt::format("Of {} judged items.", judged)));
}

Markup stage_words(const Row& row) {
  std::string words;
  for (const record::Stage& stage : row.stages) {
    words += words.empty() ? "" : ", ";
    words += stage.name + " " + (!stage.ran ? "not run" : stage.passed ? "ok" : "failed");
    words += stage.summary.empty() ? "" : " (" + stage.summary + ")";
  }
  return text(words);
}

Markup evidence_section(const Rejected& one,
                        std::size_t number,
                        const KernelText& kernel,
                        ShownText& shown) {
  const Row& row = *one.row;
  const auto line = [](const char* term, const Markup& words) {
    return words.empty() ? Markup{} : element("dt", text(term)) + element("dd", words);
  };
  Markup list = line("ground", text(one.ground)) + line("verdict", verdict_text(row.verdict)) +
                line("inner verdict", text(row.inner_verdict)) + line("why", text(reason_of(row))) +
                line("stages", stage_words(row));
  if (row.speedup) {
    list += line("speedup", text(speedup_text(row.speedup)));
  }
  if (!row.reproduce.empty()) {
    list += line("reproduce", element("code", {{"class", "copy"}}, text(command_of(row))));
  }
  list += line("evidence",
               element("a",
                       {{"href", relative(kRejectedPage, row.page) + "#evidence"}},
                       text("numbers, calls and turns on the trajectory's page")));
  const std::string id = fmt::format("rejected-{}", number);
  const std::string code = kernel(row);
  Markup inner = element("h2",
                         element("a",
                                 {{"href", relative(kRejectedPage, row.page)}},
                                 text(label_of(row) + ", " + row.model)) +
                             text(" ") + badge(row, standing(row))) +
                 element("dl", {{"class", "summary"}}, list);
  if (!code.empty()) {
    inner += fold(
        id + "-fold", "code", shown.code(id + "-code", code, artifact_name(row.kernel_sha256)));
  }
  return element("section", {{"class", "panel"}, {"id", id}}, inner);
}

std::vector<Rejected> rejected_of(const std::vector<const Row*>& rows) {
  std::vector<Rejected> list;
  for (const Row* row : rows) {
    std::string ground = ground_of(*row);
    if (!ground.empty() && !row->page.empty()) {
      list.push_back({row, std::move(ground)});
    }
  }
  return list;
}

Markup rejected_body(const std::vector<Rejected>& list,
                     const std::vector<const Row*>& rows,
                     const KernelText& kernel) {
  Markup body = element("h1", text("Rejected kernels, with the evidence"));
  body += element("p",
                  text("Kernels that broke a rule, or that are right or fast only on the shapes "
                       "that were published. Those whose verdict begins with PASS count as "
                       "correct, the others do not. A rejection is a statement about one kernel, "
                       "not about what a model meant."));
  if (list.empty()) {
    body += element("p", text("None so far."));
  } else {
    body += ground_table(list, total(rows).judged);
  }
  ShownText shown;
  for (std::size_t i = 0; i < std::min(list.size(), kMostSections); ++i) {
    body += evidence_section(list[i], i + 1, kernel, shown);
  }
  if (list.size() > kMostSections) {
    body += element(
        "p",
        text(fmt::format("{} more are in the list of all items.", list.size() - kMostSections)));
  }
  return body;
}

}  // namespace

PagePlan rejected_page(const std::vector<const Row*>& rows, const KernelText& kernel) {
  std::vector<Rejected> list = rejected_of(rows);
  RowList shown;
  for (std::size_t i = 0; i < std::min(list.size(), kMostSections); ++i) {
    shown.push_back(list[i].row);
  }
  return {kRejectedPage,
          "Rejected",
          {{"rejected", kRejectedPage}},
          made_from(rows, kernels_there(shown, kernel)),
          [list = std::move(list), rows, kernel] { return rejected_body(list, rows, kernel); }};
}

}  // namespace sweep::report
