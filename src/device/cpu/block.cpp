#include "device/cpu/block.h"

#include "util/error.h"

#include <sweep/simt/runtime.h>

#include <algorithm>
#include <bit>

#include <signal.h>
#include <string.h>

// Candidate code reads these as threadIdx and friends; the hidden parameter of every kernel.
__thread uint3 threadIdx;
__thread uint3 blockIdx;
__thread dim3 blockDim;
__thread dim3 gridDim;

namespace sweep::device::cpu {
namespace {

// Candidate code has no handle to its runner: its calls find it by OS thread.
thread_local BlockRunner* t_runner = nullptr;

std::uint64_t mix(std::uint64_t x) {
  // splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

unsigned linear(uint3 thread, uint3 block) {
  return thread.x + block.x * (thread.y + block.y * thread.z);
}

template <typename F>
void for_each_lane(std::uint32_t lanes, F f) {
  for (; lanes != 0; lanes &= lanes - 1) {
    f(static_cast<unsigned>(std::countr_zero(lanes)));
  }
}

}  // namespace

std::vector<uint3> thread_order(uint3 block, std::uint64_t key) {
  const unsigned count = block.x * block.y * block.z;
  const unsigned warps = (count + kLanes - 1) / kLanes;
  const std::uint64_t random = mix(key);
  const unsigned first = static_cast<unsigned>((random >> 8) % warps);
  const unsigned lane_key = static_cast<unsigned>(random) % kLanes;
  const bool down = ((random >> 40) & 1) != 0;
  std::vector<uint3> order;
  order.reserve(count);
  for (unsigned w = 0; w < warps; ++w) {
    const unsigned warp = (down ? first + warps - w : first + w) % warps;
    for (unsigned l = 0; l < kLanes; ++l) {
      const unsigned thread = warp * kLanes + (l ^ lane_key);
      if (thread < count) {
        order.push_back(
            {thread % block.x, thread / block.x % block.y, thread / (block.x * block.y)});
      }
    }
  }
  return order;
}

BlockRunner::BlockRunner() : fibers_(kMaxThreads + 1), threads_(kMaxThreads) {}

BlockRunner::~BlockRunner() = default;

BlockRunner* BlockRunner::current() noexcept {
  return t_runner;
}

unsigned BlockRunner::random(unsigned below) {
  random_state_ = mix(random_state_);
  return static_cast<unsigned>(random_state_ % below);
}

// Runs on its own stack for the life of the runner: the threads of one block after another.
void BlockRunner::fiber_main(boost::context::detail::transfer_t transfer) {
  static_cast<Fiber*>(transfer.data)->context = transfer.fctx;
  BlockRunner& self = *t_runner;
  for (;;) {
    self.launch_->loop(&self.loop_, self.launch_->arguments);
    Fiber* me = self.running_;
    self.idle_.push_back(me);
    Fiber* next = self.next_fiber();
    if (next != me) {
      self.switch_to(next);
    }
  }
}

void BlockRunner::switch_to(Fiber* to) {
  Fiber* from = running_;
  running_ = to;
  const auto transfer = boost::context::detail::jump_fcontext(to->context, from);
  static_cast<Fiber*>(transfer.data)->context = transfer.fctx;
}

BlockRunner::Fiber* BlockRunner::idle_fiber() {
  if (!idle_.empty()) {
    Fiber* fiber = idle_.back();
    idle_.pop_back();
    return fiber;
  }
  Fiber* fiber = &fibers_[made_];
  fiber->context =
      boost::context::detail::make_fcontext(stacks_.top(made_), kStackBytes / 2, &fiber_main);
  ++made_;
  return fiber;
}

// The caller's fiber is idle or its thread waits. Never returns null: a block that cannot go on
// fails.
BlockRunner::Fiber* BlockRunner::next_fiber() {
  if (!loop_.blocked) {
    return &scheduler_;
  }
  for (;;) {
    if (ready_head_ != ready_tail_) {
      Thread& thread = threads_[ready_[ready_head_++ % kMaxThreads]];
      thread.wait = Wait::none;
      return thread.fiber;
    }
    if (loop_.next < loop_.count) {
      return idle_fiber();
    }
    if (alive_ == 0) {
      return &scheduler_;
    }
    if (!release_active()) {
      fail(divergence());
    }
  }
}

// First wait in this block: the threads that started before the current one have all ended.
void BlockRunner::enter_blocked() {
  loop_.blocked = true;
  const unsigned count = loop_.count;
  warps_used_ = (count + kLanes - 1) / kLanes;
  alive_ = count;
  at_barrier_ = 0;
  for (unsigned w = 0; w < warps_used_; ++w) {
    const unsigned lanes = std::min(kLanes, count - w * kLanes);
    warps_[w] = {lanes == kLanes ? ~0u : (1u << lanes) - 1u, 0, 0, 0};
  }
  for (unsigned i = 0; i + 1 < loop_.next; ++i) {
    const unsigned thread = linear(loop_.order[i], launch_->block);
    warps_[thread / kLanes].alive &= ~(1u << (thread % kLanes));
    --alive_;
  }
}

void BlockRunner::start_waiting(unsigned thread, Wait wait, int line) {
  Thread& t = threads_[thread];
  t.fiber = running_;
  t.wait = wait;
  t.line = line;
  running_->thread = threadIdx;
}

void BlockRunner::leave() {
  Fiber* me = running_;
  Fiber* next = next_fiber();
  if (next != me) {
    switch_to(next);
  }
  threadIdx = me->thread;
}

void BlockRunner::make_ready(unsigned thread) {
  threads_[thread].wait = Wait::ready;
  ready_[ready_tail_++ % kMaxThreads] = static_cast<std::uint16_t>(thread);
}

int BlockRunner::barrier(simt::Vote vote, int predicate, int line) {
  if (!loop_.blocked) {
    enter_blocked();
  }
  const unsigned thread = linear(threadIdx, launch_->block);
  if (at_barrier_ == 0) {
    vote_ = vote;
    vote_true_ = 0;
  } else if (vote_ != vote) {
    fail(
        "divergent barrier: threads of a block wait in different kinds of __syncthreads, one in "
        "line " +
        std::to_string(line));
  }
  start_waiting(thread, Wait::block, line);
  warps_[thread / kLanes].in_block |= 1u << (thread % kLanes);
  ++at_barrier_;
  vote_true_ += predicate != 0 ? 1 : 0;
  try_open_barrier();
  leave();
  return static_cast<int>(threads_[thread].result);
}

void BlockRunner::try_open_barrier() {
  if (at_barrier_ != 0 && at_barrier_ == alive_) {
    open_barrier();
  }
}

void BlockRunner::check_same_line(unsigned warp) {
  int line = -1;
  for_each_lane(warps_[warp].in_block, [&](unsigned lane) {
    const int own = threads_[warp * kLanes + lane].line;
    if (line >= 0 && own != line) {
      fail("divergent barrier: threads of one warp wait at __syncthreads in line " +
           std::to_string(line) + " and in line " + std::to_string(own));
    }
    line = own;
  });
}

void BlockRunner::open_barrier() {
  const unsigned total = vote_true_;
  const unsigned result = vote_ == simt::Vote::count ? total
                          : vote_ == simt::Vote::all ? static_cast<unsigned>(total == at_barrier_)
                                                     : static_cast<unsigned>(total != 0);
  const unsigned first = random(warps_used_);
  const unsigned lane_key = random(kLanes);
  at_barrier_ = 0;
  for (unsigned w = 0; w < warps_used_; ++w) {
    const unsigned warp = (first + w) % warps_used_;
    check_same_line(warp);
    const std::uint32_t waiting = warps_[warp].in_block;
    warps_[warp].in_block = 0;
    for (unsigned l = 0; l < kLanes; ++l) {
      const unsigned lane = l ^ lane_key;
      if ((waiting >> lane & 1u) != 0) {
        threads_[warp * kLanes + lane].result = result;
        make_ready(warp * kLanes + lane);
      }
    }
  }
}

unsigned long long BlockRunner::warp(
    simt::WarpOp op, unsigned mask, unsigned long long value, int source, int line) {
  if (!loop_.blocked) {
    enter_blocked();
  }
  const unsigned thread = linear(threadIdx, launch_->block);
  const unsigned lane = thread % kLanes;
  Warp& warp = warps_[thread / kLanes];
  Thread& t = threads_[thread];
  if (op == simt::WarpOp::active) {
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
  const Thread* threads = &threads_[warp * kLanes];
  const simt::WarpOp op = threads[std::countr_zero(lanes)].op;
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

void BlockRunner::compute(unsigned warp, std::uint32_t lanes) {
  using simt::WarpOp;
  Thread* t = &threads_[warp * kLanes];
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
  unsigned long long r = op == WarpOp::ballot      ? 0
                         : op == WarpOp::match_all ? lanes
                                                   : t[first].value;
  for_each_lane(lanes, [&](unsigned i) {
    const unsigned long long v = t[i].value;
    const auto sv = static_cast<long long>(v);
    const auto sr = static_cast<long long>(r);
    switch (op) {
      case WarpOp::ballot:
        r |= v != 0 ? 1ull << i : 0ull;
        break;
      case WarpOp::match_all:
        r = v == t[first].value ? r : 0;
        break;
      case WarpOp::add:
        r = i == first ? r : r + v;
        break;
      case WarpOp::min_signed:
        r = sv < sr ? v : r;
        break;
      case WarpOp::max_signed:
        r = sv > sr ? v : r;
        break;
      case WarpOp::min_unsigned:
        r = v < r ? v : r;
        break;
      case WarpOp::max_unsigned:
        r = v > r ? v : r;
        break;
      case WarpOp::bit_and:
        r &= v;
        break;
      case WarpOp::bit_or:
        r |= v;
        break;
      case WarpOp::bit_xor:
        r = i == first ? r : r ^ v;
        break;
      default:
        break;
    }
  });
  for_each_lane(lanes, [&](unsigned i) { t[i].result = r; });
}

bool BlockRunner::release_active() {
  bool any = false;
  for (unsigned w = 0; w < warps_used_; ++w) {
    const std::uint32_t waiting = warps_[w].in_active;
    if (waiting == 0) {
      continue;
    }
    Thread* t = &threads_[w * kLanes];
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

bool BlockRunner::thread_end() {
  const unsigned thread = linear(threadIdx, launch_->block);
  Warp& warp = warps_[thread / kLanes];
  warp.alive &= ~(1u << (thread % kLanes));
  --alive_;
  for (std::uint32_t waiting = warp.in_warp; waiting != 0;
       waiting &= (waiting - 1) & warp.in_warp) {
    const unsigned first =
        thread / kLanes * kLanes + static_cast<unsigned>(std::countr_zero(waiting));
    try_release(thread / kLanes, threads_[first].mask);
  }
  try_open_barrier();
  return ready_head_ != ready_tail_;
}

void BlockRunner::yield() {
  if (!loop_.blocked) {
    enter_blocked();
  }
  const unsigned thread = linear(threadIdx, launch_->block);
  start_waiting(thread, Wait::ready, 0);
  make_ready(thread);
  Fiber* me = running_;
  Fiber* next = loop_.next < loop_.count ? idle_fiber() : next_fiber();
  if (next != me) {
    switch_to(next);
  }
  threadIdx = me->thread;
}

void BlockRunner::contended() {
  // A failed exchange is usual in hash tables; only a run of them looks like a lock.
  constexpr unsigned kFailures = 16;
  if (++failed_exchanges_ >= kFailures) {
    failed_exchanges_ = 0;
    yield();
  }
}

std::string BlockRunner::divergence() const {
  std::string text = "divergent barrier: no thread of the block can go on;";
  int told = 0;
  Wait last = Wait::none;
  for (unsigned i = 0; i < loop_.count && told < 2; ++i) {
    const Thread& t = threads_[i];
    if ((warps_[i / kLanes].alive >> (i % kLanes) & 1u) == 0 || t.wait == last) {
      continue;
    }
    last = t.wait;
    ++told;
    text += " thread " + std::to_string(i) + " waits in line " + std::to_string(t.line) +
            (t.wait == Wait::block ? " for the block" : " for lanes of its warp") +
            (told == 1 ? "," : "");
  }
  return text;
}

void BlockRunner::fail(std::string what) {
  failure_ = std::move(what);
  switch_to(&scheduler_);
  __builtin_unreachable();
}

void BlockRunner::give_up(int signal, const void* address) noexcept {
  signal_ = signal;
  signal_address_ = address;
  siglongjmp(escape_, 1);
}

Failure BlockRunner::signal_failure() const {
  const char* name = sigabbrev_np(signal_);
  std::string text =
      "signal " + std::to_string(signal_) + " (SIG" + (name != nullptr ? name : "?") + ")";
  const bool memory = signal_ == SIGSEGV || signal_ == SIGBUS;
  if (memory && stacks_.is_guard(signal_address_)) {
    text += ": a thread used more than its 64 KiB of stack";
  } else if (memory) {
    std::array<char, 32> address{};
    snprintf(address.data(),
             address.size(),
             ": address 0x%zx",
             reinterpret_cast<std::size_t>(signal_address_));
    text += address.data();
  }
  text += ", block (" + std::to_string(blockIdx.x) + ", " + std::to_string(blockIdx.y) + ", " +
          std::to_string(blockIdx.z) + ")";
  return {text, memory ? signal_address_ : nullptr, memory};
}

std::optional<Failure> BlockRunner::run(const LaunchShape& launch, uint3 index) {
  t_runner = this;
  launch_ = &launch;
  blockIdx = index;
  blockDim = launch.block;
  gridDim = launch.grid;
  loop_ = {launch.order.data(), 0, launch.threads(), false};
  ready_head_ = ready_tail_ = 0;
  random_state_ = launch.key ^ (index.x + 0x10001ull * index.y + 0x100000001ull * index.z);
  if (sigsetjmp(escape_, 0) != 0) {
    t_runner = nullptr;
    return signal_failure();
  }
  running_ = &scheduler_;
  switch_to(idle_fiber());
  t_runner = nullptr;
  if (!failure_.empty()) {
    return Failure{std::move(failure_)};
  }
  return std::nullopt;
}

}  // namespace sweep::device::cpu

// The seam that sweep/simt/runtime.h declares.
using sweep::device::cpu::BlockRunner;

int sweep_simt_barrier(sweep::simt::Vote vote, int predicate, int line) {
  return BlockRunner::current()->barrier(vote, predicate, line);
}

unsigned long long sweep_simt_warp(
    sweep::simt::WarpOp op, unsigned mask, unsigned long long value, int source, int line) {
  return BlockRunner::current()->warp(op, mask, value, source, line);
}

bool sweep_simt_thread_end() {
  return BlockRunner::current()->thread_end();
}

void sweep_simt_yield() {
  BlockRunner::current()->yield();
}

void sweep_simt_contended() {
  BlockRunner::current()->contended();
}

void sweep_simt_fail(const char* what, const char* file, int line) {
  std::string text = what;
  if (line > 0) {
    text += std::string(", ") + file + ":" + std::to_string(line);
  }
  BlockRunner::current()->fail(std::move(text));
}
