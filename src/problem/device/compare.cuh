// The comparison of one output with the oracle and the seed, component by component. The same text
// is compiled for the host and, by NVRTC, for the device. Passes: scale of rows and tensor, the
// seed's error, the candidate's error.
#pragma once

#include "problem/device/compare_parameters.h"
#include "problem/device/convert.cuh"

namespace sweep::problem {

// Addresses of one comparison. Null where the problem has none.
struct CompareData {
  const void* got = nullptr;              // y, output type
  const void* oracle = nullptr;           // r, double or the integer type; seed_rule: output type
  const void* seed = nullptr;             // s, output type
  const void* base = nullptr;             // output type
  const double* scale = nullptr;          // aux scale, one for each component
  const unsigned char* unless = nullptr;  // one for each p.prefix components
  const double* otherwise = nullptr;      // one for each component
};

// Sums over the components of one unit (a row, or a part of a long one).
struct CompareSums {
  double square = 0;   // scale: of r - base; else of normalised errors
  double ulps = 0;     // candidate: squares of normalised ulps
  double largest = 0;  // seed: normalised error
  double n = 0;
};

constexpr I64 kCompareUnit = 4096;
// Rows shorter than this borrow the tensor's E_rms where it is larger: their own is too noisy.
constexpr double kSteadyRow = 64;
constexpr double kRmsScatter = 5;
// So many times the mean error of rows is taken for a row's own where it is larger. Where a row, or
// rows together, share one rounding (that of a mean, say), their error is a single draw: the seed's
// is small by luck in some rows, and four times that refuses right kernels there. With c_rms = 4
// twice the mean is 6.4 standard deviations of such a draw; one wild row of many moves a mean little.
constexpr double kTypicalRow = 2;

SWEEP_RANDOM_FUNCTION I64 units_a_row(const CompareParameters& p) {
  return (p.row_length + kCompareUnit - 1) / kCompareUnit;
}

SWEEP_RANDOM_FUNCTION CompareSums joined(const CompareSums& a, const CompareSums& b) {
  return {random::add(a.square, b.square),
          random::add(a.ulps, b.ulps),
          a.largest > b.largest ? a.largest : b.largest,
          random::add(a.n, b.n)};
}

// Spacing of the output type at |r|: of the smallest normal number below it.
SWEEP_RANDOM_FUNCTION double ulp_at(double r, unsigned type) {
  const unsigned part = component_type(type);
  const int mantissa =
      part == kTypeF64 ? 52 : (part == kTypeF32 ? 23 : format_of(part).mantissa_bits);
  const int lowest =
      part == kTypeF64 ? -1022 + 52 : (part == kTypeF32 ? -126 : 1 - format_of(part).bias);
  int exponent = static_cast<int>((random::bits_of(r) >> 52) & 2047U) - 1023;
  exponent = exponent < lowest ? lowest : exponent;
  return power_of_two(exponent - mantissa);
}

// The oracle's floating-point value as it was given.
SWEEP_RANDOM_FUNCTION double raw_oracle(const CompareParameters& p,
                                        const CompareData& data,
                                        I64 i) {
  return p.seed_rule != 0 ? load_real(data.oracle, i, p.type)
                          : static_cast<const double*>(data.oracle)[i];
}

// The oracle's value; formats that saturate are compared with their largest number beyond it.
SWEEP_RANDOM_FUNCTION double oracle_at(const CompareParameters& p, const CompareData& data, I64 i) {
  if (is_integer_type(p.type)) {
    return static_cast<double>(load_integer(data.oracle, i, p.type));
  }
  const double r = raw_oracle(p, data, i);
  const double largest = p.type == kTypeE4m3 ? 448.0 : 57344.0;
  const bool beyond = (p.type == kTypeE4m3 || p.type == kTypeE5m2) && magnitude(r) > largest;
  return beyond ? (r < 0 ? -largest : largest) : r;
}

SWEEP_RANDOM_FUNCTION double value_at(const CompareParameters& p, const void* from, I64 i) {
  return is_integer_type(p.type) ? static_cast<double>(load_integer(from, i, p.type))
                                 : load_real(from, i, p.type);
}

SWEEP_RANDOM_FUNCTION bool ambiguous_at(const CompareParameters& p,
                                        const CompareData& data,
                                        I64 i) {
  return data.unless != nullptr && data.unless[i / p.prefix] != 0;
}

SWEEP_RANDOM_FUNCTION bool finite(double x) {
  return !is_nan(x) && !is_infinite(x);
}

// True if component `i` takes part in norms: not ambiguous, the oracle finite in the output's type.
SWEEP_RANDOM_FUNCTION bool counted(const CompareParameters& p,
                                   const CompareData& data,
                                   I64 i,
                                   double r) {
  return !ambiguous_at(p, data, i) && finite(round_real(r, p.type));
}

SWEEP_RANDOM_FUNCTION void add_scale(const CompareParameters& p,
                                     const CompareData& data,
                                     I64 i,
                                     CompareSums& sums) {
  const double r = oracle_at(p, data, i);
  if (!counted(p, data, i, r)) {
    return;
  }
  const double x = data.base == nullptr ? r : random::sub(r, value_at(p, data.base, i));
  sums.square = random::add(sums.square, random::mul(x, x));
  sums.n = random::add(sums.n, 1.0);
}

// Scale of component `i`; `common` is that of its row or of the tensor.
SWEEP_RANDOM_FUNCTION double scale_at(
    const CompareParameters& p, const CompareData& data, I64 i, double r, double common) {
  if (p.scale == kScaleElement) {
    const double own =
        magnitude(data.base == nullptr ? r : random::sub(r, value_at(p, data.base, i)));
    return own > p.least_scale ? own : p.least_scale;
  }
  return p.scale == kScaleAux ? magnitude(data.scale[i]) : common;
}

SWEEP_RANDOM_FUNCTION void add_seed(
    const CompareParameters& p, const CompareData& data, I64 i, double common, CompareSums& sums) {
  const double r = oracle_at(p, data, i);
  const double s = value_at(p, data.seed, i);
  const double scale = scale_at(p, data, i, r, common);
  if (!counted(p, data, i, r) || !finite(s) || !(scale > 0)) {
    return;
  }
  const double error = random::div(magnitude(random::sub(s, r)), scale);
  sums.square = random::add(sums.square, random::mul(error, error));
  sums.largest = error > sums.largest ? error : sums.largest;
  sums.n = random::add(sums.n, 1.0);
}

SWEEP_RANDOM_FUNCTION double clamped_error(const CompareParameters& p, double error) {
  return error < p.floor || is_nan(error) ? p.floor : (error > p.ceiling ? p.ceiling : error);
}

SWEEP_RANDOM_FUNCTION double allowed_at(const CompareParameters& p,
                                        double r,
                                        double scale,
                                        double e_max) {
  const double rounding = random::mul(p.ulps, ulp_at(r, p.type));
  const double relative = random::mul(random::mul(p.c_max, e_max), scale);
  return relative > rounding ? relative : rounding;
}

// True if y may stand for `r`; sets the share of the allowance that it uses.
SWEEP_RANDOM_FUNCTION bool close_to(
    const CompareParameters& p, double y, double r, double scale, double e_max, double* share) {
  const double cut = round_real(r, p.type);
  *share = random::from_bits(0x7FF0000000000000ULL);
  if (is_nan(y) || is_nan(r)) {
    const bool right = p.allow_nan != 0 && is_nan(y) && is_nan(r);
    *share = right ? 0.0 : *share;
    return right;
  }
  if (is_infinite(y) || is_infinite(cut)) {
    const bool right = p.allow_infinity != 0 && y == cut;
    *share = right ? 0.0 : *share;
    return right;
  }
  *share = random::div(magnitude(random::sub(y, r)), allowed_at(p, r, scale, e_max));
  return *share <= 1.0;
}

SWEEP_RANDOM_FUNCTION bool same_bits(const CompareParameters& p, const CompareData& data, I64 i) {
  if (is_integer_type(p.type)) {
    const I64 y = load_integer(data.got, i, p.type);
    return y == load_integer(data.oracle, i, p.type) && (p.type != kTypeBool || (y == 0 || y == 1));
  }
  const double y = load_real(data.got, i, p.type);
  const double r = raw_oracle(p, data, i);
  return (is_nan(y) && is_nan(r)) || random::bits_of(y) == random::bits_of(round_real(r, p.type));
}

// True if the bytes of component `i` are still the poison.
SWEEP_RANDOM_FUNCTION bool still_poison(const CompareParameters& p,
                                        const CompareData& data,
                                        I64 i) {
  if (p.has_poison == 0) {
    return false;
  }
  const int bytes = component_bytes(p.type);
  const unsigned char* at = static_cast<const unsigned char*>(data.got) + i * bytes;
  for (int k = 0; k < bytes; ++k) {
    const int lane = static_cast<int>((i * bytes + k) & 3);
    if (at[k] != static_cast<unsigned char>(p.poison >> (8 * lane))) {
      return false;
    }
  }
  return true;
}

// What is wrong with one component.
struct ComponentVerdict {
  bool bad = false;
  bool differs = false;  // only allowed because it is ambiguous
  bool not_finite = false;
  double share = 0;
};

SWEEP_RANDOM_FUNCTION ComponentVerdict judge_component(
    const CompareParameters& p, const CompareData& data, I64 i, double common, double e_max) {
  ComponentVerdict out;
  const double r = oracle_at(p, data, i);
  const double y = value_at(p, data.got, i);
  const double scale = p.bitwise != 0 ? 0.0 : scale_at(p, data, i, r, common);
  bool right = false;
  if (p.bitwise != 0) {
    right = same_bits(p, data, i);
    out.share = right ? 0.0 : random::from_bits(0x7FF0000000000000ULL);
  } else {
    right = close_to(p, y, r, scale, e_max, &out.share);
  }
  if (right) {
    return out;
  }
  out.not_finite = !is_integer_type(p.type) && !finite(y) && finite(r);
  const bool proper = p.type != kTypeBool || y == 0.0 || y == 1.0;
  if (ambiguous_at(p, data, i) && proper && !out.not_finite) {
    double share = 0;
    const bool other =
        data.otherwise == nullptr ||
        (p.bitwise != 0
             ? y == round_real(data.otherwise[i], is_integer_type(p.type) ? kTypeF64 : p.type)
             : close_to(p, y, data.otherwise[i], scale, e_max, &share));
    if (other) {
      out.differs = true;
      out.share = 0;
      return out;
    }
  }
  out.bad = true;
  return out;
}

// The candidate's share of the rms rule.
SWEEP_RANDOM_FUNCTION void add_got(
    const CompareParameters& p, const CompareData& data, I64 i, double common, CompareSums& sums) {
  if (p.bitwise != 0) {
    return;
  }
  const double r = oracle_at(p, data, i);
  const double y = value_at(p, data.got, i);
  const double scale = scale_at(p, data, i, r, common);
  if (!counted(p, data, i, r) || !finite(y) || !(scale > 0)) {
    return;
  }
  const double error = random::div(random::sub(y, r), scale);
  const double ulp = random::div(ulp_at(r, p.type), scale);
  sums.square = random::add(sums.square, random::mul(error, error));
  sums.ulps = random::add(sums.ulps, random::mul(ulp, ulp));
  sums.n = random::add(sums.n, 1.0);
}

SWEEP_RANDOM_FUNCTION double rms_of(double square, double n) {
  return n > 0 ? random::root(random::div(square, n)) : 0.0;
}

// Share of the rms allowance used by a row or the tensor; above 1 fails. The rms of n independent
// errors scatters by 1/sqrt(2n) of itself and the quotient of two by 1/sqrt(n): five times that is
// allowed for, so that honest results of few elements do not fail by chance.
SWEEP_RANDOM_FUNCTION double rms_share(const CompareParameters& p,
                                       const CompareSums& sums,
                                       double e_rms) {
  const double rounding = random::mul(p.ulps, rms_of(sums.ulps, sums.n));
  const double scatter = sums.n > 0 ? random::div(kRmsScatter, random::root(sums.n)) : 0.0;
  const double relative = random::mul(random::mul(p.c_rms, random::add(1.0, scatter)), e_rms);
  const double allowed = relative > rounding ? relative : rounding;
  const double error = rms_of(sums.square, sums.n);
  return error == 0.0 ? 0.0 : random::div(error, allowed);
}

// One row as a term of the mean of rows' errors: at most the ceiling, or one row in which the seed
// is lost would open the rule for all.
SWEEP_RANDOM_FUNCTION CompareSums row_term(const CompareParameters& p, const CompareSums& seed) {
  const double error = rms_of(seed.square, seed.n);
  return {error < p.ceiling ? error : p.ceiling, 0, 0, seed.n > 0 ? 1.0 : 0.0};
}

// The error that every row may take, from the sum of row_term() over the rows.
SWEEP_RANDOM_FUNCTION double typical_error(const CompareParameters& p, const CompareSums& terms) {
  return clamped_error(
      p, terms.n > 0 ? random::mul(kTypicalRow, random::div(terms.square, terms.n)) : 0.0);
}

// E_rms of a row from its own error, the tensor's and typical_error().
SWEEP_RANDOM_FUNCTION double row_error(const CompareParameters& p,
                                       const CompareSums& seed,
                                       const CompareResult& result) {
  double error = clamped_error(p, rms_of(seed.square, seed.n));
  error = result.e_row > error ? result.e_row : error;
  return seed.n < kSteadyRow && result.e_rms > error ? result.e_rms : error;
}

// Counters of a comparison on the device; all start at zero and only grow, so atomics give one
// result.
struct CompareCounters {
  U64 bad, nan, unwritten, ambiguous, bad_rows;
  U64 first;      // count - index of the first bad component
  U64 last;       // index of the last one + 1
  U64 first_row;  // rows - number of the first bad row
  U64 worst;      // bits of a double that is not negative: they order like the numbers
  U64 worst_rms;
};

// Parts of the zeroed workspace of one comparison.
struct CompareSpace {
  CompareResult* result;  // at the start
  CompareCounters* counters;
  double* tensor_scale;
  CompareSums* units;
  CompareSums* rows;
  CompareSums* seed_rows;
  double* row_scale;
  unsigned char* row_hit;  // of the matrix [count / columns, columns]
  unsigned char* column_hit;
  U64 bytes;
};

SWEEP_RANDOM_FUNCTION CompareSpace compare_space(const CompareParameters& p, void* base) {
  const U64 rows = static_cast<U64>(p.row_length > 0 ? p.count / p.row_length : 0);
  const U64 units = rows * static_cast<U64>(units_a_row(p));
  const U64 lines = static_cast<U64>(p.columns > 0 ? p.count / p.columns : 0);
  char* at = static_cast<char*>(base);
  CompareSpace out;
  out.result = reinterpret_cast<CompareResult*>(at);
  out.counters = reinterpret_cast<CompareCounters*>(at + 512);
  out.tensor_scale = reinterpret_cast<double*>(at + 768);
  U64 offset = 1024;
  out.units = reinterpret_cast<CompareSums*>(at + offset);
  offset += units * sizeof(CompareSums);
  out.rows = reinterpret_cast<CompareSums*>(at + offset);
  offset += rows * sizeof(CompareSums);
  out.seed_rows = reinterpret_cast<CompareSums*>(at + offset);
  offset += rows * sizeof(CompareSums);
  out.row_scale = reinterpret_cast<double*>(at + offset);
  offset += rows * sizeof(double);
  out.row_hit = reinterpret_cast<unsigned char*>(at + offset);
  offset += lines;
  out.column_hit = reinterpret_cast<unsigned char*>(at + offset);
  offset += static_cast<U64>(p.columns);
  out.bytes = (offset + 255U) / 256U * 256U;
  return out;
}

SWEEP_RANDOM_FUNCTION double common_scale(const CompareParameters& p,
                                          const CompareSpace& w,
                                          I64 i) {
  return p.scale == kScaleTensor ? *w.tensor_scale : w.row_scale[i / p.row_length];
}

}  // namespace sweep::problem
