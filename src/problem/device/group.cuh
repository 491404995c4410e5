// Parts of groups whose elements follow from the key and the rows' offsets. The same text is
// compiled for the host and, by NVRTC, for the device; both give the same bits.
#pragma once

#include "problem/device/group_parameters.h"

#include <sweep/random.h>

namespace sweep::problem {

using random::I64;
using random::U64;

// First word of the stream of a row: key of its permutation.
SWEEP_RANDOM_FUNCTION U64 row_key(const GroupParameters& p, I64 row) {
  return random::first(random::philox(p.key, 0, static_cast<U64>(row) + 1U));
}

// Column number k of a row before sorting; `key` is row_key().
SWEEP_RANDOM_FUNCTION int column_at(const GroupParameters& p, I64 row, U64 key, I64 k) {
  const U64 n = static_cast<U64>(p.range);
  if (p.unique != 0) {
    return static_cast<int>(random::permuted(key, static_cast<U64>(k), n));
  }
  const U64 word = static_cast<U64>(k) + 1U;
  const random::Words x = random::philox(p.key, word >> 1, static_cast<U64>(row) + 1U);
  return static_cast<int>(
      random::scaled((word & 1U) == 0 ? random::first(x) : random::second(x), n));
}

// The row with offsets[row] <= element < offsets[row + 1].
SWEEP_RANDOM_FUNCTION int owner_at(const GroupParameters& p, const int* offsets, I64 element) {
  I64 low = 0, high = p.rows;
  while (high - low > 1) {
    const I64 middle = low + (high - low) / 2;
    if (offsets[middle] <= element) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return static_cast<int>(low);
}

// Step `i` of a part, i < p.count: writes one element of `out`, for an inverse not the i-th.
SWEEP_RANDOM_FUNCTION void write_group_element(const GroupParameters& p,
                                               const int* offsets,
                                               I64 i,
                                               int* out) {
  const U64 n = static_cast<U64>(p.range);
  if (p.kind == kGroupOwner) {
    out[i] = owner_at(p, offsets, i);
  } else if (p.kind == kGroupPermutation) {
    out[i] = static_cast<int>(random::permuted(p.key, static_cast<U64>(i), n));
  } else {
    const I64 row = i / p.range, place = i % p.range;
    const U64 to = random::permuted(row_key(p, row), static_cast<U64>(place), n);
    if (p.kind == kGroupShuffle) {
      out[i] = static_cast<int>(to);
    } else {
      out[row * p.range + static_cast<I64>(to)] = static_cast<int>(place);
    }
  }
}

// Orders two elements of a list of n; those beyond its end count as infinite.
SWEEP_RANDOM_FUNCTION void order_pair(int* x, I64 n, I64 low, I64 high) {
  if (high < n && x[low] > x[high]) {
    const int value = x[low];
    x[low] = x[high];
    x[high] = value;
  }
}

// Sorts x[0 .. n) with a team of threads by Batcher's bitonic merges ("Sorting networks and their
// applications", 1968), in the form where every comparison puts the smaller element first, so that
// n may be any number. `team.each(count, body)` calls body(0 .. count-1) and waits for all.
template <typename Team>
SWEEP_RANDOM_FUNCTION void sort_ascending(const Team& team, int* x, I64 n) {
  for (int log = 0; (1LL << log) < n; ++log) {
    const I64 half = 1LL << log;
    team.each((n + 2 * half - 1) >> (log + 1) << log, [=](I64 i) {
      const I64 start = i >> log << (log + 1), at = i & (half - 1);
      order_pair(x, n, start + at, start + 2 * half - 1 - at);
    });
    for (int shift = log - 1; shift >= 0; --shift) {
      const I64 stride = 1LL << shift;
      team.each((n + 2 * stride - 1) >> (shift + 1) << shift, [=](I64 i) {
        const I64 low = (i >> shift << (shift + 1)) + (i & (stride - 1));
        order_pair(x, n, low, low + stride);
      });
    }
  }
}

// Columns of one row by a team. `scratch` holds `room` elements; a longer row is sorted in `out`.
template <typename Team>
SWEEP_RANDOM_FUNCTION void write_columns(const Team& team,
                                         const GroupParameters& p,
                                         const int* offsets,
                                         I64 row,
                                         int* scratch,
                                         I64 room,
                                         int* out) {
  const I64 n = offsets[row + 1] - offsets[row];
  const U64 key = row_key(p, row);
  int* const to = out + offsets[row];
  int* const x = p.sorted != 0 && n <= room ? scratch : to;
  team.each(n, [=, &p](I64 k) { x[k] = column_at(p, row, key, k); });
  if (p.sorted == 0) {
    return;
  }
  sort_ascending(team, x, n);
  if (x != to) {
    team.each(n, [=](I64 k) { to[k] = x[k]; });
  }
}

// Rows up to this length are made by a warp, longer ones by a block.
constexpr I64 kWarpRow = 1024;
// Longest row that a block sorts in shared memory.
constexpr I64 kBlockRow = 8192;

}  // namespace sweep::problem

#ifdef __CUDACC_RTC__
namespace sweep::problem {

struct WarpTeam {
  template <typename Body>
  SWEEP_RANDOM_FUNCTION void each(I64 count, const Body& body) const {
    for (I64 i = threadIdx.x % 32; i < count; i += 32) {
      body(i);
    }
    __syncwarp();
  }
};

struct BlockTeam {
  template <typename Body>
  SWEEP_RANDOM_FUNCTION void each(I64 count, const Body& body) const {
    for (I64 i = threadIdx.x; i < count; i += blockDim.x) {
      body(i);
    }
    __syncthreads();
  }
};

}  // namespace sweep::problem

// All parts but columns. Any grid and block of one dimension.
extern "C" __global__ void sweep_group_elements(sweep::problem::GroupParameters p,
                                                const int* offsets,
                                                int* out) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < p.count;
       i += stride) {
    sweep::problem::write_group_element(p, offsets, i, out);
  }
}

// Columns of rows up to kWarpRow long. Any grid; blocks of 128.
extern "C" __global__ void sweep_group_short_rows(sweep::problem::GroupParameters p,
                                                  const int* offsets,
                                                  int* out) {
  __shared__ int scratch[4][sweep::problem::kWarpRow];
  const long long warp = threadIdx.x / 32;
  for (long long row = blockIdx.x * 4LL + warp; row < p.rows; row += gridDim.x * 4LL) {
    if (offsets[row + 1] - offsets[row] <= sweep::problem::kWarpRow) {
      sweep::problem::write_columns(sweep::problem::WarpTeam{},
                                    p,
                                    offsets,
                                    row,
                                    scratch[warp],
                                    sweep::problem::kWarpRow,
                                    out);
    }
  }
}

// Columns of rows longer than kWarpRow. Any grid and block of one dimension.
extern "C" __global__ void sweep_group_long_rows(sweep::problem::GroupParameters p,
                                                 const int* offsets,
                                                 int* out) {
  __shared__ int scratch[sweep::problem::kBlockRow];
  for (long long row = blockIdx.x; row < p.rows; row += gridDim.x) {
    if (offsets[row + 1] - offsets[row] > sweep::problem::kWarpRow) {
      sweep::problem::write_columns(
          sweep::problem::BlockTeam{}, p, offsets, row, scratch, sweep::problem::kBlockRow, out);
    }
  }
}
#endif
