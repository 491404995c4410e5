#pragma once

#include "util/clock.h"

namespace sweep::evaluate {

// Adds the seconds of its scope to a sum.
class Timed {
 public:
  explicit Timed(double& sum) : sum_(sum) {}

  ~Timed() { sum_ += clock_.monotonic() - begin_; }

  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  double& sum_;
  util::RealClock clock_;
  double begin_ = clock_.monotonic();
};

// What `body` returns; its seconds are added to `sum`.
template <class Body>
decltype(auto) timed(double& sum, const Body& body) {
  const Timed timing(sum);
  return body();
}

}  // namespace sweep::evaluate
