#include "evaluate/feedback.h"

#include "util/excerpt.h"
#include "util/text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sweep::evaluate {
namespace {

constexpr std::size_t kMostErrors = 8;    // of a plan
constexpr std::size_t kMostKernels = 16;  // whose resources are listed
constexpr std::size_t kMostNameShown = 120;
constexpr std::size_t kMostSummary = 200;

std::string listed_dims(const expr::IntEnv& dims) {
  std::string text;
  for (const auto& [name, value] : dims) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value);
  }
  return text;
}

std::string place_text(const Call& call) {
  return fmt::format(
      "shape {} ({}){}",
      call.shape,
      listed_dims(call.dims),
      call.content == "default" || call.content.empty() ? "" : ", content " + call.content);
}

// "; a; b" of "first; a; b", one line each: what a comparison says behind its first element.
std::string rest_of(const std::string& text) {
  std::string out;
  for (std::size_t at = text.find("; "); at != std::string::npos;) {
    const std::size_t end = text.find("; ", at + 2);
    out += text.substr(at + 2, end == std::string::npos ? end : end - at - 2) + '\n';
    at = end;
  }
  return out;
}

// What a pattern usually means; empty: nothing to add.
std::string_view pattern_meaning(std::string_view pattern) {
  if (pattern == "all") {
    return "every element: the formula, the layout or the arguments, not an edge";
  }
  if (pattern.find("(tail)") != std::string_view::npos) {
    return "only the end is wrong: how is an extent handled that is no multiple of the tile?";
  }
  if (pattern.starts_with("tile")) {
    return "one rectangle is wrong: the tile of one block, or a bound of the tile loop";
  }
  if (pattern == "scattered") {
    return "no region: a race, an index that collides, or rounding";
  }
  return {};
}

std::string element_text(const Failure& failure) {
  std::string index;
  for (const std::int64_t k : failure.index) {
    index += (index.empty() ? "" : ", ") + std::to_string(k);
  }
  if (failure.verdict == Verdict::incorrect_unwritten) {
    return fmt::format("first wrong element: {}[{}] was never written, expected {:.9g}\n",
                       failure.tensor,
                       index,
                       failure.expected) +
           rest_of(failure.text);
  }
  std::string text = fmt::format("first wrong element: {}[{}] is {:.9g}, expected {:.9g}",
                                 failure.tensor,
                                 index,
                                 failure.got,
                                 failure.expected);
  if (const double difference = std::abs(failure.got - failure.expected);
      std::isfinite(difference)) {
    text += fmt::format("; difference {:.3g}, allowed {:.3g}", difference, failure.allowed);
  }
  return text + '\n' + rest_of(failure.text);
}

// Addresses differ from run to run and say nothing; a small one tells of a null pointer.
std::string without_addresses(const std::string& text) {
  constexpr std::size_t kSmall = 6;
  std::string out;
  std::size_t from = 0;
  for (std::size_t at = text.find("0x"); at != std::string::npos; at = text.find("0x", at + 2)) {
    const std::size_t end =
        std::min(text.find_first_not_of("0123456789abcdefABCDEF", at + 2), text.size());
    if (end - at - 2 > kSmall) {
      out += text.substr(from, at + 2 - from) + "...";
      from = end;
    }
  }
  return out + text.substr(from);
}

std::string failure_text(const Failure& failure) {
  const bool element = !failure.index.empty() && failure.text.starts_with(failure.tensor + "[");
  std::string text = element ? element_text(failure) : without_addresses(failure.text) + '\n';
  if (!failure.pattern.empty() && failure.text.find(failure.pattern) == std::string::npos) {
    text += "pattern: " + failure.pattern + '\n';
  }
  // What the values look like says more than where they are.
  const std::string_view meaning =
      failure.text.ends_with(failure.pattern) ? pattern_meaning(failure.pattern) : "";
  if (!failure.hint.empty()) {
    text += "hint: " + failure.hint + '\n';
  } else if (!meaning.empty()) {
    text += "hint: " + std::string(meaning) + '\n';
  }
  return text;
}

std::string check_text(const CheckResult& check) {
  if (!check.failure) {
    return fmt::format("check: {} calls correct; largest error {:.0f}% of what is allowed\n",
                       check.calls.size(),
                       100 * check.worst_share);
  }
  if (check.calls.empty()) {
    return "check failed: " + failure_text(*check.failure);
  }
  return fmt::format(
             "check failed on {}, call {}\n", place_text(check.calls.back()), check.calls.size()) +
         failure_text(*check.failure);
}

std::string size_text(int bytes) {
  return util::human_bytes(static_cast<std::uint64_t>(std::max(0, bytes)));
}

// Of the cpu device's kernels nothing is known.
std::string resources_text(const CompileResult& compile) {
  std::string text;
  if (std::ranges::all_of(compile.kernels, [](const auto& k) { return k.registers < 0; })) {
    return text;
  }
  for (std::size_t i = 0; i < std::min(kMostKernels, compile.kernels.size()); ++i) {
    const KernelFacts& kernel = compile.kernels[i];
    text += "kernel " + util::narrowed(kernel.name, kMostNameShown);
    if (kernel.registers >= 0) {
      text += fmt::format(
          ": {} registers, {}, {} shared memory, {} stack",
          kernel.registers,
          kernel.spill_bytes > 0 ? size_text(kernel.spill_bytes) + " spilled" : "no spills",
          size_text(kernel.shared_bytes),
          size_text(kernel.stack_bytes));
    }
    text += '\n';
  }
  if (compile.kernels.size() > kMostKernels) {
    text += fmt::format("and {} further kernels\n", compile.kernels.size() - kMostKernels);
  }
  return text;
}

