#pragma once

#include "report/figure.h"
#include "report/figure_rows.h"

// Figures of what the results took.
namespace sweep::report {

// One point a model: mean dollars or tokens a judged attempt, and the geometric mean of the
// speedups with failures as 1.0x; and the front that no other model beats.
[[nodiscard]] Figure pareto_cost_figure(const Rows& rows);
[[nodiscard]] Figure pareto_tokens_figure(const Rows& rows);

// Share of the judged attempts that are correct and took at most so many tokens, by model.
[[nodiscard]] Figure solve_rate_figure(const Rows& rows);

// Geometric mean over conversations of the best speedup on the published shapes so far, by turn and
// model; a conversation without a timed version so far counts as 1.0x. At most 64 turns.
[[nodiscard]] Figure best_so_far_figure(const Rows& rows);

// Correct share of the conversations that called a tool and of those that did not, by tool.
[[nodiscard]] Figure tool_use_figure(const Rows& rows);

}  // namespace sweep::report
