#ifdef SWEEP_HAVE_CUDA
#include "device/cuda/code.h"

#include "device/cuda/graph.h"
#include "util/error.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

namespace sweep::device::cuda {
namespace {

bool is_elf(const std::vector<std::byte>& bytes) {
  return bytes.size() > 64 && std::memcmp(bytes.data(),
                                          "\x7f"
                                          "ELF",
                                          4) == 0;
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
    if (auto fault = std::visit([&](const auto& step) { return append(step); }, steps[i])) {
      return *fault;
    }
    if (const auto* launch = std::get_if<Launch>(&steps[i])) {
      out->kernels_.push_back({append.last(), module.find(launch->kernel), i});
      // The driver does not say whether a node keeps these when its arguments change.
      out->updates_ =
          out->updates_ && launch->attributes.cluster[0] == 0 && !launch->attributes.cooperative;
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

std::variant<std::unique_ptr<CudaSequence>, Fault> CudaSequence::around(
    std::shared_ptr<const Driver> driver, CUgraph body, std::shared_ptr<void> keeps) {
  std::unique_ptr<CudaSequence> out(new CudaSequence(std::move(driver)));
  out->updates_ = false;
  out->keeps_ = std::move(keeps);
  const Driver& api = *out->driver_;
  api.check(api.cuGraphCreate_(&out->graph_, 0), "cuGraphCreate");
  api.check(api.cuEventCreate_(&out->start_, CU_EVENT_DEFAULT), "cuEventCreate");
  api.check(api.cuEventCreate_(&out->stop_, CU_EVENT_DEFAULT), "cuEventCreate");
  CUgraphNode begin = nullptr, middle = nullptr, end = nullptr;
  CUresult result = api.cuGraphAddEventRecordNode_(&begin, out->graph_, nullptr, 0, out->start_);
  if (result == CUDA_SUCCESS) {
    result = api.cuGraphAddChildGraphNode_(&middle, out->graph_, &begin, 1, body);
  }
  if (result == CUDA_SUCCESS) {
    result = api.cuGraphAddEventRecordNode_(&end, out->graph_, &middle, 1, out->stop_);
  }
  if (result == CUDA_SUCCESS) {
    result = api.cuGraphInstantiate_(&out->exec_, out->graph_, 0);
  }
  if (result != CUDA_SUCCESS) {
    return api.fault(result, Fault::Kind::launch);
  }
  return out;
}

double CudaSequence::seconds() const {
  float milliseconds = 0;
  driver_->check(driver_->cuEventElapsedTime_(&milliseconds, start_, stop_), "cuEventElapsedTime");
  return static_cast<double>(milliseconds) * 1e-3;
}

std::optional<Fault> CudaSequence::upload(CUstream stream) {
  if (uploaded_) {
    return std::nullopt;
  }
  if (const CUresult result = driver_->cuGraphUpload_(exec_, stream); result != CUDA_SUCCESS) {
    return driver_->fault(result, Fault::Kind::launch);
  }
  uploaded_ = true;
  return std::nullopt;
}

bool CudaSequence::update(std::span<const Step> steps) {
  uploaded_ = false;
  return updates_ && std::ranges::all_of(kernels_, [&](const KernelNode& kernel) {
           const auto* launch =
               kernel.step < steps.size() ? std::get_if<Launch>(&steps[kernel.step]) : nullptr;
           if (launch == nullptr) {
             return false;
           }
           const NodeParameters node(*driver_, *launch, kernel.function);
           return !node.fault() && driver_->cuGraphExecKernelNodeSetParams_(
                                       exec_, kernel.node, node.get()) == CUDA_SUCCESS;
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
