#include "evaluate/feedback.h"

#include "util/text.h"

#include <fmt/format.h>

namespace sweep::evaluate {
namespace {

std::string dims_text(const expr::IntEnv& dims) {
  std::string text;
  for (const auto& [name, value] : dims) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value);
  }
  return text;
}

std::string failure_text(const Failure& failure) {
  std::string text = failure.text + '\n';
  if (!failure.pattern.empty() && failure.text.find(failure.pattern) == std::string::npos) {
    text += "pattern: " + failure.pattern + '\n';
  }
  if (!failure.hint.empty()) {
    text += "hint: " + failure.hint + '\n';
  }
  return text;
}

std::string check_text(const CheckResult& check) {
  if (!check.failure) {
    return fmt::format("check: {} calls correct; largest error {:.0f}% of what is allowed\n",
                       check.calls.size(),
                       100 * check.worst_share);
  }
  std::string text = "check failed";
  if (!check.calls.empty()) {
    const Call& call = check.calls.back();
    text += fmt::format(
        " on shape {} ({}), content {}", call.shape, dims_text(call.dims), call.content);
  }
  return text + ": " + failure_text(*check.failure);
}

std::string time_text(const TimeResult& time) {
  if (time.failure) {
    return "a timed call was wrong: " + failure_text(*time.failure);
  }
  std::string text = fmt::format(
      "speedup over the seed: {:.3f}x, 95% interval [{:.3f}, {:.3f}], geometric mean over {} "
      "shapes\n",
      time.ratio.point,
      time.ratio.low,
      time.ratio.high,
      time.shapes.size());
  for (const ShapeTiming& shape : time.shapes) {
    text += fmt::format("  {} ({}): seed {}, yours {}, {:.3f}x [{:.3f}, {:.3f}]{}\n",
                        shape.shape,
                        dims_text(shape.dims),
                        util::human_seconds(shape.seed_seconds),
                        util::human_seconds(shape.candidate_seconds),
                        shape.ratio.point,
                        shape.ratio.low,
                        shape.ratio.high,
                        shape.uneven ? ", uneven" : "");
  }
  return text;
}

}  // namespace

VisibleFeedback VisibleFeedback::of(const Evaluation& e) {
  VisibleFeedback made;
  made.problem_ = e.problem;
  made.screen_ = e.screen;
  made.compile_ = e.compile;
  made.check_ = e.check;
  if (e.stress) {
    made.stress_passed_ = e.stress->passed;
  }
  made.time_ = e.time;
  made.verdict_ = e.verdict;
  if (e.heldout && (!e.stress || e.stress->passed)) {
    // What was known before held-out ran.
    made.verdict_ = e.time && e.time->decision ? *e.time->decision : Verdict::pass_inconclusive;
  }
  return made;
}

std::string VisibleFeedback::text(std::size_t limit) const {
  std::string text = fmt::format("{}: {}\n", name(verdict_), meaning(verdict_));
  if (screen_) {
    for (const submission::PlanError& error : screen_->errors) {
      text += fmt::format(
          "{}:{}:{}: {}; {}\n", error.file, error.line, error.column, error.what, error.next);
    }
  }
  if (compile_ && (compile_->status != "ok" || !compile_->log.empty())) {
    text += fmt::format("compile: {}\n{}\n", compile_->status, compile_->log);
  }
  if (check_) {
    text += check_text(*check_);
  }
  if (stress_passed_) {
    text += *stress_passed_ ? "stress: passed\n"
                            : "stress: failed on a shape or content that is not shown; check sizes "
                              "that are no multiple of "
                              "a tile, empty and very small extents\n";
  }
  if (time_) {
    text += time_text(*time_);
  }
  return util::head_and_tail(util::printable(text), limit);
}

}  // namespace sweep::evaluate
