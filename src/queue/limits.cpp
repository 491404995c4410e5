#include "queue/limits.h"

#include "util/text.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace sweep::queue {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kSlack = 1e-6;  // seconds or tokens that rounding may leave

std::int64_t second_of(double now) {
  return static_cast<std::int64_t>(std::floor(now));
}

}  // namespace

std::string_view name(Hold hold) {
  constexpr std::array<std::string_view, 7> names = {
      "none", "queue", "slot", "rpm", "tpm", "asked to wait", "paused"};
  return names.at(static_cast<std::size_t>(hold));
}

std::string_view name(Trouble trouble) {
  constexpr std::array<std::string_view, 5> names = {
      "ok", "unreachable", "overloaded", "rate limited", "refused"};
  return names.at(static_cast<std::size_t>(trouble));
}

Trouble trouble_of(const record::TryEnd& end) {
  using Result = record::TryEnd::Result;
  return end.result == Result::throttled   ? Trouble::throttled
         : end.result == Result::refused   ? Trouble::refused
         : end.result != Result::transient ? Trouble::none
         : end.reached                     ? Trouble::overloaded
                                           : Trouble::unreachable;
}

void Cause::set(Trouble trouble, std::string_view text) {
  trouble_ = trouble;
  text_ = {};
  std::copy_n(text.begin(), std::min(text.size(), kMost), text_.begin());
}

std::string Cause::text() const {
  return util::to_valid_utf8(
      std::string(text_.begin(), std::find(text_.begin(), text_.end(), '\0')));
}

double Meter::used(double now, std::int64_t limit) const {
  const double drained = std::max(0.0, now - touched_) * static_cast<double>(limit) / 60;
  return std::max(0.0, used_ - drained);
}

std::int64_t Meter::cell(std::int64_t second) const {
  const bool kept = second <= newest_ && second > newest_ - kCells && second >= 0;
  return kept ? cells_[static_cast<std::size_t>(second % kCells)] : 0;
}

std::int64_t Meter::last_minute(double now) const {
  std::int64_t sum = 0;
  for (std::int64_t second = second_of(now) - (kCells - 1); second <= second_of(now); ++second) {
    sum += cell(second);
  }
  return sum;
}

double Meter::wait(double now,
                   std::int64_t amount,
                   std::int64_t limit,
                   double burst_seconds) const {
  const double capacity = std::max(1.0, static_cast<double>(limit) * burst_seconds / 60);
  const double free = capacity - used(now, limit);
  const double need = std::min(static_cast<double>(amount), capacity);
  double seconds =
      free + kSlack >= need ? 0 : (need - free) * 60 / static_cast<double>(limit) + kSlack;
  const std::int64_t room = std::max<std::int64_t>(0, limit - amount);
  std::int64_t sum = last_minute(now);
  for (std::int64_t second = second_of(now) - (kCells - 1); sum > room && second <= newest_;
       ++second) {
    sum -= cell(second);
    seconds = std::max(seconds, static_cast<double>(second + kCells) - now + kSlack);
  }
  return seconds;
}

void Meter::roll(double now) {
  const std::int64_t second = second_of(now);
  for (std::int64_t next = std::max(newest_ + 1, second - kCells + 1); next <= second; ++next) {
    cells_[static_cast<std::size_t>(next % kCells)] = 0;
  }
  newest_ = std::max(newest_, second);
}

void Meter::take(double now, std::int64_t amount, std::optional<std::int64_t> limit) {
  roll(now);
  if (limit) {
    used_ = used(now, *limit) + static_cast<double>(amount);
    touched_ = now;
  }
  cells_[static_cast<std::size_t>(second_of(now) % kCells)] += amount;
}

void Meter::give_back(double now,
                      double at,
                      std::int64_t amount,
                      std::optional<std::int64_t> limit) {
  roll(now);
  if (limit) {
    used_ = std::max(0.0, used(now, *limit) - static_cast<double>(amount));
    touched_ = now;
  }
  if (const std::int64_t second = second_of(at); second > newest_ - kCells && second >= 0) {
    std::int64_t& of = cells_[static_cast<std::size_t>(second % kCells)];
    of = std::max<std::int64_t>(0, of - amount);
  }
}

