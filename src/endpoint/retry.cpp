#include "endpoint/retry.h"

namespace sweep::endpoint {

bool repeatable(const Outcome& outcome) {
  if (outcome.should_retry == false)
    return false;
  if (retryable(outcome.kind))
    return true;
  // Neither money nor the length of a conversation changes by waiting, whatever a header says.
  return outcome.should_retry == true &&
         (outcome.kind == FailureKind::bad_request || outcome.kind == FailureKind::authentication ||
          outcome.kind == FailureKind::not_an_endpoint);
}

std::optional<double> Tries::next(const Outcome& outcome, double elapsed, Backoff& backoff) {
  if (!repeatable(outcome) || outcome.asked.value_or(0) > retry_.max_retry_after)
    return std::nullopt;
  const bool limited = outcome.kind == FailureKind::rate_limited;
  const int failures = limited ? ++limited_ : ++others_;
  bool spent = false;
  if (limited)
    spent = retry_.max_rate_limited > 0 && failures >= retry_.max_rate_limited;
  else
    spent = failures >= retry_.max_attempts;
  if (outcome.cut)
    spent = ++cut_ > retry_.max_cut_retries || spent;
  if (outcome.kind == FailureKind::protocol)
    spent = ++protocol_ > retry_.max_protocol_retries || spent;
  if (spent)
    return std::nullopt;
  const double delay = backoff.delay(failures, outcome.asked, limited);
  return elapsed + delay > retry_.deadline ? std::nullopt : std::optional(delay);
}

}  // namespace sweep::endpoint
