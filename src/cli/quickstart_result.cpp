#include "cli/command.h"
#include "cli/quickstart.h"
#include "cli/requirement.h"
#include "record/json.h"
#include "record/ledger.h"
#include "record/plan.h"
#include "record/verify.h"
#include "report/summary.h"
#include "report/words.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace sweep::cli {

namespace fs = std::filesystem;

namespace {

using Runner = QuickstartResult::Runner;

constexpr std::size_t kMaxResult = std::size_t{1} << 20;

std::string problem_of(const record::ItemName& item) {
  return report::row_without_file(item, {}).problem;
}

// The conversation did not come to its end by itself.
bool cut_short(const record::Trajectory& t) {
  return t.outcome == "infra_error" || t.outcome == "skipped" || t.outcome == "timeout" ||
         (t.outcome == "error" && t.stop_reason == "endpoint");
}

void judge_runner(const record::Trajectory& t, QuickstartResult& out) {
  if (!t.finished()) {
    out.runner = Runner::unfinished;
    out.runner_text = fmt::format("in turn {} of {}", t.turns.size() + 1, t.max_turns);
    return;
  }
  out.runner = cut_short(t) ? Runner::failed : Runner::finished;
  out.runner_text = fmt::format("{} of {} turns, stop reason: {}",
                                t.turns.size(),
                                t.max_turns,
                                t.stop_reason.empty() ? "not recorded" : t.stop_reason);
  if (out.runner == Runner::failed) {
    const report::Row row = report::row_of(t, {});
    out.runner_text += "; " + report::standing(row) + ": " + report::reason_of(row);
  }
}

void judge_kernel(const record::Trajectory& t, QuickstartResult& out) {
  if (!t.final_result) {
    out.kernel_text = "none was handed in";
    return;
  }
  out.submitted = true;
  out.correct = t.outcome == "correct" && t.final_result->correctness;
  out.kernel_text = t.final_result->verdict;
  if (!out.correct && !t.final_result->reason.empty()) {
    out.kernel_text += ": " + t.final_result->reason;
  }
}

// By the rule of `sweep eval --require speedup>=N`.
void judge_target(const record::Trajectory& t, QuickstartResult& out) {
  if (!out.correct) {
    out.target_text = "no correct kernel";
    out.met = out.submitted ? std::optional(false) : std::nullopt;
    return;
  }
  try {
    const evaluate::Evaluation evaluation =
        evaluate::evaluation_from_json(t.final_result->evaluation);
    const RequirementResult found =
        examine({Requirement::Kind::speedup, out.target, fmt::format("speedup>={}", out.target)},
                evaluation);
    out.target_text = found.found;
    // The cpu device's times are no GPU times, so they decide nothing.
    out.met = evaluation.device == "cpu" ? std::nullopt : found.met;
  } catch (const std::exception& error) {
    out.target_text = "the judge's answer cannot be read";
    out.damage.push_back(std::string("final_result.evaluation: ") + error.what());
  }
}

double last_target(const fs::path& folder) {
  const fs::path file = folder / kQuickstartResult;
  std::error_code error;
  if (!fs::is_regular_file(file, error)) {
    return 1;
  }
  try {
    const nlohmann::json body =
        record::parse_bounded(util::read_file(file, kMaxResult), file.string(), kMaxResult);
    const double least = body.at("target").at("least").get<double>();
    return least > 0 && least < 1e6 ? least : 1;
  } catch (const std::exception&) {
    return 1;  // it is made anew anyway
  }
}

// The run's only item. None where the ledger does not say.
std::optional<record::ItemName> item_of(const record::RunDir& run,
                                        const record::Verification& ledger) {
  const std::vector<record::ItemName> items = record::planned_items(run, ledger.read);
  std::error_code error;
  const fs::path config = run.folder() / "quickstart.toml";
  if (items.size() == 1 && problem_of(items[0]) == kQuickstartProblem &&
      fs::is_regular_file(config, error)) {
    return items[0];
  }
  if (items.empty() && (fs::is_regular_file(config, error) || !ledger.intact)) {
    return std::nullopt;
  }
  std::string found;
  for (std::size_t i = 0; i < items.size() && i < 3; ++i) {
    found += (i == 0 ? " " : ", ") + util::printable(problem_of(items[i]));
  }
  throw util::UsageError(
      {run.folder().string(),
       fmt::format("is a run of {} item{}{}{}, no quickstart",
                   items.size(),
                   items.size() == 1 ? "" : "s",
                   items.empty() ? "" : ":" + found,
                   items.size() > 3 ? ", ..." : ""),
       "see it with `sweep report`; a quickstart's folder is made by `sweep quickstart --run`"},
      "E_QUICKSTART_FOREIGN");
}

std::string relative_if_there(const fs::path& file, const fs::path& folder) {
  std::error_code error;
  return fs::is_regular_file(file, error) ? file.lexically_relative(folder).string() : "";
}

}  // namespace

