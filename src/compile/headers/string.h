#pragma once
// memcpy and memset are known to the compiler.
#include "stddef.h"
