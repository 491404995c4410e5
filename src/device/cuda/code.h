#pragma once

#include "device/cuda/driver.h"
#include "device/device.h"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace sweep::device::cuda {

// A loaded cubin and its functions.
class CudaModule final : public Module {
 public:
  // A cubin that the driver refuses, that lacks a kernel or whose kernels cannot exist on this
  // device is a Fault.
  [[nodiscard]] static std::variant<std::unique_ptr<CudaModule>, Fault> load(
      std::shared_ptr<const Driver> driver, const Image& image);

  CudaModule(const CudaModule&) = delete;
  CudaModule& operator=(const CudaModule&) = delete;
  ~CudaModule() override;

  // Throws util::InfraError for a kernel that the image was not loaded with.
  [[nodiscard]] FunctionFacts facts(std::string_view kernel) const override;

  // Resident blocks a multiprocessor; 0 where such a block cannot run.
  [[nodiscard]] int occupancy(std::string_view kernel,
                              int threads,
                              std::size_t shared_bytes) const override;

  // nullptr for a kernel that the image was not loaded with.
  [[nodiscard]] CUfunction find(std::string_view kernel) const;

  // The most local memory that a thread of any of its kernels needs.
  [[nodiscard]] std::size_t local_bytes() const { return local_bytes_; }

 private:
  explicit CudaModule(std::shared_ptr<const Driver> driver) : driver_(std::move(driver)) {}

  [[nodiscard]] CUfunction get(std::string_view kernel) const;
  [[nodiscard]] int attribute(CUfunction function, CUfunction_attribute attribute) const;

  std::shared_ptr<const Driver> driver_;
  CUmodule module_ = nullptr;
  std::map<std::string, CUfunction, std::less<>> functions_;
  std::size_t local_bytes_ = 0;
};

// Dynamic shared memory of a block that needs no permission for the function.
inline constexpr std::size_t kSharedWithoutOptIn = std::size_t{48} * 1024;

// Sizes of the kernel's parameters as the cubin declares them.
[[nodiscard]] std::vector<std::size_t> parameter_bytes(const Driver& driver, CUfunction function);

// An instantiated graph: a chain of kernel, memset and memcpy nodes, each after the one before,
// between two nodes that record events; a launch with an early start overlaps the launch before it,
// never an event. The device goes from the first event to the last without
// the host: a host thread that is held up while it launches does not lengthen what they measure.
class CudaSequence final : public Sequence {
 public:
  // A step that the driver or the kernel's declaration refuses is a Fault of kind launch.
  // `max_shared_bytes` is the device's opt-in limit a block.
  [[nodiscard]] static std::variant<std::unique_ptr<CudaSequence>, Fault> make(
      std::shared_ptr<const Driver> driver,
      CUcontext context,
      const CudaModule& module,
      std::span<const Step> steps,
      std::size_t max_shared_bytes);

  // The nodes of `body` between two events. `keeps`: what the nodes use, until the sequence ends.
  // update() is always false.
  [[nodiscard]] static std::variant<std::unique_ptr<CudaSequence>, Fault> around(
      std::shared_ptr<const Driver> driver, CUgraph body, std::shared_ptr<void> keeps);

  CudaSequence(const CudaSequence&) = delete;
  CudaSequence& operator=(const CudaSequence&) = delete;
  ~CudaSequence() override;

  [[nodiscard]] CUgraphExec exec() const { return exec_; }

  // Seconds between the two events of the last launch, which has ended. Throws util::InfraError.
  [[nodiscard]] double seconds() const;

  // Device::update(): false, and perhaps half done, where the driver refuses a node.
  [[nodiscard]] bool update(std::span<const Step> steps);

  // Brings to the device what it does not have of the graph, asynchronously on `stream`.
  [[nodiscard]] std::optional<Fault> upload(CUstream stream);

 private:
  // A kernel's node and what it was made with.
  struct KernelNode {
    CUgraphNode node = nullptr;
    CUfunction function = nullptr;
    std::size_t step = 0;
  };

  explicit CudaSequence(std::shared_ptr<const Driver> driver) : driver_(std::move(driver)) {}

  std::shared_ptr<const Driver> driver_;
  CUgraph graph_ = nullptr;
  CUgraphExec exec_ = nullptr;
  CUevent start_ = nullptr;
  CUevent stop_ = nullptr;
  std::vector<KernelNode> kernels_;
  bool updates_ = true;    // false: made anew instead
  bool uploaded_ = false;  // with all its changes
  std::shared_ptr<void> keeps_;
};

}  // namespace sweep::device::cuda
