#ifdef SWEEP_HAVE_CUDA
#include "device/cuda/driver.h"

#include "util/error.h"

#include <array>
#include <cstdlib>

namespace sweep::device::cuda {
namespace {

[[noreturn]] void throw_no_driver(const std::string& what, const std::string& next) {
  throw util::UsageError({"no GPU", what, next}, "E_NO_DRIVER");
}

// Read by the driver at cuInit: a cubin is loaded as it is or not at all, nothing is written to
// ~/.nv, and loading happens when asked for, not inside the first timed launch. Who starts a
// process for a profiler may leave PTX to it: Nsight Compute adds code of its own; who starts one
// for a vendor library lets it load what it calls.
void fix_environment() {
  struct Variable {
    const char* name;
    const char* value;
    int overwrite;
  };

  for (const Variable& v : std::array<Variable, 4>{{{"CUDA_DISABLE_PTX_JIT", "1", 0},
                                                    {"CUDA_CACHE_DISABLE", "1", 1},
                                                    {"CUDA_MODULE_LOADING", "EAGER", 0},
                                                    {"CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1}}}) {
    const char* name = v.name;
    if (setenv(name, v.value, v.overwrite) != 0) {
      util::throw_errno("setenv", name);
    }
  }
}

}  // namespace

// Two steps, so that cuda.h's mapping of a name to its version is applied before it is made text.
#define SWEEP_CUDA_TEXT(name) #name
#define SWEEP_CUDA_SYMBOL(name) SWEEP_CUDA_TEXT(name)

std::string Driver::bind() {
  std::string missing;
#define SWEEP_CUDA_BIND(name)                                                           \
  if (auto* function = library_.symbol(SWEEP_CUDA_SYMBOL(name)); function != nullptr) { \
    name##_ = reinterpret_cast<decltype(name##_)>(function);                            \
  } else {                                                                              \
    missing += (missing.empty() ? "" : ", ") + std::string(SWEEP_CUDA_SYMBOL(name));    \
  }
  SWEEP_CUDA_FUNCTIONS(SWEEP_CUDA_BIND)
#undef SWEEP_CUDA_BIND
  return missing;
}

std::shared_ptr<const Driver> Driver::load() {
  const std::array<std::filesystem::path, 1> candidates{"libcuda.so.1"};
  return load(candidates);
}

std::shared_ptr<const Driver> Driver::load(std::span<const std::filesystem::path> candidates) {
  std::string reasons;
  auto library = SharedLibrary::open(candidates, reasons);
  if (!library) {
    throw_no_driver("libcuda.so.1 not found (driver missing or container without --gpus)",
                    "try --device cpu (correctness only), or install the NVIDIA driver");
  }
  const std::shared_ptr<Driver> driver(new Driver(std::move(*library)));
  if (const std::string missing = driver->bind(); !missing.empty()) {
    throw_no_driver(
        "the NVIDIA driver is too old: " + driver->library_.path().string() + " lacks " + missing,
        "install driver 580 or newer, or use --device cpu (correctness only)");
  }
  fix_environment();
  if (const CUresult result = driver->cuInit_(0); result != CUDA_SUCCESS) {
    throw_no_driver("cuInit failed: " + driver->text(result),
                    "run nvidia-smi to see the driver's state, or use --device cpu "
                    "(correctness only)");
  }
  return driver;
}

std::string Driver::text(CUresult result) const {
  const char* words = nullptr;
  if (cuGetErrorString_(result, &words) != CUDA_SUCCESS || words == nullptr) {
    words = "unknown";
  }
  return "CUDA error " + std::to_string(static_cast<int>(result)) + " (" + words + ")";
}

void Driver::check(CUresult result, const char* call) const {
  if (result == CUDA_SUCCESS) {
    return;
  }
  const bool memory = result == CUDA_ERROR_OUT_OF_MEMORY;
  throw util::InfraError(
      {"cuda",
       std::string(call) + " failed: " + text(result),
       memory ? "free device memory (nvidia-smi lists its users)" : "run `sweep doctor`"},
      memory ? "E_DEVICE_MEMORY" : "E_DEVICE");
}

Fault Driver::fault(CUresult result, Fault::Kind kind_if_unknown) const {
  const auto kind = fault_kind(result, kind_if_unknown);
  if (!kind) {
    check(result, "running a kernel");
  }
  return {kind.value_or(Fault::Kind::other), text(result)};
}

std::optional<Fault::Kind> fault_kind(CUresult result, Fault::Kind kind_if_unknown) {
  switch (result) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_SYSTEM_NOT_READY:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_NOT_INITIALIZED:
      return std::nullopt;
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
      return Fault::Kind::memory;
    case CUDA_ERROR_LAUNCH_TIMEOUT:
      return Fault::Kind::timeout;
    case CUDA_ERROR_OUT_OF_MEMORY:
      return Fault::Kind::out_of_memory;
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_JIT_COMPILATION_DISABLED:
    case CUDA_ERROR_NOT_FOUND:
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
    case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE:
    case CUDA_ERROR_INVALID_CLUSTER_SIZE:
      return Fault::Kind::launch;
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_ASSERT:
      return Fault::Kind::other;
    default:
      return kind_if_unknown;
  }
}

}  // namespace sweep::device::cuda
#endif
