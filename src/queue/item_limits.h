#pragma once

#include "config/config.h"
#include "queue/permits.h"
#include "queue/signals.h"
#include "wire/channel.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sweep::queue {

// The shared limits of one model, from its configuration. `base_url` as it is reached; `dotenv` as
// config::read_key_value takes it. `clock` outlives the result. `task`: one whose part of the
// limits is counted apart from other tasks' of this machine; empty: none.
[[nodiscard]] std::unique_ptr<SharedLimits> limits_of(
    const config::Model& model,
    const std::string& base_url,
    const std::vector<std::filesystem::path>& dotenv,
    util::Clock& clock,
    const std::string& task = {});

// Paused keys of all the models are tried at once: whoever starts a sweep may have mended what the
// pause is for.
void try_paused(const config::SweepConfig& config,
                const std::vector<std::filesystem::path>& dotenv);

struct BothGrants {
  std::unique_ptr<SharedLimits::Grant> own, all;  // null: the wait was given up
};

// A grant of the model's own limits and one of those of all models. Neither is held while the other
// is waited for: a general slot must not stand idle, and a request must not be counted in a minute
// that it is not sent in.
[[nodiscard]] BothGrants take_both(SharedLimits& own,
                                   SharedLimits& all,
                                   const record::Need& need,
                                   bool begun,
                                   const LimitWait& wait);

// What keeps one item within its model's limits, in the worker. The supervisor is told while it
// waits, and may end the wait: the item is then given up.
class ItemLimits {
 public:
  // `all`: requests of all models at a time, 0: no limit.
  ItemLimits(wire::Channel& channel,
             StopSignals& signals,
             std::unique_ptr<SharedLimits> own,
             std::int64_t all,
             util::Clock& clock);

  // Null: stopped, or the supervisor gave the item up.
  [[nodiscard]] std::unique_ptr<record::ItemServices::Permit> take(const record::Need& need,
                                                                   bool begun);

  // Seconds spent in take() so far.
  [[nodiscard]] double waited() const { return waited_; }

 private:
  class Held;

  [[nodiscard]] bool sleep(int bell, double seconds, const Waiting& why);
  void end_wait();
  [[nodiscard]] bool settle(SharedLimits::Grant& grant, const record::TryEnd& end);

  wire::Channel& channel_;
  StopSignals& signals_;
  util::Clock& clock_;
  std::unique_ptr<SharedLimits> own_;
  std::unique_ptr<SharedLimits> all_;  // null: no limit
  std::int64_t waits_ = 0;             // told to the supervisor so far; the last is open while ..
  bool waiting_ = false;               // .. this holds
  bool given_up_ = false;              // the supervisor's word
  double waited_ = 0;
};

}  // namespace sweep::queue
