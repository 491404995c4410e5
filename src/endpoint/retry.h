#pragma once

#include "endpoint/answer.h"
#include "endpoint/backoff.h"

#include <optional>

namespace sweep::endpoint {

// May this try be repeated? Only what is known to pass: rate limits, overload, broken transfers and
// broken answers, and what the endpoint itself calls repeatable; never what it calls final.
[[nodiscard]] bool repeatable(const Outcome& outcome);

// The tries of one request, counted by why they failed.
class Tries {
 public:
  explicit Tries(const Retry& retry) : retry_(retry) {}

  // Seconds to wait before the next try after a failure `elapsed` seconds into the request;
  // nullopt: there is none.
  [[nodiscard]] std::optional<double> next(const Outcome& outcome,
                                           double elapsed,
                                           Backoff& backoff);

 private:
  Retry retry_;
  int limited_ = 0;  // by a rate limit
  int others_ = 0;
  int cut_ = 0;       // of these, broken off
  int protocol_ = 0;  // of these, no answer in the body
};

}  // namespace sweep::endpoint
