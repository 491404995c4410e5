#pragma once

#include "evaluate/fill_ahead.h"
#include "evaluate/judge_task.h"
#include "evaluate/session.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace sweep::evaluate {

// What check and then stress hold a candidate against, computed one content after another before
// there is a candidate (Session::prepare). Must end before the session.
class DrawsAhead {
 public:
  DrawsAhead(Session& session, const JudgeTask::Ahead& ahead);

  // One more content, under a shared lock of the device that ends with it. False: nothing is left
  // to do. Throws what Session::prepare() throws, and what options.waiting of the session throws.
  [[nodiscard]] bool step();

 private:
  struct Job {
    problem::Draw draw;
    std::optional<Perturbation> change;
    int uses = 1;
  };

  void add_check(const StageOptions& options);
  void add(problem::Draw draw, int uses);
  [[nodiscard]] std::shared_ptr<const problem::FillPlan> plan_of(const Job& job);

  Session& session_;
  std::vector<Job> jobs_;
  std::size_t next_ = 0;
  std::unique_ptr<FillAhead> plans_;                     // of jobs without a change, in order
  std::shared_ptr<const problem::FillPlan> first_plan_;  // those with one change the first draw
  std::set<expr::IntEnv> refused_;                       // dims whose results were not kept
};

}  // namespace sweep::evaluate
