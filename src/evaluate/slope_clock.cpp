#include "evaluate/slope_clock.h"

#include <algorithm>

namespace sweep::evaluate {
namespace {

constexpr double kMostOnCpu = 0.02;

// Rows last about as long as a block or two of judged calls.
Session::RowSizes sizes_for(double call_seconds, bool cpu) {
  constexpr double kShort = 5e-3, kLong = 50e-3;
  if (cpu || call_seconds >= kLong) {
    return {1, 2};
  }
  return call_seconds < kShort ? Session::RowSizes{2, 10} : Session::RowSizes{1, 3};
}

bool measured_on_cpu(const Session& session) {
  return session.options().arm.device.kind == device::Kind::cpu;
}

}  // namespace

bool slope_applies(Session& session, const TimedShape& shape, const StageOptions& options) {
  const bool inout = std::ranges::any_of(session.problem().tensors, [](const auto& tensor) {
    return tensor.role == problem::Role::inout;
  });
  return !inout && options.replicates > 1 &&
         (!measured_on_cpu(session) || shape.call_seconds < kMostOnCpu);
}

problem::Draw slope_draw(Session& session,
                         const TimedShape& shape,
                         const problem::Key& key,
                         int replicate,
                         bool only_pool) {
  return only_pool ? shape.pool.front().draw
                   : timed_draw(
                         session.problem(), shape.place, key, "slope/" + std::to_string(replicate));
}

SlopeReading read_slope(Session& session,
                        Player& seed,
                        Player& candidate,
                        Bench& bench,
                        const TimedShape& shape,
                        const problem::Draw& draw) {
  const Session::RowSizes sizes = sizes_for(shape.call_seconds, measured_on_cpu(session));
  SlopeReading reading;
  Session::Slope of_seed = session.slope_trusted(seed, bench, draw, sizes);
  reading.seed = of_seed.seconds;
  reading.by_seed = std::move(of_seed.outputs);
  Session::Slope of_candidate = session.slope(candidate, bench, draw, sizes);
  reading.candidate = of_candidate.seconds;
  reading.by_candidate = std::move(of_candidate.outputs);
  return reading;
}

}  // namespace sweep::evaluate
