#pragma once
// __half and __nv_bfloat16 with CUDA's names; half2.h has pairs and conversions. Sums, products and
// quotients are taken in float and rounded once, which is exact rounding for both types
// (24 >= 2 * 11 + 2); fma is taken in double.

#include "warp.h"

#include <math.h>

struct __half {
  unsigned short bits;
  __half() = default;
  inline __half(float v);

  inline __half(double v) : __half(static_cast<float>(v)) {}

  inline __half(int v) : __half(static_cast<float>(v)) {}

  inline __half(unsigned v) : __half(static_cast<float>(v)) {}

  inline __half(long long v) : __half(static_cast<float>(v)) {}

  inline __half(unsigned long long v) : __half(static_cast<float>(v)) {}

  inline operator float() const;
};

struct __nv_bfloat16 {
  unsigned short bits;
  __nv_bfloat16() = default;
  inline __nv_bfloat16(float v);

  inline __nv_bfloat16(double v) : __nv_bfloat16(static_cast<float>(v)) {}

  inline __nv_bfloat16(int v) : __nv_bfloat16(static_cast<float>(v)) {}

  inline __nv_bfloat16(unsigned v) : __nv_bfloat16(static_cast<float>(v)) {}

  inline operator float() const;
};

using half = __half;
using nv_bfloat16 = __nv_bfloat16;
using bf16 = __nv_bfloat16;

struct __half_raw {
  unsigned short x;
};

inline __half::__half(float v)
    : bits(__builtin_bit_cast(unsigned short, static_cast<_Float16>(v))) {}

inline __half::operator float() const {
  return static_cast<float>(__builtin_bit_cast(_Float16, bits));
}

inline __nv_bfloat16::__nv_bfloat16(float v) {
  const auto u = __builtin_bit_cast(unsigned, v);
  // Round to nearest even; NaN keeps its sign and becomes quiet.
  bits = v != v ? static_cast<unsigned short>((u >> 16) | 0x40u)
                : static_cast<unsigned short>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}

inline __nv_bfloat16::operator float() const {
  return __builtin_bit_cast(float, static_cast<unsigned>(bits) << 16);
}

namespace sweep_simt {

template <typename T>
T from_double(double v);

template <>
inline __half from_double<__half>(double v) {
  __half h;
  h.bits = __builtin_bit_cast(unsigned short, static_cast<_Float16>(v));
  return h;
}

// Rounding to odd in float first makes the second rounding exact.
template <>
inline __nv_bfloat16 from_double<__nv_bfloat16>(double v) {
  auto f = static_cast<float>(v);
  if (static_cast<double>(f) != v && f == f) {
    auto u = __builtin_bit_cast(unsigned, f);
    if (!(u & 1u)) {
      const bool away = f < 0 ? static_cast<double>(f) < v : static_cast<double>(f) > v;
      u = away ? u - 1u : u + 1u;
    }
    f = __builtin_bit_cast(float, u);
  }
  return __nv_bfloat16(f);
}

}  // namespace sweep_simt

