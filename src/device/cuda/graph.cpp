#ifdef SWEEP_HAVE_CUDA
#include "device/cuda/graph.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace sweep::device::cuda {
namespace {

// More blocks a cluster only where the function is told so.
constexpr unsigned kPortableCluster = 8;
// After so many early starts in a row one launch waits for all before it: whatever comes last has
// an edge from each that may still run.
constexpr std::size_t kMaxOverlap = 64;

Fault launch_fault(const Launch& launch, const std::string& what) {
  return {Fault::Kind::launch, "kernel " + launch.kernel + ": " + what};
}

std::string text_of(const std::array<std::uint32_t, 3>& e) {
  return "(" + std::to_string(e[0]) + ", " + std::to_string(e[1]) + ", " + std::to_string(e[2]) +
         ")";
}

CUtensorMapDataType data_type(TensorMap::Type type) {
  switch (type) {
    case TensorMap::Type::u8:
      return CU_TENSOR_MAP_DATA_TYPE_UINT8;
    case TensorMap::Type::u16:
      return CU_TENSOR_MAP_DATA_TYPE_UINT16;
    case TensorMap::Type::u32:
      return CU_TENSOR_MAP_DATA_TYPE_UINT32;
    case TensorMap::Type::i32:
      return CU_TENSOR_MAP_DATA_TYPE_INT32;
    case TensorMap::Type::u64:
      return CU_TENSOR_MAP_DATA_TYPE_UINT64;
    case TensorMap::Type::i64:
      return CU_TENSOR_MAP_DATA_TYPE_INT64;
    case TensorMap::Type::f16:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case TensorMap::Type::f32:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case TensorMap::Type::f64:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
    case TensorMap::Type::bf16:
      return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  }
  return CU_TENSOR_MAP_DATA_TYPE_UINT8;
}

CUtensorMapSwizzle swizzle(unsigned bytes) {
  return bytes == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
         : bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
         : bytes == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                       : CU_TENSOR_MAP_SWIZZLE_NONE;
}

CUtensorMapL2promotion promotion(unsigned bytes) {
  return bytes == 256   ? CU_TENSOR_MAP_L2_PROMOTION_L2_256B
         : bytes == 128 ? CU_TENSOR_MAP_L2_PROMOTION_L2_128B
         : bytes == 64  ? CU_TENSOR_MAP_L2_PROMOTION_L2_64B
                        : CU_TENSOR_MAP_L2_PROMOTION_NONE;
}

// Puts the descriptor into the place of what it is made of.
CUresult encode(const Driver& driver, std::vector<std::byte>& bytes) {
  TensorMap map;
  static_assert(sizeof(CUtensorMap) == sizeof map);
  std::memcpy(&map, bytes.data(), sizeof map);
  CUtensorMap made{};
  if (map.rank > map.dims.size()) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (map.rank > 0) {
    std::array<cuuint64_t, 5> dims{};
    std::array<cuuint64_t, 4> strides{};
    std::array<cuuint32_t, 5> box{};
    std::array<cuuint32_t, 5> steps{};
    std::copy(map.dims.begin(), map.dims.end(), dims.begin());
    std::copy(map.strides.begin(), map.strides.end(), strides.begin());
    std::copy(map.box.begin(), map.box.end(), box.begin());
    std::copy(map.steps.begin(), map.steps.end(), steps.begin());
    const CUresult result = driver.cuTensorMapEncodeTiled_(
        &made,
        data_type(map.type),
        map.rank,
        reinterpret_cast<void*>(map.address),
        dims.data(),
        strides.data(),
        box.data(),
        steps.data(),
        CU_TENSOR_MAP_INTERLEAVE_NONE,
        swizzle(map.swizzle),
        promotion(map.l2_bytes),
        map.nan_outside != 0 ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                             : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS) {
      return result;
    }
  }
  std::memcpy(bytes.data(), &made, sizeof made);
  return CUDA_SUCCESS;
}

}  // namespace

NodeParameters::NodeParameters(const Driver& driver, const Launch& launch, CUfunction function)
    : arguments_(launch.arguments) {
  for (const std::size_t map : launch.tensor_maps) {
    const bool whole = map < arguments_.size() && arguments_[map].size() == sizeof(TensorMap);
    const CUresult result = whole ? encode(driver, arguments_[map]) : CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS) {
      fault_ = launch_fault(
          launch,
          "the tensor map of argument " + std::to_string(map + 1) + ": " + driver.text(result));
    }
  }
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

template <typename Add>
std::optional<Fault> ChainBuilder::added(const std::string& what, const Add& add) {
  CUgraphNode node = nullptr;
  const CUresult result = add(&node, ends_.data(), ends_.size());
  if (result != CUDA_SUCCESS) {
    Fault fault = api_.fault(result, Fault::Kind::launch);
    fault.text = what + ": " + fault.text;
    return fault;
  }
  ends_ = {node};
  after_launch_ = false;
  return std::nullopt;
}

std::optional<Fault> ChainBuilder::operator()(const Launch& launch) {
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
  if (auto fault = allow_cluster(launch, function)) {
    return fault;
  }
  const NodeParameters parameters(api_, launch, function);
  if (parameters.fault()) {
    return parameters.fault();
  }
  const bool early = launch.attributes.early_start && after_launch_ && ends_.size() < kMaxOverlap;
  const std::vector<CUgraphNode> before = ends_;
  if (early) {
    ends_.clear();  // the node gets its edge in start_early()
  }
  if (auto fault =
          added(launch.kernel, [&](CUgraphNode* out, const CUgraphNode* after, std::size_t count) {
            return api_.cuGraphAddKernelNode_(out, graph_, after, count, parameters.get());
          })) {
    return fault;
  }
  after_launch_ = true;
  if (auto fault = set_attributes(launch, last())) {
    return fault;
  }
  if (early) {
    ends_.insert(ends_.begin(), before.begin(), before.end());
    return start_early(launch, before.back());
  }
  return std::nullopt;
}

