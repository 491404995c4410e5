#pragma once

#include "evaluate/rules.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace sweep::evaluate {

// What the samples of an evaluation say of its numbers.
struct Recomputed {
  int rules = kRules;  // that it was judged by
  // What is wrong, one finding for each: "time.ratio.point is 1.25, the samples give 1.043".
  std::vector<std::string> findings;
  // What today's rules make of the same samples where the evaluation was judged by others:
  // "time.decision is PASS_FASTER, today's rules give UNSTABLE". That is nothing wrong.
  std::vector<std::string> otherwise;
};

// Computes every number of the time stages of an evaluation (schema 1, as stored) again from their
// raw samples: visible, held-out, earlier and confirming sessions. From these sessions the verdict,
// where it is one about speed, practical_win and the metrics but `roofline`, whose ceilings are not
// in a result. Numbers that differ by less than a relative 1e-9 are equal, as libraries of
// mathematics differ in the last bit. Stages without samples are skipped; an evaluation that cannot
// be read is one finding. Hostile input is fine.
//
// Numbers that the result's rules compute in another way (rules.h) are none of the findings; that
// its decision follows from its own ratio and guards is looked at nevertheless.
//
// Not found by this: samples replaced together with all the numbers; the run's ledger holds the
// trajectory's hash against that.
[[nodiscard]] Recomputed recompute(const nlohmann::json& evaluation);

}  // namespace sweep::evaluate
