#include "evaluate/runner_process.h"

#include "evaluate/runner_protocol.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <utility>

#include <sys/resource.h>
#include <sys/sysinfo.h>

namespace sweep::evaluate {
namespace {

// A runner lives at most as long as an evaluation may.
constexpr double kRunnerSeconds = 3600;

struct StartedRunner {
  util::Process process;
  util::Fd socket;
};

bool on_cpu(const ArmOptions& options) {
  return options.device.kind == device::Kind::cpu;
}

std::optional<util::WorkFolder> folder_for(const ArmOptions& options) {
  std::optional<util::WorkFolder> folder;
  if (!on_cpu(options)) {
    folder.emplace("sweep-run");
  }
  return folder;
}

// A cpu runner executes the candidate's host code. Half of the machine is more than any right
// kernel of a problem needs: fiber stacks take 1.6 GiB at most, scratch is bounded by the problem.
std::uint64_t cpu_runner_bytes() {
  struct sysinfo memory {};

  const bool known = ::sysinfo(&memory) == 0;
  constexpr std::uint64_t kLeast = std::uint64_t{2} << 30U;
  return std::max(kLeast, known ? memory.totalram / 2 * memory.mem_unit : 0);
}

std::vector<util::ResourceLimit> limits_for(const ArmOptions& options) {
  if (!on_cpu(options)) {
    return {};
  }
  // The files are the module's copy and nothing else: there is no folder to write to.
  constexpr std::uint64_t kFileBytes = std::uint64_t{128} << 20U;
  constexpr std::uint64_t kFiles = 256;
  return {{RLIMIT_DATA, cpu_runner_bytes()},
          {RLIMIT_FSIZE, kFileBytes},
          {RLIMIT_NOFILE, kFiles},
          {RLIMIT_MEMLOCK, 0}};
}

util::SandboxPolicy policy_for(const ArmOptions& options, const LibraryUse* library) {
  util::SandboxPolicy policy = util::system_libraries();
  if (on_cpu(options)) {
    // A shared mapping of it is memory that no limit counts.
    std::erase(policy.devices, "/dev/zero");
  } else {
    policy += util::nvidia_driver();
    // The judge's Landlock forbids a /proc of the runner's own.
    policy.own_pids = false;
  }
  if (library != nullptr) {
    // It opens others of its folder.
    policy.read_execute.push_back(std::filesystem::path(library->path).parent_path());
  }
  policy.allow_unsandboxed = options.allow_unsandboxed;
  return policy;
}

util::SpawnSpec spec_for(const ArmOptions& options,
                         const LibraryUse* library,
                         const std::filesystem::path& folder,
                         int socket) {
  util::SpawnSpec spec;
  spec.argv = {"sweep", "__run"};
  spec.env = util::basic_environment(folder);
  const auto needed = device::role_environment(options.device);
  spec.env.insert(spec.env.end(), needed.begin(), needed.end());
  if (library != nullptr) {
    // All kernels of cuBLAS are hundreds of megabytes; it loads those that it calls.
    std::ranges::replace(spec.env,
                         std::string("CUDA_MODULE_LOADING=EAGER"),
                         std::string("CUDA_MODULE_LOADING=LAZY"));
  }
  spec.work_folder = folder;
  spec.fds = {{socket, wire::Channel::kRoleFd}};
  if (options.device_printf) {
    // It leads to the user's standard error (printed.h).
    spec.fds.push_back({1, 1});
  }
  spec.limits = limits_for(options);
  spec.deadline = kRunnerSeconds;
  spec.sandbox = policy_for(options, library);
  return spec;
}

StartedRunner start_runner(const ArmOptions& options,
                           const LibraryUse* library,
                           const std::filesystem::path& folder) {
  auto [ours, theirs] = wire::Channel::make_pair();
  util::Process process =
      util::Process::start_self(*options.program, spec_for(options, library, folder, theirs.get()));
  return {std::move(process), std::move(ours)};
}

}  // namespace

std::vector<util::Protection> probe_runner(const ArmOptions& options) {
  std::optional<util::WorkFolder> folder = folder_for(options);
  return start_runner(options, nullptr, folder ? folder->path() : std::filesystem::path())
      .process.protections();
}

RunnerProcess::RunnerProcess(const ArmOptions& options, const LibraryUse* library)
    : start_seconds_(options.start_seconds),
      folder_(folder_for(options)),
      process_([&] {
        StartedRunner started =
            start_runner(options, library, folder_ ? folder_->path() : std::filesystem::path());
        channel_socket_ = std::move(started.socket);
        return std::move(started.process);
      }()),
      channel_(std::move(channel_socket_), "runner", kRunnerMessageBytes) {
  channel_.set_spin(spin_seconds(options.device));
  try {
    channel_.send(
        {{"do", "device"}, {"device", device::text(options.device)}, {"off", names(options.off)}});
  } catch (const wire::WireError&) {
    not_started();
  }
}

void RunnerProcess::opened() {
  if (opened_) {
    return;
  }
  try {
    (void)wire::field<std::int64_t>(channel_.receive(start_seconds_).body, "sm_count");
  } catch (const wire::WireError&) {
    not_started();
  }
  opened_ = true;
}

void RunnerProcess::not_started() {
  process_.kill_group();
  throw util::InfraError(
      {"runner", "did not start: " + process_.wait().text(), "see `sweep doctor`"},
      "E_RUNNER_START");
}

}  // namespace sweep::evaluate
