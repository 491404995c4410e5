#include "profile/disassemble.h"

#include "util/file.h"
#include "util/process.h"
#include "util/text.h"
#include "util/work_folder.h"

#include <array>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>

namespace sweep::profile {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCubin = "kernel.cubin";
// nvdisasm takes about 0.2 GiB for a cubin of 1 MiB; what a hostile one makes of it stays below
// this.
constexpr std::uint64_t kMemoryBytes = std::uint64_t{4} << 30U;
constexpr std::uint64_t kFileBytes = std::uint64_t{64} << 20U;
constexpr std::uint32_t kProcesses = 8;  // cuobjdump may start nvdisasm
constexpr std::size_t kReasonBytes = 200;

bool is_below(const fs::path& path, const fs::path& folder) {
  return path.string().starts_with(folder.string() + "/");
}

// Only the tool's own folder and libraries where it is not with the system's programs.
util::SandboxPolicy policy_for(const fs::path& tool, bool allow_unsandboxed) {
  util::SandboxPolicy policy = util::system_programs();
  std::error_code error;
  fs::path real = fs::canonical(tool, error);
  if (error) {
    real = tool;
  }
  bool covered = false;
  for (const char* folder : {"/usr", "/bin", "/opt"}) {
    covered = covered || is_below(real, folder);
  }
  if (!covered) {
    policy.read_execute.push_back(real.parent_path());
    policy.read_execute.push_back(real.parent_path().parent_path() / "lib64");
    policy.read_execute.push_back(real.parent_path().parent_path() / "lib");
  }
  policy.max_processes = kProcesses;
  policy.allow_unsandboxed = allow_unsandboxed;
  return policy;
}

util::SpawnSpec spec_for(const fs::path& tool,
                         std::vector<std::string> arguments,
                         const fs::path& folder,
                         const DisassembleOptions& options) {
  util::SpawnSpec spec;
  spec.argv = {tool.filename().string()};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  spec.env = util::basic_environment(folder);
  // cuobjdump looks for nvdisasm on the path.
  for (std::string& variable : spec.env) {
    if (variable.starts_with("PATH=")) {
      variable.insert(5, tool.parent_path().string() + ":");
    }
  }
  spec.work_folder = folder;
  spec.limits = {{RLIMIT_AS, kMemoryBytes},
                 {RLIMIT_FSIZE, kFileBytes},
                 {RLIMIT_CORE, 0},
                 {RLIMIT_CPU, static_cast<std::uint64_t>(options.seconds) + 1}};
  spec.deadline = options.seconds;
  spec.sandbox = policy_for(tool, options.allow_unsandboxed);
  return spec;
}

std::string reason_of(const util::Captured& run) {
  const std::string_view said = util::trim(run.err.empty() ? run.out : run.err);
  const std::string_view first = said.substr(0, std::min(said.find('\n'), said.size()));
  return first.empty() ? run.status.text()
                       : run.status.text() + ": " + util::printable(first.substr(0, kReasonBytes));
}

struct Way {
  Tool tool;
  std::vector<std::string> arguments;
};

}  // namespace

Result<Disassembly> disassemble(std::span<const std::byte> cubin,
                                const DisassembleOptions& options) {
  const std::array ways = {Way{Tool::nvdisasm, {"-c", kCubin}},
                           Way{Tool::cuobjdump, {"--dump-sass", kCubin}}};
  std::string failed;
  for (const Way& way : ways) {
    const Result<fs::path> tool = find_tool(way.tool, options.search);
    const auto* path = std::get_if<fs::path>(&tool);
    if (path == nullptr) {
      continue;
    }
    const util::WorkFolder folder("sweep-sass");
    util::write_file_atomic(folder.path() / kCubin,
                            {reinterpret_cast<const char*>(cubin.data()), cubin.size()});
    const util::Captured run =
        util::run_program(*path,
                          spec_for(*path, way.arguments, folder.path(), options),
                          {},
                          kMostSassBytes - 1024);  // a marker line of what was left out fits, too
    if (run.status.ok() && run.out_bytes > 0) {
      return Disassembly{
          util::to_valid_utf8(run.out), path->string(), run.out_bytes < kMostSassBytes - 1024};
    }
    failed += (failed.empty() ? "" : "; ") + name(way.tool) + ": " + reason_of(run);
  }
  if (failed.empty()) {
    return Unavailable{"neither nvdisasm nor cuobjdump was found in $CUDA_HOME/bin, " +
                           (options.search.toolkit / "bin").string() + " or $PATH",
                       "install the CUDA toolkit, or set CUDA_HOME to one that has them"};
  }
  return Unavailable{"the cubin could not be disassembled: " + failed,
                     "use a toolkit at least as new as the compiler's"};
}

}  // namespace sweep::profile
