// Kernels of the comparison of one output, for NVRTC alone.
// Launches over zeroed workspace in the order of compare_passes(). Blocks of 256 threads; any grid,
// but tensor and finish take one block.
#pragma once

#include "problem/device/compare.cuh"

namespace sweep::problem {

__device__ inline double e_max_of(const CompareParameters& p, const CompareSpace& w) {
  return p.known_e_max >= 0 ? p.known_e_max : w.result->e_max;
}

__device__ inline CompareSums warp_sum(CompareSums sums) {
  for (int step = 16; step > 0; step /= 2) {
    CompareSums other;
    other.square = __shfl_down_sync(~0U, sums.square, step);
    other.ulps = __shfl_down_sync(~0U, sums.ulps, step);
    other.largest = __shfl_down_sync(~0U, sums.largest, step);
    other.n = __shfl_down_sync(~0U, sums.n, step);
    sums = joined(sums, other);
  }
  return sums;
}

// Sum of term(list[i]), i in 0 .. count, in the first thread of a block of 256, always in the same
// order.
template <class Term>
__device__ inline CompareSums block_sum(const CompareSums* list, I64 count, Term term) {
  __shared__ CompareSums partial[8];
  CompareSums sums;
  for (I64 i = threadIdx.x; i < count; i += blockDim.x) {
    sums = joined(sums, term(list[i]));
  }
  sums = warp_sum(sums);
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    partial[threadIdx.x / 32] = sums;
  }
  __syncthreads();
  sums = CompareSums();
  for (int k = 0; k < 8; ++k) {
    sums = joined(sums, partial[k]);
  }
  return sums;
}

__device__ inline void add_count(U64* counter, U64 value) {
  if (value != 0) {
    atomicAdd(counter, value);
  }
}

// Smallest and largest marked place and their number, by the first thread of a block of 256.
__device__ inline void extent(
    const unsigned char* hit, I64 size, long long* count, long long* low, long long* high) {
  __shared__ U64 found[3];
  if (threadIdx.x == 0) {
    found[0] = found[1] = found[2] = 0;
  }
  __syncthreads();
  for (I64 i = threadIdx.x; i < size; i += blockDim.x) {
    if (hit[i] != 0) {
      atomicAdd(&found[0], 1ULL);
      atomicMax(&found[1], static_cast<U64>(size - i));
      atomicMax(&found[2], static_cast<U64>(i + 1));
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    *count = static_cast<long long>(found[0]);
    *low = found[0] == 0 ? 0 : size - static_cast<long long>(found[1]);
    *high = static_cast<long long>(found[2]) - 1;
  }
  __syncthreads();
}

}  // namespace sweep::problem

extern "C" __global__ void sweep_compare_units(sweep::problem::CompareParameters p,
                                               sweep::problem::CompareData data,
                                               void* space,
                                               int pass) {
  using namespace sweep::problem;
  const CompareSpace w = compare_space(p, space);
  const I64 a_row = units_a_row(p), units = p.count / p.row_length * a_row;
  const I64 lane = threadIdx.x % 32, warps = static_cast<I64>(gridDim.x) * blockDim.x / 32;
  for (I64 unit = (static_cast<I64>(blockIdx.x) * blockDim.x + threadIdx.x) / 32; unit < units;
       unit += warps) {
    const I64 row = unit / a_row;
    const I64 first = row * p.row_length + unit % a_row * kCompareUnit;
    const I64 end = (row + 1) * p.row_length;
    const I64 last = first + kCompareUnit < end ? first + kCompareUnit : end;
    const double common = pass == 0 ? 0.0 : common_scale(p, w, first);
    CompareSums sums;
    for (I64 i = first + lane; i < last; i += 32) {
      if (pass == 0) {
        add_scale(p, data, i, sums);
      } else if (pass == 1) {
        add_seed(p, data, i, common, sums);
      } else {
        add_got(p, data, i, common, sums);
      }
    }
    sums = warp_sum(sums);
    if (lane == 0) {
      w.units[unit] = sums;
    }
  }
}

extern "C" __global__ void sweep_compare_rows(sweep::problem::CompareParameters p,
                                              sweep::problem::CompareData,
                                              void* space,
                                              int pass) {
  using namespace sweep::problem;
  const CompareSpace w = compare_space(p, space);
  const I64 a_row = units_a_row(p), rows = p.count / p.row_length;
  const I64 lane = threadIdx.x % 32, warps = static_cast<I64>(gridDim.x) * blockDim.x / 32;
  for (I64 row = (static_cast<I64>(blockIdx.x) * blockDim.x + threadIdx.x) / 32; row < rows;
       row += warps) {
    CompareSums sums;
    for (I64 unit = lane; unit < a_row; unit += 32) {
      sums = joined(sums, w.units[row * a_row + unit]);
    }
    sums = warp_sum(sums);
    if (lane != 0) {
      continue;
    }
    (pass == 1 ? w.seed_rows : w.rows)[row] = sums;
    if (pass == 0) {
      w.row_scale[row] = rms_of(sums.square, sums.n);
    }
    if (pass == 2) {
      const double share = rms_share(p, sums, row_error(p, w.seed_rows[row], *w.result));
      atomicMax(&w.counters->worst_rms, sweep::random::bits_of(share));
      if (share > 1.0) {
        atomicAdd(&w.counters->bad_rows, 1ULL);
        atomicMax(&w.counters->first_row, static_cast<U64>(rows - row));
      }
    }
  }
}

