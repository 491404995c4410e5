#include "compile/cubin.h"
#include "compile/job.h"
#include "compile/log.h"
#include "compile/ptxas_log.h"
#include "compile/wrapper.h"
#include "util/error.h"

#include <algorithm>

#ifdef SWEEP_HAVE_CUDA
#include "device/cuda/nvrtc.h"
#include "embedded_device_headers.h"
#endif

namespace sweep::compile {

#ifdef SWEEP_HAVE_CUDA
namespace {

// Seen before the submission, whose line numbers stay as they are.
std::string prelude(const Job& job, const std::string& defines) {
  std::string text = "#pragma once\n";
  if (!job.request.device_printf) {
    text += kNoPrintf;
  }
  return text + defines;
}

device::cuda::Program program_of(const Job& job, const std::string& defines) {
  const Request& request = job.request;
  device::cuda::Program program;
  program.file = safe_file_name(request.file);
  program.source = request.source;
  program.kernels = request.kernels;
  program.options = {"--gpu-architecture=" + request.target.arch,
                     "-std=c++20",
                     "--ptxas-options=-v",
                     "--pre-include=sweep_prelude.h"};
  if (!job.cuda_include.empty()) {
    program.options.push_back("--include-path=" + job.cuda_include.native());
    program.options.push_back("--include-path=" + (job.cuda_include / "cccl").native());
  }
  if (request.flags.maxrregcount > 0) {
    program.options.push_back("--maxrregcount=" + std::to_string(request.flags.maxrregcount));
  }
  if (request.flags.fast_math) {
    program.options.emplace_back("--use_fast_math");
  }
  if (!request.contract) {
    program.options.emplace_back("--fmad=false");
  }
  program.headers.emplace_back("sweep_prelude.h", prelude(job, defines));
  for (const auto& file : embedded::device_headers()) {
    program.headers.emplace_back(std::string(file.name), std::string(file.text));
  }
  return program;
}

bool out_of_memory(const device::cuda::Compiled& compiled) {
  return compiled.error == "NVRTC_ERROR_OUT_OF_MEMORY" ||
         compiled.log.find("out of memory") != std::string::npos;
}

}  // namespace

Outcome compile_cuda(const Job& job) {
  const auto defines = define_lines(job.request.defines);
  if (!defines) {
    return failed(Result::Status::compile_error,
                  "a plan constant has a name that cannot be a macro\n");
  }
  const std::vector<std::filesystem::path> candidates = {job.nvrtc};
  const auto nvrtc = device::cuda::Nvrtc::load(candidates);
  const device::cuda::Compiled compiled = nvrtc.compile(program_of(job, *defines));
  const std::vector<std::filesystem::path> ours = {job.work};
  const std::vector<std::filesystem::path> known = {job.cuda_include};
  const PtxasReport report = read_ptxas_log(compiled.log);
  const std::string log = clean_log(report.rest, ours, known);
  if (!compiled.ok) {
    return out_of_memory(compiled)
               ? failed(Result::Status::out_of_memory, "the compiler ran out of memory\n")
               : failed(Result::Status::compile_error, log);
  }
  Assembled made{compiled.image.bytes, compiled.ptx, {}, report, log};
  for (const auto& [name, lowered] : compiled.image.kernels) {
    made.kernels.emplace_back(name, lowered);
  }
  return cubin_outcome(job, std::move(made));
}

#else

Outcome compile_cuda(const Job&) {
  throw util::UsageError(
      {"compile for cuda",
       "this program was built without the cuda device",
       "install the CUDA headers, configure with -DSWEEP_CUDA=ON and build again"},
      "E_NO_CUDA_BUILD");
}

#endif

}  // namespace sweep::compile
