#include "queue/summary.h"

#include "endpoint/failure.h"
#include "queue/endings.h"
#include "util/text.h"
#include "util/wrap.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace sweep::queue {

namespace {

std::string speedup_text(const FinalRow& row) {
  if (!row.speedup) {
    return "";
  }
  const auto [low, high] = util::human_bounds(row.speedup->low, row.speedup->high);
  return fmt::format("{} [{}, {}]", util::human_ratio(row.speedup->point), low, high);
}

using util::columns;

std::string padded(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    line += (i == 0 ? "" : "  ") + cells[i] + std::string(widths[i] - columns(cells[i]), ' ');
  }
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

struct Layout {
  bool both = true;  // outcome and verdict; otherwise the verdict alone
  std::vector<std::string> head;
  std::vector<std::size_t> widths;

  [[nodiscard]] std::size_t total() const {
    return std::accumulate(widths.begin(), widths.end(), 2 * (widths.size() - 1));
  }
};

std::vector<std::string> cells_of(const FinalRow& row, bool both) {
  const std::string outcome = row.outcome.empty() ? "not begun" : row.outcome;
  std::vector<std::string> cells{util::printable(row.problem), util::printable(row.model)};
  if (both) {
    cells.push_back(outcome);
  }
  cells.push_back(both || !row.verdict.empty() ? row.verdict : outcome);
  cells.push_back(speedup_text(row));
  return cells;
}

Layout layout_of(const std::vector<FinalRow>& rows, bool both) {
  Layout layout{both, {"problem", "model", "verdict", "speedup"}, {}};
  if (both) {
    layout.head.insert(layout.head.begin() + 2, "outcome");
  }
  for (const std::string& word : layout.head) {
    layout.widths.push_back(word.size());
  }
  for (const FinalRow& row : rows) {
    const std::vector<std::string> cells = cells_of(row, both);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      layout.widths[i] = std::max(layout.widths[i], columns(cells[i]));
    }
  }
  return layout;
}

std::string line_of(const FinalRow& row, const Layout& layout, std::size_t width) {
  const std::vector<std::string> cells = cells_of(row, layout.both);
  const std::string line = padded(cells, layout.widths);
  const std::string reason = util::printable(row.reason.substr(0, row.reason.find('\n')));
  if (row.outcome == "correct" || reason.empty()) {
    return line + "\n";
  }
  return line + "\n" + util::wrapped(reason, 4, width);
}

// A terminal too narrow for outcome and verdict beside each other gets the verdict alone.
std::string table_text(const std::vector<FinalRow>& rows, std::size_t width) {
  Layout layout = layout_of(rows, true);
  if (width > 0 && layout.total() > width) {
    layout = layout_of(rows, false);
  }
  std::string out = padded(layout.head, layout.widths) + "\n";
  for (const FinalRow& row : rows) {
    out += line_of(row, layout, width);
  }
  return out;
}

constexpr std::string_view kNotCharged = "scripted, nothing is charged";

std::string spent_text(const Final& final) {
  if (final.scripted && final.cost_usd.value_or(0) <= 0) {
    return std::string(kNotCharged);
  }
  if (!final.cost_usd) {
    return "cost unknown (no [models.price])";
  }
  std::string sum = fmt::format("${:.4f}", *final.cost_usd + final.wasted_usd);
  if (final.wasted_usd > 0) {
    sum += fmt::format(", of it ${:.4f} for lost answers", final.wasted_usd);
  }
  return !final.scripted         ? sum
         : final.wasted_usd <= 0 ? fmt::format("{} at example prices: {}", sum, kNotCharged)
                                 : fmt::format("{}; example prices: {}", sum, kNotCharged);
}

// What to mend when a model refuses from the start; `why` holds the refusal in parentheses, its
// kind first.
std::string mend_refusal(std::string_view why) {
  const auto path = endpoint::FailureKind::not_an_endpoint;
  const std::string kind = "(" + std::string(endpoint::name(path)) + ": ";
  const auto at = why.find(kind);
  return at == std::string_view::npos
             ? "mend the key, the account or base_url" + std::string(endpoint::kSeeProbe)
             : endpoint::advice(path, why.substr(at + kind.size()));
}

// What is left, why, and the command that goes on.
std::string left_text(const Final& final, const std::string& config, std::size_t width) {
  const Stopped& stopped = final.stopped;
  std::string why = " unfinished or lost to infrastructure; go on with";
  if (stopped.kind == "budget") {
    why = " not finished: stopped because " + stopped.text + "; raise it to go on with";
  } else if (stopped.kind == "refused") {
    why = " not finished: stopped because " + stopped.text + "; " + mend_refusal(stopped.text) +
          ", then go on with";
  } else if (stopped.kind == "interrupted") {
    why = " not finished: interrupted; go on with";
  }
  const std::string text =
      fmt::format("{}{}  sweep {}", final.infra + final.left, why, util::printable(config));
  return "left    " + util::wrapped(text, 8, width).substr(8);
}

// Where the run is for other commands; nothing where its name alone is enough.
std::string place_text(const record::RunDir& run) {
  std::error_code error;
  const auto here = std::filesystem::current_path(error) / "runs";
  const auto parent =
      std::filesystem::absolute(run.folder(), error).lexically_normal().parent_path();
  return error || parent == here
             ? std::string()
             : fmt::format("run     {0}   (sweep verify {0}, sweep replay {0})\n",
                           util::printable(run.folder().string()));
}

}  // namespace

std::string bound_text(std::optional<double> usd, bool scripted) {
  const std::string sum = usd ? fmt::format("at most ${:.2f}", *usd) : "price unknown";
  return !scripted         ? sum
         : usd && *usd > 0 ? fmt::format("{} at example prices: {}", sum, kNotCharged)
                           : std::string(kNotCharged);
}

