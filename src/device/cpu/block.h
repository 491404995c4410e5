#pragma once

#include "device/cpu/stacks.h"

#include <sweep/simt/runtime.h>

#include <array>
#include <boost/context/detail/fcontext.hpp>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sweep::device::cpu {

inline constexpr unsigned kMaxThreads = 1024;
inline constexpr unsigned kLanes = 32;

// What all blocks of one launch have in common. Outlives the launch's run.
struct LaunchShape {
  uint3 grid{1, 1, 1};
  uint3 block{1, 1, 1};
  sweep_simt::LoopFunction loop = nullptr;
  void* const* arguments = nullptr;
  std::span<const uint3> order;  // the threads of a block in the order in which they start
  std::uint64_t key = 0;         // of the order in which waiting threads go on

  [[nodiscard]] unsigned threads() const { return block.x * block.y * block.z; }
};

// The indices of a block's threads: warps from a keyed start up or down, lanes of each warp in a
// keyed order (lane XOR key), so that a missing barrier shows and memory is still walked in lines.
[[nodiscard]] std::vector<uint3> thread_order(uint3 block, std::uint64_t key);

// Why a block did not end.
struct Failure {
  std::string text;
  const void* address = nullptr;  // of a SIGSEGV or SIGBUS
  bool memory = false;
};

// Runs blocks on the calling OS thread, one at a time. Threads that never wait share one fiber; a
// thread that waits keeps its fiber and another one takes over the rest.
//
// Waiting and release: a block barrier opens when every living thread of the block waits at it, a
// warp operation when every living lane of its mask waits in the same operation with the same mask.
// When nothing can go on, lanes in __activemask are released by line; if there are none, the block
// has diverged, which is a failure. Lanes of one warp that wait at block barriers in different
// lines have diverged as well.
class BlockRunner {
 public:
  BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;
  ~BlockRunner();

  // Runs block `index`. Nothing: it ended. Otherwise it failed (divergence, assertion, signal) and
  // this runner's fibers are lost: run nothing more on it.
  [[nodiscard]] std::optional<Failure> run(const LaunchShape& launch, uint3 index);

  // The runner whose block the calling OS thread is running, or null.
  [[nodiscard]] static BlockRunner* current() noexcept;

  // Called by candidate code through the functions of sweep/simt/runtime.h.
  int barrier(sweep_simt::Vote vote, int predicate, int line);
  unsigned long long warp(
      sweep_simt::WarpOp op, unsigned mask, unsigned long long value, int source, int line);
  bool thread_end();
  void yield();
  void contended();
  [[noreturn]] void fail(std::string what);

  // From the signal handler of this OS thread: gives up the block. Async-signal-safe.
  [[noreturn]] void give_up(int signal, const void* address) noexcept;

 private:
  enum class Wait : std::uint8_t { none, ready, block, warp, active };

  struct Fiber {
    boost::context::detail::fcontext_t context = nullptr;
    uint3 thread{};
  };

  // A thread that has waited at least once, or one that may.
  struct Thread {
    Fiber* fiber = nullptr;
    unsigned long long value = 0;
    unsigned long long result = 0;
    std::uint32_t mask = 0;
    int line = 0;
    int source = 0;
    sweep_simt::WarpOp op = sweep_simt::WarpOp::sync;
    Wait wait = Wait::none;
  };

  struct Warp {
    std::uint32_t alive = 0;
    std::uint32_t in_warp = 0;    // lanes that wait in a warp operation
    std::uint32_t in_active = 0;  // lanes that wait in __activemask
    std::uint32_t in_block = 0;   // lanes that wait at a block barrier
  };

  static void fiber_main(boost::context::detail::transfer_t transfer);
  void enter_blocked();
  void start_waiting(unsigned thread, Wait wait, int line);
  void switch_to(Fiber* to);
  void leave();  // current thread waits: let something else run until it is released
  [[nodiscard]] Fiber* next_fiber();
  [[nodiscard]] Fiber* idle_fiber();
  void make_ready(unsigned thread);
  void try_open_barrier();
  void open_barrier();
  void check_same_line(unsigned warp);
  void try_release(unsigned warp, std::uint32_t mask);
  void compute(unsigned warp, std::uint32_t lanes);
  [[nodiscard]] unsigned long long folded(unsigned warp, std::uint32_t lanes) const;
  bool release_active();
  [[nodiscard]] std::string divergence() const;
  [[nodiscard]] Failure signal_failure() const;
  [[nodiscard]] unsigned random(unsigned below);

  Stacks stacks_;
  std::vector<Fiber> fibers_;  // kMaxThreads + 1: never moves
  std::size_t made_ = 0;       // fibers with a context
  std::vector<Fiber*> idle_;
  Fiber scheduler_;
  Fiber* running_ = nullptr;
  const LaunchShape* launch_ = nullptr;
  sweep_simt::ThreadLoop loop_{};
  std::vector<Thread> threads_;
  std::array<Warp, kMaxThreads / kLanes> warps_{};
  // Ring of thread numbers, each at most once.
  std::array<std::uint16_t, kMaxThreads> ready_{};
  unsigned ready_head_ = 0;
  unsigned ready_tail_ = 0;
  unsigned warps_used_ = 0;
  unsigned alive_ = 0;
  unsigned at_barrier_ = 0;
  sweep_simt::Vote vote_ = sweep_simt::Vote::none;
  unsigned vote_true_ = 0;
  unsigned failed_exchanges_ = 0;
  std::uint64_t random_state_ = 0;
  std::string failure_;
  sigjmp_buf escape_;
  int signal_ = 0;
  const void* signal_address_ = nullptr;
};

}  // namespace sweep::device::cpu
