#pragma once
// CUDA C++ for the cpu device: a submission compiled by g++ sees this header first. What it offers
// is listed in docs/cpu_device.md.

#include "simt/atomic.h"
#include "simt/core.h"
#include "simt/fp8.h"
#include "simt/groups.h"
#include "simt/half2.h"
#include "simt/intrinsics.h"
#include "simt/launch.h"
#include "simt/maths.h"
#include "simt/vector.h"
#include "simt/warp.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>
