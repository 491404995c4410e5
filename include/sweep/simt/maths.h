#pragma once
// Mathematical functions that CUDA has and the C library lacks, and CUDA's approximate ones (here
// as exact as the C library's).

#include "intrinsics.h"

#include <type_traits>

namespace sweep_simt {

// Keeps the compiler from fusing the rounding away (CUDA's _rn functions are never contracted).
template <typename T>
inline T keep(T v) {
  __asm__("" : "+x"(v));
  return v;
}

template <typename T>
inline constexpr bool arithmetic = std::is_arithmetic_v<T>;

}  // namespace sweep_simt

template <typename A, typename B>

requires(sweep_simt::arithmetic<A>&&
             sweep_simt::arithmetic<B>) constexpr std::common_type_t<A, B> max(A left, B right) {
  using T = std::common_type_t<A, B>;
  const T a = static_cast<T>(left);
  const T b = static_cast<T>(right);
  return a > b || b != b ? a : b;
}

template <typename A, typename B>

requires(sweep_simt::arithmetic<A>&&
             sweep_simt::arithmetic<B>) constexpr std::common_type_t<A, B> min(A left, B right) {
  using T = std::common_type_t<A, B>;
  const T a = static_cast<T>(left);
  const T b = static_cast<T>(right);
  return a < b || b != b ? a : b;
}

#define SWEEP_UNARY(name, T, expression) \
  inline T name(T x) {                   \
    return expression;                   \
  }
#define SWEEP_BINARY(name, T, expression) \
  inline T name(T x, T y) {               \
    return expression;                    \
  }
SWEEP_UNARY(rsqrtf, float, 1.f / sqrtf(x))
SWEEP_UNARY(rsqrt, double, 1. / sqrt(x))
SWEEP_UNARY(rsqrt, float, 1.f / sqrtf(x))
SWEEP_UNARY(rcbrtf, float, 1.f / cbrtf(x))
SWEEP_UNARY(rcbrt, double, 1. / cbrt(x))
SWEEP_UNARY(sinpif, float, sinf(3.14159265358979f * x))
SWEEP_UNARY(cospif, float, cosf(3.14159265358979f * x))
SWEEP_UNARY(sinpi, double, sin(3.14159265358979323846 * x))
SWEEP_UNARY(cospi, double, cos(3.14159265358979323846 * x))
SWEEP_UNARY(erfcxf, float, expf(x* x) * erfcf(x))
SWEEP_UNARY(erfcx, double, exp(x* x) * erfc(x))
SWEEP_UNARY(normcdff, float, 0.5f * erfcf(-0.707106781186547524f * x))
SWEEP_UNARY(normcdf, double, 0.5 * erfc(-0.707106781186547524 * x))
SWEEP_UNARY(__expf, float, expf(x))
SWEEP_UNARY(__exp10f, float, powf(10.f, x))
SWEEP_UNARY(__logf, float, logf(x))
SWEEP_UNARY(__log2f, float, log2f(x))
SWEEP_UNARY(__log10f, float, log10f(x))
SWEEP_UNARY(__sinf, float, sinf(x))
SWEEP_UNARY(__cosf, float, cosf(x))
SWEEP_UNARY(__tanf, float, tanf(x))
SWEEP_UNARY(__tanhf, float, tanhf(x))
SWEEP_UNARY(__saturatef, float, x > 0.f ? (x < 1.f ? x : 1.f) : 0.f)
SWEEP_UNARY(__frcp_rn, float, sweep_simt::keep(1.f / x))
SWEEP_UNARY(__fsqrt_rn, float, sweep_simt::keep(sqrtf(x)))
SWEEP_UNARY(__frsqrt_rn, float, static_cast<float>(1. / sqrt(static_cast<double>(x))))
SWEEP_UNARY(__drcp_rn, double, sweep_simt::keep(1. / x))
SWEEP_UNARY(__dsqrt_rn, double, sweep_simt::keep(sqrt(x)))
SWEEP_BINARY(__powf, float, powf(x, y))
SWEEP_BINARY(__fdividef, float, x / y)
SWEEP_BINARY(fdividef, float, x / y)
SWEEP_BINARY(__fadd_rn, float, sweep_simt::keep(x + y))
SWEEP_BINARY(__fsub_rn, float, sweep_simt::keep(x - y))
SWEEP_BINARY(__fmul_rn, float, sweep_simt::keep(x* y))
SWEEP_BINARY(__fdiv_rn, float, sweep_simt::keep(x / y))
SWEEP_BINARY(__dadd_rn, double, sweep_simt::keep(x + y))
SWEEP_BINARY(__dsub_rn, double, sweep_simt::keep(x - y))
SWEEP_BINARY(__dmul_rn, double, sweep_simt::keep(x* y))
SWEEP_BINARY(__ddiv_rn, double, sweep_simt::keep(x / y))
SWEEP_BINARY(rhypotf, float, 1.f / hypotf(x, y))
SWEEP_BINARY(rhypot, double, 1. / hypot(x, y))
#undef SWEEP_UNARY
#undef SWEEP_BINARY

inline float __fmaf_rn(float x, float y, float z) {
  return fmaf(x, y, z);
}

inline double __fma_rn(double x, double y, double z) {
  return fma(x, y, z);
}

inline float norm3df(float x, float y, float z) {
  return sqrtf(x * x + y * y + z * z);
}

inline float rnorm3df(float x, float y, float z) {
  return 1.f / norm3df(x, y, z);
}

inline float norm4df(float x, float y, float z, float w) {
  return sqrtf(x * x + y * y + z * z + w * w);
}

inline float rnorm4df(float x, float y, float z, float w) {
  return 1.f / norm4df(x, y, z, w);
}

inline void __sincosf(float x, float* s, float* c) {
  *s = sinf(x);
  *c = cosf(x);
}

inline void sincospif(float x, float* s, float* c) {
  *s = sinpif(x);
  *c = cospif(x);
}

inline void sincospi(double x, double* s, double* c) {
  *s = sinpi(x);
  *c = cospi(x);
}

// Newton steps on erf from a rational start (Giles, "Approximating the erfinv function", 2012).
inline double erfinv(double y) {
  if (!(y > -1. && y < 1.)) {
    return y == 1. || y == -1. ? y * __builtin_inf() : __builtin_nan("");
  }
  const double w = -log((1. - y) * (1. + y));
  double x =
      w < 5.
          ? y * (1.50140941 + (w - 2.5) * (0.246640727 + (w - 2.5) * (-0.00417768164 +
                                                                      (w - 2.5) * -0.00125372503)))
          : y * (2.83297682 + (sqrt(w) - 3.) * (1.00167406 + (sqrt(w) - 3.) * 0.00943887047));
  for (int i = 0; i < 3; ++i) {
    const double error =
        y < 0.5 && y > -0.5 ? erf(x) - y : (y > 0 ? (1. - y) - erfc(x) : erfc(-x) - (1. + y));
    x -= error / (1.12837916709551257390 * exp(-x * x));
  }
  return x;
}

inline float erfinvf(float y) {
  return static_cast<float>(erfinv(static_cast<double>(y)));
}

inline double normcdfinv(double y) {
  return 1.41421356237309504880 * erfinv(2. * y - 1.);
}

inline float normcdfinvf(float y) {
  return static_cast<float>(normcdfinv(static_cast<double>(y)));
}