std::int64_t Growth::limit(std::int64_t most) const {
  const double begun = allowed_ > 0 ? allowed_ : static_cast<double>(kStart);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(begun), 1, most);
}

void Growth::answered(double now, std::int64_t most) {
  if (now < cooldown_until_) {
    return;
  }
  if (++clean_ < limit(most)) {
    return;
  }
  clean_ = 0;
  const double from = allowed_ > 0 ? allowed_ : static_cast<double>(limit(most));
  allowed_ = std::min(static_cast<double>(most), from * (slow_start_ ? 2 : 1.05));
}

void Growth::throttled(double now, double retry_after, std::int64_t most) {
  clean_ = 0;
  const double until = now + std::max(kCooldown, retry_after);
  if (now < cooldown_until_) {
    // The same episode: requests that were under way.
    cooldown_until_ = std::max(cooldown_until_, now + retry_after);
    return;
  }
  slow_start_ = false;
  const double from = allowed_ > 0 ? std::min(allowed_, static_cast<double>(most))
                                   : static_cast<double>(limit(most));
  allowed_ = std::max(1.0, from * 0.8);
  cooldown_until_ = until;
}

double Breaker::wait(double now, bool probing) const {
  if (!open_) {
    return 0;
  }
  return probing ? kNever : std::max(0.0, until_ - now);
}

void Breaker::answered() {
  *this = {};
  ever_answered_ = true;
}

void Breaker::open(double now, bool refused, double random, double longest) {
  const double first = ever_answered_ ? kFirst : kFirstNew;
  const double doubled =
      first * std::exp2(static_cast<double>(std::min<std::int64_t>(openings_, 16)));
  since_ = open_ ? since_ : now;
  open_ = true;
  refused_ = refused;
  ++openings_;
  until_ = now + std::min(longest, doubled) * (0.75 + 0.5 * random);
}

void Breaker::failed(double now, bool refused, double random, double longest) {
  times_[static_cast<std::size_t>(failures_ % kFailures)] = now;
  ++failures_;
  const double oldest = times_[static_cast<std::size_t>(failures_ % kFailures)];
  if (open_ || refused || (failures_ >= kFailures && now - oldest <= kWithin)) {
    open(now, refused, random, longest);
  }
}

void Breaker::try_now(double now) {
  until_ = std::min(until_, now);
  since_ = now;
  openings_ = 0;
  ever_answered_ = false;
}

std::int64_t LimitState::estimate(const record::Need& need, bool full) const {
  std::int64_t output = need.max_output_tokens.value_or(kFirstGuess);
  if (!full && answers_ > 0) {
    const auto known = static_cast<std::size_t>(std::min<std::uint64_t>(answers_, outputs_.size()));
    std::vector<std::int64_t> last(outputs_.begin(),
                                   outputs_.begin() + static_cast<std::ptrdiff_t>(known));
    const std::size_t at = (known * 9 + 9) / 10 - 1;
    std::nth_element(last.begin(), last.begin() + static_cast<std::ptrdiff_t>(at), last.end());
    output = need.max_output_tokens ? std::min(*need.max_output_tokens, last[at]) : last[at];
  }
  return std::max<std::int64_t>(0, need.prompt_tokens) + std::max<std::int64_t>(0, output);
}

void LimitState::learn(std::int64_t output) {
  outputs_[static_cast<std::size_t>(answers_ % outputs_.size())] = output;
  ++answers_;
}

Seat* LimitState::find(std::int64_t number) {
  for (std::size_t i = 0; i < count_; ++i) {
    if (seats_[i].number == number) {
      return &seats_[i];
    }
  }
  return nullptr;
}

Seat* LimitState::join(std::int64_t number, std::int64_t tokens, bool begun) {
  if (count_ == kSeats) {
    return nullptr;
  }
  Seat& seat = seats_[count_++];
  seat = {};
  seat.number = number;
  seat.ticket = next_ticket_++;
  seat.tokens = tokens;
  seat.begun = begun;
  return &seat;
}

const Seat* LimitState::first() const {
  const Seat* best = nullptr;
  for (std::size_t i = 0; i < count_; ++i) {
    const Seat& seat = seats_[i];
    const bool before =
        best == nullptr || (seat.begun != best->begun ? seat.begun : seat.ticket < best->ticket);
    if (!seat.holding && before) {
      best = &seat;
    }
  }
  return best;
}

