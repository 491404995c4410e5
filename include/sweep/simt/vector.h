#pragma once
// CUDA's vector types: same names, sizes, alignment and make_* functions.

#define SWEEP_VECTOR(T, name, a2, a4)                 \
  struct name##1 {                                    \
    T x;                                              \
  };                                                  \
  struct alignas(a2) name##2 {                        \
    T x, y;                                           \
  };                                                  \
  struct name##3 {                                    \
    T x, y, z;                                        \
  };                                                  \
  struct alignas(a4) name##4 {                        \
    T x, y, z, w;                                     \
  };                                                  \
  inline name##1 make_##name##1(T x) {                \
    return {x};                                       \
  }                                                   \
  inline name##2 make_##name##2(T x, T y) {           \
    return {x, y};                                    \
  }                                                   \
  inline name##3 make_##name##3(T x, T y, T z) {      \
    return {x, y, z};                                 \
  }                                                   \
  inline name##4 make_##name##4(T x, T y, T z, T w) { \
    return {x, y, z, w};                              \
  }

SWEEP_VECTOR(signed char, char, 2, 4)
SWEEP_VECTOR(unsigned char, uchar, 2, 4)
SWEEP_VECTOR(short, short, 4, 8)
SWEEP_VECTOR(unsigned short, ushort, 4, 8)
SWEEP_VECTOR(int, int, 8, 16)
SWEEP_VECTOR(unsigned, uint, 8, 16)
SWEEP_VECTOR(long, long, 16, 16)
SWEEP_VECTOR(unsigned long, ulong, 16, 16)
SWEEP_VECTOR(long long, longlong, 16, 16)
SWEEP_VECTOR(unsigned long long, ulonglong, 16, 16)
SWEEP_VECTOR(float, float, 8, 16)
SWEEP_VECTOR(double, double, 16, 16)
#undef SWEEP_VECTOR

struct dim3 {
  unsigned x, y, z;

  constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}

  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}

  constexpr operator uint3() const { return {x, y, z}; }
};
