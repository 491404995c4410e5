#pragma once

#include "evaluate/session.h"
#include "util/clock.h"

#include <vector>

namespace sweep::evaluate::admission {

// The device's lock while draws are examined: shared, so that several problems can be examined on
// one device at once, and given up for a moment about once a second, so that whoever times (rule 6
// of another problem, an evaluation) need not wait for a whole rule. Memory stays in use meanwhile:
// what others reserve in that moment may exceed the device by what this problem needs.
class SharedUse {
 public:
  // Takes the lock for `draws`, the largest of which decides the memory reserved. Waiting counts
  // against no deadline.
  SharedUse(Session& session, const std::vector<problem::Draw>& draws);

  ~SharedUse() { session_.unlock(); }

  SharedUse(const SharedUse&) = delete;
  SharedUse& operator=(const SharedUse&) = delete;

  // Between two draws.
  void pass();

 private:
  Session& session_;
  double bytes_;
  util::RealClock clock_;
  double since_;
};

}  // namespace sweep::evaluate::admission
