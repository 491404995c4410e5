#include "util/heap.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

namespace sweep::util {

void expect_much_memory(std::size_t bytes) {
  constexpr std::size_t kLargePage = std::size_t{2} << 20U;
  constexpr int kOfItsOwn = 32 << 20;  // larger blocks are mapped alone; glibc takes no more
  constexpr int kStep = 1 << 20;
  const auto most = static_cast<int>(
      std::min<std::size_t>(bytes, static_cast<std::size_t>(std::numeric_limits<int>::max() / 2)));
  if (::mallopt(M_MMAP_THRESHOLD, kOfItsOwn) == 0 || ::mallopt(M_TRIM_THRESHOLD, most) == 0 ||
      ::mallopt(M_TOP_PAD, most) == 0) {
    return;
  }
  const auto begin = reinterpret_cast<std::uintptr_t>(::sbrk(0));
  void* volatile step = std::malloc(kStep);  // more than the heap has: it grows
  std::free(step);
  const auto end = reinterpret_cast<std::uintptr_t>(::sbrk(0));
  (void)::mallopt(M_TOP_PAD, kStep);
  const std::uintptr_t first = (begin + kLargePage - 1) / kLargePage * kLargePage;
  if (end > first) {
    (void)::madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
  }
}

}  // namespace sweep::util
