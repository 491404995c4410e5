#pragma once

#include "record/item_services.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

// The arithmetic of limits that processes share. Pure: knows neither files nor clocks; `now` is
// seconds on one clock that never goes back. Everything is plain bytes, so that a state can be
// copied into a file and out of it.
namespace sweep::queue {

// What one user of a key holds itself to; what was spent is shared.
struct LimitSettings {
  std::optional<std::int64_t> rpm;  // requests a minute; unset: no limit
  std::optional<std::int64_t> tpm;  // tokens a minute; unset: no limit
  std::int64_t max_in_flight = 10;  // requests at a time, at most; >= 1
  bool grows = true;                // false: max_in_flight from the start, whatever is answered
  bool reserve_full = false;        // reserve the whole max_tokens, not what answers usually take
  double burst_seconds = 10;        // so many seconds' worth may go at once; 0.1 to 60
  double longest_pause = 600;       // seconds between two tries of an endpoint that fails; > 0
};

// What was taken of one limit: a bucket that refills all the time, and the last minute by seconds.
class Meter {
 public:
  // Seconds until `amount` may be taken, 0: at once. What is more than fits at all may go when
  // nothing else is counted, and leaves a debt. In no 60 s is more taken than `limit`, but for such
  // an amount and for add().
  [[nodiscard]] double wait(double now,
                            std::int64_t amount,
                            std::int64_t limit,
                            double burst_seconds) const;
  void take(double now, std::int64_t amount, std::optional<std::int64_t> limit);
  // Of what was taken at `at` so much was not used.
  void give_back(double now, double at, std::int64_t amount, std::optional<std::int64_t> limit);
  [[nodiscard]] std::int64_t last_minute(double now) const;

 private:
  static constexpr std::int64_t kCells = 61;  // seconds that may hold a part of the last 60 s

  [[nodiscard]] double used(double now, std::int64_t limit) const;
  [[nodiscard]] std::int64_t cell(std::int64_t second) const;
  void roll(double now);

  double used_ = 0;  // of the bucket at `touched_`
  double touched_ = 0;
  std::int64_t newest_ = 0;  // second of the newest cell
  std::array<std::int64_t, kCells> cells_{};
};

// Requests in flight: doubles each clean round until the first 429, then grows by 5 % a clean
// round; a 429 cuts it to 4/5, once an episode. A round is as many answers as may be in flight.
class Growth {
 public:
  static constexpr std::int64_t kStart = 20;
  static constexpr double kCooldown = 15;  // seconds of an episode at least

  [[nodiscard]] std::int64_t limit(std::int64_t most) const;
  void answered(double now, std::int64_t most);
  void throttled(double now, double retry_after, std::int64_t most);

  // A failure that is no 429: the round begins anew.
  void disturbed() { clean_ = 0; }

 private:
  double allowed_ = 0;  // 0: as begun
  double cooldown_until_ = 0;
  std::int64_t clean_ = 0;
  bool slow_start_ = true;
};

// Stops asking an endpoint that fails. While it is open nobody asks; then one request is let
// through, and its end decides.
class Breaker {
 public:
  static constexpr std::int64_t kFailures = 5;  // transient ones without an answer in between ..
  static constexpr double kWithin = 60;         // .. in so many seconds open it
  static constexpr double kFirst = 30;          // seconds it stays open then; doubles each time
  static constexpr double kFirstNew = 1;        // likewise before any answer since try_now()
  static constexpr double kPatience = 5400;  // seconds of an outage after which a request may fail

  // 0: ask. Else seconds until one may be let through; `probing`: one is on its way.
  [[nodiscard]] double wait(double now, bool probing) const;

  [[nodiscard]] bool open() const { return open_; }

  // The endpoint refused the key or the account, not a request.
  [[nodiscard]] bool refused() const { return open_ && refused_; }

  // Whether requests wait for a mended endpoint rather than fail.
  [[nodiscard]] bool pauses(double now) const {
    return open_ && (refused_ || now - since_ < kPatience);
  }

  void answered();
  // `random` in [0, 1): jitter. `longest` in seconds, without it.
  void failed(double now, bool refused, double random, double longest);
  // Somebody starts anew, and what made it fail may be mended: the next request is let through, and
  // the one after it soon.
  void try_now(double now);

 private:
  void open(double now, bool refused, double random, double longest);

