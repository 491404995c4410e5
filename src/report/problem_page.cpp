#include "report/page_figures.h"
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

constexpr std::size_t kMostCode = 3;     // kernels whose code is shown
constexpr std::size_t kMostColumns = 8;  // kernels of the table of shapes

// Timed correct kernels, those that are PASS_FASTER first, the fastest first.
RowList ranked(const RowList& rows) {
  RowList out;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(out), [](const Row* row) {
    return row->speedup.has_value();
  });
  std::stable_sort(out.begin(), out.end(), [](const Row* a, const Row* b) {
    const bool a_faster = a->verdict == "PASS_FASTER", b_faster = b->verdict == "PASS_FASTER";
    return a_faster != b_faster ? a_faster : a->speedup->point > b->speedup->point;
  });
  return out;
}

std::string kernel_name(const Row& row) {
  return row.model + (row.attempt > 1 ? fmt::format(" #{}", row.attempt) : "");
}

const record::ShapeTiming* timing_of(const Row& row, const std::string& shape) {
  const auto found = std::find_if(row.timings.begin(), row.timings.end(), [&](const auto& timing) {
    return timing.shape == shape;
  });
  return found == row.timings.end() ? nullptr : &*found;
}

// The floor, the seed and the best kernels on each shape.
Markup shape_times(const RowList& best) {
  if (best.empty()) {
    return {};
  }
  const std::size_t columns = std::min(best.size(), kMostColumns);
  Table table{"shape-times",
              "Median time of a call. The floor is the shortest time that the hardware allows for "
              "the problem's work; the seed was timed anew beside each kernel, and here stands "
              "what it took beside the first",
              {"shape", "floor", "seed"},
              {false, true, true},
              {}};
  for (std::size_t i = 0; i < columns; ++i) {
    table.header.push_back(kernel_name(*best[i]));
    table.numeric.push_back(true);
  }
  for (const record::ShapeTiming& first : best.front()->timings) {
    const bool floor = first.share_of_floor && *first.share_of_floor > 0;
    std::vector<Markup> row = {
        text(first.shape),
        text(floor ? util::human_seconds(*first.share_of_floor * first.candidate_us * 1e-6)
                   : std::string("\u2014")),
        text(util::human_seconds(first.seed_us * 1e-6))};
    for (std::size_t i = 0; i < columns; ++i) {
      const record::ShapeTiming* timing = timing_of(*best[i], first.shape);
      row.push_back(text(timing == nullptr
                             ? std::string("\u2014")
                             : util::human_seconds(timing->candidate_us * 1e-6) + ", " +
                                   (timing->speedup ? util::human_ratio(timing->speedup->point)
                                                    : std::string("\u2014"))));
    }
    table.rows.push_back(std::move(row));
  }
  return element("h2", text("Floor, seed and kernels by shape")) + render(table);
}

Markup best_kernels(const RowList& best, const std::string& page, const KernelText& kernel) {
  if (best.empty()) {
    return {};
  }
  ShownText shown;
  Markup out = element("h2", text("Best kernels"));
  for (std::size_t i = 0; i < std::min(best.size(), kMostCode); ++i) {
    const Row& row = *best[i];
    const std::string id = fmt::format("best-{}", i + 1);
    Markup inner =
        element("h3",
                element("a", {{"href", relative(page, row.page)}}, text(kernel_name(row))) +
                    text(" ") + badge(row, standing(row))) +
        element("p",
                text(fmt::format("{}, {}. ", speedup_text(row.speedup), row.verdict)) +
                    (row.reproduce.empty()
                         ? Markup{}
                         : text("Again: ") +
                               element("code", {{"class", "copy"}}, text(command_of(row)))));
    const std::string code = kernel(row);
    inner += code.empty()
                 ? element("p", {{"class", "meta"}}, text("Its text is not in the run's folder."))
                 : fold(id,
                        "code",
                        shown.code(id + "-code", code, artifact_name(row.kernel_sha256)),
                        i == 0);
    out += element("section", {{"class", "panel"}}, inner);
  }
  return out;
}

Markup problem_body(const std::string& problem,
                    const RowList& rows,
                    const RowList& best,
                    const KernelText& kernel) {
  const std::string page = problem_page_name(problem);
  const Row& first = *rows.front();
  std::string about = first.domain.empty() ? "" : "Domain: " + first.domain + ". ";
  if (!first.precision.empty()) {
    about += "Precision: " + first.precision + ". ";
  }
  if (!first.slates.empty()) {
    about += "In the lists";
    for (const std::string& slate : first.slates) {
      about += (&slate == &first.slates.front() ? " " : ", ") + slate;
    }
    about += ".";
  }
  Markup body = element("h1", text(problem + " " + first.title)) +
                element("p", {{"class", "meta"}}, text(about)) + cards(total(rows));
  if (!best.empty() && best.front()->seed_us) {
    body += element(
        "p",
        text(fmt::format("The seed takes {} a call, geometric mean over the shapes; "
                         "the fastest correct kernel {}.",
                         util::human_seconds(*best.front()->seed_us * 1e-6),
                         util::human_seconds(best.front()->runtime_us.value_or(0) * 1e-6))));
  }
  body += element("h2", text("Models side by side")) + items_view(rows, page, false);
  return body + shape_times(best) + best_kernels(best, page, kernel) + figures_view(rows, page);
}

}  // namespace

PagePlan problem_page(const std::string& problem, const RowList& rows, const KernelText& kernel) {
  const Row& first = *rows.front();
  const std::string page = problem_page_name(problem);
  RowList best = ranked(rows);
  const RowList shown(best.begin(),
                      best.begin() + static_cast<std::ptrdiff_t>(std::min(best.size(), kMostCode)));
  return {page,
          problem + " " + first.title,
          {{first.level, level_page_name(first.level)}, {problem, page}},
          made_from(rows, kernels_there(shown, kernel)),
          [problem, rows, best = std::move(best), kernel] {
            return problem_body(problem, rows, best, kernel);
          }};
}

}  // namespace sweep::report
