#pragma once
// Pairs of __half and __nv_bfloat16, and conversions of both, with CUDA's names.

#include "half.h"
#include "vector.h"

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

using half2 = __half2;
using nv_bfloat162 = __nv_bfloat162;

#define SWEEP_FLOAT16_PAIR(T, T2, pair)                    \
  inline T2 operator+(T2 a, T2 b) {                        \
    return {a.x + b.x, a.y + b.y};                         \
  }                                                        \
  inline T2 operator-(T2 a, T2 b) {                        \
    return {a.x - b.x, a.y - b.y};                         \
  }                                                        \
  inline T2 operator*(T2 a, T2 b) {                        \
    return {a.x * b.x, a.y * b.y};                         \
  }                                                        \
  inline T2 operator/(T2 a, T2 b) {                        \
    return {a.x / b.x, a.y / b.y};                         \
  }                                                        \
  inline T2 operator-(T2 a) {                              \
    return {-a.x, -a.y};                                   \
  }                                                        \
  inline T2& operator+=(T2& a, T2 b) {                     \
    return a = a + b;                                      \
  }                                                        \
  inline T2& operator-=(T2& a, T2 b) {                     \
    return a = a - b;                                      \
  }                                                        \
  inline T2& operator*=(T2& a, T2 b) {                     \
    return a = a * b;                                      \
  }                                                        \
  inline T2 __hadd2(T2 a, T2 b) {                          \
    return a + b;                                          \
  }                                                        \
  inline T2 __hsub2(T2 a, T2 b) {                          \
    return a - b;                                          \
  }                                                        \
  inline T2 __hmul2(T2 a, T2 b) {                          \
    return a * b;                                          \
  }                                                        \
  inline T2 __h2div(T2 a, T2 b) {                          \
    return a / b;                                          \
  }                                                        \
  inline T2 __hneg2(T2 a) {                                \
    return -a;                                             \
  }                                                        \
  inline T2 __habs2(T2 a) {                                \
    return {__habs(a.x), __habs(a.y)};                     \
  }                                                        \
  inline T2 __hfma2(T2 a, T2 b, T2 c) {                    \
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; \
  }                                                        \
  inline T2 __hmax2(T2 a, T2 b) {                          \
    return {__hmax(a.x, b.x), __hmax(a.y, b.y)};           \
  }                                                        \
  inline T2 __hmin2(T2 a, T2 b) {                          \
    return {__hmin(a.x, b.x), __hmin(a.y, b.y)};           \
  }                                                        \
  inline bool __hbeq2(T2 a, T2 b) {                        \
    return a.x == b.x && a.y == b.y;                       \
  }                                                        \
  inline T2 h2exp(T2 a) {                                  \
    return {hexp(a.x), hexp(a.y)};                         \
  }                                                        \
  inline T2 h2exp2(T2 a) {                                 \
    return {hexp2(a.x), hexp2(a.y)};                       \
  }                                                        \
  inline T2 h2log(T2 a) {                                  \
    return {hlog(a.x), hlog(a.y)};                         \
  }                                                        \
  inline T2 h2sqrt(T2 a) {                                 \
    return {hsqrt(a.x), hsqrt(a.y)};                       \
  }                                                        \
  inline T2 h2rsqrt(T2 a) {                                \
    return {hrsqrt(a.x), hrsqrt(a.y)};                     \
  }                                                        \
  inline T2 h2rcp(T2 a) {                                  \
    return {hrcp(a.x), hrcp(a.y)};                         \
  }                                                        \
  inline T __low2##pair(T2 a) {                            \
    return a.x;                                            \
  }                                                        \
  inline T __high2##pair(T2 a) {                           \
    return a.y;                                            \
  }                                                        \
  inline float __low2float(T2 a) {                         \
    return a.x;                                            \
  }                                                        \
  inline float __high2float(T2 a) {                        \
    return a.y;                                            \
  }                                                        \
  inline T2 __low2##pair##2(T2 a) {                        \
    return {a.x, a.x};                                     \
  }                                                        \
  inline T2 __high2##pair##2(T2 a) {                       \
    return {a.y, a.y};                                     \
  }                                                        \
  inline T2 __lowhigh2highlow(T2 a) {                      \
    return {a.y, a.x};                                     \
  }                                                        \
  inline T2 __lows2##pair##2(T2 a, T2 b) {                 \
    return {a.x, b.x};                                     \
  }                                                        \
  inline T2 __highs2##pair##2(T2 a, T2 b) {                \
    return {a.y, b.y};                                     \
  }                                                        \
  inline T2 __##pair##2##pair##2(T a) {                    \
    return {a, a};                                         \
  }                                                        \
  inline T2 make_##pair##2(T a, T b) {                     \
    return {a, b};                                         \
  }                                                        \
  inline float __##pair##2float(T a) {                     \
    return a;                                              \
  }                                                        \
  inline T __float2##pair(float a) {                       \
    return T(a);                                           \
  }                                                        \
  inline T __float2##pair##_rn(float a) {                  \
    return T(a);                                           \
  }                                                        \
  inline T __double2##pair(double a) {                     \
    return sweep_simt::from_double<T>(a);                  \
  }                                                        \
  inline T2 __float2##pair##2_rn(float a) {                \
    return {T(a), T(a)};                                   \
  }                                                        \
  inline T2 __floats2##pair##2_rn(float a, float b) {      \
    return {T(a), T(b)};                                   \
  }                                                        \
  inline T2 __float22##pair##2_rn(float2 a) {              \
    return {T(a.x), T(a.y)};                               \
  }                                                        \
  inline float2 __##pair##22float2(T2 a) {                 \
    return {a.x, a.y};                                     \
  }                                                        \
  inline short __##pair##_as_short(T a) {                  \
    return static_cast<short>(a.bits);                     \
  }                                                        \
  inline unsigned short __##pair##_as_ushort(T a) {        \
    return a.bits;                                         \
  }                                                        \
  inline T __short_as_##pair(short a) {                    \
    T r;                                                   \
    r.bits = static_cast<unsigned short>(a);               \
    return r;                                              \
  }                                                        \
  inline T __ushort_as_##pair(unsigned short a) {          \
    T r;                                                   \
    r.bits = a;                                            \
    return r;                                              \
  }                                                        \
  inline T __int2##pair##_rn(int a) {                      \
    return sweep_simt::from_double<T>(a);                  \
  }                                                        \
  inline T __uint2##pair##_rn(unsigned a) {                \
    return sweep_simt::from_double<T>(a);                  \
  }                                                        \
  inline int __##pair##2int_rn(T a) {                      \
    return static_cast<int>(rintf(float(a)));              \
  }                                                        \
  inline int __##pair##2int_rz(T a) {                      \
    return static_cast<int>(float(a));                     \
  }                                                        \
  inline int __##pair##2int_rd(T a) {                      \
    return static_cast<int>(floorf(float(a)));             \
  }                                                        \
  inline int __##pair##2int_ru(T a) {                      \
    return static_cast<int>(ceilf(float(a)));              \
  }
// clang-format off: one row a type
SWEEP_FLOAT16_PAIR(__half, __half2, half)
SWEEP_FLOAT16_PAIR(__nv_bfloat16, __nv_bfloat162, bfloat16)
// clang-format on
#undef SWEEP_FLOAT16_PAIR

inline __half2 __halves2half2(__half a, __half b) {
  return {a, b};
}

inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) {
  return {a, b};
}
