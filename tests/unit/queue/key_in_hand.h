#pragma once

#include "queue/limits.h"

#include <cstdint>
#include <memory>
#include <optional>

namespace sweep::queue::test {

using Result = record::TryEnd::Result;

inline record::TryEnd answered(std::int64_t tokens, std::int64_t output = 10) {
  record::TryEnd end;
  end.result = Result::answered;
  end.began = true;
  end.tokens = tokens;
  end.output_tokens = output;
  return end;
}

inline record::TryEnd failed(Result result, double retry_after = 0) {
  record::TryEnd end;
  end.result = result;
  end.retry_after = retry_after;
  return end;
}

// One key whose users call in turn; time is a variable.
struct Key {
  std::unique_ptr<LimitState> state = std::make_unique<LimitState>();
  LimitSettings settings;
  double now = 1000;
  std::int64_t next = 0;

  std::int64_t join(std::int64_t tokens = 1, bool begun = false) {
    (void)state->join(next, tokens, begun);
    return next++;
  }

  LimitState::Turn turn(std::int64_t seat) {
    return state->turn(*state->find(seat), now, settings);
  }

  // Joins and is granted at once, or not at all.
  std::optional<std::int64_t> take(std::int64_t tokens = 1) {
    const std::int64_t seat = join(tokens);
    if (turn(seat).hold != Hold::none) {
      state->leave(seat, now, settings);
      return std::nullopt;
    }
    state->grant(*state->find(seat), now, settings);
    return seat;
  }

  bool settle(std::int64_t seat, const record::TryEnd& end, double random = 0.5) {
    return state->settle(*state->find(seat), end, now, settings, random);
  }

  // One request from start to end.
  bool ask(const record::TryEnd& end) { return settle(take().value(), end); }
};

}  // namespace sweep::queue::test
