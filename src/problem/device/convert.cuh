// Numbers in small float formats as bit patterns, for host and device alike. Encoding rounds to
// nearest even.
#pragma once

#include "problem/device/fill_parameters.h"

#include <sweep/random.h>

namespace sweep::problem {

using random::I64;
using random::U32;
using random::U64;

struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  U32 largest;   // pattern of the largest finite number
  U32 overflow;  // pattern for larger ones: infinity, or `largest` where the format saturates
  U32 nan;
};

SWEEP_RANDOM_FUNCTION FloatFormat format_of(unsigned type) {
  switch (type) {
    case kTypeF16:
      return {5, 10, 15, 0x7BFFU, 0x7C00U, 0x7E00U};
    case kTypeBf16:
      return {8, 7, 127, 0x7F7FU, 0x7F80U, 0x7FC0U};
    case kTypeE5m2:
      return {5, 2, 15, 0x7BU, 0x7BU, 0x7EU};
    default:
      return {4, 3, 7, 0x7EU, 0x7EU, 0x7FU};
  }
}

// 2^e, e in -1022 .. 1023.
SWEEP_RANDOM_FUNCTION double power_of_two(int e) {
  return random::from_bits(static_cast<U64>(e + 1023) << 52);
}

SWEEP_RANDOM_FUNCTION bool is_nan(double x) {
  return (random::bits_of(x) & 0x7FFFFFFFFFFFFFFFULL) > 0x7FF0000000000000ULL;
}

SWEEP_RANDOM_FUNCTION bool is_infinite(double x) {
  return (random::bits_of(x) & 0x7FFFFFFFFFFFFFFFULL) == 0x7FF0000000000000ULL;
}

SWEEP_RANDOM_FUNCTION double magnitude(double x) {
  return random::from_bits(random::bits_of(x) & 0x7FFFFFFFFFFFFFFFULL);
}

// The pattern of `x` in a format of at most 16 bits. Infinity becomes `overflow`.
SWEEP_RANDOM_FUNCTION U32 encode_small(double x, const FloatFormat& format) {
  const U64 bits = random::bits_of(x);
  const int width = format.exponent_bits + format.mantissa_bits;
  const U32 sign = static_cast<U32>(bits >> 63) << width;
  if (is_nan(x)) {
    return sign | format.nan;
  }
  const int exponent = static_cast<int>((bits >> 52) & 2047U) - 1023;
  if (exponent < -1000) {
    return sign;
  }
  if (exponent > format.bias + 1) {
    return sign | format.overflow;
  }
  const U64 mantissa = (bits & 0xFFFFFFFFFFFFFULL) | 0x10000000000000ULL;
  const int lowest = 1 - format.bias;
  const int deeper = exponent < lowest ? lowest - exponent : 0;
  const int shift = 52 - format.mantissa_bits + deeper;
  if (shift > 54) {
    return sign;
  }
  U64 kept = mantissa >> shift;
  const U64 rest = mantissa & ((1ULL << shift) - 1);
  const U64 half = 1ULL << (shift - 1);
  kept += rest > half || (rest == half && (kept & 1U) != 0) ? 1U : 0U;
  const U32 field = deeper > 0 ? 0U : static_cast<U32>(exponent + format.bias - 1);
  const U32 pattern = (field << format.mantissa_bits) + static_cast<U32>(kept);
  return sign | (pattern > format.largest ? format.overflow : pattern);
}

// The value of a pattern of at most 16 bits; exact.
SWEEP_RANDOM_FUNCTION double decode_small(U32 pattern, unsigned type) {
  const FloatFormat format = format_of(type);
  const int width = format.exponent_bits + format.mantissa_bits;
  const U32 body = pattern & ((1U << width) - 1U);
  const double sign = (pattern >> width & 1U) != 0 ? -1.0 : 1.0;
  const U32 infinity = type == kTypeE5m2 ? 0x7CU : format.overflow;
  if (body > format.largest) {
    const bool infinite = type != kTypeE4m3 && body == infinity;
    return random::mul(sign,
                       random::from_bits(infinite ? 0x7FF0000000000000ULL : 0x7FF8000000000000ULL));
  }
  const int field = static_cast<int>(body >> format.mantissa_bits);
  const U32 mantissa = body & ((1U << format.mantissa_bits) - 1U);
  const double significand = static_cast<double>(mantissa) +
                             (field == 0 ? 0.0 : static_cast<double>(1U << format.mantissa_bits));
  const int exponent = (field == 0 ? 1 : field) - format.bias - format.mantissa_bits;
  return random::mul(sign, random::mul(significand, power_of_two(exponent)));
}

SWEEP_RANDOM_FUNCTION bool is_integer_type(unsigned type) {
  return type >= kTypeI64 && type <= kTypeBool;
}

// Type of the real numbers in `type`: itself, or that of a complex number's parts.
SWEEP_RANDOM_FUNCTION unsigned component_type(unsigned type) {
  return type == kTypeC64 ? kTypeF32 : (type == kTypeC128 ? kTypeF64 : type);
}

