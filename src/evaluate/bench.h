#pragma once

#include "device/device.h"
#include "evaluate/engine.h"
#include "evaluate/probe.h"
#include "evaluate/store.h"
#include "evaluate/window.h"
#include "problem/draw.h"
#include "problem/fill.h"
#include "problem/problem.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::evaluate {

// Pattern for outputs and scratch before a call. Not a value that a kernel could have meant: as f16
// a NaN, as f32, f64, bf16 and integers huge, as bool neither 0 nor 1; sign and twelve further bits
// follow from the number.
[[nodiscard]] std::uint32_t poison_word(std::uint64_t number);

// The judge's buffers for one set of dims at a time. Runners map `shared`, with edges of its own
// for each rank; `pristine` never leaves the judge. What a runner reaches behind the last element
// and before the first one must keep the pattern. Around inputs lies a pattern, too.
class Bench {
 public:
  struct Slot {
    problem::ConcreteTensor tensor;
    std::vector<Window> shared;  // one, or one of each rank
    Window pristine;             // inputs and inout; all ranks, one after another

    [[nodiscard]] bool is_input() const { return tensor.role == problem::Role::input; }

    // Bytes of one window.
    [[nodiscard]] std::size_t part() const {
      return static_cast<std::size_t>(tensor.bytes) / shared.size();
    }
  };

  // Inputs, inout and outputs in the order of candidate_signature(). Throws util::InfraError when
  // the device is full.
  Bench(device::Device& device,
        Engine& engine,
        const problem::Problem& problem,
        const problem::Draw& draw);

  // Makes it a bench for the dims of `draw` with the buffers that it has, so that runners keep
  // their mappings. False, and nothing has changed, if they do not fit.
  [[nodiscard]] bool reshape(const problem::Draw& draw);

  // Whose windows a seat maps first, modulo the slots: a runner gives another set the same
  // addresses otherwise.
  void map_from(std::size_t slot) { first_ = slot; }

  [[nodiscard]] std::size_t first_mapped() const {
    return slots_.empty() ? 0 : first_ % slots_.size();
  }

  // Changes with every reshape().
  [[nodiscard]] int version() const { return version_; }

  [[nodiscard]] const std::vector<Slot>& slots() const { return slots_; }

  [[nodiscard]] const Slot& slot(std::string_view name) const;

  // New content everywhere. The draw must have this bench's dims.
  void fill(const problem::Draw& draw);
  // The same from a plan of such a draw.
  void fill(const problem::FillPlan& plan);

  // Changes one element of the content that is there.
  void perturb(const Perturbation& change);

  // Outputs poisoned, inout restored. `keep_outputs`: only what lies around an output is poisoned
  // (Defence::poison off).
  void before_call(std::uint32_t poison, bool keep_outputs = false);

  // What a call must leave alone: empty if intact.
  struct Damage {
    std::string input;  // this input changed
    std::string slack;  // something was written behind the end of this output
    std::string front;  // or before its start
  };

  [[nodiscard]] Damage damage();

  // A copy of every output and inout as it is now, all ranks one after another.
  [[nodiscard]] Tensors outputs(Store& store);
  // Whether every output and inout still has the bits of `copy`.
  [[nodiscard]] bool outputs_equal(const Tensors& copy);

  // The output or inout that has other bits than in `copy` on a rank beside `rank`; empty: none.
  [[nodiscard]] std::string changed_beside(std::size_t rank, const Tensors& copy);

  // An inout tensor as the call found it, on the host.
  [[nodiscard]] std::vector<std::byte> read_pristine(const Slot& slot);

  [[nodiscard]] std::uint32_t poison() const { return poison_; }

  // For what a seat shows its runner besides.
  [[nodiscard]] device::Device& device() const { return device_; }

 private:
  void surround(const Slot& slot, std::size_t number);
  void share(const Slot& slot);

  device::Device& device_;
  Engine& engine_;
  const problem::Problem& problem_;
  std::vector<Slot> slots_;
  std::uint32_t poison_ = 0;
  int version_ = 0;
  std::size_t first_ = 0;
};

}  // namespace sweep::evaluate
