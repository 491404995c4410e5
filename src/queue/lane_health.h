#pragma once

#include <cstddef>
#include <vector>

namespace sweep::queue {

// Which devices of a run get work. After a fault a device gets none until it has been probed; one
// that cannot be used then, or that fails again and again without an item in between that ends
// well, is out for the rest of the session. Pure.
class LaneHealth {
 public:
  // Faults in a row that a device may have before it is out though probes find it usable.
  static constexpr int kFaults = 3;

  enum class State { good, probing, out };

  explicit LaneHealth(std::size_t lanes) : lanes_(lanes) {}

  [[nodiscard]] State state(std::size_t lane) const { return lanes_.at(lane).state; }

  // An item ended because of the device. True: probe it now, and say so with probed().
  [[nodiscard]] bool fault(std::size_t lane) {
    Lane& one = lanes_.at(lane);
    ++one.faults;
    if (one.state == State::good) {
      one.state = State::probing;
      return true;
    }
    return false;
  }

  // What the probe found; nothing unless one was due.
  void probed(std::size_t lane, bool usable) {
    Lane& one = lanes_.at(lane);
    if (one.state == State::probing) {
      one.state = usable && one.faults < kFaults ? State::good : State::out;
    }
  }

  // An item ended, and not because of the device.
  void worked(std::size_t lane) { lanes_.at(lane).faults = 0; }

  [[nodiscard]] int faults(std::size_t lane) const { return lanes_.at(lane).faults; }

 private:
  struct Lane {
    State state = State::good;
    int faults = 0;  // in a row
  };

  std::vector<Lane> lanes_;
};

}  // namespace sweep::queue
