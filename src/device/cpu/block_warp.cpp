#include "device/cpu/block.h"
#include "device/cpu/lanes.h"

#include <bit>
#include <string>

// Warp operations of BlockRunner.
namespace sweep::device::cpu {

unsigned long long BlockRunner::warp(
    sweep_simt::WarpOp op, unsigned mask, unsigned long long value, int source, int line) {
  if (!loop_.blocked) {
    enter_blocked();
  }
  const unsigned thread = linear(threadIdx, launch_->block);
  const unsigned lane = thread % kLanes;
  Warp& warp = warps_[thread / kLanes];
  Thread& t = threads_[thread];
  if (op == sweep_simt::WarpOp::active) {
    start_waiting(thread, Wait::active, line);
    warp.in_active |= 1u << lane;
    leave();
    return t.result;
  }
  if ((mask >> lane & 1u) == 0) {
    fail("warp operation in line " + std::to_string(line) + " by lane " + std::to_string(lane) +
         ", which is not in its mask");
  }
  t.mask = mask;
  t.value = value;
  t.source = source;
  t.op = op;
  start_waiting(thread, Wait::warp, line);
  warp.in_warp |= 1u << lane;
  try_release(thread / kLanes, mask);
  leave();
  return t.result;
}

void BlockRunner::try_release(unsigned warp, std::uint32_t mask) {
  const std::uint32_t lanes = mask & warps_[warp].alive;
  if ((warps_[warp].in_warp & lanes) != lanes) {
    return;
  }
  const Thread* threads = &threads_[std::size_t{warp} * kLanes];
  const sweep_simt::WarpOp op = threads[std::countr_zero(lanes)].op;
  bool same_mask = true;
  bool same_op = true;
  for_each_lane(lanes, [&](unsigned lane) {
    same_mask = same_mask && (threads[lane].mask & warps_[warp].alive) == lanes;
    same_op = same_op && threads[lane].op == op;
  });
  if (!same_mask) {
    return;
  }
  if (!same_op) {
    fail("divergent warp: lanes of one mask wait in different warp operations, one in line " +
         std::to_string(threads[std::countr_zero(lanes)].line));
  }
  compute(warp, lanes);
  warps_[warp].in_warp &= ~lanes;
  const unsigned lane_key = random(kLanes);
  for (unsigned l = 0; l < kLanes; ++l) {
    const unsigned lane = l ^ lane_key;
    if ((lanes >> lane & 1u) != 0) {
      make_ready(warp * kLanes + lane);
    }
  }
}

namespace {

// `so_far` with the value of one more lane taken in; the operations that only combine values.
unsigned long long fold(sweep_simt::WarpOp op,
                        unsigned long long so_far,
                        unsigned long long value) {
  using sweep_simt::WarpOp;
  const bool below = static_cast<long long>(value) < static_cast<long long>(so_far);
  switch (op) {
    case WarpOp::add:
      return so_far + value;
    case WarpOp::min_signed:
      return below ? value : so_far;
    case WarpOp::max_signed:
      return below ? so_far : value;
    case WarpOp::min_unsigned:
      return std::min(so_far, value);
    case WarpOp::max_unsigned:
      return std::max(so_far, value);
    case WarpOp::bit_and:
      return so_far & value;
    case WarpOp::bit_or:
      return so_far | value;
    case WarpOp::bit_xor:
      return so_far ^ value;
    default:
      return so_far;
  }
}

}  // namespace

unsigned long long BlockRunner::folded(unsigned warp, std::uint32_t lanes) const {
  using sweep_simt::WarpOp;
  const Thread* t = &threads_[std::size_t{warp} * kLanes];
  const auto first = static_cast<unsigned>(std::countr_zero(lanes));
  const WarpOp op = t[first].op;
  unsigned long long r = op == WarpOp::ballot      ? 0
                         : op == WarpOp::match_all ? lanes
                                                   : t[first].value;
  for_each_lane(lanes, [&](unsigned i) {
    if (op == WarpOp::ballot) {
      r |= t[i].value != 0 ? 1ULL << i : 0ULL;
    } else if (op == WarpOp::match_all) {
      r = t[i].value == t[first].value ? r : 0;
    } else if (i != first) {
      r = fold(op, r, t[i].value);
    }
  });
  return r;
}

void BlockRunner::compute(unsigned warp, std::uint32_t lanes) {
  using sweep_simt::WarpOp;
  Thread* t = &threads_[std::size_t{warp} * kLanes];
  const auto first = static_cast<unsigned>(std::countr_zero(lanes));
  const WarpOp op = t[first].op;
  if (op == WarpOp::sync) {
    return;
  }
  if (op == WarpOp::shuffle) {
    for_each_lane(lanes, [&](unsigned i) {
      const unsigned from = static_cast<unsigned>(t[i].source) % kLanes;
      t[i].result = (lanes >> from & 1u) != 0 ? t[from].value : ~0ull;
    });
    return;
  }
  if (op == WarpOp::match_any) {
    for_each_lane(lanes, [&](unsigned i) {
      t[i].result = 0;
      for_each_lane(
          lanes, [&](unsigned j) { t[i].result |= t[j].value == t[i].value ? 1ull << j : 0ull; });
    });
    return;
  }
  const unsigned long long r = folded(warp, lanes);
  for_each_lane(lanes, [&](unsigned i) { t[i].result = r; });
}

bool BlockRunner::release_active() {
  bool any = false;
  for (unsigned w = 0; w < warps_used_; ++w) {
    const std::uint32_t waiting = warps_[w].in_active;
    if (waiting == 0) {
      continue;
    }
    Thread* t = &threads_[std::size_t{w} * kLanes];
    const int line = t[std::countr_zero(waiting)].line;
    std::uint32_t group = 0;
    for_each_lane(waiting, [&](unsigned i) { group |= t[i].line == line ? 1u << i : 0u; });
    warps_[w].in_active &= ~group;
    for_each_lane(group, [&](unsigned i) {
      t[i].result = group;
      make_ready(w * kLanes + i);
    });
    any = true;
  }
  return any;
}

}  // namespace sweep::device::cpu
