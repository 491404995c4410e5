#include "queue/cost.h"

#include "queue/summary.h"
#include "util/error.h"

#include <iostream>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

namespace sweep::queue {

void confirm_cost(const Plan& plan,
                  const std::vector<config::WorkItem>& pending,
                  const SweepOptions& options) {
  const config::CostPreview cost = config::preview_cost(plan.config, pending);
  if (!options.quiet) {
    std::cerr << cost_line(cost) << '\n';
  }
  const auto limit = plan.config.run.confirm_usd;
  if (!limit || options.assume_yes || (cost.usd && *cost.usd <= *limit)) {
    return;
  }
  const std::string what =
      fmt::format("may cost {} and [run] confirm_usd is ${:.2f}",
                  cost.usd ? fmt::format("up to ${:.2f}", *cost.usd) : "an unknown amount",
                  *limit);
  if (::isatty(STDIN_FILENO) != 1) {
    throw util::UsageError({plan.config.file.string(), what, "say --yes"}, "E_SWEEP_CONFIRM");
  }
  std::cerr << "this run " << what << "; go on? [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  if (answer != "y" && answer != "yes") {
    throw util::UsageError({plan.config.file.string(), "not confirmed", "nothing was started"},
                           "E_SWEEP_CONFIRM");
  }
}

void check_budget(const Plan& plan) {
  for (const config::Model& model : plan.config.models) {
    if (plan.config.run.budget_usd && !model.price) {
      throw util::UsageError({"models." + model.name,
                              "its price is unknown, so budget_usd cannot hold",
                              "add [models.price] or drop budget_usd"},
                             "E_SWEEP_BUDGET");
    }
  }
}

}  // namespace sweep::queue
