#pragma once

#include "device/cuda/shared_library.h"
#include "device/device.h"

#include <cuda.h>

#include <memory>
#include <span>
#include <string>
#include <utility>

// Every driver function that the harness calls. The build needs cuda.h for their types only;
// libcuda.so.1 is opened at run time. cuda.h maps a name to the version whose signature it
// declares, and the same mapping names the symbol to look up.
#define SWEEP_CUDA_FUNCTIONS(X)                  \
  X(cuInit)                                      \
  X(cuDriverGetVersion)                          \
  X(cuGetErrorString)                            \
  X(cuDeviceGetCount)                            \
  X(cuDeviceGet)                                 \
  X(cuDeviceGetName)                             \
  X(cuDeviceGetUuid)                             \
  X(cuDeviceGetAttribute)                        \
  X(cuDeviceTotalMem)                            \
  X(cuDevicePrimaryCtxRetain)                    \
  X(cuDevicePrimaryCtxRelease)                   \
  X(cuDevicePrimaryCtxSetFlags)                  \
  X(cuCtxSetCurrent)                             \
  X(cuCtxResetPersistingL2Cache)                 \
  X(cuMemGetInfo)                                \
  X(cuMemAlloc)                                  \
  X(cuMemFree)                                   \
  X(cuMemAddressReserve)                         \
  X(cuMemAddressFree)                            \
  X(cuMemCreate)                                 \
  X(cuMemRelease)                                \
  X(cuMemMap)                                    \
  X(cuMemUnmap)                                  \
  X(cuMemSetAccess)                              \
  X(cuMemGetAllocationGranularity)               \
  X(cuMemExportToShareableHandle)                \
  X(cuMemImportFromShareableHandle)              \
  X(cuMemcpyHtoDAsync)                           \
  X(cuMemcpyDtoHAsync)                           \
  X(cuMemcpyDtoDAsync)                           \
  X(cuMemsetD32Async)                            \
  X(cuStreamCreate)                              \
  X(cuStreamDestroy)                             \
  X(cuStreamSynchronize)                         \
  X(cuStreamBeginCapture)                        \
  X(cuStreamEndCapture)                          \
  X(cuEventCreate)                               \
  X(cuEventDestroy)                              \
  X(cuEventElapsedTime)                          \
  X(cuModuleLoadData)                            \
  X(cuModuleUnload)                              \
  X(cuModuleGetFunction)                         \
  X(cuFuncGetAttribute)                          \
  X(cuFuncSetAttribute)                          \
  X(cuFuncGetParamInfo)                          \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor) \
  X(cuTensorMapEncodeTiled)                      \
  X(cuLaunchKernel)                              \
  X(cuGraphCreate)                               \
  X(cuGraphDestroy)                              \
  X(cuGraphAddKernelNode)                        \
  X(cuGraphAddMemsetNode)                        \
  X(cuGraphAddMemcpyNode)                        \
  X(cuGraphAddEventRecordNode)                   \
  X(cuGraphAddChildGraphNode)                    \
  X(cuGraphGetNodes)                             \
  X(cuGraphAddDependencies)                      \
  X(cuGraphKernelNodeSetAttribute)               \
  X(cuGraphInstantiate)                          \
  X(cuGraphUpload)                               \
  X(cuGraphLaunch)                               \
  X(cuGraphExecKernelNodeSetParams)              \
  X(cuGraphExecDestroy)

namespace sweep::device::cuda {

// Table of driver functions. Functions keep cuda.h's names without their version.
class Driver {
 public:
  // Opens libcuda.so.1 (or `candidates`) and calls cuInit with the PTX JIT and its disk cache off
  // and eager loading on. Throws util::UsageError E_NO_DRIVER that says what is missing.
  [[nodiscard]] static std::shared_ptr<const Driver> load();
  [[nodiscard]] static std::shared_ptr<const Driver> load(
      std::span<const std::filesystem::path> candidates);

  // util::InfraError (E_DEVICE, or E_DEVICE_MEMORY for out of memory) unless `result` is success.
  void check(CUresult result, const char* call) const;

  // What `result` means when it came from a candidate's code. Errors that no kernel can cause (ECC,
  // a lost link, a device that went away) throw util::InfraError instead.
  [[nodiscard]] Fault fault(CUresult result, Fault::Kind kind_if_unknown) const;

  // "CUDA error 700 (an illegal memory access was encountered)".
  [[nodiscard]] std::string text(CUresult result) const;

#define SWEEP_CUDA_MEMBER(name) decltype(&::name) name##_ = nullptr;
  SWEEP_CUDA_FUNCTIONS(SWEEP_CUDA_MEMBER)
#undef SWEEP_CUDA_MEMBER

 private:
  explicit Driver(SharedLibrary library) : library_(std::move(library)) {}

  [[nodiscard]] std::string bind();

  SharedLibrary library_;
};

// The kind of fault that a driver result stands for; nullopt for one that is no kernel's doing.
[[nodiscard]] std::optional<Fault::Kind> fault_kind(CUresult result, Fault::Kind kind_if_unknown);

}  // namespace sweep::device::cuda
