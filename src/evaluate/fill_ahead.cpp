#include "evaluate/fill_ahead.h"

#include "util/error.h"

#include <algorithm>
#include <functional>
#include <thread>
#include <utility>

#include <sys/resource.h>

namespace sweep::evaluate {
namespace {

// Of all plans in the making.
constexpr std::size_t kHostBytes = std::size_t{4} << 30U;

// What the host may have to hold for one plan.
std::size_t host_bytes(const problem::FillPlan& plan) {
  std::size_t bytes = 1;
  for (const problem::FilledTensor& filled : plan.tensors()) {
    const bool whole = filled.way != problem::FillWay::element;
    bytes += whole ? static_cast<std::size_t>(filled.tensor.bytes) : 0;
  }
  return bytes;
}

constexpr int kMostThreads = 8;
constexpr int kBusyCores = 3;

// Behind everything that is being timed: on Linux the priority is the calling thread's.
constexpr int kNice = 15;

problem::FillPlan made(const problem::Problem& problem, const problem::Draw& draw) {
  problem::FillPlan plan(problem, draw);
  plan.make();
  return plan;
}

problem::FillPlan made_aside(const problem::Problem& problem, const problem::Draw& draw) {
  // Where it may not be lowered the plan is made at the usual priority.
  (void)::setpriority(PRIO_PROCESS, 0, kNice);
  return made(problem, draw);
}

}  // namespace

int fill_threads(device::Kind kind) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  return kind == device::Kind::cpu ? 0 : std::clamp(cores - kBusyCores, 1, kMostThreads);
}

FillAhead::FillAhead(const problem::Problem& problem, std::vector<problem::Draw> draws, int threads)
    : problem_(problem),
      draws_(std::move(draws)),
      threads_(threads > 0 ? static_cast<std::size_t>(threads) : 0) {
  if (threads_ > 0 && !draws_.empty()) {
    const std::size_t fit = kHostBytes / host_bytes(problem::FillPlan(problem_, draws_.front()));
    threads_ = std::clamp(fit, std::size_t{1}, threads_);
  }
  start_more();
}

void FillAhead::start_more() {
  while (making_.size() < threads_ && started_ < draws_.size()) {
    making_.push_back(std::async(
        std::launch::async, made_aside, std::cref(problem_), std::cref(draws_[started_++])));
  }
}

const problem::Draw* FillAhead::coming() const {
  return used_ < draws_.size() ? &draws_[used_] : nullptr;
}

FillAhead::Content FillAhead::next() {
  if (used_ == draws_.size()) {
    throw util::InfraError({"judge", "asked for more contents than were planned", ""},
                           "E_JUDGE_PROTOCOL");
  }
  const problem::Draw& draw = draws_[used_++];
  if (making_.empty()) {
    return {draw, made(problem_, draw)};
  }
  std::future<problem::FillPlan> first = std::move(making_.front());
  making_.pop_front();
  problem::FillPlan plan = first.get();
  start_more();
  return {draw, std::move(plan)};
}

}  // namespace sweep::evaluate