std::string compiled_text(const CompileResult& compile) {
  if (compile.status == "ok") {
    return resources_text(compile) +
           (compile.log.empty() ? ""
                                : fmt::format("the compiler says:\n{}\n", util::trim(compile.log)));
  }
  return fmt::format("compile: {}\n{}\n", compile.status, util::trim(compile.log));
}

std::string screened_text(const ScreenResult& screen, std::string_view source) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kMostErrors, screen.errors.size()); ++i) {
    text += screen.errors[i].text(source) + '\n';
  }
  if (screen.errors.size() > kMostErrors) {
    text += fmt::format("and {} further errors\n", screen.errors.size() - kMostErrors);
  }
  return text;
}

std::string timed_text(const TimeResult& time) {
  if (time.failure) {
    return "a timed call was wrong: " + failure_text(*time.failure);
  }
  std::string text = fmt::format(
      "speedup over the seed: {:.3f}x, 95% interval [{:.3f}, {:.3f}], geometric mean over {} "
      "shape{}\n",
      time.ratio.point,
      time.ratio.low,
      time.ratio.high,
      time.shapes.size(),
      time.shapes.size() == 1 ? "" : "s");
  for (const ShapeTiming& shape : time.shapes) {
    text += fmt::format("  {} ({}): seed {}, yours {}, {:.3f}x [{:.3f}, {:.3f}]{}\n",
                        shape.shape,
                        listed_dims(shape.dims),
                        util::human_seconds(shape.seed_seconds),
                        util::human_seconds(shape.candidate_seconds),
                        shape.ratio.point,
                        shape.ratio.low,
                        shape.ratio.high,
                        shape.uneven ? ", uneven" : "");
  }
  if (std::ranges::any_of(time.shapes, &ShapeTiming::uneven)) {
    text +=
        "  uneven: some calls took far longer than most, so the speedup is the ratio of means; the "
        "times shown are medians\n";
  }
  return text;
}

std::string counted(std::size_t number, const char* noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

}  // namespace

VisibleFeedback VisibleFeedback::of(const Evaluation& e) {
  VisibleFeedback made;
  made.screen_ = e.screen;
  made.compile_ = e.compile;
  made.check_ = e.check;
  if (e.stress) {
    made.stress_passed_ = e.stress->passed;
  }
  made.time_ = e.time;
  made.verdict_ = e.verdict;
  made.judged_ = e.judged();
  made.isa_ = e.isa;
  if (e.heldout && (!e.stress || e.stress->passed)) {
    // What was known before held-out ran.
    made.verdict_ = e.time && e.time->decision ? *e.time->decision : Verdict::pass_inconclusive;
    const bool gated =
        e.isa && e.isa->policy == problem::IsaPolicy::gate && !e.isa->missing().empty();
    if (gated && outcome_of(made.verdict_) == Outcome::correct) {
      made.verdict_ = Verdict::incorrect_instructions;
    }
  }
  return made;
}

std::string VisibleFeedback::summary() const {
  const std::string word(name(verdict_));
  if (verdict_ == Verdict::plan_error && screen_ && !screen_->errors.empty()) {
    const submission::PlanError& first = screen_->errors.front();
    return first.line > 0 ? fmt::format("{} at {}:{}", word, first.file, first.line) : word;
  }
  if (compile_ && compile_->status != "ok") {
    std::string first = util::first_error(compile_->log, kMostSummary);
    if (first.empty()) {
      const std::string_view log = util::trim(compile_->log);
      first = util::narrowed(log.substr(0, log.find('\n')), kMostSummary);
    }
    return util::without_folders(
        util::printable(word + ": " + (first.empty() ? compile_->status : first)));
  }
  if (check_ && check_->failure) {
    return check_->calls.empty() ? word : word + " on " + place_text(check_->calls.back());
  }
  if (verdict_ == Verdict::incorrect_generalisation) {
    return word + ": right on the visible shapes, wrong on others";
  }
  if (time_ && !time_->failure && outcome_of(verdict_) == Outcome::correct) {
    return fmt::format("{}: {:.3f}x the speed of the seed", word, time_->ratio.point);
  }
  if (judged_ || outcome_of(verdict_) != Outcome::correct) {
    return check_ && verdict_ == Verdict::pass_inconclusive && !stress_passed_
               ? counted(check_->calls.size(), "call") + " correct"
               : fmt::format("{}: {}", word, meaning(verdict_));
  }
  return compile_ ? "compiled " + counted(compile_->kernels.size(), "kernel")
         : screen_
             ? fmt::format("the plan is fine: {}, {} on the largest shape",
                           counted(screen_->kernels.size(), "kernel"),
                           screen_->launches == 1 ? "1 launch"
                                                  : fmt::format("{} launches", screen_->launches))
             : word;
}

std::string VisibleFeedback::text(std::size_t limit, std::string_view source) const {
  std::string text;
  if (screen_) {
    text += screened_text(*screen_, source);
  }
  if (compile_) {
    text += compiled_text(*compile_);
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
  if (isa_) {
    text += isa_text(*isa_);
  }
  if (time_) {
    text += timed_text(*time_);
  }
  return util::excerpt(util::without_folders(util::printable(text)), limit);
}

}  // namespace sweep::evaluate