// Bytes of one component.
SWEEP_RANDOM_FUNCTION int component_bytes(unsigned type) {
  switch (component_type(type)) {
    case kTypeF64:
    case kTypeI64:
    case kTypeU64:
      return 8;
    case kTypeF32:
    case kTypeI32:
    case kTypeU32:
      return 4;
    case kTypeF16:
    case kTypeBf16:
    case kTypeI16:
    case kTypeU16:
      return 2;
    default:
      return 1;
  }
}

// Component `at` of an array of floats as a double; exact.
SWEEP_RANDOM_FUNCTION double load_real(const void* from, I64 at, unsigned type) {
  switch (component_type(type)) {
    case kTypeF64:
      return static_cast<const double*>(from)[at];
    case kTypeF32:
      return static_cast<double>(static_cast<const float*>(from)[at]);
    case kTypeF16:
    case kTypeBf16:
      return decode_small(static_cast<const unsigned short*>(from)[at], type);
    default:
      return decode_small(static_cast<const unsigned char*>(from)[at], type);
  }
}

// Component `at` of an array of integers; u64 keeps its bits.
SWEEP_RANDOM_FUNCTION I64 load_integer(const void* from, I64 at, unsigned type) {
  switch (type) {
    case kTypeI32:
      return static_cast<const int*>(from)[at];
    case kTypeI16:
      return static_cast<const short*>(from)[at];
    case kTypeI8:
      return static_cast<const signed char*>(from)[at];
    case kTypeU32:
      return static_cast<const unsigned*>(from)[at];
    case kTypeU16:
      return static_cast<const unsigned short*>(from)[at];
    case kTypeU8:
    case kTypeBool:
      return static_cast<const unsigned char*>(from)[at];
    default:
      return static_cast<const I64*>(from)[at];
  }
}

// Writes the low bits of `value` as integer component `at`.
SWEEP_RANDOM_FUNCTION void store_bits(void* to, I64 at, int bytes, U64 value) {
  switch (bytes) {
    case 8:
      static_cast<U64*>(to)[at] = value;
      break;
    case 4:
      static_cast<U32*>(to)[at] = static_cast<U32>(value);
      break;
    case 2:
      static_cast<unsigned short*>(to)[at] = static_cast<unsigned short>(value);
      break;
    default:
      static_cast<unsigned char*>(to)[at] = static_cast<unsigned char>(value);
  }
}

SWEEP_RANDOM_FUNCTION U32 float_bits(double x) {
#ifdef __CUDA_ARCH__
  return static_cast<U32>(__float_as_int(__double2float_rn(x)));
#else
  return __builtin_bit_cast(U32, static_cast<float>(x));
#endif
}

// The pattern of `x` in a float type, rounded to nearest even.
SWEEP_RANDOM_FUNCTION U64 encode_real(double x, unsigned type) {
  switch (component_type(type)) {
    case kTypeF64:
      return random::bits_of(x);
    case kTypeF32:
      return float_bits(x);
    default:
      return encode_small(x, format_of(type));
  }
}

SWEEP_RANDOM_FUNCTION double round_real(double x, unsigned type) {
  switch (component_type(type)) {
    case kTypeF64:
      return x;
    case kTypeF32:
#ifdef __CUDA_ARCH__
      return static_cast<double>(__double2float_rn(x));
#else
      return static_cast<double>(static_cast<float>(x));
#endif
    default:
      return decode_small(encode_small(x, format_of(type)), type);
  }
}

// Smallest and largest value of an integer type; u64 is cut to the range of I64.
SWEEP_RANDOM_FUNCTION I64 lowest_of(unsigned type) {
  return type == kTypeI64   ? -0x7FFFFFFFFFFFFFFFLL - 1
         : type == kTypeI32 ? -0x80000000LL
         : type == kTypeI16 ? -0x8000LL
         : type == kTypeI8  ? -0x80LL
                            : 0LL;
}

SWEEP_RANDOM_FUNCTION I64 highest_of(unsigned type) {
  switch (type) {
    case kTypeI32:
      return 0x7FFFFFFFLL;
    case kTypeI16:
      return 0x7FFFLL;
    case kTypeI8:
      return 0x7FLL;
    case kTypeU32:
      return 0xFFFFFFFFLL;
    case kTypeU16:
      return 0xFFFFLL;
    case kTypeU8:
      return 0xFFLL;
    case kTypeBool:
      return 1;
    default:
      return 0x7FFFFFFFFFFFFFFFLL;
  }
}

// To nearest, halves away from zero, cut to the type; NaN becomes 0.
SWEEP_RANDOM_FUNCTION I64 to_integer(double x, unsigned type) {
  if (is_nan(x)) {
    return 0;
  }
  if (x >= 9.2e18 || x <= -9.2e18) {
    return x > 0 ? highest_of(type) : lowest_of(type);
  }
  const I64 value = static_cast<I64>(random::add(x, x < 0 ? -0.5 : 0.5));
  return value < lowest_of(type) ? lowest_of(type)
                                 : (value > highest_of(type) ? highest_of(type) : value);
}

}  // namespace sweep::problem
