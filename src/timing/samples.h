#pragma once

#include "timing/schedule.h"

namespace sweep::timing {

// One call as measured, in seconds.
struct Call {
  int replicate = 0;
  int shape = 0;
  int block = 0;     // number within shape and replicate
  int position = 0;  // 0..3
  Arm arm = Arm::seed;
  double device_seconds = 0;  // 0 or less: not measured
  double host_seconds = 0;
};

}  // namespace sweep::timing
