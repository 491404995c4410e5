#include "report/figures_effort.h"

#include "stats/fast_p.h"
#include "stats/summary.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace sweep::report {

namespace {

using nlohmann::json;

constexpr std::size_t kMostOffers = 60;
constexpr std::size_t kBudgets = 32;  // token budgets of the solve rate

// What a model's judged attempts cost on average, and what they were worth.
struct ModelOffer {
  std::string name;
  std::size_t n = 0, failed = 0;
  std::optional<double> cost;  // unset: unknown
  stats::GeometricMean worth;
  bool front = false;
};

enum class EffortUnit { dollars, tokens };

// Dollars: of all that the judged attempts cost, wasted answers included.
std::optional<double> mean_cost(const Rows& rows, EffortUnit price) {
  if (price == EffortUnit::tokens) {
    double sum = 0;
    for (const Row* row : rows) {
      sum += static_cast<double>(tokens_of(*row));
    }
    return sum / static_cast<double>(rows.size());
  }
  std::vector<stats::Expense> expenses;
  for (const Row* row : rows) {
    expenses.push_back({row->model, row->cost_usd, row->wasted_usd});
  }
  const stats::CostLedger ledger = stats::cost_ledger(expenses);
  if (!ledger.total.spent()) {
    return std::nullopt;
  }
  return (*ledger.total.spent() + ledger.total.known_wasted) / static_cast<double>(rows.size());
}

std::vector<ModelOffer> offers_of(const Rows& rows, EffortUnit price) {
  std::vector<ModelOffer> out;
  for (const Group& group : by_model(rows)) {
    const Rows ended = judged_of(group.rows);
    if (ended.empty()) {
      continue;
    }
    std::vector<stats::Attempt> attempts;
    stats::Numbering problems;
    for (const Row* row : ended) {
      attempts.push_back({problems.of(cluster_of(*row)), speedup_of(*row)});
    }
    ModelOffer offer{group.name, ended.size(), 0, mean_cost(ended, price), {}, false};
    offer.worth =
        stats::geometric_mean(attempts, stats::Failures::count_as_one, figure_bootstrap());
    offer.failed = offer.worth.failed;
    out.push_back(std::move(offer));
  }
  return out;
}

void mark_front(std::vector<ModelOffer>& offers) {
  std::vector<stats::Offer> known;
  std::vector<ModelOffer*> places;
  for (ModelOffer& offer : offers) {
    if (offer.cost && offer.worth.value) {
      known.push_back({*offer.cost, *offer.worth.value});
      places.push_back(&offer);
    }
  }
  const std::vector<bool> front = stats::pareto_front(known);
  for (std::size_t i = 0; i < places.size(); ++i) {
    places[i]->front = front[i];
  }
}

DataTable pareto_table(const std::string& name, EffortUnit price) {
  const bool dollars = price == EffortUnit::dollars;
  return {"figure_" + name,
          dollars ? "Cost against speedup" : "Tokens against speedup",
          "One row a model: mean effort a judged attempt, and geometric mean of the speedups with "
          "failures as 1.0x.",
          {{"model", "model", "", Type::text, Show::plain, "Model", true},
           {"judged", "judged", "", Type::integer, Show::plain, "Judged attempts", true},
           {"failed",
            "failed",
            "",
            Type::integer,
            Show::plain,
            "Attempts without a speedup, counted as 1.0x",
            true},
           {"effort",
            dollars ? "cost an attempt" : "tokens an attempt",
            dollars ? "usd" : "tokens",
            Type::number,
            dollars ? Show::dollars : Show::count,
            dollars ? "Mean dollars a judged attempt, wasted answers included"
                    : "Mean tokens a judged attempt, prompts included",
            true},
           {"speedup",
            "geometric mean",
            "seed time / kernel time",
            Type::interval,
            Show::ratio,
            "Failures as 1.0x; 95% interval by a bootstrap over problems",
            true},
           {"front",
            "on the front",
            "",
            Type::boolean,
            Show::plain,
            "No other model is both cheaper and better",
            true}}};
}

std::string pareto_caption(const Rows& rows,
                           const std::vector<ModelOffer>& offers,
                           EffortUnit price) {
  const auto unknown =
      std::ranges::count_if(offers, [](const ModelOffer& offer) { return !offer.cost; });
  std::string out = fmt::format(
      "One dot a model: mean {} a judged attempt{}, and the geometric mean of the speedups over "
      "the seed, where {}. Whiskers: 95%, bootstrap over problems. The line joins the models that "
      "no other beats in both. ",
      price == EffortUnit::dollars ? "dollars" : "tokens",
      price == EffortUnit::dollars ? " with wasted answers" : ", prompts included",
      stats::text(stats::Failures::count_as_one));
  out += n_text(rows);
  if (unknown > 0) {
    out += fmt::format(" {} model{} of unknown price {} only in the table.",
                       unknown,
                       unknown == 1 ? "" : "s",
                       unknown == 1 ? "is" : "are");
  }
  return out + warnings(rows, true);
}

Figure pareto_figure(const std::string& name, const Rows& rows, EffortUnit price) {
  const bool dollars = price == EffortUnit::dollars;
  Figure out{name,
             dollars ? "Cost against speedup." : "Tokens against speedup.",
             "",
             "",
             {},
             pareto_table(name, price)};
  std::vector<ModelOffer> offers = offers_of(rows, price);
  mark_front(offers);
  json points = json::array();
  for (const ModelOffer& offer : offers) {
    out.table.add({cell(offer.name),
                   cell(offer.n),
                   cell(offer.failed),
                   cell(offer.cost, "a price is unknown"),
                   ratio_cell(offer.worth.value, offer.worth.interval, "nothing judged"),
                   offer.cost ? cell(offer.front) : missing("a price is unknown")});
    if (offer.cost && offer.worth.value && points.size() < kMostOffers) {
      points.push_back({{"name", offer.name},
                        {"x", rounded(*offer.cost)},
                        {"y", triple(*offer.worth.value, offer.worth.interval)},
                        {"n", offer.n},
                        {"front", offer.front}});
    }
  }
  out.empty = offers.empty()   ? "nothing has been judged yet"
              : points.empty() ? "the price of every model is unknown"
                               : "";
  out.data = {{"points", points}, {"dollars", dollars}};
  out.caption = pareto_caption(rows, offers, price);
  return out;
}

}  // namespace

