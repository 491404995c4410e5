#pragma once

#include "device/cpu/block.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace sweep::device::cpu {

// A fixed set of OS threads with a block runner each; the calling thread is worker 0. Signals
// SIGSEGV, SIGBUS, SIGFPE and SIGILL in candidate code on these threads end the block
// (BlockRunner::give_up) while a Catch exists.
class Pool {
 public:
  // `threads` in all, at least 1. Threads that cannot be started are done without.
  explicit Pool(unsigned threads);
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();

  [[nodiscard]] unsigned size() const noexcept { return static_cast<unsigned>(runners_.size()); }

  // Calls work(worker, runner) once on each of the first `workers` workers and waits for all.
  void run(unsigned workers, const std::function<void(unsigned, BlockRunner&)>& work);

 private:
  void serve(unsigned worker);

  std::vector<std::unique_ptr<BlockRunner>> runners_;
  std::mutex mutex_;
  std::condition_variable start_;
  std::condition_variable done_;
  const std::function<void(unsigned, BlockRunner&)>* work_ = nullptr;
  unsigned workers_ = 0;
  unsigned pending_ = 0;
  std::uint64_t round_ = 0;
  bool stop_ = false;
  std::vector<std::jthread> threads_;
};

// Handlers for the signals of candidate code, for as long as this object lives; the former handlers
// come back afterwards. A signal outside a block is passed on to them.
class Catch {
 public:
  Catch();
  Catch(const Catch&) = delete;
  Catch& operator=(const Catch&) = delete;
  ~Catch();

 private:
  struct Former;
  std::unique_ptr<Former> former_;
};

// An alternate signal stack for the calling OS thread: candidate code may have used up its own.
class AlternateStack {
 public:
  AlternateStack();
  AlternateStack(const AlternateStack&) = delete;
  AlternateStack& operator=(const AlternateStack&) = delete;
  ~AlternateStack();

 private:
  std::vector<char> memory_;
};

}  // namespace sweep::device::cpu
