// Answers that the model's output limit cut off.
#include "agent/kernel_text.h"
#include "agent/prompt.h"
#include "agent/session.h"

#include <algorithm>

#include <fmt/format.h>

namespace sweep::agent {
namespace {

// In a row, with nothing to run in them: each is paid for in full, and the next is cut as well.
constexpr int kMostCut = 3;

bool holds_something(const endpoint::Message& message) {
  return std::ranges::any_of(message.calls,
                             [](const auto& call) { return call.problem.empty(); }) ||
         (message.calls.empty() && !kernel_in_text(message.text, true).empty());
}

}  // namespace

std::string Session::told_cut() const {
  const bool more = turn_number_ + 1 < harness_.max_turns;
  const std::string left = harness_.tries() ? answers_left() : "";
  return fill_prompt("answer_cut.md",
                     {{"next", more ? fill_prompt("send_less.md", {{"tools", tool_names()}}) : ""},
                      {"left", left}});
}

void Session::note_cut(const endpoint::Completion& answer, record::Turn& turn) {
  if (answer.finish != endpoint::Finish::length) {
    cut_in_row_ = 0;
    return;
  }
  ++trajectory_.answers_cut;
  cut_in_row_ = holds_something(answer.message) ? 0 : cut_in_row_ + 1;
  if (stop_ || cut_in_row_ < kMostCut)
    return;
  stop_ = StopReason::policy_stop;
  trajectory_.error = fmt::format(
      "{} answers in a row were cut off by the output limit, with nothing to run in them; raise "
      "max_tokens in [models.sampling], or lower the model's reasoning effort",
      cut_in_row_);
  trajectory_.error_code = "E_AGENT_CUT";
  turn.feedback_to_model = trajectory_.error;
}

}  // namespace sweep::agent
