#include "device/cpu/block.h"

#include "device/cpu/lanes.h"
#include "util/error.h"

#include <sweep/simt/runtime.h>

#include <algorithm>
#include <bit>
#include <csignal>
#include <cstring>

namespace sweep::device::cpu {
namespace {

// Candidate code has no handle to its runner: its calls find it by OS thread.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
thread_local BlockRunner* t_runner = nullptr;

std::uint64_t mix(std::uint64_t x) {
  // splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
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

BlockRunner::BlockRunner() : fibers_(kMaxThreads + 1), threads_(kMaxThreads), escape_{} {}

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

int BlockRunner::barrier(sweep_simt::Vote vote, int predicate, int line) {
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
  const unsigned result = vote_ == sweep_simt::Vote::count ? total
                          : vote_ == sweep_simt::Vote::all
                              ? static_cast<unsigned>(total == at_barrier_)
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
