// Plain data shared by host and device: this text is embedded and compiled by NVRTC too, so no
// includes.
#pragma once

namespace sweep::problem {

enum FillKind : unsigned {
  kFillConstant,
  kFillNormal,
  kFillUniform,
  kFillLognormal,
  kFillStudent,
  kFillSpikes,
  kFillInteger,
  kFillBits,
  kFillChoice,
  kFillMask,
  kFillLattice,
  kFillPermutation,
  kFillDistinct,
  kFillOnehot,
  kFillLower,
  kFillField,
  kFillParticles,
};

// Element types, in the order of expr::DType.
enum FillType : unsigned {
  kTypeF64,
  kTypeF32,
  kTypeF16,
  kTypeBf16,
  kTypeE4m3,
  kTypeE5m2,
  kTypeI64,
  kTypeI32,
  kTypeI16,
  kTypeI8,
  kTypeU64,
  kTypeU32,
  kTypeU16,
  kTypeU8,
  kTypeBool,
  kTypeC64,
  kTypeC128,
};

// One element-wise fill with everything resolved; passed to kernels by value (288 bytes).
struct FillParameters {
  unsigned long long key = 0;     // Philox key
  unsigned long long stream = 0;  // number of the tensor within the draw
  unsigned kind = kFillConstant;
  unsigned type = kTypeF32;
  long long axis_length = 1;  // of the axis the fill runs along
  long long axis_stride = 1;  // elements between neighbours along it
  long long low = 0;          // integer kinds: smallest value; mask: at_least; field: octaves
  long long high = 0;  // integer kinds: largest value; distinct: range; particles: cells per axis
  double a = 0;        // mean, lo, rate, p, keep, side ...
  double b = 0;        // std, hi, scale, jitter ...
  double c = 0;
  double d = 0;
  int axes = 0;  // field, particles: number of axes in `extents`
  int choices = 0;
  long long extents[4] = {1, 1, 1, 1};
  double values[20] = {};  // choice; field: amplitude of each octave
};

static_assert(sizeof(FillParameters) == 288);

}  // namespace sweep::problem
