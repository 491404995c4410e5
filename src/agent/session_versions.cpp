// Harnesses whose submit_kernel tries versions (config::Stop): what is told of each.
#include "agent/kernel_text.h"
#include "agent/prompt.h"
#include "agent/session.h"
#include "util/clock.h"
#include "util/sha256.h"
#include "util/text.h"

#include <fmt/format.h>

namespace sweep::agent {
namespace {

// Whether the text was refused before anything was compiled.
bool format_error(const ToolOutcome& outcome) {
  return !outcome.evaluation.is_object() ||
         !evaluate::evaluation_from_json(outcome.evaluation).compile;
}

}  // namespace

std::string Session::answers_left() const {
  const std::int64_t left = harness_.max_turns - turn_number_ - 1;
  return left <= 0 ? "" : fmt::format("{} answer{} left.", left, left == 1 ? "" : "s");
}

std::string Session::told_sanitised(std::string_view file) const {
  const std::string left = answers_left();
  return fill_prompt(file,
                     {{"attempt", std::to_string(turn_number_ + 1)},
                      {"left", left.empty() ? "" : left + " " + fill_prompt("try_again.md")}});
}

std::string Session::told_no_version() const {
  if (harness_.feedback == config::Feedback::sanitised)
    return told_sanitised("sanitised_format_error.md");
  return fill_prompt("no_version.md",
                     {{"answer", std::to_string(turn_number_ + 1)}, {"left", answers_left()}});
}

std::string Session::told(const ToolOutcome& outcome) const {
  const std::string number = std::to_string(turn_number_ + 1);
  const std::string left = answers_left();
  if (harness_.feedback == config::Feedback::sanitised && outcome.success)
    return fill_prompt("sanitised_passed.md");
  if (harness_.feedback == config::Feedback::sanitised) {
    const bool compiled = outcome.metadata.value("compiled", false);
    return told_sanitised(format_error(outcome) ? "sanitised_format_error.md"
                          : compiled            ? "sanitised_incorrect.md"
                                                : "sanitised_compile_error.md");
  }
  if (harness_.feedback == config::Feedback::check)
    return fill_prompt("check_feedback.md",
                       {{"version", number}, {"found", outcome.text}, {"left", left}});
  const Candidate* leader = best();
  std::string best_text = "no correct version";
  if (leader != nullptr && leader->state == Candidate::State::correct)
    best_text = fmt::format("version {}", leader->version) +
                (leader->visible_speedup
                     ? fmt::format(", {:.3f}x on the visible shapes", *leader->visible_speedup)
                     : "");
  const bool cpu_times = tool_settings_.device.kind == device::Kind::cpu &&
                         outcome.metadata.contains("visible_speedup");
  return fill_prompt(
      "timing_feedback.md",
      {{"version", number},
       {"timings", outcome.text + (cpu_times ? "\n" + fill_prompt("cpu_times.md") : "")},
       {"best", best_text},
       {"left", left}});
}

record::ToolCall Session::try_version(const std::string& kernel,
                                      std::string origin,
                                      record::Turn& turn) {
  record::ToolCall done;
  done.tool_name = kSubmitKernel;
  done.origin = std::move(origin);
  done.metadata = {{"trial", true}};
  tried_in_turn_ = true;
  if (!seen_.emplace(kSubmitKernel, util::sha256_hex(kernel)).second) {
    done.result_text = fill_prompt("same_version.md");
    stop_ = StopReason::policy_stop;
    return done;
  }
  const double before = services_.clock->monotonic();
  const ToolOutcome outcome = run_recorded(kTryKernel, kernel, turn);
  done.wall_clock_s = services_.clock->monotonic() - before;
  done.lock_wait_s = outcome.lock_wait_seconds();
  done.success = outcome.success;
  done.metadata.update(outcome.metadata);
  if (stop_) {
    done.result_text = outcome.text;
    return done;
  }
  Candidate candidate;
  candidate.kernel = kernel;
  candidate.state = outcome.success                             ? Candidate::State::correct
                    : outcome.metadata.value("compiled", false) ? Candidate::State::compiled
                                                                : Candidate::State::tried;
  candidate.device_seconds = outcome.device_seconds;
  if (outcome.success && outcome.metadata.contains("visible_speedup"))
    candidate.visible_speedup = outcome.metadata["visible_speedup"].get<double>();
  candidate.version = turn_number_ + 1;
  candidates_.push_back(std::move(candidate));
  done.result_text = told(outcome);
  if (outcome.success && harness_.stop == config::Stop::first_correct)
    stop_ = StopReason::first_correct;
  return done;
}

void Session::try_text(const endpoint::Completion& answer, record::Turn& turn) {
  const bool cut = answer.finish == endpoint::Finish::length;
  const std::string kernel = kernel_in_text(answer.message.text, cut);
  if (kernel.empty()) {
    turn.feedback_to_model = cut ? told_cut() : told_no_version();
    append_user(turn.feedback_to_model);
    return;
  }
  ++trajectory_.total_tool_calls;
  record::ToolCall done = try_version(kernel, "text:fence", turn);
  note_kernel(kernel, done);
  if (cut)
    done.result_text = fill_prompt("cut_tried.md") + "\n" + done.result_text;
  turn.feedback_to_model = done.result_text;
  add_call(std::move(done), turn);
  if (!stop_)
    append_user(turn.feedback_to_model);
}

}  // namespace sweep::agent