QuickstartResult judge_quickstart(const record::Trajectory& trajectory, double target) {
  QuickstartResult out;
  out.target = target;
  out.trajectory = trajectory;
  judge_runner(trajectory, out);
  judge_kernel(trajectory, out);
  judge_target(trajectory, out);
  return out;
}

QuickstartResult read_quickstart(const record::RunDir& run, std::optional<double> target) {
  const fs::path folder = fs::absolute(run.folder()).lexically_normal();
  const record::RunVerification checked = record::verify_run(run);
  const auto item = item_of(run, checked.ledger);
  const double least = target.value_or(last_target(folder));
  record::Trajectory trajectory;
  trajectory.max_turns = kQuickstartTurns;
  const fs::path file = item ? run.trajectory_file(*item) : fs::path();
  std::error_code error;
  std::string unreadable;
  if (item && fs::is_regular_file(file, error)) {
    try {
      trajectory = run.load(file);
    } catch (const util::Error& failure) {
      unreadable = failure.message().text();
    }
  }
  QuickstartResult out = judge_quickstart(trajectory, least);
  out.folder = folder;
  out.rows = checked.ledger.rows;
  if (!checked.ledger.problem.empty()) {
    out.damage.push_back(checked.ledger.problem);
  } else if (!item) {
    out.damage.emplace_back("its ledger names no item: it was emptied, or what it names is lost");
  }
  out.damage.insert(out.damage.end(), checked.broken.begin(), checked.broken.end());
  if (!unreadable.empty()) {
    out.damage.push_back(unreadable);
    out.runner_text = "its trajectory cannot be read";
  } else if (!item || out.trajectory.item_id.empty()) {
    out.runner_text = "not begun";
  }
  if (const std::string holder = record::lock_holder(run);
      !holder.empty() && out.runner == Runner::unfinished) {
    out.runner_text += ", " + holder + " works on it";
  }
  if (item) {
    out.trajectory_file = relative_if_there(file, run.folder());
    out.kernel_file = relative_if_there(run.kernel_file(*item), run.folder());
  }
  out.page = relative_if_there(run.report_folder() / "index.html", run.folder());
  return out;
}

int quickstart_exit_code(const QuickstartResult& result, const std::string& require) {
  if (result.runner != Runner::finished || !result.damage.empty()) {
    return kInfra;
  }
  const bool met = require.empty() || (require == "correct" ? result.correct : result.met == true);
  return met ? kDone : kNotCorrect;
}

std::string quickstart_unmet(const QuickstartResult& result, const std::string& require) {
  if (quickstart_exit_code(result, require) != kNotCorrect) {
    return "";
  }
  const std::string where = "--require " + require + " does not hold: ";
  if (!result.submitted) {
    return where + "no kernel was handed in";
  }
  if (!result.correct) {
    return where + "the kernel is not correct: " + util::printable(result.kernel_text);
  }
  if (!result.met) {
    return where +
           "a target is not judged on the cpu device, whose times are no GPU times; run with "
           "--device cuda:N, or ask for --require correct";
  }
  return where + fmt::format("the target of {} over the seed is not met: {}",
                             util::human_ratio(result.target),
                             util::printable(result.target_text));
}

}  // namespace sweep::cli
