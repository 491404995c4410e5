#pragma once

#include "device/device.h"
#include "problem/draw.h"
#include "problem/fill.h"
#include "problem/problem.h"

#include <cstddef>
#include <deque>
#include <future>
#include <vector>

namespace sweep::evaluate {

// Threads that make contents ahead of their use. For a GPU three cores are left to the judge and
// the two runners of a pair; the cpu device needs them all, and gets 0.
[[nodiscard]] int fill_threads(device::Kind kind);

// The fill plans of a known list of draws, in order. What only the host can make (rows of a ragged
// tensor, sorted data) is made by other threads while earlier draws are used.
class FillAhead {
 public:
  struct Content {
    problem::Draw draw;
    problem::FillPlan plan;
  };

  // At most `threads` plans are in the making; 0: each is made when asked for, by this thread.
  FillAhead(const problem::Problem& problem, std::vector<problem::Draw> draws, int threads);

  // The next draw with its plan. Throws what problem::FillPlan throws; util::InfraError after the
  // last.
  [[nodiscard]] Content next();

  // The draw that next() will give; null after the last. Valid as long as this object.
  [[nodiscard]] const problem::Draw* coming() const;

 private:
  void start_more();

  const problem::Problem& problem_;
  std::vector<problem::Draw> draws_;
  std::size_t threads_;
  std::size_t started_ = 0, used_ = 0;
  std::deque<std::future<problem::FillPlan>> making_;
};

}  // namespace sweep::evaluate
