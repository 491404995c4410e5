#pragma once
// __half and __nv_bfloat16 with CUDA's names. Sums, products and quotients are taken in float and
// rounded once, which is exact rounding for both types (24 >= 2 * 11 + 2); fma is taken in double.

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

struct alignas(4) __half2 {
  __half x, y;
  __half2() = default;

  inline __half2(__half a, __half b) : x(a), y(b) {}
};

struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;

  inline __nv_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) : x(a), y(b) {}
};

using half = __half;
using half2 = __half2;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;
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

namespace sweep::simt {

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

}  // namespace sweep::simt

#define SWEEP_FLOAT16(T, T2, pair)                                                                 \
  inline T operator+(T a, T b) {                                                                   \
    return T(float(a) + float(b));                                                                 \
  }                                                                                                \
  inline T operator-(T a, T b) {                                                                   \
    return T(float(a) - float(b));                                                                 \
  }                                                                                                \
  inline T operator*(T a, T b) {                                                                   \
    return T(float(a) * float(b));                                                                 \
  }                                                                                                \
  inline T operator/(T a, T b) {                                                                   \
    return T(float(a) / float(b));                                                                 \
  }                                                                                                \
  inline T operator-(T a) {                                                                        \
    a.bits = static_cast<unsigned short>(a.bits ^ 0x8000u);                                        \
    return a;                                                                                      \
  }                                                                                                \
  inline T operator+(T a) {                                                                        \
    return a;                                                                                      \
  }                                                                                                \
  inline T& operator+=(T& a, T b) {                                                                \
    return a = a + b;                                                                              \
  }                                                                                                \
  inline T& operator-=(T& a, T b) {                                                                \
    return a = a - b;                                                                              \
  }                                                                                                \
  inline T& operator*=(T& a, T b) {                                                                \
    return a = a * b;                                                                              \
  }                                                                                                \
  inline T& operator/=(T& a, T b) {                                                                \
    return a = a / b;                                                                              \
  }                                                                                                \
  inline bool operator==(T a, T b) {                                                               \
    return float(a) == float(b);                                                                   \
  }                                                                                                \
  inline bool operator!=(T a, T b) {                                                               \
    return float(a) != float(b);                                                                   \
  }                                                                                                \
  inline bool operator<(T a, T b) {                                                                \
    return float(a) < float(b);                                                                    \
  }                                                                                                \
  inline bool operator<=(T a, T b) {                                                               \
    return float(a) <= float(b);                                                                   \
  }                                                                                                \
  inline bool operator>(T a, T b) {                                                                \
    return float(a) > float(b);                                                                    \
  }                                                                                                \
  inline bool operator>=(T a, T b) {                                                               \
    return float(a) >= float(b);                                                                   \
  }                                                                                                \
  inline T __hadd(T a, T b) {                                                                      \
    return a + b;                                                                                  \
  }                                                                                                \
  inline T __hsub(T a, T b) {                                                                      \
    return a - b;                                                                                  \
  }                                                                                                \
  inline T __hmul(T a, T b) {                                                                      \
    return a * b;                                                                                  \
  }                                                                                                \
  inline T __hdiv(T a, T b) {                                                                      \
    return a / b;                                                                                  \
  }                                                                                                \
  inline T __hadd_rn(T a, T b) {                                                                   \
    return a + b;                                                                                  \
  }                                                                                                \
  inline T __hmul_rn(T a, T b) {                                                                   \
    return a * b;                                                                                  \
  }                                                                                                \
  inline T __hneg(T a) {                                                                           \
    return -a;                                                                                     \
  }                                                                                                \
  inline T __habs(T a) {                                                                           \
    a.bits = static_cast<unsigned short>(a.bits & 0x7fffu);                                        \
    return a;                                                                                      \
  }                                                                                                \
  inline T __hfma(T a, T b, T c) {                                                                 \
    return sweep::simt::from_double<T>(fma(double(float(a)), double(float(b)), double(float(c)))); \
  }                                                                                                \
  inline T __hfma_relu(T a, T b, T c) {                                                            \
    const T r = __hfma(a, b, c);                                                                   \
    return float(r) > 0 ? r : T(0.f);                                                              \
  }                                                                                                \
  inline T __hadd_sat(T a, T b) {                                                                  \
    return T(fminf(fmaxf(float(a + b), 0.f), 1.f));                                                \
  }                                                                                                \
  inline T __hmul_sat(T a, T b) {                                                                  \
    return T(fminf(fmaxf(float(a * b), 0.f), 1.f));                                                \
  }                                                                                                \
  inline bool __heq(T a, T b) {                                                                    \
    return a == b;                                                                                 \
  }                                                                                                \
  inline bool __hne(T a, T b) {                                                                    \
    return a != b;                                                                                 \
  }                                                                                                \
  inline bool __hlt(T a, T b) {                                                                    \
    return a < b;                                                                                  \
  }                                                                                                \
  inline bool __hle(T a, T b) {                                                                    \
    return a <= b;                                                                                 \
  }                                                                                                \
  inline bool __hgt(T a, T b) {                                                                    \
    return a > b;                                                                                  \
  }                                                                                                \
  inline bool __hge(T a, T b) {                                                                    \
    return a >= b;                                                                                 \
  }                                                                                                \
  inline bool __hisnan(T a) {                                                                      \
    return float(a) != float(a);                                                                   \
  }                                                                                                \
  inline int __hisinf(T a) {                                                                       \
    return __builtin_isinf_sign(float(a));                                                         \
  }                                                                                                \
  inline T __hmax(T a, T b) {                                                                      \
    return T(fmaxf(float(a), float(b)));                                                           \
  }                                                                                                \
  inline T __hmin(T a, T b) {                                                                      \
    return T(fminf(float(a), float(b)));                                                           \
  }                                                                                                \
  inline T __hmax_nan(T a, T b) {                                                                  \
    return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b);                                       \
  }                                                                                                \
  inline T __hmin_nan(T a, T b) {                                                                  \
    return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b);                                       \
  }                                                                                                \
  inline T hexp(T a) {                                                                             \
    return T(expf(float(a)));                                                                      \
  }                                                                                                \
  inline T hexp2(T a) {                                                                            \
    return T(exp2f(float(a)));                                                                     \
  }                                                                                                \
  inline T hexp10(T a) {                                                                           \
    return T(powf(10.f, float(a)));                                                                \
  }                                                                                                \
  inline T hlog(T a) {                                                                             \
    return T(logf(float(a)));                                                                      \
  }                                                                                                \
  inline T hlog2(T a) {                                                                            \
    return T(log2f(float(a)));                                                                     \
  }                                                                                                \
  inline T hlog10(T a) {                                                                           \
    return T(log10f(float(a)));                                                                    \
  }                                                                                                \
  inline T hsqrt(T a) {                                                                            \
    return T(sqrtf(float(a)));                                                                     \
  }                                                                                                \
  inline T hrsqrt(T a) {                                                                           \
    return T(1.f / sqrtf(float(a)));                                                               \
  }                                                                                                \
  inline T hrcp(T a) {                                                                             \
    return T(1.f / float(a));                                                                      \
  }                                                                                                \
  inline T hsin(T a) {                                                                             \
    return T(sinf(float(a)));                                                                      \
  }                                                                                                \
  inline T hcos(T a) {                                                                             \
    return T(cosf(float(a)));                                                                      \
  }                                                                                                \
  inline T htanh(T a) {                                                                            \
    return T(tanhf(float(a)));                                                                     \
  }                                                                                                \
  inline T hfloor(T a) {                                                                           \
    return T(floorf(float(a)));                                                                    \
  }                                                                                                \
  inline T hceil(T a) {                                                                            \
    return T(ceilf(float(a)));                                                                     \
  }                                                                                                \
  inline T htrunc(T a) {                                                                           \
    return T(truncf(float(a)));                                                                    \
  }                                                                                                \
  inline T hrint(T a) {                                                                            \
    return T(rintf(float(a)));                                                                     \
  }                                                                                                \
  inline T2 operator+(T2 a, T2 b) {                                                                \
    return {a.x + b.x, a.y + b.y};                                                                 \
  }                                                                                                \
  inline T2 operator-(T2 a, T2 b) {                                                                \
    return {a.x - b.x, a.y - b.y};                                                                 \
  }                                                                                                \
  inline T2 operator*(T2 a, T2 b) {                                                                \
    return {a.x * b.x, a.y * b.y};                                                                 \
  }                                                                                                \
  inline T2 operator/(T2 a, T2 b) {                                                                \
    return {a.x / b.x, a.y / b.y};                                                                 \
  }                                                                                                \
  inline T2 operator-(T2 a) {                                                                      \
    return {-a.x, -a.y};                                                                           \
  }                                                                                                \
  inline T2& operator+=(T2& a, T2 b) {                                                             \
    return a = a + b;                                                                              \
  }                                                                                                \
  inline T2& operator-=(T2& a, T2 b) {                                                             \
    return a = a - b;                                                                              \
  }                                                                                                \
  inline T2& operator*=(T2& a, T2 b) {                                                             \
    return a = a * b;                                                                              \
  }                                                                                                \
  inline T2 __hadd2(T2 a, T2 b) {                                                                  \
    return a + b;                                                                                  \
  }                                                                                                \
  inline T2 __hsub2(T2 a, T2 b) {                                                                  \
    return a - b;                                                                                  \
  }                                                                                                \
  inline T2 __hmul2(T2 a, T2 b) {                                                                  \
    return a * b;                                                                                  \
  }                                                                                                \
  inline T2 __h2div(T2 a, T2 b) {                                                                  \
    return a / b;                                                                                  \
  }                                                                                                \
  inline T2 __hneg2(T2 a) {                                                                        \
    return -a;                                                                                     \
  }                                                                                                \
  inline T2 __habs2(T2 a) {                                                                        \
    return {__habs(a.x), __habs(a.y)};                                                             \
  }                                                                                                \
  inline T2 __hfma2(T2 a, T2 b, T2 c) {                                                            \
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};                                         \
  }                                                                                                \
  inline T2 __hmax2(T2 a, T2 b) {                                                                  \
    return {__hmax(a.x, b.x), __hmax(a.y, b.y)};                                                   \
  }                                                                                                \
  inline T2 __hmin2(T2 a, T2 b) {                                                                  \
    return {__hmin(a.x, b.x), __hmin(a.y, b.y)};                                                   \
  }                                                                                                \
  inline bool __hbeq2(T2 a, T2 b) {                                                                \
    return a.x == b.x && a.y == b.y;                                                               \
  }                                                                                                \
  inline T2 h2exp(T2 a) {                                                                          \
    return {hexp(a.x), hexp(a.y)};                                                                 \
  }                                                                                                \
  inline T2 h2exp2(T2 a) {                                                                         \
    return {hexp2(a.x), hexp2(a.y)};                                                               \
  }                                                                                                \
  inline T2 h2log(T2 a) {                                                                          \
    return {hlog(a.x), hlog(a.y)};                                                                 \
  }                                                                                                \
  inline T2 h2sqrt(T2 a) {                                                                         \
    return {hsqrt(a.x), hsqrt(a.y)};                                                               \
  }                                                                                                \
  inline T2 h2rsqrt(T2 a) {                                                                        \
    return {hrsqrt(a.x), hrsqrt(a.y)};                                                             \
  }                                                                                                \
  inline T2 h2rcp(T2 a) {                                                                          \
    return {hrcp(a.x), hrcp(a.y)};                                                                 \
  }                                                                                                \
  inline T __low2##pair(T2 a) {                                                                    \
    return a.x;                                                                                    \
  }                                                                                                \
  inline T __high2##pair(T2 a) {                                                                   \
    return a.y;                                                                                    \
  }                                                                                                \
  inline float __low2float(T2 a) {                                                                 \
    return a.x;                                                                                    \
  }                                                                                                \
  inline float __high2float(T2 a) {                                                                \
    return a.y;                                                                                    \
  }                                                                                                \
  inline T2 __low2##pair##2(T2 a) {                                                                \
    return {a.x, a.x};                                                                             \
  }                                                                                                \
  inline T2 __high2##pair##2(T2 a) {                                                               \
    return {a.y, a.y};                                                                             \
  }                                                                                                \
  inline T2 __lowhigh2highlow(T2 a) {                                                              \
    return {a.y, a.x};                                                                             \
  }                                                                                                \
  inline T2 __lows2##pair##2(T2 a, T2 b) {                                                         \
    return {a.x, b.x};                                                                             \
  }                                                                                                \
  inline T2 __highs2##pair##2(T2 a, T2 b) {                                                        \
    return {a.y, b.y};                                                                             \
  }                                                                                                \
  inline T2 __##pair##2##pair##2(T a) {                                                            \
    return {a, a};                                                                                 \
  }                                                                                                \
  inline T2 make_##pair##2(T a, T b) {                                                             \
    return {a, b};                                                                                 \
  }                                                                                                \
  inline float __##pair##2float(T a) {                                                             \
    return a;                                                                                      \
  }                                                                                                \
  inline T __float2##pair(float a) {                                                               \
    return T(a);                                                                                   \
  }                                                                                                \
  inline T __float2##pair##_rn(float a) {                                                          \
    return T(a);                                                                                   \
  }                                                                                                \
  inline T __double2##pair(double a) {                                                             \
    return sweep::simt::from_double<T>(a);                                                         \
  }                                                                                                \
  inline T2 __float2##pair##2_rn(float a) {                                                        \
    return {T(a), T(a)};                                                                           \
  }                                                                                                \
  inline T2 __floats2##pair##2_rn(float a, float b) {                                              \
    return {T(a), T(b)};                                                                           \
  }                                                                                                \
  inline T2 __float22##pair##2_rn(float2 a) {                                                      \
    return {T(a.x), T(a.y)};                                                                       \
  }                                                                                                \
  inline float2 __##pair##22float2(T2 a) {                                                         \
    return {a.x, a.y};                                                                             \
  }                                                                                                \
  inline short __##pair##_as_short(T a) {                                                          \
    return static_cast<short>(a.bits);                                                             \
  }                                                                                                \
  inline unsigned short __##pair##_as_ushort(T a) {                                                \
    return a.bits;                                                                                 \
  }                                                                                                \
  inline T __short_as_##pair(short a) {                                                            \
    T r;                                                                                           \
    r.bits = static_cast<unsigned short>(a);                                                       \
    return r;                                                                                      \
  }                                                                                                \
  inline T __ushort_as_##pair(unsigned short a) {                                                  \
    T r;                                                                                           \
    r.bits = a;                                                                                    \
    return r;                                                                                      \
  }                                                                                                \
  inline T __int2##pair##_rn(int a) {                                                              \
    return sweep::simt::from_double<T>(a);                                                         \
  }                                                                                                \
  inline T __uint2##pair##_rn(unsigned a) {                                                        \
    return sweep::simt::from_double<T>(a);                                                         \
  }                                                                                                \
  inline int __##pair##2int_rn(T a) {                                                              \
    return static_cast<int>(rintf(float(a)));                                                      \
  }                                                                                                \
  inline int __##pair##2int_rz(T a) {                                                              \
    return static_cast<int>(float(a));                                                             \
  }                                                                                                \
  inline int __##pair##2int_rd(T a) {                                                              \
    return static_cast<int>(floorf(float(a)));                                                     \
  }                                                                                                \
  inline int __##pair##2int_ru(T a) {                                                              \
    return static_cast<int>(ceilf(float(a)));                                                      \
  }
// clang-format off: one row a function
SWEEP_FLOAT16(__half, __half2, half)
SWEEP_FLOAT16(__nv_bfloat16, __nv_bfloat162, bfloat16)
// clang-format on
#undef SWEEP_FLOAT16

inline __half2 __halves2half2(__half a, __half b) {
  return {a, b};
}

inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) {
  return {a, b};
}
