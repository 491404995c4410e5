#include "cli/eval_view.h"

#include "cli/baseline_view.h"
#include "cli/metrics_view.h"
#include "cli/timing_text.h"
#include "evaluate/conclusion.h"
#include "evaluate/confirmation.h"
#include "util/text.h"

#include <algorithm>

#include <fmt/format.h>

namespace sweep::cli {

using evaluate::Evaluation;
using evaluate::Failure;
using evaluate::Outcome;
using evaluate::Stage;

namespace {

constexpr std::size_t kLogLines = 40;
constexpr std::size_t kSummaryColumn = 24;  // of a stage's line
constexpr std::string_view kUneven =
    "uneven: some calls took far longer than most, so the speedup is the ratio of means; the times "
    "shown are medians";

std::string compile_summary(const evaluate::CompileResult& compile) {
  std::vector<std::string> parts;
  for (const evaluate::KernelFacts& kernel : compile.kernels) {
    if (kernel.registers >= 0) {
      parts.push_back(fmt::format(
          "{}: {} registers, {}, {} shared",
          kernel.name,
          kernel.registers,
          kernel.spill_bytes > 0 ? fmt::format("{} B spilled", kernel.spill_bytes) : "no spills",
          util::human_bytes(static_cast<std::uint64_t>(std::max(0, kernel.shared_bytes)))));
    } else {
      parts.push_back(kernel.name);
    }
  }
  std::string text = parts.size() > 3 ? fmt::format("{} kernels; {}", parts.size(), parts.front())
                                      : fmt::format("{}", fmt::join(parts, "; "));
  return compile.cached ? text + " (cached)" : text;
}

// "shape tiny (axes=3,batch=2,points=9), content ties": where a failing call stood.
std::string place_of(const evaluate::Call& call) {
  const std::string dims = evaluate::dims_text(call.dims);
  std::string text =
      "shape " + (call.shape.empty() || call.shape == dims ? dims : call.shape + " (" + dims + ")");
  return call.content.empty() || call.content == "default" ? text
                                                           : text + ", content " + call.content;
}

std::string check_summary(const evaluate::CheckResult& check) {
  if (check.failure && !check.calls.empty() && check.worst_share <= 1) {
    return fmt::format("call {}, {}", check.calls.size(), place_of(check.calls.back()));
  }
  const std::string worst = check.worst_share <= 1
                                ? fmt::format("{:.0f}% of what is allowed", 100 * check.worst_share)
                                : fmt::format("{:.3g} times what is allowed", check.worst_share);
  if (check.failure && !check.calls.empty()) {
    return fmt::format(
        "call {}, {}; worst error {}", check.calls.size(), place_of(check.calls.back()), worst);
  }
  return fmt::format("{} judged call{}; worst error {}",
                     check.calls.size(),
                     check.calls.size() == 1 ? "" : "s",
                     worst);
}

// The call that ended the stress stage; null when it passed.
const evaluate::Call* stress_failure(const Evaluation& e) {
  if (!e.stress || e.stress->passed) {
    return nullptr;
  }
  const std::vector<evaluate::Call>& calls = e.stress->calls.for_archive();
  const auto found = std::ranges::find_if(
      calls, [](const evaluate::Call& call) { return call.failure.has_value(); });
  return found == calls.end() ? nullptr : &*found;
}

std::string stress_summary(const Evaluation& e) {
  const evaluate::StressResult& stress = *e.stress;
  if (const evaluate::Call* call = stress_failure(e)) {
    return place_of(*call);
  }
  return fmt::format("{} random and {} edge shapes, {} content{}",
                     stress.random_shapes,
                     stress.edge_shapes,
                     stress.contents,
                     stress.contents == 1 ? "" : "s");
}

std::string time_summary(const Evaluation& evaluation) {
  const evaluate::TimeResult& time = *evaluation.time;
  const std::string calibration =
      time.calibration             ? fmt::format("calibration {} ({:.1f} days, noise {:.2f}%)",
                                     util::printable(time.calibration->id),
                                     time.calibration->age_seconds / 86400,
                                     100 * time.calibration->half_width)
      : evaluation.device == "cpu" ? "no noise floor (a cpu's noise changes with its load)"
                                   : "calibration none";
  return fmt::format(
      "{} replicate{}, {} blocks, {}; margin {:.1f}%, {}; seed drift {:.1f}%, at least {:.1f}%; "
      "{} to judge a call",
      time.replicates,
      time.replicates == 1 ? "" : "s",
      time.blocks,
      time.clock,
      100 * time.margin,
      calibration,
      100 * time.drift.point,
      100 * time.drift.low,
      util::human_seconds(time.overhead_per_call()));
}

struct Row {
  std::string word;
  bool ok = true;
  double seconds = 0;
  std::string summary;
};

std::optional<Row> row_of(const Evaluation& e, Stage stage) {
  switch (stage) {
    case Stage::screen:
      if (e.screen && !e.screen->errors.empty()) {
        return Row{"plan", false, e.screen->seconds, e.screen->errors.front().code};
      }
      return std::nullopt;
    case Stage::compile:
      return e.compile ? std::optional(Row{"compile",
                                           e.compile->status == "ok",
                                           e.compile->seconds,
                                           e.compile->status == "ok" ? compile_summary(*e.compile)
                                                                     : e.compile->status})
                       : std::nullopt;
    case Stage::check:
      return e.check ? std::optional(Row{
                           "check", !e.check->failure, e.check->seconds, check_summary(*e.check)})
                     : std::nullopt;
    case Stage::stress:
      return e.stress ? std::optional(
                            Row{"stress", e.stress->passed, e.stress->seconds, stress_summary(e)})
                      : std::nullopt;
    case Stage::time:
      return e.time ? std::optional(Row{"time", !e.time->failure, e.time->seconds, time_summary(e)})
                    : std::nullopt;
    case Stage::heldout:
      return e.heldout ? std::optional(Row{"held-out",
                                           e.heldout->passed,
                                           e.heldout->seconds,
                                           "secret shapes and contents"})
                       : std::nullopt;
  }
  return std::nullopt;
}

std::string failure_text(const Failure& failure, const Style& style, std::size_t width) {
  std::string out = wrapped(util::printable(failure.text), 10, width);
  if (!failure.hint.empty()) {
    out += style.dim(wrapped("hint: " + util::printable(failure.hint), 10, width));
  }
  return out;
}

std::string log_text(const std::string& log, const Style& style) {
  std::string out;
  std::size_t lines = 0;
  const std::string safe = util::printable(util::trim(log));
  for (const std::string_view line : util::split(safe, '\n')) {
    if (++lines > kLogLines) {
      out += style.dim("          ... the rest is in --json\n");
      break;
    }
    out += "  " + std::string(line) + "\n";
  }
  return out;
}

std::string shape_table(const evaluate::TimeResult& time,
                        const Style& style,
                        const std::string& base,
                        bool rooflines) {
  std::size_t width = 5;
  for (const evaluate::ShapeTiming& shape : time.shapes) {
    width = std::max(width, shape.shape.size());
  }
  std::string out =
      " " +
      style.dim(pad_right("shape", width) + pad_left(base, 12) + pad_left("mine", 12) +
                pad_left("speedup", 10) + "  95% interval of roofline") +
      "\n";
  for (const evaluate::ShapeTiming& shape : time.shapes) {
    const std::string floor =
        rooflines && shape.floor_seconds > 0 && shape.candidate_seconds > 0
            ? fmt::format("{:.0f}%", 100 * shape.floor_seconds / shape.candidate_seconds)
            : "-";
    out += " " + pad_right(shape.shape, width) +
           pad_left(util::human_seconds(shape.seed_seconds), 12) +
           pad_left(util::human_seconds(shape.candidate_seconds), 12) +
           pad_left(util::human_ratio(shape.ratio.point), 10) + "  " +
           pad_right(bounds_text(shape.ratio), 17) + pad_left(floor, 7) +
           (shape.uneven ? "  uneven" : "") + "\n";
  }
  return out;
}

// A run that stopped before anything was judged gets no verdict.
std::string painted_verdict(const Evaluation& e, const Style& style) {
  if (e.outcome() == Outcome::correct && !e.judged()) {
    return style.strong(e.compile ? "COMPILES" : "PLAN OK");
  }
  const std::string word(evaluate::name(e.verdict));
  switch (e.outcome()) {
    case Outcome::correct:
      return e.verdict == evaluate::Verdict::pass_faster ? style.good(word) : style.strong(word);
    case Outcome::infra_error:
      return style.warn(word);
    default:
      return style.bad(word);
  }
}

// The message wrapped, the source line and the caret below it as they are.
std::string plan_error_text(const std::string& text, std::size_t width) {
  const std::string safe = util::printable(text);
  const std::size_t end = std::min(safe.find('\n'), safe.size());
  std::string out = wrapped(safe.substr(0, end), 2, width);
  return end == safe.size() ? out : out + wrapped(safe.substr(end + 1), 2, 0);
}

// What stands above the verdict (a plan error, a compiler's log, the first wrong element), in its
// line (a speedup) or below it (lost infrastructure) is not said again.
bool said_already(const Evaluation& e) {
  using evaluate::Verdict;
  return e.verdict == Verdict::plan_error || e.verdict == Verdict::compile_error ||
         e.headline == e.infra || (e.check && e.check->failure) || (e.time && e.time->failure) ||
         e.outcome() == Outcome::correct;
}

// The command that shows the failure again: the stress stage alone repeats the same draws.
std::string again(const Evaluation& e) {
  const evaluate::Call* call = stress_failure(e);
  return call == nullptr || (e.check && e.check->failure) ? e.reproduce
                                                          : e.reproduce + " --only stress";
}

std::string first_failure(const Evaluation& e, const Style& style, std::size_t width) {
  std::string out;
  if (e.screen && !e.screen->errors.empty()) {
    // The headline is the first error's text with its source line and caret.
    out += plan_error_text(e.headline, width);
    for (std::size_t i = 1; i < e.screen->errors.size(); ++i) {
      out += plan_error_text(e.screen->errors[i].text({}), width);
    }
  }
  if (e.compile && e.compile->status != "ok") {
    out += log_text(e.compile->log, style);
  }
  if (e.check && e.check->failure) {
    out += failure_text(*e.check->failure, style, width);
  }
  if (e.stress && !e.stress->passed) {
    if (const auto& inner = e.stress->inner.for_archive()) {
      out += failure_text(*inner, style, width);
    }
  }
  if (e.time && e.time->failure) {
    out += failure_text(*e.time->failure, style, width);
  }
  return out;
}

}  // namespace

std::string stage_line(const Evaluation& evaluation,
                       Stage stage,
                       const Style& style,
                       std::size_t width) {
  const auto row = row_of(evaluation, stage);
  if (!row) {
    return {};
  }
  const std::string state = row->ok ? style.good("ok  ") : style.bad("FAIL");
  const std::string head = fmt::format(
      " {} {} {:>7}  ", pad_right(row->word, 8), state, fmt::format("{:.2f} s", row->seconds));
  // Further lines of a long summary stand under its first.
  return head +
         wrapped(util::printable(row->summary), kSummaryColumn, width).substr(kSummaryColumn);
}

std::string verdict_line(const Evaluation& e, const Style& style) {
  std::string line = painted_verdict(e, style);
  if (e.time && !e.time->failure && !e.time->shapes.empty()) {
    line += "   " + interval_text(e.time->ratio);
    line += style.dim(fmt::format("   geometric mean over {} shape{}",
                                  e.time->shapes.size(),
                                  e.time->shapes.size() == 1 ? "" : "s"));
  }
  if (e.outcome() == Outcome::correct && !e.time) {
    line += "   " + util::printable(e.headline);
  }
  if (!e.flags.empty()) {
    line += style.warn(fmt::format("   {}", fmt::join(e.flags, ", ")));
  }
  return line + "\n";
}

std::string instructions_text(const evaluate::IsaResult& isa, std::size_t width) {
  std::string out;
  const std::string text = evaluate::isa_text(isa);
  for (const std::string_view line : util::split(util::trim(text), '\n')) {
    out += wrapped(util::printable(std::string(line)), line.starts_with(' ') ? 3 : 1, width);
  }
  return out;
}

std::string eval_text(const Evaluation& e, const Style& style, std::size_t width) {
  // Without a readable plan the problem may be unknown.
  std::string out =
      e.problem.empty() ? "" : style.strong(fmt::format("{} {}", e.problem, e.title)) + "\n";
  std::vector<std::string> facts{e.versus.empty() ? e.file : e.file + " against " + e.versus};
  if (!e.device_info.name.empty()) {
    facts.push_back(e.device_info.name);
  }
  facts.push_back(e.device +
                  (e.device_info.driver.empty() ? "" : ", driver " + e.device_info.driver) +
                  (e.device_info.arch.empty() ? "" : " " + e.device_info.arch));
  facts.push_back("sweep " + e.version);
  out += style.dim(wrapped(util::printable(fmt::format("{}", fmt::join(facts, "   "))), 1, width));
  for (const Stage stage :
       {Stage::screen, Stage::compile, Stage::check, Stage::stress, Stage::time, Stage::heldout}) {
    out += stage_line(e, stage, style, width);
  }
  out += first_failure(e, style, width);
  if (e.time && !e.time->failure && !e.time->shapes.empty()) {
    out +=
        "\n" + shape_table(*e.time, style, e.versus.empty() ? "seed" : "other", e.device != "cpu");
    out += metrics_text(e, style, width) + shown_baselines_text(e.baselines, style, width);
  }
  const std::string line = verdict_line(e, style);
  out += "\n" + wrapped(line.substr(0, line.size() - 1), 1, width);
  if (const auto& session = e.confirmation.for_archive(); session && !session->failure) {
    const std::optional<bool> win = evaluate::practical_win(e);
    out += wrapped(fmt::format("a second session, on new contents: {}   {}",
                               interval_text(session->ratio),
                               !win   ? "says nothing"
                               : *win ? "confirms it"
                                      : "does not confirm it"),
                   1,
                   width);
  }
  if (!e.infra.empty()) {
    out += wrapped(util::printable(e.infra), 1, width);
  }
  if (!e.headline.empty() && !said_already(e)) {
    out += wrapped(util::printable(e.headline), 1, width);
  }
  if (e.isa) {
    out += "\n" + instructions_text(*e.isa, width);
  }
  if (e.time && e.time->uneven) {
    out += style.dim(wrapped(kUneven, 1, width));
  }
  if (std::ranges::find(e.flags, "virtual ranks") != e.flags.end()) {
    out += style.dim(" virtual ranks: this one device played every rank, one after another") + "\n";
  }
  if (e.protections.note == "unsealed") {
    out += style.dim(" unsealed: the kernel ran as host code inside the sandbox") + "\n";
  } else if (e.protections.note == "sealed: weak") {
    out +=
        style.dim(" sealed: weak: on this GPU a kernel can reach all memory of its runner") + "\n";
  }
  if (!e.next.empty()) {
    out += style.dim(" next    ") + wrapped(util::printable(e.next), 9, width).substr(9);
  }
  if (e.outcome() != Outcome::correct && !e.reproduce.empty()) {
    out += style.dim(" again   ") + util::printable(again(e)) + "\n";
  }
  return out;
}

}  // namespace sweep::cli
