#pragma once

#include "evaluate/evaluation.h"

#include <string>
#include <string_view>

namespace sweep::evaluate {

// The facts that a conversation may carry. It has no member of type Hidden and is made from open
// parts only, so a stress or held-out shape, content or value has no way in; stress is one bit, and
// held-out is not mentioned at all.
class VisibleFeedback {
 public:
  // INCORRECT_GENERALISATION after held-out, and held-out timing, become what was known before
  // held-out ran.
  static VisibleFeedback of(const Evaluation& evaluation);

  [[nodiscard]] Verdict verdict() const { return verdict_; }

  [[nodiscard]] const std::optional<ScreenResult>& screen() const { return screen_; }

  [[nodiscard]] const std::optional<CompileResult>& compile() const { return compile_; }

  [[nodiscard]] const std::optional<CheckResult>& check() const { return check_; }

  [[nodiscard]] std::optional<bool> stress_passed() const { return stress_passed_; }

  [[nodiscard]] const std::optional<TimeResult>& time() const { return time_; }

  // One line: the verdict with its place ("COMPILE_ERROR: mine.cu(3): error: ..", "INCORRECT_VALUE
  // on shape small (n=5)"), or what was found right where nothing was judged.
  [[nodiscard]] std::string summary() const;

  // Plain text of at most `limit` bytes (util::excerpt): errors of the plan with their line out of
  // `source`, the compiler's log or each kernel's resources, the first wrong element with its
  // pattern, stress as one bit, the table of speedups. No path of this machine.
  [[nodiscard]] std::string text(std::size_t limit = 8192, std::string_view source = {}) const;

 private:
  Verdict verdict_{};
  bool judged_ = false;
  std::optional<ScreenResult> screen_;
  std::optional<CompileResult> compile_;
  std::optional<CheckResult> check_;
  std::optional<bool> stress_passed_;
  std::optional<TimeResult> time_;
  std::optional<IsaResult> isa_;
};

}  // namespace sweep::evaluate
