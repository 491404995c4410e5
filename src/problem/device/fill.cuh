// Element-wise fills: the value of component `i` is a function of (parameters, i) alone. The same
// text is compiled for the host and, by NVRTC, for the device; both give the same bits.
#pragma once

#include "problem/device/convert.cuh"
#include "problem/device/fill_parameters.h"

namespace sweep::problem {

// Random words of component `i`; `lane` separates independent uses.
SWEEP_RANDOM_FUNCTION random::Words words_at(const FillParameters& p, I64 i, U64 lane) {
  return random::philox(p.key, static_cast<U64>(i), p.stream * 16U + lane);
}

// Number of the row that runs along the axis through `i`, and the position in it.
SWEEP_RANDOM_FUNCTION I64 row_of(const FillParameters& p, I64 i) {
  return i / (p.axis_length * p.axis_stride) * p.axis_stride + i % p.axis_stride;
}

SWEEP_RANDOM_FUNCTION I64 along_axis(const FillParameters& p, I64 i) {
  return i / p.axis_stride % p.axis_length;
}

// Student's t by Bailey's polar form: sqrt(df (u^(-2/df) - 1)) cos(2 pi v).
SWEEP_RANDOM_FUNCTION double student_value(const FillParameters& p, const random::Words& x) {
  const double logarithm = random::log_of(random::open_unit(random::first(x)));
  const double power = random::exp_of(random::mul(random::div(-2.0, p.a), logarithm));
  const double radius = random::root(random::mul(p.a, random::sub(power, 1.0)));
  return random::mul(p.b, random::mul(radius, random::cos_turns(random::unit(random::second(x)))));
}

SWEEP_RANDOM_FUNCTION double spike_value(const FillParameters& p, I64 i, const random::Words& x) {
  const bool spike = random::unit(random::first(words_at(p, i, 1))) < p.a;
  const double value = random::normal(x);
  return spike ? random::mul(value, p.b) : value;
}

// Each row keeps `low` places and loses one for certain, starting at a random place; the rest is
// decided one by one.
SWEEP_RANDOM_FUNCTION I64 mask_value(const FillParameters& p, I64 i, const random::Words& x) {
  const U64 n = static_cast<U64>(p.axis_length);
  const U64 start = random::scaled(random::first(words_at(p, row_of(p, i), 1)), n);
  const I64 place = static_cast<I64>((static_cast<U64>(along_axis(p, i)) + n - start) % n);
  if (place < p.low) {
    return 1;
  }
  if (place == p.axis_length - 1 && p.a < 1.0) {
    return 0;
  }
  return random::unit(random::first(x)) < p.a ? 1 : 0;
}

// Every bit is one with probability p.a rounded to 2^-16: the binary digits of p.a decide between |
// and &.
SWEEP_RANDOM_FUNCTION U64 bits_value(const FillParameters& p, I64 i, const random::Words& x) {
  if (p.type == kTypeBool) {
    return random::unit(random::first(x)) < p.a ? 1U : 0U;
  }
  if (p.a == 0.5) {
    return random::first(x);
  }
  const U64 digits = static_cast<U64>(random::add(random::mul(p.a, 65536.0), 0.5));
  if (digits >= 65536U) {
    return ~0ULL;
  }
  U64 value = 0;
  for (U64 k = 0; k < 8; ++k) {
    const random::Words more = words_at(p, i, 2 + k);
    value =
        (digits >> (2 * k) & 1U) != 0 ? value | random::first(more) : value & random::first(more);
    value = (digits >> (2 * k + 1) & 1U) != 0 ? value | random::second(more)
                                              : value & random::second(more);
  }
  return value;
}

// Entry of D (I + N): D falls geometrically from 1 to 1 / condition in a random order, N is
// strictly lower with entries normal / (2 sqrt n): the condition is that of D within a small
// factor.
SWEEP_RANDOM_FUNCTION double lower_value(const FillParameters& p, I64 i, const random::Words& x) {
  const I64 n = p.axis_length;
  const I64 row = i / n % n, column = i % n, matrix = i / (n * n);
  if (column > row) {
    return 0.0;
  }
  const U64 order = random::first(words_at(p, matrix, 1));
  const U64 place = random::permuted(order, static_cast<U64>(row), static_cast<U64>(n));
  const double share =
      n > 1 ? random::div(static_cast<double>(place), static_cast<double>(n - 1)) : 0.0;
  const double diagonal = random::exp_of(random::mul(-share, p.a));
  if (column == row) {
    return diagonal;
  }
  const double scale = random::div(0.5, random::root(static_cast<double>(n)));
  return random::mul(diagonal, random::mul(scale, random::normal(x)));
}

// One octave of value noise at `at`: random values at the corners of cells, blended by 3 t^2 - 2
// t^3.
SWEEP_RANDOM_FUNCTION double octave_value(const FillParameters& p,
                                          const I64* at,
                                          I64 batch,
                                          int octave) {
  double sum = 0;
  for (unsigned corner = 0; corner < (1U << p.axes); ++corner) {
    double weight = 1;
    U64 place = static_cast<U64>(batch);
    for (int axis = 0; axis < p.axes; ++axis) {
      const double x =
          random::mul(static_cast<double>(at[axis]), random::mul(p.b, power_of_two(octave)));
      const I64 cell = static_cast<I64>(x);
      const double t = random::sub(x, static_cast<double>(cell));
      const double s = random::mul(random::mul(t, t), random::sub(3.0, random::mul(2.0, t)));
      const bool upper = (corner >> axis & 1U) != 0;
      weight = random::mul(weight, upper ? s : random::sub(1.0, s));
      place =
          random::mix(place * 0x9E3779B97F4A7C15ULL + static_cast<U64>(cell) + (upper ? 2U : 1U));
    }
    const U64 word =
        random::first(words_at(p, static_cast<I64>(place), 2 + static_cast<U64>(octave)));
    const double value = random::mul(3.4641016151377544, random::sub(random::unit(word), 0.5));
    sum = random::add(sum, random::mul(weight, value));
  }
  return sum;
}

SWEEP_RANDOM_FUNCTION double field_value(const FillParameters& p, I64 i) {
  I64 at[4] = {0, 0, 0, 0};
  I64 rest = i;
  for (int axis = p.axes - 1; axis >= 0; --axis) {
    at[axis] = rest % p.extents[axis];
    rest /= p.extents[axis];
  }
  double sum = 0;
  for (int octave = 0; octave < static_cast<int>(p.low); ++octave) {
    sum = random::add(sum, random::mul(p.values[octave], octave_value(p, at, rest, octave)));
  }
  return sum;
}

// Particle `row` sits in its own cell of a lattice of p.high cells an axis; components beyond the
// axes are normal.
SWEEP_RANDOM_FUNCTION double particle_value(const FillParameters& p,
                                            I64 i,
                                            const random::Words& x) {
  const I64 component = i % p.axis_length;
  if (component >= p.axes) {
    return random::normal(x);
  }
  const I64 particle = i / p.axis_length;
  U64 cells = 1;
  for (int axis = 0; axis < p.axes; ++axis) {
    cells *= static_cast<U64>(p.high);
  }
  const U64 order = random::first(words_at(p, particle / p.low, 1));
  U64 cell = random::permuted(order, static_cast<U64>(particle % p.low), cells);
  for (I64 axis = 0; axis < component; ++axis) {
    cell /= static_cast<U64>(p.high);
  }
  const double corner = static_cast<double>(cell % static_cast<U64>(p.high));
  const double offset =
      random::mul(p.b, random::sub(random::mul(2.0, random::unit(random::first(x))), 1.0));
  return random::mul(random::add(corner, random::add(0.5, offset)), p.a);
}

SWEEP_RANDOM_FUNCTION double real_value(const FillParameters& p, I64 i) {
  if (p.kind == kFillConstant) {
    return p.a;
  }
  if (p.kind == kFillField) {
    return field_value(p, i);
  }
  const random::Words x = words_at(p, i, 0);
  switch (p.kind) {
    case kFillNormal:
      return random::add(p.a, random::mul(p.b, random::normal(x)));
    case kFillUniform:
      return random::add(p.a, random::mul(random::sub(p.b, p.a), random::unit(random::first(x))));
    case kFillLognormal:
      return random::exp_of(random::add(p.a, random::mul(p.b, random::normal(x))));
    case kFillStudent:
      return student_value(p, x);
    case kFillSpikes:
      return spike_value(p, i, x);
    case kFillChoice:
      return p.values[random::scaled(random::first(x), static_cast<U64>(p.choices))];
    case kFillLower:
      return lower_value(p, i, x);
    case kFillParticles:
      return particle_value(p, i, x);
    default:
      return 0;
  }
}

// Fills whose values are integers, whatever the type.
SWEEP_RANDOM_FUNCTION bool is_integer_kind(unsigned kind) {
  return kind == kFillInteger || kind == kFillBits || kind == kFillMask || kind == kFillLattice ||
         kind == kFillPermutation || kind == kFillDistinct || kind == kFillOnehot;
}

SWEEP_RANDOM_FUNCTION I64 integer_value(const FillParameters& p, I64 i) {
  switch (p.kind) {
    case kFillBits:
      return static_cast<I64>(bits_value(p, i, words_at(p, i, 0)));
    case kFillMask:
      return mask_value(p, i, words_at(p, i, 0));
    case kFillPermutation:
    case kFillDistinct: {
      const U64 row = random::first(words_at(p, row_of(p, i), 1));
      return static_cast<I64>(
          random::permuted(row, static_cast<U64>(along_axis(p, i)), static_cast<U64>(p.high)));
    }
    case kFillOnehot: {
      const U64 row = random::first(words_at(p, row_of(p, i), 1));
      return along_axis(p, i) ==
                     static_cast<I64>(random::scaled(row, static_cast<U64>(p.axis_length)))
                 ? 1
                 : 0;
    }
    default: {
      const U64 range = static_cast<U64>(p.high - p.low) + 1U;
      const U64 word = random::first(words_at(p, i, 0));
      return p.low + static_cast<I64>(range == 0 ? word : random::scaled(word, range));
    }
  }
}

// Writes component `i` at out[at].
SWEEP_RANDOM_FUNCTION void fill_component(const FillParameters& p, I64 i, void* out, I64 at) {
  const int bytes = component_bytes(p.type);
  if (is_integer_kind(p.kind)) {
    const I64 value = integer_value(p, i);
    const double scale = p.kind == kFillLattice ? p.a : 1.0;
    const bool integral = is_integer_type(p.type);
    const U64 bits =
        integral ? static_cast<U64>(
                       p.kind == kFillLattice
                           ? to_integer(random::mul(static_cast<double>(value), scale), p.type)
                           : value)
                 : encode_real(random::mul(static_cast<double>(value), scale), p.type);
    store_bits(out, at, bytes, bits);
    return;
  }
  const double value = real_value(p, i);
  store_bits(out,
             at,
             bytes,
             is_integer_type(p.type) ? static_cast<U64>(to_integer(value, p.type))
                                     : encode_real(value, p.type));
}

}  // namespace sweep::problem

#ifdef __CUDACC_RTC__
// Elements [begin, begin + count) of the tensor to out[0 ..]. Any grid and block of one dimension.
extern "C" __global__ void sweep_fill(sweep::problem::FillParameters p,
                                      void* out,
                                      long long begin,
                                      long long count) {
  const int parts =
      p.type == sweep::problem::kTypeC64 || p.type == sweep::problem::kTypeC128 ? 2 : 1;
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < count * parts;
       i += stride) {
    sweep::problem::fill_component(p, begin * parts + i, out, i);
  }
}
#endif
