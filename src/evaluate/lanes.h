#pragma once

#include "evaluate/bench.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sweep::evaluate {

// Buffers for several calls at the dims of a bench, each call on a content of its own: one buffer
// for each tensor, which a runner maps as a whole, as a mapping for each of hundreds would cost it
// 1.1 ms. In it the contents lie end to end, each from a multiple of 256 bytes on; what lies
// between and before outputs must keep the pattern. No guard page parts them.
class Lanes {
 public:
  // What the buffers of one call take of the judge's memory, with copies of its outputs by both
  // arms.
  [[nodiscard]] static std::size_t bytes_of(const Bench& bench);

  // Of a bench without virtual ranks. Throws util::InfraError when the device is full.
  Lanes(device::Device& device, const Bench& bench, int count, std::uint32_t poison);

  [[nodiscard]] int count() const { return count_; }

  struct Slot {
    std::string name;
    bool input = false;
    std::size_t bytes = 0, stride = 0;          // of one content, and from one to the next
    std::unique_ptr<device::Buffer> shared;     // runners map it
    std::unique_ptr<device::Buffer> pristine;   // inout
    std::unique_ptr<device::Buffer> seed, own;  // outputs of both arms, once kept
  };

  [[nodiscard]] const std::vector<Slot>& slots() const { return slots_; }

  // Takes the content of the bench for call `lane`; asynchronous until device::Device::synchronize.
  void take(int lane, const Bench& bench);

  // Outputs poisoned with all that lies around them, inout restored.
  void before_calls();

  enum class Arm { seed, candidate };

  // Copies all outputs as they are.
  void keep(Arm arm);

  // Whether outputs and what lies around them have the bits that were kept of the candidate; with
  // `calls`, those of the first so many calls.
  [[nodiscard]] bool as_kept() { return as_kept(count_); }

  [[nodiscard]] bool as_kept(int calls);

  // The first output of which a call from `first` on has other bits than before_calls() left it
  // with; empty: none.
  [[nodiscard]] std::string written_from(int first);

  // The first output around which something was written; empty: none.
  [[nodiscard]] std::string damaged();

  // Copies of one call's outputs: as they are, and as the seed's were kept.
  [[nodiscard]] Tensors outputs(int lane, Store& store);
  [[nodiscard]] Tensors seeds(int lane, Store& store);

 private:
  [[nodiscard]] std::size_t span(const Slot& slot) const {
    return slot.stride * static_cast<std::size_t>(count_);
  }

  [[nodiscard]] Tensors copies(int lane, Store& store, std::unique_ptr<device::Buffer> Slot::*from);

  device::Device& device_;
  int count_;
  std::uint32_t poison_;
  std::vector<Slot> slots_;
};

}  // namespace sweep::evaluate