namespace {

// By the ledger; by the trajectory where the ledger has no end with all that is shown.
std::optional<Ending> last_word(const Endings& endings,
                                const record::RunDir& run,
                                const config::WorkItem& item) {
  const std::string id = item.id();
  if (!endings.begun(id)) {
    return std::nullopt;
  }
  const Ending* ending = standing(endings, run, id, name_of(item));
  if (ending != nullptr && ending->told) {
    return *ending;
  }
  const Past past = past_of(run, item);
  if (!past.trajectory) {
    return std::nullopt;
  }
  Ending read = ending_of(*past.trajectory);
  read.outcome = ending != nullptr ? ending->outcome : "in_progress";
  return read;
}

}  // namespace

Final final_of(const std::vector<config::WorkItem>& items,
               const record::RunDir& run,
               const std::vector<record::Row>& rows,
               const Stopped& stopped) {
  const Endings endings(rows);
  Final final;
  final.stopped = stopped;
  double cost = 0;
  bool priced = true;
  for (const config::WorkItem& item : items) {
    FinalRow row{item.problem_id() + (item.attempt > 1 ? fmt::format(" #{}", item.attempt) : ""),
                 item.model,
                 {},
                 {},
                 {},
                 {},
                 item.id(),
                 item.variant,
                 item.attempt};
    if (const auto ending = last_word(endings, run, item)) {
      row.outcome = ending->outcome;
      row.reason = ending->reason;
      row.verdict = ending->verdict;
      row.speedup = ending->speedup;
      final.on_cpu = final.on_cpu || (row.speedup && ending->device == "cpu");
      final.tokens += ending->tokens;
      priced = priced && ending->cost_usd.has_value();
      cost += ending->cost_usd.value_or(0);
      final.wasted_usd += ending->wasted_usd;
    }
    // Their requests were given up, which the item itself knows as an interruption alone.
    if (stopped.models.contains(item.model) &&
        (row.outcome.empty() || row.outcome == "in_progress")) {
      row.reason = "refused";
    }
    final.infra += row.outcome == "infra_error" ? 1U : 0U;
    final.left += row.outcome.empty() || row.outcome == "in_progress" ? 1U : 0U;
    ++final.outcomes[row.outcome.empty() ? "not begun" : row.outcome];
    final.rows.push_back(std::move(row));
  }
  if (priced) {
    final.cost_usd = cost;
  }
  return final;
}

std::string final_text(const Final& final,
                       const record::RunDir& run,
                       std::size_t worked,
                       const std::string& config,
                       std::size_t width) {
  std::string out;
  if (worked == 0) {
    out += "nothing to do: every item is finished\n";
  }
  out += table_text(final.rows, width);
  std::vector<std::string> counts;
  for (const auto& [outcome, count] : final.outcomes) {
    counts.push_back(fmt::format("{} {}", outcome, count));
  }
  const std::string sums = fmt::format("{}   {} tokens   {}",
                                       fmt::join(counts, "  "),
                                       util::human_count(static_cast<std::uint64_t>(final.tokens)),
                                       spent_text(final));
  out += "\n" + util::wrapped(sums, 0, width);
  if (final.on_cpu) {
    out += "note    the cpu device never says PASS_FASTER: its times are no GPU times\n";
  }
  out += place_text(run);
  out += "report  " + (run.report_folder() / "index.html").string() + "\n";
  if (final.infra + final.left > 0) {
    out += left_text(final, config, width);
  }
  return out;
}

nlohmann::json to_json(const Final& final, const record::RunDir& run, std::size_t worked) {
  nlohmann::json rows = nlohmann::json::array();
  for (const FinalRow& row : final.rows) {
    nlohmann::json speedup;
    if (row.speedup) {
      speedup = {
          {"point", row.speedup->point}, {"low", row.speedup->low}, {"high", row.speedup->high}};
    }
    rows.push_back({{"id", row.id},
                    {"problem", row.problem},
                    {"variant", row.variant},
                    {"attempt", row.attempt},
                    {"model", row.model},
                    {"outcome", row.outcome},
                    {"verdict", row.verdict},
                    {"speedup", speedup},
                    {"reason", row.reason}});
  }
  nlohmann::json stopped;
  if (!final.stopped.kind.empty()) {
    stopped = {{"kind", final.stopped.kind}, {"text", final.stopped.text}};
  }
  return {{"schema", 1},
          {"run", run.folder().string()},
          {"stopped", stopped},
          {"worked", worked},
          {"items", rows},
          {"outcomes", final.outcomes},
          {"infra", final.infra},
          {"left", final.left},
          {"tokens", final.tokens},
          {"scripted", final.scripted},
          {"cost_usd", final.cost_usd ? nlohmann::json(*final.cost_usd) : nlohmann::json()},
          {"wasted_usd", final.cost_usd ? nlohmann::json(final.wasted_usd) : nlohmann::json()},
          {"report", (run.report_folder() / "index.html").string()}};
}

std::string cost_line(const config::CostPreview& cost) {
  const bool all = cost.items > 0 && cost.scripted == cost.items;
  const bool some = cost.scripted > 0 && !all;
  return fmt::format("{} item{} to run, at most {} tokens in and {} out, {}{}",
                     cost.items,
                     cost.items == 1 ? "" : "s",
                     util::human_count(static_cast<std::uint64_t>(cost.input_tokens)),
                     util::human_count(static_cast<std::uint64_t>(cost.output_tokens)),
                     bound_text(cost.usd, all),
                     some ? fmt::format("; {} of them {}", cost.scripted, kNotCharged) : "");
}

}  // namespace sweep::queue
