#ifdef SWEEP_HAVE_CUDA
#include "device/cuda/code.h"

#include "util/error.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

namespace sweep::device::cuda {
namespace {

constexpr std::size_t kSharedWithoutOptIn = 48 * 1024;

bool is_elf(const std::vector<std::byte>& bytes) {
  return bytes.size() > 64 && std::memcmp(bytes.data(),
                                          "\x7f"
                                          "ELF",
                                          4) == 0;
}

Fault launch_fault(const Launch& launch, const std::string& what) {
  return {Fault::Kind::launch, "kernel " + launch.kernel + ": " + what};
}

}  // namespace

std::vector<std::size_t> parameter_bytes(const Driver& driver, CUfunction function) {
  std::vector<std::size_t> out;
  for (;;) {
    std::size_t offset = 0;
    std::size_t size = 0;
    const CUresult result = driver.cuFuncGetParamInfo_(function, out.size(), &offset, &size);
    if (result == CUDA_ERROR_INVALID_VALUE) {
      return out;  // past the last parameter
    }
    driver.check(result, "cuFuncGetParamInfo");
    out.push_back(size);
  }
}

std::variant<std::unique_ptr<CudaModule>, Fault> CudaModule::load(
    std::shared_ptr<const Driver> driver, const Image& image) {
  if (!is_elf(image.bytes)) {
    return Fault{Fault::Kind::launch, "the image is not a cubin"};
  }
  std::unique_ptr<CudaModule> out(new CudaModule(std::move(driver)));
  const Driver& api = *out->driver_;
  if (const CUresult result = api.cuModuleLoadData_(&out->module_, image.bytes.data());
      result != CUDA_SUCCESS) {
    return api.fault(result, Fault::Kind::launch);
  }
  for (const Kernel& kernel : image.kernels) {
    CUfunction function = nullptr;
    const CUresult result =
        api.cuModuleGetFunction_(&function, out->module_, kernel.lowered.c_str());
    if (result != CUDA_SUCCESS) {
      Fault fault = api.fault(result, Fault::Kind::launch);
      fault.text = "kernel " + kernel.name + ": " + fault.text;
      return fault;
    }
    out->functions_[kernel.name] = function;
    const int local = out->attribute(function, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
    out->local_bytes_ = std::max(out->local_bytes_, static_cast<std::size_t>(local));
  }
  return out;
}

CudaModule::~CudaModule() {
  if (module_ != nullptr) {
    driver_->cuModuleUnload_(module_);  // fails after a fault; the process ends then
  }
}

CUfunction CudaModule::find(std::string_view kernel) const {
  const auto found = functions_.find(kernel);
  return found == functions_.end() ? nullptr : found->second;
}

CUfunction CudaModule::get(std::string_view kernel) const {
  if (CUfunction function = find(kernel)) {
    return function;
  }
  throw util::InfraError({"cuda", "no kernel `" + std::string(kernel) + "` in the image", ""},
                         "E_DEVICE");
}

int CudaModule::attribute(CUfunction function, CUfunction_attribute attribute) const {
  int value = 0;
  driver_->check(driver_->cuFuncGetAttribute_(&value, attribute, function), "cuFuncGetAttribute");
  return value;
}

FunctionFacts CudaModule::facts(std::string_view kernel) const {
  CUfunction function = get(kernel);
  const auto bytes = [&](CUfunction_attribute name) {
    return static_cast<std::size_t>(attribute(function, name));
  };
  return {attribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS),
          bytes(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
          bytes(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
          attribute(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
          parameter_bytes(*driver_, function)};
}

int CudaModule::occupancy(std::string_view kernel, int threads, std::size_t shared_bytes) const {
  CUfunction function = get(kernel);
  if (threads <= 0) {
    return 0;
  }
  if (shared_bytes > kSharedWithoutOptIn &&
      driver_->cuFuncSetAttribute_(function,
                                   CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                   static_cast<int>(shared_bytes)) != CUDA_SUCCESS) {
    return 0;
  }
  int blocks = 0;
  const CUresult result = driver_->cuOccupancyMaxActiveBlocksPerMultiprocessor_(
      &blocks, function, threads, shared_bytes);
  if (result == CUDA_ERROR_INVALID_VALUE) {
    return 0;
  }
  driver_->check(result, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  return blocks;
}

namespace {

// Parameters of a kernel's node; valid as long as this object.
class NodeParameters {
 public:
  NodeParameters(const Launch& launch, CUfunction function) : arguments_(launch.arguments) {
    for (auto& bytes : arguments_) {
      pointers_.push_back(bytes.data());
    }
    node_.func = function;
    node_.gridDimX = launch.grid[0];
    node_.gridDimY = launch.grid[1];
    node_.gridDimZ = launch.grid[2];
    node_.blockDimX = launch.block[0];
    node_.blockDimY = launch.block[1];
    node_.blockDimZ = launch.block[2];
    node_.sharedMemBytes = launch.shared_bytes;
    node_.kernelParams = pointers_.data();
  }

  NodeParameters(const NodeParameters&) = delete;
  NodeParameters& operator=(const NodeParameters&) = delete;

  [[nodiscard]] const CUDA_KERNEL_NODE_PARAMS* get() const { return &node_; }

 private:
  std::vector<std::vector<std::byte>> arguments_;
  std::vector<void*> pointers_;
  CUDA_KERNEL_NODE_PARAMS node_{};
};

// Appends one node after another to a graph.
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

  std::optional<Fault> operator()(const Launch& launch) {
    CUfunction function = module_.find(launch.kernel);
    if (function == nullptr) {
      return launch_fault(launch, "not in the image");
    }
    if (auto fault = check_arguments(launch, function)) {
      return fault;
    }
    if (auto fault = allow_shared(launch, function)) {
      return fault;
    }
    const NodeParameters node(launch, function);
    return added(launch.kernel, [&](CUgraphNode* out, const CUgraphNode* after, std::size_t count) {
      return api_.cuGraphAddKernelNode_(out, graph_, after, count, node.get());
    });
  }

  std::optional<Fault> record(CUevent event) {
    return added("event", [&](CUgraphNode* out, const CUgraphNode* after, std::size_t count) {
      return api_.cuGraphAddEventRecordNode_(out, graph_, after, count, event);
    });
  }

  // The node of the step that was added last.
  [[nodiscard]] CUgraphNode last() const { return last_; }

  std::optional<Fault> operator()(const Memset& step) {
    const bool words = step.to % 4 == 0 && step.bytes % 4 == 0;
    CUDA_MEMSET_NODE_PARAMS node{};
    node.dst = step.to;
    node.elementSize = words ? 4 : 1;
    node.width = step.bytes / node.elementSize;
    node.height = 1;
    if (step.bytes == 0) {
      return std::nullopt;
    }
    return added("memset", [&](CUgraphNode* out, const CUgraphNode* after, std::size_t count) {
      return api_.cuGraphAddMemsetNode_(out, graph_, after, count, &node, context_);
    });
  }

  std::optional<Fault> operator()(const Memcpy& step) {
    CUDA_MEMCPY3D node{};
    node.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    node.srcDevice = step.from;
    node.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    node.dstDevice = step.to;
    node.WidthInBytes = step.bytes;
    node.Height = 1;
    node.Depth = 1;
    if (step.bytes == 0) {
      return std::nullopt;
    }
    return added("copy", [&](CUgraphNode* out, const CUgraphNode* after, std::size_t count) {
      return api_.cuGraphAddMemcpyNode_(out, graph_, after, count, &node, context_);
    });
  }

 private:
  std::optional<Fault> check_arguments(const Launch& launch, CUfunction function) const {
    const auto sizes = parameter_bytes(api_, function);
    if (sizes.size() != launch.arguments.size()) {
      return launch_fault(launch,
                          "takes " + std::to_string(sizes.size()) + " arguments, got " +
                              std::to_string(launch.arguments.size()));
    }
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] != launch.arguments[i].size()) {
        return launch_fault(launch,
                            "argument " + std::to_string(i + 1) + " has " +
                                std::to_string(sizes[i]) + " bytes, got " +
                                std::to_string(launch.arguments[i].size()));
      }
    }
    return std::nullopt;
  }

  std::optional<Fault> allow_shared(const Launch& launch, CUfunction function) const {
    if (launch.shared_bytes > max_shared_bytes_) {
      return launch_fault(launch,
                          "wants " + std::to_string(launch.shared_bytes) +
                              " bytes of dynamic shared memory, the device allows " +
                              std::to_string(max_shared_bytes_));
    }
    if (launch.shared_bytes <= kSharedWithoutOptIn) {
      return std::nullopt;
    }
    const CUresult result =
        api_.cuFuncSetAttribute_(function,
                                 CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                 static_cast<int>(launch.shared_bytes));
    if (result == CUDA_SUCCESS) {
      return std::nullopt;
    }
    Fault fault = api_.fault(result, Fault::Kind::launch);
    return launch_fault(launch, fault.text);
  }

  template <typename Add>
  std::optional<Fault> added(const std::string& what, Add&& add) {
    CUgraphNode node = nullptr;
    const CUresult result =
        add(&node, last_ == nullptr ? nullptr : &last_, last_ == nullptr ? 0U : 1U);
    if (result != CUDA_SUCCESS) {
      Fault fault = api_.fault(result, Fault::Kind::launch);
      fault.text = what + ": " + fault.text;
      return fault;
    }
    last_ = node;
    return std::nullopt;
  }

  const Driver& api_;
  CUcontext context_;
  CUgraph graph_;
  const CudaModule& module_;
  std::size_t max_shared_bytes_;
  CUgraphNode last_ = nullptr;
};

}  // namespace

std::variant<std::unique_ptr<CudaSequence>, Fault> CudaSequence::make(
    std::shared_ptr<const Driver> driver,
    CUcontext context,
    const CudaModule& module,
    std::span<const Step> steps,
    std::size_t max_shared_bytes) {
  std::unique_ptr<CudaSequence> out(new CudaSequence(std::move(driver)));
  const Driver& api = *out->driver_;
  api.check(api.cuGraphCreate_(&out->graph_, 0), "cuGraphCreate");
  api.check(api.cuEventCreate_(&out->start_, CU_EVENT_DEFAULT), "cuEventCreate");
  api.check(api.cuEventCreate_(&out->stop_, CU_EVENT_DEFAULT), "cuEventCreate");
  ChainBuilder append(api, context, out->graph_, module, max_shared_bytes);
  if (auto fault = append.record(out->start_)) {
    return *fault;
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (auto fault = std::visit(append, steps[i])) {
      return *fault;
    }
    if (const auto* launch = std::get_if<Launch>(&steps[i])) {
      out->kernels_.push_back({append.last(), module.find(launch->kernel), i});
    }
  }
  if (auto fault = append.record(out->stop_)) {
    return *fault;
  }
  if (const CUresult result = api.cuGraphInstantiate_(&out->exec_, out->graph_, 0);
      result != CUDA_SUCCESS) {
    return api.fault(result, Fault::Kind::launch);
  }
  return out;
}

double CudaSequence::seconds() const {
  float milliseconds = 0;
  driver_->check(driver_->cuEventElapsedTime_(&milliseconds, start_, stop_), "cuEventElapsedTime");
  return static_cast<double>(milliseconds) * 1e-3;
}

bool CudaSequence::update(std::span<const Step> steps) {
  return std::ranges::all_of(kernels_, [&](const KernelNode& kernel) {
    const auto* launch =
        kernel.step < steps.size() ? std::get_if<Launch>(&steps[kernel.step]) : nullptr;
    if (launch == nullptr) {
      return false;
    }
    const NodeParameters node(*launch, kernel.function);
    return driver_->cuGraphExecKernelNodeSetParams_(exec_, kernel.node, node.get()) == CUDA_SUCCESS;
  });
}

CudaSequence::~CudaSequence() {
  if (exec_ != nullptr) {
    driver_->cuGraphExecDestroy_(exec_);
  }
  if (graph_ != nullptr) {
    driver_->cuGraphDestroy_(graph_);
  }
  for (CUevent event : {start_, stop_}) {
    if (event != nullptr) {
      driver_->cuEventDestroy_(event);
    }
  }
}

}  // namespace sweep::device::cuda
#endif
