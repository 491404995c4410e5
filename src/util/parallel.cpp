#include "util/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace sweep::util {

void in_parallel(std::size_t count,
                 unsigned workers,
                 const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::mutex lock;
  std::exception_ptr failure;
  const auto take = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard hold(lock);
        failure = failure ? failure : std::current_exception();
        next = count;
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < std::min<std::size_t>(workers, count); ++i) {
      threads.emplace_back(take);
    }
    take();
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

}  // namespace sweep::util
