#include "device/cpu/stacks.h"

#include "util/error.h"

#include <sys/mman.h>

namespace sweep::device::cpu {
namespace {

constexpr std::size_t kStackPage = 4096;
constexpr std::size_t kSlot = kStackBytes + kStackPage;  // guard page, then the stack
constexpr std::size_t kChunkStacks = 32;
// Stack tops at the same offset in their page would share the same few cache sets.
constexpr std::size_t kColours = 16;
constexpr std::size_t kColourBytes = 192;

char* map_chunk() {
  void* base = mmap(nullptr,
                    kSlot * kChunkStacks,
                    PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                    -1,
                    0);
  if (base == MAP_FAILED) {
    util::throw_errno("mmap", "cpu device, stacks", "lower the number of threads in a block");
  }
  char* chunk = static_cast<char*>(base);
  for (std::size_t i = 0; i < kChunkStacks; ++i) {
    if (mprotect(chunk + i * kSlot, kStackPage, PROT_NONE) != 0) {
      munmap(base, kSlot * kChunkStacks);
      util::throw_errno("mprotect", "cpu device, stacks", "raise vm.max_map_count");
    }
  }
  return chunk;
}

}  // namespace

Stacks::~Stacks() {
  for (char* chunk : chunks_) {
    munmap(chunk, kSlot * kChunkStacks);
  }
}

void* Stacks::top(std::size_t index) {
  while (index / kChunkStacks >= chunks_.size()) {
    chunks_.push_back(map_chunk());
  }
  char* end = chunks_[index / kChunkStacks] + (index % kChunkStacks + 1) * kSlot;
  return end - index % kColours * kColourBytes;
}

bool Stacks::is_guard(const void* address) const noexcept {
  const char* at = static_cast<const char*>(address);
  for (const char* chunk : chunks_) {
    if (at >= chunk && at < chunk + kSlot * kChunkStacks) {
      return static_cast<std::size_t>(at - chunk) % kSlot < kStackPage;
    }
  }
  return false;
}

}  // namespace sweep::device::cpu
