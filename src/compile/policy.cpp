#include "compile/policy.h"

#include <algorithm>

#include <sys/resource.h>

namespace sweep::compile {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

enum class Tool { gxx, nvrtc, ptxas, nvcc };

Tool tool_of(const Job& job) {
  if (job.precompile || job.request.target.kind == device::Kind::cpu) {
    return Tool::gxx;
  }
  if (job.request.language == submission::Language::ptx) {
    return Tool::ptxas;
  }
  return job.request.nvcc ? Tool::nvcc : Tool::nvrtc;
}

// Folder of an installation: "/opt/gcc-13" for "/opt/gcc-13/bin/g++". Empty where that is shared
// with everything else.
std::filesystem::path installation(const std::filesystem::path& program) {
  std::error_code ignored;
  const auto file = std::filesystem::canonical(program, ignored);
  const auto folder = file.parent_path().parent_path();
  const bool shared = folder.empty() || folder == "/" || folder == "/usr" || folder == "/usr/local";
  return shared ? std::filesystem::path() : folder;
}

// g++ with its assembler, linker and the C library. Not the whole of /usr or /opt: software that
// keeps its settings there is none of the compiler's business.
void add_gxx(util::SandboxPolicy& policy, const Job& job) {
  policy.read_execute.insert(
      policy.read_execute.end(),
      {"/usr/bin", "/bin", "/usr/libexec", "/usr/local/bin", "/usr/local/libexec"});
  policy.read.insert(policy.read.end(),
                     {"/usr/include", "/usr/local/include", "/etc/alternatives"});
  if (const auto folder = installation(job.gxx); !folder.empty()) {
    policy.read_execute.push_back(folder);
  }
  policy.allow_exec = true;
}

void add_ptxas(util::SandboxPolicy& policy, const Job& job) {
  policy.read_execute.push_back(job.ptxas);
  policy.allow_exec = true;
}

// TOOLKIT/bin, TOOLKIT/nvvm and the headers.
void add_nvcc(util::SandboxPolicy& policy, const Job& job) {
  const auto toolkit = job.nvcc.parent_path().parent_path();
  policy.read_execute.push_back(job.nvcc.parent_path());
  policy.read_execute.push_back(toolkit / "nvvm");
  policy.read.push_back(toolkit / "include");
  policy.read.push_back(toolkit / "targets");
}

}  // namespace

util::SandboxPolicy role_policy(const Job& job) {
  util::SandboxPolicy policy = util::system_libraries();
  const Tool tool = tool_of(job);
  if (!job.headers.empty()) {
    policy.read.push_back(job.headers);
  }
  if (tool == Tool::gxx || tool == Tool::nvcc) {
    add_gxx(policy, job);
  }
  if (tool == Tool::ptxas || tool == Tool::nvcc) {
    add_ptxas(policy, job);
  }
  if (tool == Tool::nvcc) {
    add_nvcc(policy, job);
  }
  if (tool == Tool::nvrtc) {
    if (job.nvrtc.is_absolute()) {
      policy.read.push_back(job.nvrtc.parent_path());
    }
    policy.read.push_back(job.cuda_include);
  }
  return policy;
}

std::vector<util::ResourceLimit> role_limits(const Job& job) {
  // NVRTC maps large tables; g++ gets less so that a template bomb ends before the machine does.
  const std::uint64_t memory = (tool_of(job) == Tool::gxx ? 4 : 16) * kGiB;
  return {{RLIMIT_AS, memory},
          {RLIMIT_CPU, static_cast<std::uint64_t>(job.seconds) + 2},
          {RLIMIT_FSIZE, kGiB / 2},
          {RLIMIT_CORE, 0},
          {RLIMIT_NOFILE, 256}};
}

}  // namespace sweep::compile
