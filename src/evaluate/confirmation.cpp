#include "evaluate/confirmation.h"

#include "evaluate/conclusion.h"
#include "timing/statistics.h"

#include <utility>

namespace sweep::evaluate {
namespace {

constexpr double kPractical = 1.05;
constexpr int kReplicates = 5;

timing::Estimate estimate_of(const Interval& ratio) {
  return {ratio.point, ratio.low, ratio.high};
}

bool rejected(const TimeResult& session) {
  return session.decision == Verdict::rejected_timer ||
         session.decision == Verdict::rejected_carryover;
}

}  // namespace

TimeResult repeated_once(const std::function<TimeResult()>& session,
                         const std::function<void()>& cool) {
  TimeResult first = session();
  if (first.decision != Verdict::unstable) {
    return first;
  }
  cool();
  TimeResult second = session();
  second.earlier.push_back(std::move(first));
  return second;
}

const TimeResult* deciding_time(const Evaluation& e) {
  if (e.heldout) {
    const auto& time = e.heldout->time.for_archive();
    if (time && time->decision && e.time) {
      return &*time;
    }
  }
  return e.time && !e.time->failure && !e.time->shapes.empty() ? &*e.time : nullptr;
}

bool confirmation_due(const EvaluationRequest& request, const Evaluation& evaluation) {
  const TimeResult* time = deciding_time(evaluation);
  return request.depth == Depth::full && request.device.kind == device::Kind::cuda &&
         request.off.empty() && time != nullptr && evaluation.verdict == Verdict::pass_faster &&
         time->decision == Verdict::pass_faster && time->ratio.point >= kPractical;
}

StageOptions confirming(StageOptions options) {
  options.confirm = true;
  options.pilot = false;
  options.energy = false;
  options.throughput = false;
  options.replicates = kReplicates;
  options.session += " confirm";
  return options;
}

void confirm(Evaluation& evaluation, TimeResult session) {
  if (session.failure) {
    evaluation.verdict = session.failure->verdict;
    evaluation.headline = "a call of the confirming session was wrong";
  } else if (rejected(session)) {
    evaluation.verdict = *session.decision;
    evaluation.headline = guard_text(session);
  }
  evaluation.confirmation = Hidden(std::optional(std::move(session)));
  if (practical_win(evaluation) == false) {
    evaluation.flags.emplace_back("not confirmed");
  }
}

std::optional<bool> practical_win(const Evaluation& evaluation) {
  const TimeResult* first = deciding_time(evaluation);
  const auto& second = evaluation.confirmation.for_archive();
  if (first == nullptr || !second || second->failure || rejected(*second) ||
      second->decision == Verdict::unstable) {
    return std::nullopt;
  }
  return timing::practical_win(estimate_of(first->ratio), estimate_of(second->ratio));
}

std::string practical_win_reason(const Evaluation& evaluation) {
  if (practical_win(evaluation)) {
    return "";
  }
  return evaluation.confirmation.for_archive()
             ? "the session that was to confirm it was wrong, rejected or unstable"
             : "no session was timed to confirm it: that is done by --full on a GPU, of what is "
               "FASTER by 1.05x or more";
}

}  // namespace sweep::evaluate
