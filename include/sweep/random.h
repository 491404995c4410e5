// Counter-based random numbers for kernels and host code alike: the same (key, counter) gives the
// same bits everywhere. Only integer arithmetic and + - * / sqrt of doubles with explicit rounding:
// no library function, no contraction (host code must be compiled with -ffp-contract=off).
#pragma once

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define SWEEP_RANDOM_FUNCTION __host__ __device__ inline
#else
#define SWEEP_RANDOM_FUNCTION inline
#include <math.h>
#endif

namespace sweep::random {

using U32 = unsigned int;
using U64 = unsigned long long;
using I64 = long long;

struct Words {
  U32 w[4];
};

SWEEP_RANDOM_FUNCTION double add(double a, double b) {
#ifdef __CUDA_ARCH__
  return __dadd_rn(a, b);
#else
  return a + b;
#endif
}

SWEEP_RANDOM_FUNCTION double sub(double a, double b) {
  return add(a, -b);
}

SWEEP_RANDOM_FUNCTION double mul(double a, double b) {
#ifdef __CUDA_ARCH__
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}

SWEEP_RANDOM_FUNCTION double div(double a, double b) {
#ifdef __CUDA_ARCH__
  return __ddiv_rn(a, b);
#else
  return a / b;
#endif
}

SWEEP_RANDOM_FUNCTION double root(double a) {
#ifdef __CUDA_ARCH__
  return __dsqrt_rn(a);
#else
  return ::sqrt(a);
#endif
}

SWEEP_RANDOM_FUNCTION U64 bits_of(double a) {
#ifdef __CUDA_ARCH__
  return static_cast<U64>(__double_as_longlong(a));
#else
  return __builtin_bit_cast(U64, a);
#endif
}

SWEEP_RANDOM_FUNCTION double from_bits(U64 a) {
#ifdef __CUDA_ARCH__
  return __longlong_as_double(static_cast<I64>(a));
#else
  return __builtin_bit_cast(double, a);
#endif
}

// Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3",
// 2011).
SWEEP_RANDOM_FUNCTION Words philox(U64 key, U64 low, U64 high) {
  U32 c0 = static_cast<U32>(low), c1 = static_cast<U32>(low >> 32);
  U32 c2 = static_cast<U32>(high), c3 = static_cast<U32>(high >> 32);
  U32 k0 = static_cast<U32>(key), k1 = static_cast<U32>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const U64 a = 0xD2511F53ULL * c0;
    const U64 b = 0xCD9E8D57ULL * c2;
    c0 = static_cast<U32>(b >> 32) ^ c1 ^ k0;
    c2 = static_cast<U32>(a >> 32) ^ c3 ^ k1;
    c1 = static_cast<U32>(b);
    c3 = static_cast<U32>(a);
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  return Words{{c0, c1, c2, c3}};
}

SWEEP_RANDOM_FUNCTION U64 first(const Words& x) {
  return (static_cast<U64>(x.w[1]) << 32) | x.w[0];
}

SWEEP_RANDOM_FUNCTION U64 second(const Words& x) {
  return (static_cast<U64>(x.w[3]) << 32) | x.w[2];
}

// A bijection of 64-bit words that spreads every bit.
SWEEP_RANDOM_FUNCTION U64 mix(U64 x) {
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9ULL;
  x ^= x >> 27;
  x *= 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

// Upper half of the 128-bit product: word * n / 2^64, uniform over 0 .. n-1.
SWEEP_RANDOM_FUNCTION U64 scaled(U64 word, U64 n) {
#ifdef __CUDA_ARCH__
  return __umul64hi(word, n);
#else
  const U64 a = word & 0xFFFFFFFFULL, b = word >> 32, c = n & 0xFFFFFFFFULL, d = n >> 32;
  const U64 middle = ((a * c) >> 32) + ((b * c) & 0xFFFFFFFFULL) + ((a * d) & 0xFFFFFFFFULL);
  return b * d + ((b * c) >> 32) + ((a * d) >> 32) + (middle >> 32);
#endif
}

// Uniform in [0, 1): multiples of 2^-53.
SWEEP_RANDOM_FUNCTION double unit(U64 word) {
  return mul(static_cast<double>(word >> 11), 1.1102230246251565e-16);
}

// Uniform in (0, 1): never 0 and never 1.
SWEEP_RANDOM_FUNCTION double open_unit(U64 word) {
  return mul(add(static_cast<double>(word >> 12), 0.5), 2.220446049250313e-16);
}

// Natural logarithm of a positive normal number; error below 2e-16 relative to max(1, |log|).
// log m = 2 artanh((m-1)/(m+1)) for m in [1/sqrt 2, sqrt 2), by its series up to the 23rd power.
SWEEP_RANDOM_FUNCTION double log_of(double x) {
  const U64 bits = bits_of(x);
  I64 exponent = static_cast<I64>((bits >> 52) & 2047U) - 1023;
  double m = from_bits((bits & 0xFFFFFFFFFFFFFULL) | 0x3FF0000000000000ULL);
  if (m > 1.4142135623730951) {
    m = mul(m, 0.5);
    ++exponent;
  }
  const double s = div(sub(m, 1.0), add(m, 1.0));
  const double z = mul(s, s);
  const double series[12] = {1.0,
                             1.0 / 3.0,
                             1.0 / 5.0,
                             1.0 / 7.0,
                             1.0 / 9.0,
                             1.0 / 11.0,
                             1.0 / 13.0,
                             1.0 / 15.0,
                             1.0 / 17.0,
                             1.0 / 19.0,
                             1.0 / 21.0,
                             1.0 / 23.0};
  double p = 0;
  for (int k = 11; k >= 0; --k) {
    p = add(mul(p, z), series[k]);
  }
  const double e = static_cast<double>(exponent);
  return add(mul(e, 0.693147180369123816490),
             add(mul(e, 1.90821492927058770002e-10), mul(mul(2.0, s), p)));
}

// Exponential function; the argument is clamped to [-700, 700]. Taylor series to the 14th power
// after reduction by ln 2.
SWEEP_RANDOM_FUNCTION double exp_of(double x) {
  x = x > 700.0 ? 700.0 : (x < -700.0 ? -700.0 : x);
  const double turns = mul(x, 1.4426950408889634);
  const I64 k = static_cast<I64>(add(turns, turns < 0 ? -0.5 : 0.5));
  const double n = static_cast<double>(k);
  const double r = sub(sub(x, mul(n, 0.693147180369123816490)), mul(n, 1.90821492927058770002e-10));
  const double inverse[15] = {0,
                              1.0,
                              1.0 / 2.0,
                              1.0 / 3.0,
                              1.0 / 4.0,
                              1.0 / 5.0,
                              1.0 / 6.0,
                              1.0 / 7.0,
                              1.0 / 8.0,
                              1.0 / 9.0,
                              1.0 / 10.0,
                              1.0 / 11.0,
                              1.0 / 12.0,
                              1.0 / 13.0,
                              1.0 / 14.0};
  double p = 1;
  for (int i = 14; i >= 1; --i) {
    p = add(1.0, mul(mul(r, inverse[i]), p));
  }
  return mul(p, from_bits(static_cast<U64>(k + 1023) << 52));
}

// cos(2 pi turns) for turns in [0, 1); Taylor series on an eighth of a turn.
SWEEP_RANDOM_FUNCTION double cos_turns(double turns) {
  const double t = mul(turns, 4.0);
  const I64 quadrant = static_cast<I64>(add(t, 0.5));
  const double x = mul(sub(t, static_cast<double>(quadrant)), 1.5707963267948966);
  const double z = mul(x, x);
  // 1 / (n (n + 1)): odd n for the cosine, even n for the sine.
  const double ratio[19] = {0,
                            1.0 / 2.0,
                            1.0 / 6.0,
                            1.0 / 12.0,
                            1.0 / 20.0,
                            1.0 / 30.0,
                            1.0 / 42.0,
                            1.0 / 56.0,
                            1.0 / 72.0,
                            1.0 / 90.0,
                            1.0 / 110.0,
                            1.0 / 132.0,
                            1.0 / 156.0,
                            1.0 / 182.0,
                            1.0 / 210.0,
                            1.0 / 240.0,
                            1.0 / 272.0,
                            1.0 / 306.0,
                            1.0 / 342.0};
  double c = 1, s = 1;
  for (int k = 9; k >= 1; --k) {
    c = sub(1.0, mul(mul(z, ratio[2 * k - 1]), c));
    s = sub(1.0, mul(mul(z, ratio[2 * k]), s));
  }
  s = mul(s, x);
  const I64 q = quadrant & 3;
  const double v = (q & 1) == 0 ? c : s;
  return q == 1 || q == 2 ? -v : v;
}

// Standard normal (Box and Muller, 1958); |value| < 8.6.
SWEEP_RANDOM_FUNCTION double normal(const Words& x) {
  const double radius = root(mul(-2.0, log_of(open_unit(first(x)))));
  return mul(radius, cos_turns(unit(second(x))));
}

// Position of `at` in a keyed permutation of 0 .. n-1: a Feistel network on the next even power of
// two, walked until it lands inside.
SWEEP_RANDOM_FUNCTION U64 permuted(U64 key, U64 at, U64 n) {
  int half = 1;
  while (half < 31 && (1ULL << (2 * half)) < n) {
    ++half;
  }
  const U64 mask = (1ULL << half) - 1;
  U64 x = at;
  do {
    U64 left = x >> half, right = x & mask;
    for (U64 round = 0; round < 8; ++round) {
      const U64 next = left ^ (mix(key + right + (round << 58)) >> 20 & mask);
      left = right;
      right = next;
    }
    x = (left << half) | right;
  } while (x >= n);
  return x;
}

}  // namespace sweep::random
