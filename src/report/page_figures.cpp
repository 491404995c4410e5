#include "report/page_figures.h"

#include "report/figures_effort.h"
#include "report/figures_outcome.h"
#include "report/figures_speed.h"
#include "util/parallel.h"

#include <array>
#include <thread>

namespace sweep::report {

namespace {

// Figures of the whole run, in the order that a reader asks: how many, how fast, at what price.
Markup run_figures(const std::vector<const Row*>& rows, const std::string& page) {
  constexpr std::array kFigures = {outcome_matrix_figure,
                                   fast_p_figure,
                                   speedup_figure,
                                   pareto_cost_figure,
                                   pareto_tokens_figure,
                                   solve_rate_figure,
                                   best_so_far_figure,
                                   tool_use_figure,
                                   domain_figure,
                                   level_figure,
                                   reward_hacking_figure,
                                   roofline_figure};
  std::array<Markup, kFigures.size()> made;
  // The page that takes longest is made of these, beside all other pages.
  util::in_parallel(made.size(), std::thread::hardware_concurrency(), [&](std::size_t i) {
    made[i] = html(kFigures[i](rows), page);
  });
  Markup out;
  for (const Markup& figure : made) {
    out += figure;
  }
  return out;
}

}  // namespace

Markup figures_view(const std::vector<const Row*>& rows, const std::string& page) {
  if (rows.empty()) {
    return {};
  }
  const Markup heading = element("h2", {{"id", "figures"}}, text("Figures"));
  // A part of the run has those that need no resampling, so that many pages are built fast.
  return page == "index.html"
             ? heading + run_figures(rows, page)
             : heading + html(speedup_figure(rows), page) + html(best_so_far_figure(rows), page);
}

}  // namespace sweep::report