extern "C" __global__ void sweep_compare_tensor(sweep::problem::CompareParameters p,
                                                sweep::problem::CompareData,
                                                void* space,
                                                int pass) {
  using namespace sweep::problem;
  const CompareSpace w = compare_space(p, space);
  const I64 rows = p.count / p.row_length;
  const CompareSums sums = block_sum(
      pass == 1 ? w.seed_rows : w.rows, rows, [](const CompareSums& row) { return row; });
  CompareSums terms;
  if (pass == 1) {
    terms = block_sum(
        w.seed_rows, rows, [&p](const CompareSums& row) { return row_term(p, row); });
  }
  if (threadIdx.x != 0) {
    return;
  }
  if (pass == 0) {
    *w.tensor_scale = rms_of(sums.square, sums.n);
  } else if (pass == 1) {
    w.result->e_max = clamped_error(p, sums.largest);
    w.result->e_rms = clamped_error(p, rms_of(sums.square, sums.n));
    w.result->e_row = typical_error(p, terms);
  } else {
    const double share = rms_share(p, sums, w.result->e_rms);
    atomicMax(&w.counters->worst_rms, sweep::random::bits_of(share));
    w.result->tensor_rms_bad = share > 1.0 ? 1 : 0;
  }
}

extern "C" __global__ void sweep_compare_components(sweep::problem::CompareParameters p,
                                                    sweep::problem::CompareData data,
                                                    void* space,
                                                    int) {
  using namespace sweep::problem;
  const CompareSpace w = compare_space(p, space);
  CompareCounters own = {};
  const double e_max = e_max_of(p, w);
  const I64 stride = static_cast<I64>(gridDim.x) * blockDim.x;
  for (I64 i = static_cast<I64>(blockIdx.x) * blockDim.x + threadIdx.x; i < p.count; i += stride) {
    const double common = p.bitwise != 0 ? 0.0 : common_scale(p, w, i);
    const ComponentVerdict verdict = judge_component(p, data, i, common, e_max);
    const U64 share = sweep::random::bits_of(verdict.share);
    own.worst = share > own.worst ? share : own.worst;
    own.ambiguous += verdict.differs ? 1U : 0U;
    if (verdict.bad) {
      own.bad += 1;
      own.nan += verdict.not_finite ? 1U : 0U;
      own.unwritten += still_poison(p, data, i) ? 1U : 0U;
      own.first =
          static_cast<U64>(p.count - i) > own.first ? static_cast<U64>(p.count - i) : own.first;
      own.last = static_cast<U64>(i + 1) > own.last ? static_cast<U64>(i + 1) : own.last;
      w.row_hit[i / p.columns] = 1;
      w.column_hit[i % p.columns] = 1;
    }
  }
  add_count(&w.counters->bad, own.bad);
  add_count(&w.counters->nan, own.nan);
  add_count(&w.counters->unwritten, own.unwritten);
  add_count(&w.counters->ambiguous, own.ambiguous);
  if (own.worst > w.counters->worst) {
    atomicMax(&w.counters->worst, own.worst);
  }
  if (own.bad != 0) {
    atomicMax(&w.counters->first, own.first);
    atomicMax(&w.counters->last, own.last);
  }
}

extern "C" __global__ void sweep_compare_finish(sweep::problem::CompareParameters p,
                                                sweep::problem::CompareData data,
                                                void* space,
                                                int) {
  using namespace sweep::problem;
  const CompareSpace w = compare_space(p, space);
  CompareResult& r = *w.result;
  if (w.counters->bad != 0) {
    extent(w.row_hit, p.count / p.columns, &r.rows_hit, &r.row_min, &r.row_max);
    extent(w.column_hit, p.columns, &r.columns_hit, &r.column_min, &r.column_max);
  }
  if (threadIdx.x != 0) {
    return;
  }
  const CompareCounters& c = *w.counters;
  r.e_max = e_max_of(p, w);
  r.bad = static_cast<I64>(c.bad);
  r.nan = static_cast<I64>(c.nan);
  r.unwritten = static_cast<I64>(c.unwritten);
  r.ambiguous = static_cast<I64>(c.ambiguous);
  r.bad_rows = static_cast<I64>(c.bad_rows);
  r.worst = sweep::random::from_bits(c.worst);
  r.worst_rms = sweep::random::from_bits(c.worst_rms);
  r.first_bad = c.bad == 0 ? -1 : p.count - static_cast<I64>(c.first);
  r.last_bad = c.bad == 0 ? -1 : static_cast<I64>(c.last) - 1;
  r.first_bad_row = c.bad_rows == 0 ? -1 : p.count / p.row_length - static_cast<I64>(c.first_row);
  if (c.bad != 0) {
    r.expected = oracle_at(p, data, r.first_bad);
    r.got = value_at(p, data.got, r.first_bad);
    r.allowed =
        p.bitwise != 0
            ? 0.0
            : allowed_at(
                  p,
                  r.expected,
                  scale_at(p, data, r.first_bad, r.expected, common_scale(p, w, r.first_bad)),
                  e_max_of(p, w));
  }
}
