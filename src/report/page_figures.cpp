#include "report/page_figures.h"

#include "report/figures_effort.h"
#include "report/figures_outcome.h"
#include "report/figures_speed.h"

namespace sweep::report {

namespace {

// Figures of the whole run, in the order that a reader asks: how many, how fast, at what price.
Markup run_figures(const std::vector<const Row*>& rows, const std::string& page) {
  Markup out;
  for (const auto& figure : {outcome_matrix_figure(rows),
                             fast_p_figure(rows),
                             speedup_figure(rows),
                             pareto_cost_figure(rows),
                             pareto_tokens_figure(rows),
                             solve_rate_figure(rows),
                             best_so_far_figure(rows),
                             tool_use_figure(rows),
                             domain_figure(rows),
                             level_figure(rows),
                             reward_hacking_figure(rows),
                             roofline_figure(rows)}) {
    out += html(figure, page);
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
