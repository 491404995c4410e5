#pragma once

#include <optional>

namespace sweep::queue {

// How long an item has been at work. Waits for what others use (a model's limits, money, a device,
// a compiler, another item's judgement) are no part of it. Pure: the caller says what time it is,
// in seconds that never go back.
class ItemWatch {
 public:
  // A new item.
  void begin(double now) {
    since_ = now;
    waits_since_.reset();
  }

  // The item waits; nothing changes if it does already.
  void pause(double now) { waits_since_ = waits_since_.value_or(now); }

  // It goes on; nothing changes unless it waits.
  void go_on(double now) {
    if (waits_since_) {
      since_ += now - *waits_since_;
      waits_since_.reset();
    }
  }

  [[nodiscard]] bool waits() const { return waits_since_.has_value(); }

  [[nodiscard]] double worked(double now) const { return waits_since_.value_or(now) - since_; }

  // `limit` <= 0: none.
  [[nodiscard]] bool overdue(double now, double limit) const {
    return limit > 0 && worked(now) > limit;
  }

 private:
  double since_ = 0;  // moved on by what it waited
  std::optional<double> waits_since_;
};

}  // namespace sweep::queue