Figure pareto_cost_figure(const Rows& rows) {
  return pareto_figure("pareto_cost", rows, EffortUnit::dollars);
}

Figure pareto_tokens_figure(const Rows& rows) {
  return pareto_figure("pareto_tokens", rows, EffortUnit::tokens);
}

namespace {

// Budgets in equal steps of the logarithm, from below the cheapest to the dearest attempt.
std::vector<double> budgets_of(const Rows& rows) {
  double least = 0;
  double most = 0;
  for (const Row* row : rows) {
    const auto tokens = static_cast<double>(std::max<std::int64_t>(1, tokens_of(*row)));
    least = least > 0 ? std::min(least, tokens) : tokens;
    most = std::max(most, tokens);
  }
  std::vector<double> out;
  const double low = std::log(least / 1.05);
  const double high = std::log(most * 1.001);
  for (std::size_t i = 0; least > 0 && i < kBudgets; ++i) {
    const double at = static_cast<double>(i) / static_cast<double>(kBudgets - 1);
    out.push_back(std::exp(low + at * (high - low)));
  }
  return out;
}

// The share that is correct within a budget is a fast_p over 1 / tokens.
std::vector<stats::Share> solved_within(const Rows& rows, const std::vector<double>& budgets) {
  std::vector<stats::Judged> judged;
  stats::Numbering problems;
  for (const Row* row : rows) {
    const double pace = 1 / static_cast<double>(std::max<std::int64_t>(1, tokens_of(*row)));
    judged.push_back({problems.of(cluster_of(*row)), is_correct(*row), pace, pace});
  }
  std::vector<double> thresholds;
  for (const double budget : budgets) {
    thresholds.push_back(1 / budget);
  }
  return stats::fast_p_curve(judged, thresholds, stats::Counting::point, figure_bootstrap());
}

DataTable solve_table() {
  return {"figure_solve_rate",
          "Solve rate by tokens",
          "One row a model and token budget: share of judged attempts that are correct within it.",
          {{"model", "model", "", Type::text, Show::plain, "Model", true},
           {"judged", "judged", "", Type::integer, Show::plain, "Judged attempts", true},
           {"tokens",
            "tokens",
            "tokens",
            Type::number,
            Show::count,
            "Budget of an attempt, prompts included",
            true},
           {"share",
            "solved",
            "",
            Type::interval,
            Show::percent,
            "Correct within the budget over judged; 95% by a bootstrap over problems",
            true}}};
}

}  // namespace

Figure solve_rate_figure(const Rows& rows) {
  Figure out{"solve_rate", "Solve rate against tokens.", "", "", {}, solve_table()};
  const Rows ended = judged_of(rows);
  const std::vector<double> budgets = budgets_of(ended);

  struct Curve {
    std::string name;
    std::size_t n = 0;
    std::vector<stats::Share> shares;
  };

  std::vector<Curve> curves;
  for (const Group& group : by_model(rows)) {
    const Rows mine = judged_of(group.rows);
    if (!mine.empty()) {
      curves.push_back({group.name, mine.size(), solved_within(mine, budgets)});
    }
  }
  const Colours colours(rows);
  std::stable_sort(curves.begin(), curves.end(), [](const Curve& a, const Curve& b) {
    return std::pair(a.n > 1, a.shares.back().share) > std::pair(b.n > 1, b.shares.back().share);
  });
  json series = json::array();
  for (const Curve& curve : curves) {
    json points = json::array();
    for (std::size_t i = 0; i < budgets.size(); ++i) {
      points.push_back(triple(curve.shares[i].share, curve.shares[i].band));
      // Every fourth budget, and the last, says the curve in a table.
      if (i % 4 == 3) {
        out.table.add({cell(curve.name),
                       cell(curve.n),
                       cell(budgets[i]),
                       interval_cell(curve.shares[i].share, curve.shares[i].band)});
      }
    }
    if (series.size() < kMostSeries) {
      series.push_back({{"name", curve.name},
                        {"colour", colours.of(curve.name, series.size())},
                        {"n", curve.n},
                        {"points", points}});
    }
  }
  json tokens = json::array();
  for (const double budget : budgets) {
    tokens.push_back(rounded(budget));
  }
  out.data = {{"tokens", tokens}, {"series", series}};
  out.empty = ended.empty() ? "nothing has been judged yet" : "";
  out.caption =
      "Share of all judged attempts that are correct and whose whole conversation took at most so "
      "many tokens, prompts included; failures count in n at every budget. Bands: 95% at each "
      "budget alone, bootstrap over problems. " +
      n_text(rows) + drawn_text(curves.size(), "solve rate") + warnings(rows, false);
  return out;
}

}  // namespace sweep::report