std::optional<Fault> ChainBuilder::operator()(const Memset& step) {
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

std::optional<Fault> ChainBuilder::operator()(const Memcpy& step) {
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

std::optional<Fault> ChainBuilder::record(CUevent event) {
  return added("event", [&](CUgraphNode* out, const CUgraphNode* after, std::size_t count) {
    return api_.cuGraphAddEventRecordNode_(out, graph_, after, count, event);
  });
}

std::optional<Fault> ChainBuilder::check_arguments(const Launch& launch,
                                                   CUfunction function) const {
  const auto sizes = parameter_bytes(api_, function);
  if (sizes.size() != launch.arguments.size()) {
    return launch_fault(launch,
                        "takes " + std::to_string(sizes.size()) + " arguments, got " +
                            std::to_string(launch.arguments.size()));
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != launch.arguments[i].size()) {
      return launch_fault(launch,
                          "argument " + std::to_string(i + 1) + " has " + std::to_string(sizes[i]) +
                              " bytes, got " + std::to_string(launch.arguments[i].size()));
    }
  }
  return std::nullopt;
}

std::optional<Fault> ChainBuilder::allow_shared(const Launch& launch, CUfunction function) const {
  if (launch.shared_bytes > max_shared_bytes_) {
    return launch_fault(launch,
                        "wants " + std::to_string(launch.shared_bytes) +
                            " bytes of dynamic shared memory, the device allows " +
                            std::to_string(max_shared_bytes_));
  }
  if (launch.shared_bytes <= kSharedWithoutOptIn) {
    return std::nullopt;
  }
  const CUresult result = api_.cuFuncSetAttribute_(function,
                                                   CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                   static_cast<int>(launch.shared_bytes));
  if (result == CUDA_SUCCESS) {
    return std::nullopt;
  }
  return launch_fault(launch, api_.fault(result, Fault::Kind::launch).text);
}

// What the kernel's __cluster_dims__ and the launch say must agree, with each other and the grid.
std::optional<Fault> ChainBuilder::allow_cluster(const Launch& launch, CUfunction function) {
  const auto get = [&](CUfunction_attribute name) {
    int value = 0;
    api_.check(api_.cuFuncGetAttribute_(&value, name, function), "cuFuncGetAttribute");
    return static_cast<std::uint32_t>(value);
  };
  const std::array<std::uint32_t, 3> own{get(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH),
                                         get(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT),
                                         get(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH)};
  const std::array<std::uint32_t, 3>& asked = launch.attributes.cluster;
  const bool declared = own[0] != 0;
  sets_cluster_ = asked[0] != 0 && !declared;
  if (declared && asked[0] != 0 && own != asked) {
    return launch_fault(
        launch, "declares clusters of " + text_of(own) + ", the plan says " + text_of(asked));
  }
  if (!declared && asked[0] == 0 && get(CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET) != 0) {
    return launch_fault(launch, "needs a cluster size; say cluster(..) in the plan");
  }
  const std::array<std::uint32_t, 3>& cluster = declared ? own : asked;
  if (cluster[0] == 0) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < 3; ++i) {
    if (cluster.at(i) == 0 || launch.grid.at(i) % cluster.at(i) != 0) {
      return launch_fault(launch,
                          "its grid " + text_of(launch.grid) + " is no multiple of its cluster " +
                              text_of(cluster));
    }
  }
  if (cluster[0] * cluster[1] * cluster[2] <= kPortableCluster) {
    return std::nullopt;
  }
  const CUresult result =
      api_.cuFuncSetAttribute_(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
  if (result == CUDA_SUCCESS) {
    return std::nullopt;
  }
  return launch_fault(launch, api_.fault(result, Fault::Kind::launch).text);
}

std::optional<Fault> ChainBuilder::set_attributes(const Launch& launch, CUgraphNode node) const {
  const auto set = [&](CUkernelNodeAttrID name, const CUkernelNodeAttrValue& value) {
    return api_.cuGraphKernelNodeSetAttribute_(node, name, &value);
  };
  CUresult result = CUDA_SUCCESS;
  if (sets_cluster_) {
    CUkernelNodeAttrValue value{};
    value.clusterDim.x = launch.attributes.cluster[0];
    value.clusterDim.y = launch.attributes.cluster[1];
    value.clusterDim.z = launch.attributes.cluster[2];
    result = set(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, value);
  }
  if (result == CUDA_SUCCESS && launch.attributes.cooperative) {
    CUkernelNodeAttrValue value{};
    value.cooperative = 1;
    result = set(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, value);
  }
  if (result == CUDA_SUCCESS) {
    return std::nullopt;
  }
  return launch_fault(launch, "its attributes: " + api_.fault(result, Fault::Kind::launch).text);
}

// Programmatic dependent launch: the edge fires when all blocks of `before` have allowed it or
// ended. `before` stays among the ends, as the new kernel may end first.
std::optional<Fault> ChainBuilder::start_early(const Launch& launch, CUgraphNode before) {
  CUgraphNode node = last();
  CUgraphEdgeData edge{};
  edge.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
  edge.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  const CUresult result = api_.cuGraphAddDependencies_(graph_, &before, &node, &edge, 1);
  if (result == CUDA_SUCCESS) {
    return std::nullopt;
  }
  return launch_fault(launch, "pdl: " + api_.fault(result, Fault::Kind::launch).text);
}

}  // namespace sweep::device::cuda
#endif
