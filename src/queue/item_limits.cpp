#include "queue/item_limits.h"

#include "config/dotenv.h"
#include "util/lock.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <utility>

#include <poll.h>

namespace sweep::queue {

namespace {

constexpr double kLongestPauseHere = 5;  // a server on this machine is soon up again, and alone
constexpr double kAnswerSeconds = 120;   // the supervisor may be fsyncing a row on a slow disk

}  // namespace

std::unique_ptr<SharedLimits> limits_of(const config::Model& model,
                                        const std::string& base_url,
                                        const std::vector<std::filesystem::path>& dotenv,
                                        util::Clock& clock,
                                        const std::string& task) {
  LimitSettings settings;
  settings.rpm = model.rpm;
  settings.tpm = model.tpm;
  settings.max_in_flight = std::max<std::int64_t>(1, model.max_concurrency);
  settings.reserve_full = model.reserve_full;
  settings.burst_seconds = model.burst_s;
  if (config::on_this_machine(base_url)) {
    settings.longest_pause = kLongestPauseHere;
  }
  const auto folder = limits_folder(util::lock_folder());
  const std::string api_key = model.api_key_env.empty() || config::scripted(model)
                                  ? std::string()
                                  : config::read_key_value(model.api_key_env, dotenv).value_or("");
  const std::string key =
      limits_key(folder, base_url, api_key, model.deployment_name, model.limits_group);
  const bool apart = !task.empty() && !config::scripted(model);
  return std::make_unique<SharedLimits>(folder, apart ? key + "-" + task : key, settings, clock);
}

namespace {

// States that nobody has used for long: who uses one writes it every few seconds.
void prune(const std::filesystem::path& folder) {
  std::error_code error;
  const auto old = std::filesystem::file_time_type::clock::now() - std::chrono::hours(24 * 7);
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const auto written = entry.last_write_time(error);
    if (!error && written < old && entry.path().extension() != "") {
      (void)std::filesystem::remove(entry.path(), error);
    }
  }
}

}  // namespace

void try_paused(const config::SweepConfig& config,
                const std::vector<std::filesystem::path>& dotenv) {
  prune(limits_folder(util::lock_folder()));
  util::RealClock clock;
  for (const config::Model& model : config.models) {
    if (!config::scripted(model)) {
      limits_of(model, model.base_url, dotenv, clock)->try_now();
    }
  }
}

BothGrants take_both(SharedLimits& own,
                     SharedLimits& all,
                     const record::Need& need,
                     bool begun,
                     const LimitWait& wait) {
  const LimitWait at_once = [](int, double, const Waiting&) { return false; };
  while (true) {
    BothGrants out;
    out.all = all.take({}, begun, wait);
    if (!out.all) {
      return {};
    }
    out.own = own.take(need, begun, at_once);
    if (out.own) {
      return out;
    }
    out.all.reset();
    out.own = own.take(need, begun, wait);
    if (!out.own) {
      return {};
    }
    out.all = all.take({}, begun, at_once);
    if (out.all) {
      return out;
    }
  }
}

class ItemLimits::Held final : public record::ItemServices::Permit {
 public:
  Held(ItemLimits& owner,
       std::unique_ptr<SharedLimits::Grant> own,
       std::unique_ptr<SharedLimits::Grant> all)
      : owner_(owner), own_(std::move(own)), all_(std::move(all)) {}

  bool settle(const record::TryEnd& end) override { return owner_.settle(*own_, end); }

 private:
  ItemLimits& owner_;
  std::unique_ptr<SharedLimits::Grant> own_;
  std::unique_ptr<SharedLimits::Grant> all_;
};

ItemLimits::ItemLimits(wire::Channel& channel,
                       StopSignals& signals,
                       std::unique_ptr<SharedLimits> own,
                       std::int64_t all,
                       util::Clock& clock)
    : channel_(channel), signals_(signals), clock_(clock), own_(std::move(own)) {
  if (all > 0) {
    LimitSettings settings;
    settings.max_in_flight = all;
    settings.grows = false;
    all_ = std::make_unique<SharedLimits>(
        limits_folder(util::lock_folder()), "models-all", settings, clock);
  }
}

bool ItemLimits::sleep(int bell, double seconds, const Waiting& why) {
  if (signals_.requests() > 0 || given_up_) {
    return false;
  }
  waits_ += waiting_ ? 0 : 1;
  waiting_ = true;
  channel_.send({{"type", "wait"},
                 {"number", waits_},
                 {"on", true},
                 {"why", name(why.hold)},
                 {"seconds", why.seconds},
                 {"trouble", name(why.trouble)},
                 {"text", why.text}});
  std::array<pollfd, 3> fds{
      pollfd{bell, POLLIN, 0}, pollfd{signals_.fd(), POLLIN, 0}, pollfd{channel_.fd(), POLLIN, 0}};
  (void)::poll(fds.data(), fds.size(), static_cast<int>(std::ceil(seconds * 1000)));
  if (fds[2].revents != 0) {
    // Unasked, the supervisor says one thing only, and then no more about this wait.
    given_up_ = !wire::field<bool>(channel_.receive(kAnswerSeconds).body, "go");
    waiting_ = false;
  }
  return signals_.requests() == 0 && !given_up_;
}

void ItemLimits::end_wait() {
  if (std::exchange(waiting_, false)) {
    const wire::Message answer =
        channel_.ask({{"type", "wait"}, {"number", waits_}, {"on", false}}, kAnswerSeconds);
    given_up_ = given_up_ || !wire::field<bool>(answer.body, "go");
  }
}

std::unique_ptr<record::ItemServices::Permit> ItemLimits::take(const record::Need& need,
                                                               bool begun) {
  const double before = clock_.monotonic();
  const LimitWait wait = [this](int bell, double seconds, const Waiting& why) {
    return sleep(bell, seconds, why);
  };
  BothGrants both;
  if (!given_up_ && all_) {
    both = take_both(*own_, *all_, need, begun, wait);
  } else if (!given_up_) {
    both.own = own_->take(need, begun, wait);
  }
  end_wait();
  waited_ += clock_.monotonic() - before;
  if (!both.own || given_up_) {
    return nullptr;
  }
  return std::make_unique<Held>(*this, std::move(both.own), std::move(both.all));
}

bool ItemLimits::settle(SharedLimits::Grant& grant, const record::TryEnd& end) {
  const bool paused = grant.settle(end);
  if (end.result == record::TryEnd::Result::refused) {
    const wire::Message answer =
        channel_.ask({{"type", "refused"}, {"text", end.text}}, kAnswerSeconds);
    given_up_ = given_up_ || !wire::field<bool>(answer.body, "go");
  } else if (const Trouble trouble = trouble_of(end); trouble != Trouble::none) {
    channel_.send({{"type", "trouble"}, {"trouble", name(trouble)}, {"text", end.text}});
  }
  return paused;
}

}  // namespace sweep::queue