std::int64_t LimitState::in_flight() const {
  return std::count_if(seats_.begin(),
                       seats_.begin() + static_cast<std::ptrdiff_t>(count_),
                       [](const Seat& seat) { return seat.holding; });
}

bool LimitState::probing() const {
  return std::any_of(seats_.begin(),
                     seats_.begin() + static_cast<std::ptrdiff_t>(count_),
                     [](const Seat& seat) { return seat.holding && seat.probe; });
}

LimitState::Turn LimitState::turn(const Seat& seat,
                                  double now,
                                  const LimitSettings& settings) const {
  const Seat* next = first();
  if (next != nullptr && next->number != seat.number) {
    return {breaker_.open() ? Hold::paused : Hold::queue, kNever};
  }
  if (const double seconds = breaker_.wait(now, probing()); seconds > 0) {
    return {Hold::paused, seconds};
  }
  if (blocked_until_ > now) {
    return {Hold::asked, blocked_until_ - now + kSlack};
  }
  const std::int64_t most =
      settings.grows ? growth_.limit(settings.max_in_flight) : settings.max_in_flight;
  if (in_flight() >= most) {
    return {Hold::slot, kNever};
  }
  if (settings.rpm) {
    const double seconds = requests_.wait(now, 1, *settings.rpm, settings.burst_seconds);
    if (seconds > 0) {
      return {Hold::rpm, seconds};
    }
  }
  if (settings.tpm) {
    const double seconds = tokens_.wait(now, seat.tokens, *settings.tpm, settings.burst_seconds);
    if (seconds > 0) {
      return {Hold::tpm, seconds};
    }
  }
  return {};
}

void LimitState::grant(Seat& seat, double now, const LimitSettings& settings) {
  seat.holding = true;
  seat.since = now;
  seat.probe = breaker_.open();
  requests_.take(now, 1, settings.rpm);
  tokens_.take(now, seat.tokens, settings.tpm);
}

bool LimitState::settle(Seat& seat,
                        const record::TryEnd& end,
                        double now,
                        const LimitSettings& settings,
                        double random) {
  using Result = record::TryEnd::Result;
  constexpr std::int64_t kMostTokens = 100'000'000;  // beyond any request: no sum overflows
  const std::int64_t used = end.tokens >= 0                   ? std::min(end.tokens, kMostTokens)
                            : end.began                       ? seat.tokens  // unknown: as reserved
                            : end.result == Result::throttled ? seat.tokens
                                                              : 0;
  if (used < seat.tokens) {
    tokens_.give_back(now, seat.since, seat.tokens - used, settings.tpm);
  } else {
    tokens_.take(now, used - seat.tokens, settings.tpm);
  }
  if (end.result == Result::answered) {
    breaker_.answered();
    cause_ = {};
    if (end.first_try) {
      growth_.answered(now, settings.max_in_flight);
    }
    if (end.output_tokens >= 0) {
      learn(end.output_tokens);
    }
  } else if (end.result == Result::throttled) {
    growth_.throttled(now, end.retry_after, settings.max_in_flight);
    blocked_until_ = std::max(blocked_until_, now + end.retry_after);
  } else if (end.result != Result::other) {
    growth_.disturbed();
    // What was under way when it opened says nothing new.
    if (!breaker_.open() || seat.probe) {
      breaker_.failed(now, end.result == Result::refused, random, settings.longest_pause);
      cause_.set(trouble_of(end), end.text);
    }
  }
  release(seat.number);
  if (end.result == Result::throttled) {
    return end.retry_after > 0 && end.retry_after <= kLongestAsked;
  }
  return (end.result == Result::transient || end.result == Result::refused) && breaker_.pauses(now);
}

void LimitState::leave(std::int64_t number, double now, const LimitSettings& settings) {
  if (const Seat* seat = find(number); seat != nullptr && seat->holding) {
    tokens_.give_back(now, seat->since, seat->tokens, settings.tpm);
  }
  release(number);
}

void LimitState::release(std::int64_t number) {
  if (Seat* seat = find(number)) {
    *seat = seats_[--count_];
  }
}

std::size_t LimitState::used_bytes() const {
  return sizeof(LimitState) - (kSeats - count_) * sizeof(Seat);
}

}  // namespace sweep::queue
