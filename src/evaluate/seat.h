#pragma once

#include "evaluate/arm.h"
#include "evaluate/bench.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sweep::evaluate {

// An arm with the buffers of one bench mapped, its scratch and its prepared plan. Must end before
// bench and arm. All ranks of a plan are played by the one arm: each has buffers and scratch of its
// own, and what peers(T) gives is a second, read-only mapping where T is an output.
class Seat {
 public:
  // Inputs are mapped with `inputs` rights. Throws ArmFault.
  Seat(Arm& arm,
       const Bench& bench,
       const problem::Problem& problem,
       std::int64_t sm_count,
       device::Access inputs = device::Access::read);
  ~Seat();
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

  // Expands and prepares the plan for the draw, which has the bench's dims; nothing to do if only
  // the content changed. `rank_order` as in submission::Binding. Scratch is kept where its sizes
  // stay. New scratch holds the poison, and the runner's context nothing of earlier. Throws
  // PlanFault or ArmFault.
  void ready(const problem::Draw& draw, std::uint32_t poison, std::uint64_t rank_order = 0);

  // What ready() will be asked for next: where only arguments differ from the plan that is ready,
  // the next call that any seat of the arm makes changes them in its turn of the device. The plan
  // that is ready stays so until ready() is called again. Throws ArmFault.
  void foresee(const problem::Draw& next);

  // One call; afterwards scratch holds the poison, and what the runner's context keeps between
  // calls is overwritten.
  [[nodiscard]] device::RunTime run(double seconds, std::uint32_t poison);

  // The ranked plan that is ready, one step at a time, as run() makes it in one: `after` is told
  // whose step it was.
  void step_through(double seconds,
                    std::uint32_t poison,
                    const std::function<void(std::size_t rank)>& after);

  // What a call launches where its tensors lie at `tensors`, in the order of the slots, with the
  // scratch of the plan that is ready. Nothing where it would need other scratch, for a library and
  // for virtual ranks. Throws PlanFault or ArmFault.
  [[nodiscard]] std::optional<std::vector<device::Step>> steps_on(
      const problem::Draw& draw, const std::vector<device::Address>& tensors);

  // run() of another sequence of the arm.
  [[nodiscard]] device::RunTime run_other(std::int64_t sequence,
                                          double seconds,
                                          std::uint32_t poison);

  // Arm::row() of the plan that is ready.
  [[nodiscard]] double row(int calls, bool flush, double seconds, std::uint32_t poison);

  // Of the plan that is ready; 0 before the first.
  [[nodiscard]] int launches() const { return static_cast<int>(steps_.size()); }

  [[nodiscard]] std::int64_t scratch_bytes() const;  // of the plan that is ready

  // Where an address of the runner lies.
  enum class Place { elsewhere, inside_input, near_buffer };
  [[nodiscard]] Place place(device::Address address) const;

 private:
  struct Foreseen {
    std::string ready_for;
    std::vector<device::Step> steps;
    std::vector<std::size_t> step_ranks;
  };

  void let_go() noexcept;
  void follow();
  void settle();
  [[nodiscard]] submission::Expansion expanded(const problem::Draw& draw, std::uint64_t rank_order);
  [[nodiscard]] std::vector<device::Step> bound(const submission::Expansion& expansion,
                                                const std::vector<device::Address>& buffers) const;
  [[nodiscard]] std::vector<device::Address> own_buffers() const;
  void load(std::vector<device::Step> steps);
  void load_library(const LibraryUse& use, const problem::Draw& draw);
  void take_scratch(const std::vector<submission::ScratchBuffer>& wanted, std::uint32_t poison);
  void show_peers(const submission::Expansion& expansion, std::vector<device::Address>& buffers);
  void put_tables(const std::vector<std::uint64_t>& words);
  [[nodiscard]] device::Address peer_address(std::size_t region);

  struct Region {
    std::int64_t buffer = 0;
    device::Address address = 0;
    std::size_t bytes = 0;
    bool writable = false;
    device::Address end = 0;  // of the mapping: contents end there
  };

  [[nodiscard]] Region mapped(const device::Buffer& buffer, device::Access access);

  Arm& arm_;
  const Bench& bench_;
  const problem::Problem& problem_;
  std::int64_t sm_count_;
  device::Access inputs_;
  std::vector<Region> regions_;  // of slots, and for each of its ranks
  std::vector<Region> scratch_regions_;
  std::map<std::size_t, Region> peers_;     // read-only mappings of outputs, by number in regions_
  std::unique_ptr<device::Buffer> tables_;  // of peers
  Region table_region_;
  std::vector<std::uint64_t> table_words_;
  std::vector<std::int64_t> sets_;
  std::vector<std::int64_t> scratch_bytes_;
  bool washed_ = false;
  int version_ = 0;        // of the bench
  std::string ready_for_;  // the scalars that the sequence was made for
  std::int64_t sequence_ = 0;
  std::vector<device::Step> steps_;  // of sequence_
  std::vector<std::size_t> step_ranks_;
  std::optional<Foreseen> foreseen_;
};

}  // namespace sweep::evaluate
