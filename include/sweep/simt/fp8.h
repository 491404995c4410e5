#pragma once
// FP8 storage types with conversions that saturate, as __nv_fp8_e4m3 and __nv_fp8_e5m2 do.

#include "half2.h"

namespace sweep_simt {

// Rounds to nearest even with `mantissa` bits, exponents from `lowest` (subnormal step 2^(lowest -
// mantissa)), and clamps at `largest`. NaN is the caller's.
inline unsigned char to_fp8(float v, int mantissa, int bias, float largest) {
  const unsigned sign = __builtin_bit_cast(unsigned, v) >> 31;
  float a = fabsf(v);
  a = a > largest ? largest : a;
  int exponent = 0;
  if (a > 0) {
    frexpf(a, &exponent);
    exponent -= 1;
  }
  const int lowest = 1 - bias;
  exponent = a > 0 && exponent > lowest ? exponent : lowest;
  const auto steps = static_cast<unsigned>(rintf(ldexpf(a, mantissa - exponent)));
  // `steps` includes the hidden bit of a normal number; a carry moves into the exponent by itself.
  const unsigned code = (static_cast<unsigned>(exponent + bias - 1) << mantissa) + steps;
  return static_cast<unsigned char>((sign << 7) | code);
}

inline float from_fp8(unsigned char code, int mantissa, int bias) {
  const unsigned exponent = (code & 0x7fu) >> mantissa;
  const unsigned fraction = code & ((1u << mantissa) - 1u);
  const float value = exponent == 0 ? ldexpf(static_cast<float>(fraction), 1 - bias - mantissa)
                                    : ldexpf(static_cast<float>(fraction + (1u << mantissa)),
                                             static_cast<int>(exponent) - bias - mantissa);
  return code & 0x80u ? -value : value;
}

}  // namespace sweep_simt

struct __nv_fp8_e4m3 {
  unsigned char __x;
  __nv_fp8_e4m3() = default;

  explicit __nv_fp8_e4m3(float v) : __x(v != v ? 0x7f : sweep_simt::to_fp8(v, 3, 7, 448.f)) {}

  explicit __nv_fp8_e4m3(double v) : __nv_fp8_e4m3(static_cast<float>(v)) {}

  explicit __nv_fp8_e4m3(__half v) : __nv_fp8_e4m3(static_cast<float>(v)) {}

  explicit __nv_fp8_e4m3(__nv_bfloat16 v) : __nv_fp8_e4m3(static_cast<float>(v)) {}

  explicit operator float() const {
    return (__x & 0x7f) == 0x7f ? __builtin_nanf("") : sweep_simt::from_fp8(__x, 3, 7);
  }

  explicit operator __half() const { return __half(static_cast<float>(*this)); }

  explicit operator __nv_bfloat16() const { return __nv_bfloat16(static_cast<float>(*this)); }
};

struct __nv_fp8_e5m2 {
  unsigned char __x;
  __nv_fp8_e5m2() = default;

  explicit __nv_fp8_e5m2(float v) : __x(v != v ? 0x7f : sweep_simt::to_fp8(v, 2, 15, 57344.f)) {}

  explicit __nv_fp8_e5m2(double v) : __nv_fp8_e5m2(static_cast<float>(v)) {}

  explicit __nv_fp8_e5m2(__half v) : __nv_fp8_e5m2(static_cast<float>(v)) {}

  explicit __nv_fp8_e5m2(__nv_bfloat16 v) : __nv_fp8_e5m2(static_cast<float>(v)) {}

  explicit operator float() const {
    const int magnitude = __x & 0x7f;
    if (magnitude >= 0x7c) {
      return magnitude > 0x7c ? __builtin_nanf("")
                              : (__x & 0x80 ? -__builtin_inff() : __builtin_inff());
    }
    return sweep_simt::from_fp8(__x, 2, 15);
  }

  explicit operator __half() const { return __half(static_cast<float>(*this)); }

  explicit operator __nv_bfloat16() const { return __nv_bfloat16(static_cast<float>(*this)); }
};
