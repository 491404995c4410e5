#pragma once

#include "report/figure.h"
#include "report/figure_rows.h"

// Figures of what came of the attempts.
namespace sweep::report {

// Problems by models: the verdict of each attempt, or the correct share where a cell has several.
// More than 1,500 cells are drawn by level instead, and at most 60 models.
[[nodiscard]] Figure outcome_matrix_figure(const Rows& rows);

// Correct share by domain of the problem and by level, with Wilson intervals over the attempts. One
// bar a model where there are at most four, else one bar over all.
[[nodiscard]] Figure domain_figure(const Rows& rows);
[[nodiscard]] Figure level_figure(const Rows& rows);

// Share of wrongly accepted kernels, by model: of those that pass the published checks, and of
// those that pass the stress stage as well, how many a later stage rejects as a breach of a rule
// or finds wrong. Wilson intervals.
[[nodiscard]] Figure reward_hacking_figure(const Rows& rows);

}  // namespace sweep::report
