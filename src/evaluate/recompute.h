#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace sweep::evaluate {

// Computes every number of the time stages of an evaluation (schema 1, as stored) again from their
// raw samples: visible, held-out, earlier and confirming sessions. From these sessions the verdict,
// where it is one about speed, practical_win and the metrics but `roofline`, whose ceilings are not
// in a result. Returns what differs, one finding for each: "time.ratio.point is 1.25, the samples
// give 1.043". Numbers that differ by less than a relative 1e-9 are equal, as libraries of
// mathematics differ in the last bit. Stages without samples are skipped; an evaluation that cannot
// be read is one finding. Hostile input is fine.
//
// Not found by this: samples replaced together with all the numbers; the run's ledger holds the
// trajectory's hash against that.
[[nodiscard]] std::vector<std::string> recompute(const nlohmann::json& evaluation);

}  // namespace sweep::evaluate
