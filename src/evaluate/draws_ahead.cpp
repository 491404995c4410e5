#include "evaluate/draws_ahead.h"

#include "evaluate/judge_draws.h"
#include "evaluate/memory.h"

#include <utility>

namespace sweep::evaluate {

DrawsAhead::DrawsAhead(Session& session, const JudgeTask::Ahead& ahead) : session_(session) {
  if (ahead.check) {
    add_check(ahead.options);
  }
  if (ahead.stress) {
    for (problem::Draw& draw : stress_draws(session, ahead.options).draws) {
      add(std::move(draw), 1);
    }
  }
  std::vector<problem::Draw> draws;
  for (const Job& job : jobs_) {
    if (!job.change) {
      draws.push_back(job.draw);
    }
  }
  plans_ = std::make_unique<FillAhead>(
      session.problem(), std::move(draws), fill_threads(session.options().arm.device.kind));
}

void DrawsAhead::add_check(const StageOptions& options) {
  std::vector<NumberedDraw> draws = check_draws(session_, options);
  if (draws.empty()) {
    return;
  }
  const problem::Draw first = draws.front().draw;
  std::vector<Perturbation> changes;
  int uses_of_first = 1;
  if (session_.has(Defence::perturb_one)) {
    uses_of_first += 2;
    changes = probe_changes(session_.problem(), first);
  }
  for (std::size_t i = 0; i < draws.size(); ++i) {
    add(std::move(draws[i].draw), i == 0 ? uses_of_first : 1);
  }
  if (jobs_.empty() || jobs_.front().draw.key != first.key) {
    return;  // it would not fit
  }
  for (Perturbation& change : changes) {
    jobs_.push_back({first, std::move(change)});
  }
}

// What would not fit alone is left out.
void DrawsAhead::add(problem::Draw draw, int uses) {
  const problem::Sizes sizes = problem::sizes_of(session_.problem(), draw);
  if (sizes.oracle_bytes + sizes.output_bytes <= static_cast<double>(session_.prepared_budget())) {
    jobs_.push_back({std::move(draw), std::nullopt, uses});
  }
}

std::shared_ptr<const problem::FillPlan> DrawsAhead::plan_of(const Job& job) {
  if (job.change) {
    return first_plan_;
  }
  auto plan = std::make_shared<const problem::FillPlan>(plans_->next().plan);
  if (first_plan_ == nullptr) {
    first_plan_ = plan;
  }
  return plan;
}

bool DrawsAhead::step() {
  if (next_ == jobs_.size()) {
    return false;
  }
  const Job& job = jobs_[next_];
  if (refused_.contains(job.draw.dims)) {
    // Its plan is in the row, too.
    (void)plan_of(job);
    ++next_;
    return true;
  }
  session_.lock(util::LockMode::shared, judged_bytes(session_, {job.draw}));
  ++next_;
  const bool kept =
      session_.prepare(job.draw, job.change ? &*job.change : nullptr, plan_of(job), job.uses);
  if (next_ == jobs_.size()) {
    session_.clear_bench();  // the candidate gets buffers of its own, and waits for it to end
  }
  session_.unlock();
  if (!kept) {
    refused_.insert(job.draw.dims);
  }
  return true;
}

}  // namespace sweep::evaluate
