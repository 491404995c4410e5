#include "profile/watched.h"

#include "profile/replay.h"

#include <sys/resource.h>

namespace sweep::profile {
namespace {

namespace fs = std::filesystem;

// A report of Nsight Compute is a few MiB; the limit also holds for shared memory between tool and
// program.
constexpr std::uint64_t kWatchedFileBytes = std::uint64_t{16} << 30U;

// Tools add code of their own to kernels. HOME is where ncu unpacks its sections, TMPDIR where it
// locks the device: its default lock file in /tmp may belong to another user.
std::vector<std::string> environment(device::Id device, const fs::path& folder) {
  std::vector<std::string> all = util::basic_environment(folder);
  for (std::string& variable : all) {
    if (variable.starts_with("HOME=")) {
      variable = "HOME=" + folder.string();
    }
  }
  for (std::string& variable : device::role_environment(device)) {
    if (variable == "CUDA_DISABLE_PTX_JIT=1") {
      variable = "CUDA_DISABLE_PTX_JIT=0";
    }
    all.push_back(std::move(variable));
  }
  return all;
}

}  // namespace

Watched::Watched(const evaluate::EvaluationRequest& request,
                 const evaluate::Services& services,
                 const Subject& subject,
                 const VisibleShape& shape)
    : device_(request.device),
      program_(services.program.empty() ? fs::read_symlink("/proc/self/exe") : services.program),
      folder_("sweep-tool") {
  write_replay(folder_.path(), device_, subject, shape, request.seed);
}

std::vector<std::string> Watched::target() const {
  return {program_.string(), "__replay", "."};
}

util::Captured Watched::run(const fs::path& tool,
                            std::vector<std::string> arguments,
                            double seconds,
                            std::size_t max_output) const {
  std::error_code ignored;
  fs::remove(folder() / "replayed.json", ignored);
  util::SpawnSpec spec;
  // Launchers of NVIDIA's tools are scripts that find their parts by their own path.
  spec.argv = {tool.string()};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  spec.env = environment(device_, folder());
  spec.work_folder = folder();
  spec.limits = {{RLIMIT_FSIZE, kWatchedFileBytes}, {RLIMIT_CORE, 0}};
  spec.deadline = seconds;
  return util::run_program(tool, std::move(spec), {}, max_output);
}

std::optional<Unavailable> refusal(const evaluate::EvaluationRequest& request,
                                   const evaluate::Evaluation& evaluation,
                                   const std::string& tool) {
  if (request.device.kind != device::Kind::cuda) {
    return Unavailable{tool + " watches kernels on a GPU", "give --device cuda"};
  }
  if (!request.allow_unsandboxed) {
    return Unavailable{tool + " cannot work inside the sandbox",
                       "give --allow-unsandboxed to run it outside (docs/profiling.md)"};
  }
  if (evaluation.device_info.uuid.empty()) {
    return Unavailable{tool + " was not started: the evaluation opened no GPU", "see its verdict"};
  }
  return std::nullopt;
}

}  // namespace sweep::profile
