#include "evaluate/energy.h"

#include "device/conditions.h"
#include "evaluate/memory.h"
#include "evaluate/timed_shape.h"
#include "util/clock.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace sweep::evaluate {
namespace {

constexpr double kRowSeconds = 1;
// What a runner takes between two calls of a row.
constexpr double kBetweenCalls = 5e-6;
constexpr int kEnergyContents = 2;
// NVML's counter moves in steps; a row begins right after one.
constexpr double kLongestStep = 0.3;
constexpr double kPollSeconds = 1e-3;

class EnergyMeter {
 public:
  EnergyMeter(Session& session, const Place& place, const problem::Key& key)
      : session_(session),
        place_(place),
        key_(key.derive("energy")),
        monitor_(session.options().arm.device, session.device().info()) {}

  EnergyResult run() {
    EnergyResult result;
    result.shape = place_.name;
    result.reason = why_not();
    if (!result.reason.empty()) {
      return result;
    }
    const Player& opponent = session_.versus() != nullptr ? *session_.versus() : session_.seed();
    const problem::Draw first = draw_of(0);
    session_.lock(util::LockMode::shared, timed_bytes(session_, {first}, 1));
    session_.clear_bench();
    bench_ = session_.make_bench(first);
    seed_.player = session_.fresh(opponent);
    candidate_.player = session_.fresh(session_.candidate());
    try {
      measure(result);
    } catch (const ArmFault& fault) {
      result.reason = std::string("a call failed: ") + fault.what();
    } catch (const PlanFault& fault) {
      result.reason = std::string("the plan failed: ") + fault.what();
    }
    session_.unlock();
    session_.retire(std::move(seed_.player));
    session_.retire(std::move(candidate_.player));
    return result;
  }

 private:
  struct MeteredArm {
    Player player;
    int calls = 1;  // of a row
    double joules = 0;
    int rows = 0;

    [[nodiscard]] double per_call() const { return joules / (double{1} * calls * rows); }
  };

  [[nodiscard]] std::string why_not() const {
    const bool inout = std::ranges::any_of(session_.problem().tensors, [](const auto& tensor) {
      return tensor.role == problem::Role::inout;
    });
    if (inout) {
      return "a call changes its input, so that a row of calls is no repetition";
    }
    if (monitor_.energy_joules()) {
      return "";
    }
    const std::string reason = monitor_.read().reason;
    return reason.empty() ? "NVML counts no energy on this device" : reason;
  }

  [[nodiscard]] problem::Draw draw_of(int content) const {
    return timed_draw(session_.problem(), place_, key_, std::to_string(content));
  }

  void measure(EnergyResult& result) {
    const problem::Draw first = draw_of(0);
    bench_->fill(first);
    for (MeteredArm* arm : {&seed_, &candidate_}) {
      (void)session_.play(arm->player, *bench_, first, true);
      const Played warm = session_.play(arm->player, *bench_, first, true);
      arm->calls = energy_calls(warm.time.device_seconds);
    }
    session_.lock(util::LockMode::exclusive);
    const double begin = clock_.monotonic();
    for (int content = 0; content < kEnergyContents; ++content) {
      const problem::Draw draw = draw_of(content);
      bench_->fill(draw);
      meter(content % 2 == 0 ? seed_ : candidate_, draw);
      meter(content % 2 == 0 ? candidate_ : seed_, draw);
    }
    result.seed_joules = seed_.per_call();
    result.candidate_joules = candidate_.per_call();
    result.seconds = clock_.monotonic() - begin;
    if (!(result.seed_joules > 0) || !(result.candidate_joules > 0)) {
      result.reason = "NVML's counter did not move";
    }
  }

  void meter(MeteredArm& arm, const problem::Draw& draw) {
    Seat& seat = session_.seat(arm.player, *bench_, draw);
    const std::uint32_t poison = poison_word(static_cast<std::uint64_t>(arm.rows));
    bench_->before_call(poison);
    session_.device().synchronize();
    const double before = next_step();
    (void)seat.row(arm.calls, false, session_.problem().limits.seconds, poison);
    arm.joules += monitor_.energy_joules().value_or(before) - before;
    ++arm.rows;
  }

  // The counter right after it moved.
  double next_step() {
    const double last = monitor_.energy_joules().value_or(0);
    const double begin = clock_.monotonic();
    double now = last;
    while (now == last && clock_.monotonic() - begin < kLongestStep) {
      clock_.sleep(kPollSeconds);
      now = monitor_.energy_joules().value_or(last);
    }
    return now;
  }

  Session& session_;
  const Place& place_;
  problem::Key key_;
  device::Monitor monitor_;
  util::RealClock clock_;
  std::unique_ptr<Bench> bench_;
  MeteredArm seed_, candidate_;  // their seats refer to the bench
};

}  // namespace

int energy_calls(double call_seconds) {
  const double each = std::max(call_seconds, 0.0) + kBetweenCalls;
  return static_cast<int>(std::max(kRowSeconds / each, 1.0));
}

EnergyResult run_energy(Session& session, const Place& place, const problem::Key& key) {
  return EnergyMeter(session, place, key).run();
}

}  // namespace sweep::evaluate