#define SWEEP_FLOAT16(T)                                                                          \
  inline T operator+(T a, T b) {                                                                  \
    return T(float(a) + float(b));                                                                \
  }                                                                                               \
  inline T operator-(T a, T b) {                                                                  \
    return T(float(a) - float(b));                                                                \
  }                                                                                               \
  inline T operator*(T a, T b) {                                                                  \
    return T(float(a) * float(b));                                                                \
  }                                                                                               \
  inline T operator/(T a, T b) {                                                                  \
    return T(float(a) / float(b));                                                                \
  }                                                                                               \
  inline T operator-(T a) {                                                                       \
    a.bits = static_cast<unsigned short>(a.bits ^ 0x8000u);                                       \
    return a;                                                                                     \
  }                                                                                               \
  inline T operator+(T a) {                                                                       \
    return a;                                                                                     \
  }                                                                                               \
  inline T& operator+=(T& a, T b) {                                                               \
    return a = a + b;                                                                             \
  }                                                                                               \
  inline T& operator-=(T& a, T b) {                                                               \
    return a = a - b;                                                                             \
  }                                                                                               \
  inline T& operator*=(T& a, T b) {                                                               \
    return a = a * b;                                                                             \
  }                                                                                               \
  inline T& operator/=(T& a, T b) {                                                               \
    return a = a / b;                                                                             \
  }                                                                                               \
  inline bool operator==(T a, T b) {                                                              \
    return float(a) == float(b);                                                                  \
  }                                                                                               \
  inline bool operator!=(T a, T b) {                                                              \
    return float(a) != float(b);                                                                  \
  }                                                                                               \
  inline bool operator<(T a, T b) {                                                               \
    return float(a) < float(b);                                                                   \
  }                                                                                               \
  inline bool operator<=(T a, T b) {                                                              \
    return float(a) <= float(b);                                                                  \
  }                                                                                               \
  inline bool operator>(T a, T b) {                                                               \
    return float(a) > float(b);                                                                   \
  }                                                                                               \
  inline bool operator>=(T a, T b) {                                                              \
    return float(a) >= float(b);                                                                  \
  }                                                                                               \
  inline T __hadd(T a, T b) {                                                                     \
    return a + b;                                                                                 \
  }                                                                                               \
  inline T __hsub(T a, T b) {                                                                     \
    return a - b;                                                                                 \
  }                                                                                               \
  inline T __hmul(T a, T b) {                                                                     \
    return a * b;                                                                                 \
  }                                                                                               \
  inline T __hdiv(T a, T b) {                                                                     \
    return a / b;                                                                                 \
  }                                                                                               \
  inline T __hadd_rn(T a, T b) {                                                                  \
    return a + b;                                                                                 \
  }                                                                                               \
  inline T __hmul_rn(T a, T b) {                                                                  \
    return a * b;                                                                                 \
  }                                                                                               \
  inline T __hneg(T a) {                                                                          \
    return -a;                                                                                    \
  }                                                                                               \
  inline T __habs(T a) {                                                                          \
    a.bits = static_cast<unsigned short>(a.bits & 0x7fffu);                                       \
    return a;                                                                                     \
  }                                                                                               \
  inline T __hfma(T a, T b, T c) {                                                                \
    return sweep_simt::from_double<T>(fma(double(float(a)), double(float(b)), double(float(c)))); \
  }                                                                                               \
  inline T __hfma_relu(T a, T b, T c) {                                                           \
    const T r = __hfma(a, b, c);                                                                  \
    return float(r) > 0 ? r : T(0.f);                                                             \
  }                                                                                               \
  inline T __hadd_sat(T a, T b) {                                                                 \
    return T(fminf(fmaxf(float(a + b), 0.f), 1.f));                                               \
  }                                                                                               \
  inline T __hmul_sat(T a, T b) {                                                                 \
    return T(fminf(fmaxf(float(a * b), 0.f), 1.f));                                               \
  }                                                                                               \
  inline bool __heq(T a, T b) {                                                                   \
    return a == b;                                                                                \
  }                                                                                               \
  inline bool __hne(T a, T b) {                                                                   \
    return a != b;                                                                                \
  }                                                                                               \
  inline bool __hlt(T a, T b) {                                                                   \
    return a < b;                                                                                 \
  }                                                                                               \
  inline bool __hle(T a, T b) {                                                                   \
    return a <= b;                                                                                \
  }                                                                                               \
  inline bool __hgt(T a, T b) {                                                                   \
    return a > b;                                                                                 \
  }                                                                                               \
  inline bool __hge(T a, T b) {                                                                   \
    return a >= b;                                                                                \
  }                                                                                               \
  inline bool __hisnan(T a) {                                                                     \
    return float(a) != float(a);                                                                  \
  }                                                                                               \
  inline int __hisinf(T a) {                                                                      \
    return __builtin_isinf_sign(float(a));                                                        \
  }                                                                                               \
  inline T __hmax(T a, T b) {                                                                     \
    return T(fmaxf(float(a), float(b)));                                                          \
  }                                                                                               \
  inline T __hmin(T a, T b) {                                                                     \
    return T(fminf(float(a), float(b)));                                                          \
  }                                                                                               \
  inline T __hmax_nan(T a, T b) {                                                                 \
    return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b);                                      \
  }                                                                                               \
  inline T __hmin_nan(T a, T b) {                                                                 \
    return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b);                                      \
  }                                                                                               \
  inline T hexp(T a) {                                                                            \
    return T(expf(float(a)));                                                                     \
  }                                                                                               \
  inline T hexp2(T a) {                                                                           \
    return T(exp2f(float(a)));                                                                    \
  }                                                                                               \
  inline T hexp10(T a) {                                                                          \
    return T(powf(10.f, float(a)));                                                               \
  }                                                                                               \
  inline T hlog(T a) {                                                                            \
    return T(logf(float(a)));                                                                     \
  }                                                                                               \
  inline T hlog2(T a) {                                                                           \
    return T(log2f(float(a)));                                                                    \
  }                                                                                               \
  inline T hlog10(T a) {                                                                          \
    return T(log10f(float(a)));                                                                   \
  }                                                                                               \
  inline T hsqrt(T a) {                                                                           \
    return T(sqrtf(float(a)));                                                                    \
  }                                                                                               \
  inline T hrsqrt(T a) {                                                                          \
    return T(1.f / sqrtf(float(a)));                                                              \
  }                                                                                               \
  inline T hrcp(T a) {                                                                            \
    return T(1.f / float(a));                                                                     \
  }                                                                                               \
  inline T hsin(T a) {                                                                            \
    return T(sinf(float(a)));                                                                     \
  }                                                                                               \
  inline T hcos(T a) {                                                                            \
    return T(cosf(float(a)));                                                                     \
  }                                                                                               \
  inline T htanh(T a) {                                                                           \
    return T(tanhf(float(a)));                                                                    \
  }                                                                                               \
  inline T hfloor(T a) {                                                                          \
    return T(floorf(float(a)));                                                                   \
  }                                                                                               \
  inline T hceil(T a) {                                                                           \
    return T(ceilf(float(a)));                                                                    \
  }                                                                                               \
  inline T htrunc(T a) {                                                                          \
    return T(truncf(float(a)));                                                                   \
  }                                                                                               \
  inline T hrint(T a) {                                                                           \
    return T(rintf(float(a)));                                                                    \
  }
SWEEP_FLOAT16(__half)
SWEEP_FLOAT16(__nv_bfloat16)
#undef SWEEP_FLOAT16
