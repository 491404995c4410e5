#pragma once

#include "device/cuda/buffer.h"
#include "device/cuda/code.h"
#include "device/cuda/driver.h"

#include <memory>
#include <optional>
#include <vector>

namespace sweep::device::cuda {

// The harness's own kernels on one device: cache flush with its probe, and the washer. Uses the
// current context.
class Harness {
 public:
  // `image` from harness_image(). Throws util::InfraError.
  Harness(std::shared_ptr<const Driver> driver,
          int ordinal,
          const Info& info,
          CUstream stream,
          const Image& image);

  // See Device::flush_cache. Without `reset` persisting lines stay marked: only for the proof that
  // the probe sees them.
  [[nodiscard]] std::optional<double> flush(bool reset = true);

  // See Device::wash; `local_bytes` is the most local memory a thread of the candidate needs (at
  // most kMaxLocalBytes).
  void wash(std::size_t local_bytes);

  // See Device::holds.
  [[nodiscard]] std::vector<bool> holds(std::span<const Claim> claims);

  static constexpr std::size_t kMaxLocalBytes = std::size_t{256} << 10;

  // Of the calibration: cycles by which a first load of a probe line is slower than the second one,
  // for lines left in L2 and for flushed ones (medians).
  struct ProbeFacts {
    int warm_cycles = 0;
    int cold_cycles = 0;
    bool usable = false;  // the two are far enough apart to tell
  };

  // Allocates the flush buffer (2.5 L2) and measures what a probe line costs in L2 and in memory,
  // at the first call.
  [[nodiscard]] const ProbeFacts& probe_facts();

 private:
  struct Grid {
    unsigned x = 1, y = 1;
  };

  void launch(const char* kernel,
              Grid grid,
              unsigned block,
              std::size_t shared_bytes,
              std::span<void*> arguments);
  [[nodiscard]] std::unique_ptr<VmmBuffer> zeroed(std::size_t bytes) const;
  void touch_probe(bool hostile);
  [[nodiscard]] std::vector<int> time_probe();  // first minus second load, cycles, by line
  void write_and_read();
  [[nodiscard]] unsigned search_blocks(std::size_t items) const;
  [[nodiscard]] ProbeFacts calibrate();

  std::shared_ptr<const Driver> driver_;
  int ordinal_;
  CUstream stream_;
  unsigned sm_count_;
  std::size_t max_shared_bytes_;
  std::size_t l2_bytes_;
  std::unique_ptr<CudaModule> module_;
  std::unique_ptr<VmmBuffer> flush_;
  std::unique_ptr<VmmBuffer> probe_;
  std::unique_ptr<VmmBuffer> words_;  // results, sinks and the washer's counter
  std::uint32_t call_ = 0;
  std::optional<ProbeFacts> facts_;
};

}  // namespace sweep::device::cuda