  bool open_ = false;
  bool refused_ = false;
  bool ever_answered_ = false;  // since try_now()
  std::int64_t openings_ = 0;
  std::int64_t failures_ = 0;
  double since_ = 0;  // of the first opening
  double until_ = 0;
  std::array<double, kFailures> times_{};  // of the last failures
};

// One who waits for a permit or holds one.
struct Seat {
  std::int64_t number = 0;  // place in the lock file
  std::uint64_t ticket = 0;
  std::int64_t tokens = 0;  // wanted, then reserved
  double since = 0;         // when it was granted
  bool begun = false;       // its conversation has begun: before those that have not
  bool holding = false;
  bool probe = false;
};

// What is wrong with an endpoint, for people.
enum class Trouble : std::uint8_t { none, unreachable, overloaded, throttled, refused };

// "unreachable", "overloaded", "rate limited", "refused"; "ok" for none.
[[nodiscard]] std::string_view name(Trouble trouble);
[[nodiscard]] Trouble trouble_of(const record::TryEnd& end);

// The trouble that a pause is for.
class Cause {
 public:
  void set(Trouble trouble, std::string_view text);

  [[nodiscard]] Trouble trouble() const { return trouble_; }

  [[nodiscard]] std::string text() const;  // valid UTF-8, at most kMost bytes

 private:
  static constexpr std::size_t kMost = 240;

  Trouble trouble_ = Trouble::none;
  std::array<char, kMost> text_{};  // up to the first 0
};

// Why a seat has to wait.
enum class Hold : std::uint8_t { none, queue, slot, rpm, tpm, asked, paused };

[[nodiscard]] std::string_view name(Hold hold);

// All that users of one key share.
class LimitState {
 public:
  static constexpr std::size_t kSeats = 1024;
  static constexpr double kLongestAsked = 3600;      // seconds of a Retry-After that is waited for
  static constexpr std::int64_t kFirstGuess = 4096;  // tokens of an answer before any is known

  // Tokens that a request reserves.
  [[nodiscard]] std::int64_t estimate(const record::Need& need, bool full) const;

  // Nullptr: every seat is taken.
  Seat* join(std::int64_t number, std::int64_t tokens, bool begun);
  [[nodiscard]] Seat* find(std::int64_t number);

  struct Turn {
    Hold hold = Hold::none;
    double seconds = 0;  // until it is worth asking again; infinite: when somebody else moves
  };

  [[nodiscard]] Turn turn(const Seat& seat, double now, const LimitSettings& settings) const;
  void grant(Seat& seat, double now, const LimitSettings& settings);

  // The end of a granted request. True: requests of this key are paused or asked to wait, and this
  // one should wait with them rather than fail.
  bool settle(Seat& seat,
              const record::TryEnd& end,
              double now,
              const LimitSettings& settings,
              double random);
  // The seat's owner is gone, or gave up: slot and reserved tokens come back. The request stays
  // counted: it may have been sent.
  void leave(std::int64_t number, double now, const LimitSettings& settings);

  // The seat that goes next, of those that wait; nullptr: nobody waits.
  [[nodiscard]] const Seat* first() const;
  [[nodiscard]] std::int64_t in_flight() const;

  [[nodiscard]] std::size_t seats() const { return count_; }

  [[nodiscard]] const Seat& seat(std::size_t index) const { return seats_[index]; }

  [[nodiscard]] Breaker& breaker() { return breaker_; }

  // Seconds until a paused endpoint is tried; 0: one is on its way, or it is not paused.
  [[nodiscard]] double next_try(double now) const { return breaker_.wait(now, false); }

  // Of the last failure that counted, while it is paused.
  [[nodiscard]] const Cause& cause() const { return cause_; }

  [[nodiscard]] const Meter& requests() const { return requests_; }

  [[nodiscard]] const Meter& tokens() const { return tokens_; }

  // Whether it can be what grant() and the others made.
  [[nodiscard]] bool sound() const { return count_ <= kSeats; }

  // Bytes from the start that hold something; the rest are seats that nobody has.
  [[nodiscard]] std::size_t used_bytes() const;

 private:
  [[nodiscard]] bool probing() const;
  void learn(std::int64_t output);
  void release(std::int64_t number);

  Meter requests_;
  Meter tokens_;
  Growth growth_;
  Breaker breaker_;
  Cause cause_;
  double blocked_until_ = 0;
  std::array<std::int64_t, 32> outputs_{};  // tokens of the last answers
  std::uint64_t answers_ = 0;
  std::uint64_t next_ticket_ = 1;
  std::uint64_t count_ = 0;
  std::array<Seat, kSeats> seats_{};
};

static_assert(std::is_trivially_copyable_v<LimitState>);

}  // namespace sweep::queue
