#pragma once

#include "compile/compile.h"

#include <filesystem>
#include <string>
#include <vector>

namespace sweep::compile {

// What the compiler role is asked to do. Made by Compiler, checked again in the role.
struct Job {
  bool precompile =
      false;  // build the cpu device's precompiled header instead; `request` is unused
  bool trusted = false;
  Request request;
  std::filesystem::path work;     // private folder, current directory of the role
  std::filesystem::path headers;  // cpu: folder with include/ and pch.h(.gch)
  std::filesystem::path gxx;
  std::filesystem::path nvrtc;         // library file
  std::filesystem::path cuda_include;  // toolkit headers
  std::filesystem::path ptxas;
  std::filesystem::path nvcc;
  double seconds = 60;  // left for this job

  // Whether writable module variables are let pass.
  [[nodiscard]] bool may_keep_state() const { return trusted || request.may_keep_state; }
};

// Exit code of the role when it got no more memory.
inline constexpr int kRoleOutOfMemory = 4;

// What came of it.
struct Outcome {
  Result::Status status = Result::Status::compile_error;
  std::string log;
  std::vector<std::byte> image;  // precompile: the header file
  std::vector<CompiledKernel> kernels;
  std::string ptx;
  std::uint64_t static_bytes = 0, stack_bytes = 0;  // as in Result
  bool killed = false;  // by SIGKILL: for its own use of memory, or by someone outside
};

// Each compiles in this process's sandbox; what is wrong with the source is an Outcome. Throw
// util::InfraError where the toolchain itself does not work.
[[nodiscard]] Outcome precompile_cpu(const Job& job);
[[nodiscard]] Outcome compile_cpu(const Job& job);
[[nodiscard]] Outcome compile_cuda(const Job& job);
[[nodiscard]] Outcome compile_ptx(const Job& job);
[[nodiscard]] Outcome compile_nvcc(const Job& job);

[[nodiscard]] inline Outcome failed(Result::Status status, std::string log) {
  Outcome outcome;
  outcome.status = status;
  outcome.log = std::move(log);
  return outcome;
}

}  // namespace sweep::compile
