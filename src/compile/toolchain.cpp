#include "compile/toolchain.h"

#include "util/error.h"
#include "util/process.h"
#include "util/sha256.h"
#include "util/text.h"

#include <cstdlib>
#include <fstream>

#ifdef SWEEP_HAVE_CUDA
#include "device/cuda/nvrtc.h"
#endif

namespace sweep::compile {
namespace {

// First line that `program --version` prints and that holds `word`.
std::string version_line(const std::filesystem::path& program, std::string_view word) {
  util::SpawnSpec spec;
  spec.argv = {program.filename().native(), "--version"};
  spec.env = util::basic_environment();
  spec.deadline = 10;
  const util::Captured run = util::run_program(program, std::move(spec), {}, 4096);
  for (const std::string_view line : util::split(run.out, '\n')) {
    if (run.status.ok() && line.find(word) != std::string_view::npos) {
      return std::string(util::trim(line));
    }
  }
  return {};
}

void find_gxx(ToolPaths& tools) {
  if (const auto found = util::find_program("g++")) {
    tools.gxx = *found;
    tools.names.gxx = version_line(tools.gxx, "g++");
  }
  if (tools.names.gxx.empty()) {
    tools.gxx.clear();
    tools.names.gxx_reason = "g++ is not on the path; install g++ 12 or newer";
  }
}

void find_nvrtc(ToolPaths& tools) {
#ifdef SWEEP_HAVE_CUDA
  try {
    const auto nvrtc = device::cuda::Nvrtc::load();
    const auto [major, minor] = nvrtc.version();
    tools.nvrtc = nvrtc.library();
    tools.cuda_include = nvrtc.toolkit_include();
    tools.names.nvrtc = "NVRTC " + std::to_string(major) + "." + std::to_string(minor);
  } catch (const util::Error& error) {
    tools.names.nvrtc_reason = error.what();
  }
#else
  tools.names.nvrtc_reason = "this program was built without the cuda device";
#endif
}

// A program of the CUDA toolkit: its path, else empty with the reason.
void find_toolkit_program(const ToolPaths& tools,
                          const std::string& name,
                          std::filesystem::path& path,
                          std::string& version,
                          std::string& reason) {
  std::vector<std::filesystem::path> candidates;
  if (const char* home = std::getenv("CUDA_HOME"); home != nullptr && home[0] == '/') {
    candidates.emplace_back(std::filesystem::path(home) / "bin" / name);
  }
  candidates.push_back(std::filesystem::path("/usr/local/cuda/bin") / name);
  candidates.push_back(tools.nvrtc.parent_path() / "../bin" / name);
  std::error_code ignored;
  for (const auto& candidate : candidates) {
    if (candidate.is_absolute() && std::filesystem::is_regular_file(candidate, ignored)) {
      path = std::filesystem::canonical(candidate, ignored);
      version = version_line(path, "release");
    }
    if (!version.empty()) {
      return;
    }
  }
  path.clear();
  reason =
      name + " is neither in $CUDA_HOME/bin nor in /usr/local/cuda/bin; install the CUDA toolkit";
}

}  // namespace

ToolPaths find_tools() {
  ToolPaths tools;
  find_gxx(tools);
  find_nvrtc(tools);
  Toolchain& names = tools.names;
  find_toolkit_program(tools, "ptxas", tools.ptxas, names.ptxas, names.ptxas_reason);
  find_toolkit_program(tools, "nvcc", tools.nvcc, names.nvcc, names.nvcc_reason);
  return tools;
}

std::string processor_identity() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  std::string text;
  while (std::getline(file, line) && !line.empty()) {
    if (line.rfind("model", 0) == 0 || line.rfind("flags", 0) == 0 ||
        line.rfind("cpu family", 0) == 0) {
      text += line + "\n";
    }
  }
  return util::sha256_hex(text);
}

}  // namespace sweep::compile
