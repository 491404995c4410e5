#pragma once

#include "evaluate/judging.h"
#include "evaluate/oracle.h"
#include "evaluate/probe.h"
#include "evaluate/store.h"
#include "problem/draw.h"
#include "problem/fill.h"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace sweep::evaluate {

// What a judged call is held against. Nothing of it depends on the candidate.
struct Expected {
  ByOutput least;  // CompareParameters::least_scale of the outputs that need one
  Truth truth;
  Tensors seed;  // its outputs

  [[nodiscard]] std::size_t held() const;  // bytes of device memory
};

// Equal names: equal bits of all inputs.
[[nodiscard]] std::string content_name(const problem::Draw& draw, const Perturbation* change);

// Expected results of contents that are judged later, within a budget of device memory. Where it
// does not suffice, results that took long to compute for their size stay. One thread.
class ExpectedStore {
 public:
  // `bytes` of device memory.
  explicit ExpectedStore(std::size_t bytes) : budget_(bytes) {}

  struct Kept {
    std::shared_ptr<const Expected> expected;
    std::shared_ptr<const problem::FillPlan> plan;  // null where it would take much host memory
    double seconds = 0;                             // that it took to compute
    int uses = 1;                                   // take() gives it so many times
  };

  [[nodiscard]] std::size_t budget() const { return budget_; }

  // False, and nothing is kept of it, where it does not fit.
  [[nodiscard]] bool keep(const std::string& name, Kept kept);
  // Nothing where it was not kept or has been used up.
  [[nodiscard]] std::optional<Kept> take(const std::string& name);
  void clear();

 private:
  using Entries = std::map<std::string, Kept>;
  [[nodiscard]] bool make_room(std::size_t bytes, double seconds);
  void drop(Entries::iterator entry);

  std::size_t budget_;
  std::size_t held_ = 0;
  std::size_t host_held_ = 0;  // by plans; one that several entries share counts for each
  Entries entries_;
};

}  // namespace sweep::evaluate
