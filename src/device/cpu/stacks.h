#pragma once

#include <cstddef>
#include <vector>

namespace sweep::device::cpu {

// Stack of one CUDA thread. Arrays in a kernel that do not fit overflow into the guard page.
inline constexpr std::size_t kStackBytes = std::size_t{64} << 10;

// Fiber stacks of one OS thread, each with an unmapped guard page below it. Grows on demand and
// never shrinks.
class Stacks {
 public:
  Stacks() = default;
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;
  ~Stacks();

  // Upper end of stack `index`; maps it and those below when needed. Throws util::InfraError
  // E_DEVICE_MEMORY.
  [[nodiscard]] void* top(std::size_t index);

  // Whether `address` lies in a guard page: a thread has overrun its stack.
  [[nodiscard]] bool is_guard(const void* address) const noexcept;

 private:
  std::vector<char*> chunks_;
};

}  // namespace sweep::device::cpu
