#pragma once

#include "device/device.h"
#include "submission/plan.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace sweep::compile {

struct Target {
  device::Kind kind = device::Kind::cpu;
  std::string arch;  // "sm_90a"; ignored for cpu
};

struct Request {
  std::string file;    // for messages: "mine.cu"
  std::string source;  // text as submitted
  submission::Language language = submission::Language::cuda;
  Target target;
  std::vector<std::string> kernels;                           // name expressions
  std::vector<std::pair<std::string, std::int64_t>> defines;  // plan constants
  submission::Flags flags;
  // cuda: nvcc and the host's headers in place of NVRTC. Slower; takes what NVRTC cannot, such as
  // host functions and the C++ library's headers. No effect on .ptx.
  bool nvcc = false;
  bool device_printf = false;   // false: printf in device code is discarded
  bool may_keep_state = false;  // module variables that kernels write are not refused
  bool contract = true;         // cuda; false: a * b + c is rounded twice, as on the host
};

struct CompiledKernel {
  std::string name;
  std::string lowered;
  // From the mangled name; of a plain one in a .ptx from its .param declarations; else none.
  std::optional<std::vector<submission::Parameter>> parameters;
  int registers = -1, spill_bytes = -1, shared_bytes = -1, stack_bytes = -1;  // -1: unknown (cpu)
};

// Outcome of compiling: an image, or the reason why not. Both are data.
struct Result {
  enum class Status { ok, compile_error, unsupported, forbidden, timeout, out_of_memory };
  Status status = Status::compile_error;
  std::string log;  // at most 64 KiB, head and tail kept; paths outside the sandbox withheld
  device::Image image;
  std::vector<CompiledKernel> kernels;
  std::string ptx;
  // cuda: what loading the image takes of the device's memory. Variables and constants of the
  // module, and the local memory of one resident thread (recursion not counted).
  std::uint64_t static_bytes = 0, stack_bytes = 0;
  double seconds = 0;
  bool cached = false;
  std::string key;  // cache key: source, flags, compiler, headers
};

}  // namespace sweep::compile
