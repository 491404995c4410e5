#pragma once

#include "device/cuda/code.h"
#include "device/cuda/driver.h"
#include "device/device.h"

#include <optional>
#include <string>
#include <vector>

namespace sweep::device::cuda {

// Parameters of a kernel's node, its tensor maps encoded; valid as long as this object.
class NodeParameters {
 public:
  NodeParameters(const Driver& driver, const Launch& launch, CUfunction function);
  NodeParameters(const NodeParameters&) = delete;
  NodeParameters& operator=(const NodeParameters&) = delete;
  ~NodeParameters() = default;

  // Why a tensor map could not be encoded.
  [[nodiscard]] const std::optional<Fault>& fault() const { return fault_; }

  [[nodiscard]] const CUDA_KERNEL_NODE_PARAMS* get() const { return &node_; }

 private:
  std::vector<std::vector<std::byte>> arguments_;
  std::vector<void*> pointers_;
  CUDA_KERNEL_NODE_PARAMS node_{};
  std::optional<Fault> fault_;
};

// Appends one node after another to a graph. A node begins when all before it have ended; only a
// launch with an early start, after a launch, begins when the blocks of that one allow it. Every
// later node that is no such launch waits for both. What the driver or the kernel's declaration
// refuses is a Fault of kind launch.
class ChainBuilder {
 public:
  ChainBuilder(const Driver& api,
               CUcontext context,
               CUgraph graph,
               const CudaModule& module,
               std::size_t max_shared_bytes)
      : api_(api),
        context_(context),
        graph_(graph),
        module_(module),
        max_shared_bytes_(max_shared_bytes) {}

  [[nodiscard]] std::optional<Fault> operator()(const Launch& launch);
  [[nodiscard]] std::optional<Fault> operator()(const Memset& step);
  [[nodiscard]] std::optional<Fault> operator()(const Memcpy& step);
  [[nodiscard]] std::optional<Fault> record(CUevent event);

  // The node of the step that was added last.
  [[nodiscard]] CUgraphNode last() const { return ends_.empty() ? nullptr : ends_.back(); }

 private:
  [[nodiscard]] std::optional<Fault> check_arguments(const Launch& launch,
                                                     CUfunction function) const;
  [[nodiscard]] std::optional<Fault> allow_shared(const Launch& launch, CUfunction function) const;
  [[nodiscard]] std::optional<Fault> allow_cluster(const Launch& launch, CUfunction function);
  [[nodiscard]] std::optional<Fault> set_attributes(const Launch& launch, CUgraphNode node) const;
  [[nodiscard]] std::optional<Fault> start_early(const Launch& launch, CUgraphNode before);

  // Calls add(node, dependencies, count) for a node that waits for all before it.
  template <typename Add>
  std::optional<Fault> added(const std::string& what, const Add& add);

  const Driver& api_;
  CUcontext context_;
  CUgraph graph_;
  const CudaModule& module_;
  std::size_t max_shared_bytes_;
  // Nodes that may still run when all others have ended; the last is the one added last. More than
  // one only after an early start.
  std::vector<CUgraphNode> ends_;
  bool after_launch_ = false;
  bool sets_cluster_ = false;  // of the launch being added
};

}  // namespace sweep::device::cuda
