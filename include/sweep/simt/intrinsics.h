#pragma once
// Integer, bit and conversion intrinsics, cached loads and stores.

#include "half2.h"

#include <stdint.h>

template <typename T>
inline T __ldg(const T* p) {
  return *p;
}

#define SWEEP_LOAD(name)      \
  template <typename T>       \
  inline T name(const T* p) { \
    return *p;                \
  }
SWEEP_LOAD(__ldca)
SWEEP_LOAD(__ldcg)
SWEEP_LOAD(__ldcs)
SWEEP_LOAD(__ldcv)
SWEEP_LOAD(__ldlu)
#undef SWEEP_LOAD
#define SWEEP_STORE(name)                          \
  template <typename T>                            \
  inline void name(T* p, sweep_simt::Fixed<T> v) { \
    *p = v;                                        \
  }
SWEEP_STORE(__stcg)
SWEEP_STORE(__stcs)
SWEEP_STORE(__stwb)
SWEEP_STORE(__stwt)
#undef SWEEP_STORE

#define SWEEP_BITS(name, To, From)    \
  inline To name(From v) {            \
    return __builtin_bit_cast(To, v); \
  }
SWEEP_BITS(__float_as_int, int, float)
SWEEP_BITS(__float_as_uint, unsigned, float)
SWEEP_BITS(__int_as_float, float, int)
SWEEP_BITS(__uint_as_float, float, unsigned)
SWEEP_BITS(__double_as_longlong, long long, double)
SWEEP_BITS(__longlong_as_double, double, long long)
#undef SWEEP_BITS

inline int __double2hiint(double v) {
  return static_cast<int>(__double_as_longlong(v) >> 32);
}

inline int __double2loint(double v) {
  return static_cast<int>(__double_as_longlong(v));
}

inline double __hiloint2double(int hi, int lo) {
  return __longlong_as_double(
      static_cast<long long>((static_cast<unsigned long long>(static_cast<unsigned>(hi)) << 32) |
                             static_cast<unsigned>(lo)));
}

inline int __popc(unsigned v) {
  return __builtin_popcount(v);
}

inline int __popcll(unsigned long long v) {
  return __builtin_popcountll(v);
}

inline int __clz(int v) {
  return v == 0 ? 32 : __builtin_clz(static_cast<unsigned>(v));
}

inline int __clzll(long long v) {
  return v == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(v));
}

inline int __ffs(int v) {
  return __builtin_ffs(v);
}

inline int __ffsll(long long v) {
  return __builtin_ffsll(v);
}

inline unsigned __brev(unsigned v) {
  v = ((v >> 1) & 0x55555555u) | ((v & 0x55555555u) << 1);
  v = ((v >> 2) & 0x33333333u) | ((v & 0x33333333u) << 2);
  v = ((v >> 4) & 0x0f0f0f0fu) | ((v & 0x0f0f0f0fu) << 4);
  return __builtin_bswap32(v);
}

inline unsigned long long __brevll(unsigned long long v) {
  return (static_cast<unsigned long long>(__brev(static_cast<unsigned>(v))) << 32) |
         __brev(static_cast<unsigned>(v >> 32));
}

inline int __mulhi(int a, int b) {
  return static_cast<int>((static_cast<long long>(a) * b) >> 32);
}

inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) * b) >> 32);
}

inline long long __mul64hi(long long a, long long b) {
  return static_cast<long long>((static_cast<__int128>(a) * b) >> 64);
}

inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>((static_cast<unsigned __int128>(a) * b) >> 64);
}

inline int __mul24(int a, int b) {
  return ((a << 8) >> 8) * ((b << 8) >> 8);
}

inline unsigned __umul24(unsigned a, unsigned b) {
  return (a & 0xffffffu) * (b & 0xffffffu);
}

inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  const unsigned long long both = (static_cast<unsigned long long>(b) << 32) | a;
  unsigned out = 0;
  for (unsigned i = 0; i < 4; ++i) {
    out |= (static_cast<unsigned>(both >> (8 * ((selector >> (4 * i)) & 7u))) & 0xffu) << (8 * i);
  }
  return out;
}

inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned shift) {
  return static_cast<unsigned>(
      (((static_cast<unsigned long long>(hi) << 32) | lo) << (shift & 31u)) >> 32);
}

inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned shift) {
  return static_cast<unsigned>(((static_cast<unsigned long long>(hi) << 32) | lo) >> (shift & 31u));
}

inline unsigned __sad(int a, int b, unsigned c) {
  return c + static_cast<unsigned>(a > b ? a - b : b - a);
}

inline int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 4; ++i) {
    c += static_cast<signed char>(a >> (8 * i)) * static_cast<signed char>(b >> (8 * i));
  }
  return c;
}

inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 4; ++i) {
    c += ((a >> (8 * i)) & 0xffu) * ((b >> (8 * i)) & 0xffu);
  }
  return c;
}

namespace sweep_simt {

// CUDA's float-to-integer conversions saturate and turn NaN into 0.
template <typename I, typename F>
inline I saturate(F v) {
  constexpr bool is_signed = static_cast<I>(-1) < 0;
  constexpr int bits = static_cast<int>(sizeof(I)) * 8 - (is_signed ? 1 : 0);
  const F limit = static_cast<F>(static_cast<I>(1ull << (bits - 1))) * 2;
  if (v != v) {
    return 0;
  }
  if (v >= limit) {
    return static_cast<I>(is_signed ? ~(1ull << bits) : ~0ull);
  }
  if (is_signed ? v < -limit : v < 0) {
    return is_signed ? static_cast<I>(1ull << bits) : 0;
  }
  return static_cast<I>(v);
}

}  // namespace sweep_simt

#define SWEEP_TO_INTEGER(from, F, to, I, suffix)      \
  inline I __##from##2##to##_rn(F v) {                \
    return sweep_simt::saturate<I>(rint##suffix(v));  \
  }                                                   \
  inline I __##from##2##to##_rz(F v) {                \
    return sweep_simt::saturate<I>(trunc##suffix(v)); \
  }                                                   \
  inline I __##from##2##to##_rd(F v) {                \
    return sweep_simt::saturate<I>(floor##suffix(v)); \
  }                                                   \
  inline I __##from##2##to##_ru(F v) {                \
    return sweep_simt::saturate<I>(ceil##suffix(v));  \
  }
SWEEP_TO_INTEGER(float, float, int, int, f)
SWEEP_TO_INTEGER(float, float, uint, unsigned, f)
SWEEP_TO_INTEGER(float, float, ll, long long, f)
SWEEP_TO_INTEGER(float, float, ull, unsigned long long, f)
SWEEP_TO_INTEGER(double, double, int, int, )
SWEEP_TO_INTEGER(double, double, uint, unsigned, )
SWEEP_TO_INTEGER(double, double, ll, long long, )
SWEEP_TO_INTEGER(double, double, ull, unsigned long long, )
#undef SWEEP_TO_INTEGER

#define SWEEP_CONVERT(name, To, From) \
  inline To name(From v) {            \
    return static_cast<To>(v);        \
  }
SWEEP_CONVERT(__int2float_rn, float, int)
SWEEP_CONVERT(__uint2float_rn, float, unsigned)
SWEEP_CONVERT(__ll2float_rn, float, long long)
SWEEP_CONVERT(__ull2float_rn, float, unsigned long long)
SWEEP_CONVERT(__int2double_rn, double, int)
SWEEP_CONVERT(__uint2double_rn, double, unsigned)
SWEEP_CONVERT(__ll2double_rn, double, long long)
SWEEP_CONVERT(__ull2double_rn, double, unsigned long long)
SWEEP_CONVERT(__double2float_rn, float, double)
#undef SWEEP_CONVERT
