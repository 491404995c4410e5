#pragma once

#include "evaluate/code.h"
#include "evaluate/harness.h"
#include "evaluate/judge_stages.h"
#include "evaluate/preparation.h"
#include "problem/problem.h"
#include "util/fd.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sweep::evaluate {

// What a judge is told before it has a candidate. It lies in memory files: a judge that is still
// busy with its device would not read a long message, and whoever sends it does not wait.
class JudgeTask {
 public:
  // Of which stages, with these options, the judge may compute ahead what a candidate will be held
  // against.
  struct Ahead {
    StageOptions options;
    bool check = true, stress = false;
  };

  // `seed_number` decides what outputs and scratch are poisoned with.
  JudgeTask(const problem::Problem& problem,
            const Code& reference,
            const Code& seed,
            const HarnessImages& harness,
            device::Kind kind,
            std::uint64_t seed_number,
            const std::optional<Ahead>& ahead);

  // Equal keys: the same task, whatever is to be computed ahead.
  [[nodiscard]] const std::string& key() const { return key_; }

  // To be passed with the message "prepare".
  [[nodiscard]] std::vector<int> fds() const;

  // The same on the other side.
  struct Read {
    problem::Problem problem;
    Code reference, seed;
    device::Image own;    // cuda: of the harness
    EngineImages engine;  // cuda
    std::uint64_t seed_number = 0;
    std::optional<Ahead> ahead;
  };

  // Throws util::UsageError, util::InfraError or wire::WireError.
  [[nodiscard]] static Read read(std::span<const util::Fd> fds);

 private:
  std::string key_;
  std::vector<util::Fd> files_;  // the text, then images
};

// The task of an evaluation. Ahead of its check and stress, if it has them and no defence is off:
// without Defence::poison a call may leave what the call before it wrote. On a GPU, where a check
// alone is mostly followed by a whole evaluation, stress comes behind every check.
[[nodiscard]] JudgeTask judge_task(const EvaluationRequest& request,
                                   const problem::Problem& problem,
                                   const Trusted& ours);

}  // namespace sweep::evaluate
