#pragma once

#include "problem/draw.h"

#include <sweep/random.h>

#include <cstdint>
#include <string_view>

// Inside of the module: a sequence of random values from a key, for draws and for data made on the
// host.
namespace sweep::problem {

class Stream {
 public:
  // `taken` words of the sequence are passed over.
  explicit Stream(std::uint64_t key, std::uint64_t high = 0, std::uint64_t taken = 0)
      : key_(key), high_(high), next_(taken) {
    if ((taken & 1U) != 0) {
      words_ = random::philox(key_, taken >> 1, high_);
    }
  }

  [[nodiscard]] std::uint64_t word() {
    if ((next_ & 1U) == 0) {
      words_ = random::philox(key_, next_ >> 1, high_);
    }
    return (next_++ & 1U) == 0 ? random::first(words_) : random::second(words_);
  }

  // In [0, 1).
  [[nodiscard]] double unit() { return random::unit(word()); }

  // In 0 .. n-1, n > 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t n) { return random::scaled(word(), n); }

  [[nodiscard]] std::int64_t between(std::int64_t low, std::int64_t high) {
    const std::uint64_t range =
        static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1U;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) +
                                     (range == 0 ? word() : below(range)));
  }

  [[nodiscard]] double normal() {
    next_ += next_ & 1U;
    words_ = random::philox(key_, next_ >> 1, high_);
    next_ += 2;
    return random::normal(words_);
  }

 private:
  std::uint64_t key_;
  std::uint64_t high_;
  std::uint64_t next_;
  random::Words words_{};
};

}  // namespace sweep::problem
