#include "evaluate/arm.h"

#include "evaluate/image_wire.h"
#include "evaluate/runner_protocol.h"
#include "util/clock.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <csignal>

#include <sys/resource.h>
#include <sys/sysinfo.h>

namespace sweep::evaluate {
namespace {

using nlohmann::json;
using wire::field;

// A runner lives at most as long as an evaluation may.
constexpr double kRunnerSeconds = 3600;
// Everything but a call: mapping, preparing, washing.
constexpr double kServiceSeconds = 60;

struct Started {
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

util::SandboxPolicy policy_for(const ArmOptions& options, const Code* code) {
  util::SandboxPolicy policy = util::system_libraries();
  if (on_cpu(options)) {
    // A shared mapping of it is memory that no limit counts.
    std::erase(policy.devices, "/dev/zero");
  } else {
    policy += util::nvidia_driver();
    // The judge's Landlock forbids a /proc of the runner's own.
    policy.own_pids = false;
  }
  if (code != nullptr && code->library) {
    // It opens others of its folder.
    policy.read_execute.push_back(std::filesystem::path(code->library->path).parent_path());
  }
  policy.allow_unsandboxed = options.allow_unsandboxed;
  return policy;
}

// `code` null: nothing will be loaded.
util::SpawnSpec spec_for(const ArmOptions& options,
                         const Code* code,
                         const std::filesystem::path& folder,
                         int socket) {
  util::SpawnSpec spec;
  spec.argv = {"sweep", "__run"};
  spec.env = util::basic_environment(folder);
  const auto needed = device::role_environment(options.device);
  spec.env.insert(spec.env.end(), needed.begin(), needed.end());
  if (code != nullptr && code->library) {
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
  spec.sandbox = policy_for(options, code);
  return spec;
}

Started start(const ArmOptions& options, const Code* code, const std::filesystem::path& folder) {
  auto [ours, theirs] = wire::Channel::make_pair();
  util::Process process =
      util::Process::start_self(*options.program, spec_for(options, code, folder, theirs.get()));
  return {std::move(process), std::move(ours)};
}

device::Fault death(const util::ExitStatus& status) {
  return {status.signal == SIGSEGV || status.signal == SIGBUS ? device::Fault::Kind::memory
          : status.signal == SIGKILL                          ? device::Fault::Kind::out_of_memory
                                                              : device::Fault::Kind::other,
          "the process that ran the kernel ended: " + status.text()};
}

// Throws what the runner answered instead of a result.
void check_fault(const json& answer) {
  if (answer.contains("fault")) {
    throw ArmFault(fault_from_json(answer.at("fault")));
  }
}

}  // namespace

std::vector<util::Protection> probe_runner(const ArmOptions& options) {
  std::optional<util::WorkFolder> folder = folder_for(options);
  return start(options, nullptr, folder ? folder->path() : std::filesystem::path())
      .process.protections();
}

Arm::Arm(const ArmOptions& options, const Code& code)
    : code_(code),
      start_seconds_(options.start_seconds),
      folder_(folder_for(options)),
      process_([&] {
        Started started =
            start(options, &code, folder_ ? folder_->path() : std::filesystem::path());
        channel_socket_ = std::move(started.socket);
        return std::move(started.process);
      }()),
      channel_(std::move(channel_socket_), "runner", kRunnerMessageBytes) {
  const util::Fd own = image_fd(options.own_code, "the harness");
  const util::Fd image = image_fd(code.image, code.submission.file);
  const std::array fds = {own.get(), image.get()};
  channel_.set_spin(spin_seconds(options.device));
  json message = {{"do", "open"},
                  {"device", device::text(options.device)},
                  {"own", kernels_to_json(options.own_code)},
                  {"off", names(options.off)},
                  {"kernels", kernels_to_json(code.image)}};
  if (code.library) {
    message["library"] = {{"function", code.library->function}, {"path", code.library->path}};
  }
  try {
    channel_.send(message, fds);
  } catch (const wire::WireError& error) {
    not_started();
  }
}

void Arm::not_started() {
  process_.kill_group();
  throw util::InfraError(
      {"runner", "did not start: " + process_.wait().text(), "see `sweep doctor`"},
      "E_RUNNER_START");
}

void Arm::ready() {
  if (ready_) {
    return;
  }
  ready_ = true;
  try {
    // The device is open; what comes next has to do with the candidate's code.
    (void)field<std::int64_t>(channel_.receive(start_seconds_).body, "sm_count");
  } catch (const wire::WireError& error) {
    not_started();
  }
  take_answer(start_seconds_, [this](const json& answer) {
    for (const auto& [name, facts] : answer.at("facts").items()) {
      facts_[name] = facts_from_json(facts);
    }
  });
}

Arm::~Arm() = default;

const Facts& Arm::facts() {
  ready();
  return facts_;
}

void Arm::abandon() noexcept {
  ended_ = true;
  process_.abandon();
}

void Arm::end() noexcept {
  ended_ = true;
  process_.kill_group();
}

void Arm::lost(const util::InfraError& error, double seconds) {
  if (error.code() == "E_WIRE_TIMEOUT") {
    process_.kill_group();
    (void)process_.wait();
    throw ArmFault(
        {device::Fault::Kind::timeout, "did not end within " + util::human_seconds(seconds)});
  }
  // Whoever closed the channel is mostly about to end, and how it ends tells more.
  constexpr double kDying = 5;
  const auto status = process_.wait_for(error.code() == "E_WIRE_CLOSED" ? kDying : 0);
  process_.kill_group();
  throw ArmFault(status ? death(*status)
                        : device::Fault{device::Fault::Kind::other,
                                        "the runner broke its protocol: " + error.message().what});
}

void Arm::ask(const json& body,
              double seconds,
              int fd,
              const std::function<void(const json&)>& take) {
  if (ended_) {
    throw ArmFault({device::Fault::Kind::other, "the runner was ended"});
  }
  ready();
  try {
    const std::vector<int> fds = fd >= 0 ? std::vector<int>{fd} : std::vector<int>{};
    channel_.send(body, fds, seconds);
  } catch (const util::InfraError& error) {
    lost(error, seconds);
  }
  take_answer(seconds, take);
}

void Arm::take_answer(double seconds, const std::function<void(const json&)>& take) {
  json answer;
  try {
    answer = channel_.receive(seconds).body;
  } catch (const util::InfraError& error) {
    lost(error, seconds);
  }
  try {
    check_fault(answer);
    take(answer);
  } catch (const std::exception& error) {
    if (const auto* fault = dynamic_cast<const ArmFault*>(&error)) {
      throw *fault;
    }
    process_.kill_group();
    throw ArmFault({device::Fault::Kind::other,
                    std::string("the runner broke its protocol: ") + error.what()});
  }
}

void Arm::order(const json& body) {
  ask(body, kServiceSeconds, -1, [](const json&) {});
}

std::int64_t Arm::occupancy(const std::string& kernel, std::int64_t threads, std::int64_t shared) {
  std::int64_t blocks = 0;
  ask({{"do", "occupancy"}, {"kernel", kernel}, {"threads", threads}, {"shared", shared}},
      kServiceSeconds,
      -1,
      [&blocks](const json& answer) { blocks = field<std::int64_t>(answer, "blocks"); });
  return std::clamp<std::int64_t>(blocks, 0, 64);
}

Arm::Mapped Arm::map(const device::Buffer& buffer, device::Access access) {
  const util::Fd fd = buffer.export_fd();
  Mapped mapped;
  ask({{"do", "map"}, {"bytes", buffer.bytes()}, {"write", access == device::Access::read_write}},
      kServiceSeconds,
      fd.get(),
      [&mapped](const json& answer) {
        mapped = {field<std::int64_t>(answer, "buffer"), field<std::uint64_t>(answer, "address")};
      });
  return mapped;
}

void Arm::unmap(std::int64_t buffer) {
  order({{"do", "unmap"}, {"buffer", buffer}});
}

Arm::Scratch Arm::scratch(const std::vector<submission::ScratchBuffer>& buffers) {
  json bytes = json::array();
  for (const submission::ScratchBuffer& buffer : buffers) {
    bytes.push_back(buffer.bytes);
  }
  Scratch made;
  ask({{"do", "scratch"}, {"bytes", std::move(bytes)}},
      kServiceSeconds,
      -1,
      [&](const json& answer) {
        made.set = field<std::int64_t>(answer, "set");
        for (const json& address : answer.at("addresses")) {
          made.addresses.push_back(address.get<std::uint64_t>());
        }
        if (made.addresses.size() != buffers.size()) {
          throw util::InfraError({"runner", "wrong number of scratch buffers", ""},
                                 "E_RUNNER_PROTOCOL");
        }
      });
  return made;
}

void Arm::drop(std::int64_t set) {
  order({{"do", "drop"}, {"set", set}});
}

std::int64_t Arm::prepare(const std::vector<device::Step>& steps) {
  std::int64_t sequence = 0;
  ask({{"do", "prepare"}, {"steps", steps_to_json(steps)}},
      kServiceSeconds,
      -1,
      [&sequence](const json& answer) { sequence = field<std::int64_t>(answer, "sequence"); });
  return sequence;
}

void Arm::update(std::int64_t sequence, const std::vector<StepPatch>& patches) {
  order({{"do", "update"}, {"sequence", sequence}, {"patches", patches_to_json(patches)}});
}

void Arm::forget(std::int64_t sequence) {
  order({{"do", "forget"}, {"sequence", sequence}});
}

void Arm::wash(std::uint32_t poison, const std::vector<std::int64_t>& sets) {
  order({{"do", "wash"}, {"poison", poison}, {"sets", sets}});
}

device::RunTime Arm::run(std::int64_t sequence,
                         double seconds,
                         std::uint32_t poison,
                         const std::vector<std::int64_t>& sets) {
  device::RunTime time;
  ask({{"do", "run"}, {"sequence", sequence}, {"poison", poison}, {"sets", sets}},
      seconds,
      -1,
      [&time](const json& answer) {
        time = {field<double>(answer, "device"), field<double>(answer, "host")};
      });
  return time;
}

double Arm::row(std::int64_t sequence,
                int calls,
                bool flush,
                double seconds,
                std::uint32_t poison,
                const std::vector<std::int64_t>& sets) {
  util::RealClock clock;
  const double begin = clock.monotonic();
  ask({{"do", "row"},
       {"sequence", sequence},
       {"calls", calls},
       {"flush", flush},
       {"poison", poison},
       {"sets", sets}},
      seconds * calls,
      -1,
      [](const json&) {});
  return clock.monotonic() - begin;
}

}  // namespace sweep::evaluate
