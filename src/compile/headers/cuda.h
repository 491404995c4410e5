#pragma once
// The descriptor that a plan's `tensormap` passes by value (128 bytes, aligned to 64).
#ifndef SWEEP_CUTENSORMAP
#define SWEEP_CUTENSORMAP
struct alignas(64) CUtensorMap_st {
  unsigned long long opaque[16];
};
typedef struct CUtensorMap_st CUtensorMap;
#endif
