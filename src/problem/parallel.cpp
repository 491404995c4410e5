#include "problem/resolve.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace sweep::problem {

void in_parallel(std::int64_t count,
                 std::int64_t grain,
                 int threads,
                 const std::function<void(std::int64_t, std::int64_t)>& body) {
  const std::int64_t parts = (count + grain - 1) / grain;
  const auto cores = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  const std::int64_t workers = std::min<std::int64_t>(threads > 0 ? threads : cores, parts);
  if (workers <= 1) {
    if (count > 0) {
      body(0, count);
    }
    return;
  }
  std::atomic<std::int64_t> next{0};
  std::exception_ptr fault;
  std::mutex guard;
  const auto work = [&] {
    try {
      for (std::int64_t part = next++; part < parts; part = next++) {
        body(part * grain, std::min(count, (part + 1) * grain));
      }
    } catch (...) {
      const std::lock_guard lock(guard);
      fault = fault ? fault : std::current_exception();
      next = parts;
    }
  };
  std::vector<std::thread> pool;
  for (std::int64_t i = 1; i < workers; ++i) {
    pool.emplace_back(work);
  }
  work();
  for (std::thread& thread : pool) {
    thread.join();
  }
  if (fault) {
    std::rethrow_exception(fault);
  }
}

}  // namespace sweep::problem
