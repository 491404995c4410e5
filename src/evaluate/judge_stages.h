#pragma once

#include "evaluate/admission/admission.h"
#include "evaluate/calibration.h"
#include "evaluate/evaluation.h"
#include "evaluate/session.h"

#include <functional>
#include <string>
#include <vector>

namespace sweep::evaluate {

// A shape by name, with its free dims.
struct Place {
  std::string name;
  expr::IntEnv free;
};

// Pairs of runners started before a lock is taken: all replicates of a plain evaluation, so that it
// takes one lock and waits for one start.
inline constexpr int kPairsAtOnce = 5;

// What the caller asks the judge for; the draws follow from it and the problem.
struct StageOptions {
  std::uint64_t seed = 1;
  std::vector<Place> places;  // explicit shapes; empty: the problem's
  int check_seeds = 3;
  int stress_draws = 12;
  int replicates = 5;  // of time; with a pilot the least number
  // Two replicates, discarded, choose how many more there are, up to 15: timing::replicates_after.
  bool pilot = false;
  bool confirm = false;  // time, held-out: contents that no other session had, and no checks before
  int blocks = 0;        // 0: by the time a call takes
  // check: that many pairs for a time stage start meanwhile; opening a device takes 0.1 to 0.3 s
  // and goes on while others compute.
  int pairs_ahead = 0;
  bool may_say_faster = true;
  bool energy = false;                // time: of a call at the last shape, too
  bool throughput = false;            // time: of short calls in graphs, too
  std::optional<NoiseFloors> floors;  // of the device's calibration; none: the margin is 1%
  std::string session;                // part of the schedule's key
  std::string salt;                   // held-out only
  std::int64_t epoch = 0;
  std::optional<admission::Options> admit;  // of the stage "admit"
};

// Dims that a user's shape leaves open come from the first visible one.
[[nodiscard]] expr::IntEnv complete_free(const problem::Problem& problem,
                                         device::Kind kind,
                                         const expr::IntEnv& given);

// What the stages of an evaluation have in common; `session` and `floors` are left open. A pilot
// and energy with `full` on a GPU.
[[nodiscard]] StageOptions stage_options(const EvaluationRequest& request,
                                         const problem::Problem& problem);

// An empty text ends a wait that the text before told of.
using Tick = std::function<void(const std::string& text, std::size_t done, std::size_t total)>;

// Shapes that check and time see on this device: `cpu` ones on the cpu device, else `check` and
// `time` ones.
[[nodiscard]] std::vector<Place> visible_places(const problem::Problem& problem,
                                                device::Kind kind,
                                                bool timed);

[[nodiscard]] CheckResult run_check(Session& session,
                                    const StageOptions& options,
                                    const Tick& tick);
[[nodiscard]] StressResult run_stress(Session& session,
                                      const StageOptions& options,
                                      const Tick& tick);

// Times the candidate against the seed (or `versus`) on the given places; contents follow from
// `key`.
[[nodiscard]] TimeResult run_time(Session& session,
                                  const StageOptions& options,
                                  const std::vector<Place>& places,
                                  const problem::Key& key,
                                  const Tick& tick);
[[nodiscard]] HeldoutResult run_heldout(Session& session,
                                        const StageOptions& options,
                                        const Tick& tick);

}  // namespace sweep::evaluate
