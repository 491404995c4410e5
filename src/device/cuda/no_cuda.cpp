// What stands in where the build found no CUDA headers.
#ifndef SWEEP_HAVE_CUDA
#include "device/cuda/cuda_device.h"
#include "util/error.h"

namespace sweep::device::cuda {
namespace {

constexpr const char* kReason = "this build has no cuda device: cuda.h was not found";
constexpr const char* kNext =
    "build again with CUDA_HOME set to a toolkit, or use --device cpu (correctness only)";

}  // namespace

std::unique_ptr<Device> open(int index, Image /*harness*/) {
  (void)describe(index);
  return nullptr;
}

Info describe(int index) {
  throw util::UsageError({"cuda:" + std::to_string(index), kReason, kNext}, "E_NO_CUDA_BUILD");
}

bool pageable_memory(int index) {
  (void)describe(index);
  return false;
}

OwnSource own_source() {
  return {};
}

std::vector<Listed> list() {
  return {{{Kind::cuda, 0}, {}, false, std::string(kReason) + "; " + kNext}};
}

}  // namespace sweep::device::cuda
#endif
