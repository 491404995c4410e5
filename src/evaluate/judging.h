#pragma once

#include "evaluate/bench.h"
#include "evaluate/evaluation.h"
#include "evaluate/oracle.h"
#include "evaluate/store.h"
#include "problem/compare.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sweep::evaluate {

// A number for each output by name.
using ByOutput = std::map<std::string, double, std::less<>>;

struct Judgement {
  double worst_share = 0;          // over all outputs, elements and rms
  std::optional<Failure> failure;  // of the first output that fails
  ByOutput e_max;                  // the seed's error, after the clamps
};

// Compares the outputs of calls. All tensors lie in the judge's memory.
class Comparer {
 public:
  // `off`: rules that find nothing (Defence::oracle, timed_compare, rms_rule, finite_masks,
  // poison).
  Comparer(device::Device& device,
           Engine& engine,
           Store& store,
           const problem::Problem& problem,
           DefenceSet off = {})
      : device_(device), engine_(engine), store_(store), problem_(problem), off_(std::move(off)) {}

  // Whether failures say what the wrong values look like, which costs a download; true at the
  // start.
  void explain(bool on) { explain_ = on; }

  // The problem's rule for every output: `got` against the truth, E from the seed's outputs on the
  // same draw. `bench` holds the draw's inputs and the poison of the call. `least`: the least
  // scales of small outputs (problem::needs_least_scale).
  [[nodiscard]] Judgement with_oracle(const problem::Draw& draw,
                                      const Truth& truth,
                                      const Bench& bench,
                                      const Tensors& got,
                                      const Tensors& seed,
                                      const ByOutput& least);

  // Timed calls without an oracle: `got` against the seed's outputs, e_max of the shape's oracle
  // draws.
  [[nodiscard]] Judgement with_seed(const Bench& bench,
                                    const Tensors& got,
                                    const Tensors& seed,
                                    const ByOutput& e_max,
                                    const ByOutput& least);

 private:
  // Compares one output. The first failure is told with what the wrong values look like.
  void judge(const CompareJob& job, const std::string& output, Defence rule, Judgement& judgement);
  [[nodiscard]] Region base_of(const Bench& bench, const std::string& output) const;
  [[nodiscard]] Store::Piece unless_of(const problem::Draw& draw,
                                       const Truth& truth,
                                       const std::string& output);

  device::Device& device_;
  Engine& engine_;
  Store& store_;
  const problem::Problem& problem_;
  DefenceSet off_;
  bool explain_ = true;
};

// True if every output may be compared with the seed alone: no `unless`, no aux scale.
[[nodiscard]] bool seed_rule_suffices(const problem::Problem& problem);

// What finds fault with the comparison: poison, finite_masks, rms_rule or, for plain wrong
// elements, `rule`. Nothing if it passes, or if all that would are in `off`.
[[nodiscard]] std::optional<Defence> caught_by(const problem::Comparison& comparison,
                                               Defence rule,
                                               const DefenceSet& off);

// The defence behind a fault of the device, as verdict_of() tells its verdict.
[[nodiscard]] Defence defence_of(const device::Fault& fault, bool inside_input, bool near_buffer);

// Which verdict a comparison that does not pass stands for.
[[nodiscard]] Verdict classify(const problem::Problem& problem,
                               const problem::Comparison& comparison);

// What is wrong with a call that left `damage`; nothing where it is intact or the watch is off.
[[nodiscard]] std::optional<Failure> damage_failure(const Bench::Damage& damage,
                                                    const DefenceSet& off);

// Verdict of a fault that recurred. `inside_input`: the address lies in a read-only buffer;
// `near_buffer`: beyond the edge of one of the buffers.
[[nodiscard]] Verdict verdict_of(const device::Fault& fault, bool inside_input, bool near_buffer);

}  // namespace sweep::evaluate
