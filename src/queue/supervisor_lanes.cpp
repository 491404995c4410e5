// The supervisor's part in devices: waits for them, faults, probes, and those that are taken out.
#include "queue/supervisor.h"
#include "util/text.h"

#include <algorithm>

#include <fmt/format.h>

namespace sweep::queue {

namespace {

// After which a probe that has not ended is killed.
constexpr double kProbeSeconds = 60;

}  // namespace

std::string Supervisor::lane_name(std::size_t lane) const {
  return device::text(lane_names_.at(lane));
}

bool Supervisor::no_device() const {
  for (std::size_t lane = 0; lane < lane_names_.size(); ++lane) {
    if (health_.state(lane) != LaneHealth::State::out) {
      return false;
    }
  }
  return !lane_names_.empty() && scheduler_.pending() > 0;
}

void Supervisor::held(Worker& worker, const std::string& why) {
  LaneRow& lane = state_.lanes[static_cast<std::size_t>(worker.id)];
  lane.next_try.reset();
  if (why.empty()) {
    worker.watch.go_on(now());
    lane.state = "judging";
  } else {
    worker.watch.pause(now());
    lane.state = util::printable(why);
  }
}

void Supervisor::fault(Worker& worker, const std::string& why) {
  if (health_.fault(worker.lane)) {
    say(fmt::format("{}: failed ({}); it is probed before it gets more work",
                    lane_name(worker.lane),
                    util::printable(why)));
    start_probe();
  }
}

// One lane after another: a probe opens the driver, which sees all devices.
void Supervisor::start_probe() {
  for (std::size_t lane = 0; lane < lane_names_.size() && !probe_; ++lane) {
    if (health_.state(lane) == LaneHealth::State::probing) {
      probe_ = Probe{lane,
                     setup_.probe ? setup_.probe(lane_names_[lane])
                                  : probe_device(setup_.program, lane_names_[lane]),
                     now()};
    }
  }
}

void Supervisor::check_probe(bool ended) {
  if (!probe_ || (!ended && now() - probe_->since < kProbeSeconds)) {
    return;
  }
  const std::size_t lane = probe_->lane;
  const std::string problem = probe_->probe->problem();
  probe_.reset();
  health_.probed(lane, problem.empty());
  if (health_.state(lane) == LaneHealth::State::out) {
    take_out(lane,
             problem.empty() ? fmt::format("{} faults in a row", health_.faults(lane)) : problem);
  } else {
    say(lane_name(lane) + ": answers the probe and gets work again");
  }
  for (const auto& worker : workers_) {
    if (worker->lane == lane && worker->parked && worker->channel && !worker->retired) {
      hand_out(*worker);
    }
  }
  start_probe();
}

void Supervisor::take_out(std::size_t lane, const std::string& why) {
  const std::string text =
      fmt::format("{} is taken out of this session: {}", lane_name(lane), util::printable(why));
  say(text + "; see `sweep doctor`");
  for (const auto& worker : workers_) {
    if (worker->lane == lane && worker->parked) {
      worker->parked = false;
      tell(*worker, {{"type", "stop"}});
      worker->retired = true;
    }
  }
  if (no_device()) {
    stop_text_ = text + ", and no other device is left";
    scheduler_.stop();
  }
  revive();
}

// Work that came back needs a worker: one that was sent away for want of items.
void Supervisor::revive() {
  std::size_t wanted = state_.stopping ? 0 : scheduler_.pending();
  for (const auto& worker : workers_) {
    wanted -= std::min<std::size_t>(wanted, worker->parked ? 1 : 0);
  }
  for (const auto& worker : workers_) {
    const bool usable = health_.state(worker->lane) == LaneHealth::State::good;
    if (wanted > 0 && usable && worker->retired && worker->deaths <= kMostDeaths) {
      --wanted;
      worker->retired = false;
      start(*worker);
    }
  }
}

}  // namespace sweep::queue
