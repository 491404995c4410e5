#pragma once

#include "evaluate/judge_client.h"

#include <memory>
#include <optional>

namespace sweep::evaluate {

// A judge for the next evaluation, started while there is time: its device is open, and so are its
// first runners', but no code of any candidate is in them; and what the candidate will be held
// against is computed meanwhile. Each serves one evaluation. Owned by whoever evaluates one kernel
// after another; one thread.
class Spares {
 public:
  struct Taken {
    std::unique_ptr<JudgeClient> judge;  // has begun
    bool spare = false;                  // it may have died or failed since it was started
  };

  // A judge as `spec` says: the spare one if it is of that kind and well, else a new one. One
  // without runners, which runs nothing, is new, and the spare one stays. Throws as JudgeClient
  // does.
  [[nodiscard]] Taken take(const JudgeSpec& spec);

  // Starts a spare judge like the last one that was taken, unless there is one, and does not wait.
  // `task`: what it works at meanwhile; null: it only waits. What fails is left to the next take().
  void refill(const JudgeTask* task = nullptr) noexcept;

 private:
  std::optional<JudgeSpec> like_;
  std::unique_ptr<JudgeClient> spare_;
};

}  // namespace sweep::evaluate
