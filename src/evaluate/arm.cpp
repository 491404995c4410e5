#include "evaluate/arm.h"

#include "evaluate/image_wire.h"
#include "evaluate/runner_protocol.h"
#include "util/clock.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <utility>

#include <poll.h>

namespace sweep::evaluate {
namespace {

using nlohmann::json;
using wire::field;

// Everything but a call: mapping, preparing, washing.
constexpr double kServiceSeconds = 60;

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

Arm::Arm(const ArmOptions& options, const Code& code)
    : Arm(RunnerProcess(options, code.library ? &*code.library : nullptr), options, code) {}

Arm::Arm(RunnerProcess runner, const ArmOptions& options, const Code& code)
    : code_(code), start_seconds_(options.start_seconds), runner_(std::move(runner)) {
  const util::Fd own = image_fd(options.own_code, "the harness");
  const util::Fd image = image_fd(code.image, code.submission.file);
  const std::array fds = {own.get(), image.get()};
  json message = {{"do", "load"},
                  {"own", kernels_to_json(options.own_code)},
                  {"kernels", kernels_to_json(code.image)}};
  if (code.library) {
    message["library"] = {{"function", code.library->function}, {"path", code.library->path}};
  }
  try {
    channel().send(message, fds);
  } catch (const wire::WireError&) {
    runner_.not_started();
  }
}

void Arm::ready() {
  if (ready_) {
    return;
  }
  ready_ = true;
  runner_.opened();
  take_answer(start_seconds_, [this](const json& answer) {
    for (const auto& [name, facts] : answer.at("facts").items()) {
      facts_[name] = facts_from_json(facts);
    }
  });
}

bool Arm::started() {
  const auto said = [this] {
    pollfd one{channel().fd(), POLLIN, 0};
    return ::poll(&one, 1, 0) != 0;
  };
  if (ready_ || ended_) {
    return true;
  }
  // A runner answers twice: when the device is open, and when the module is loaded.
  if (!said()) {
    return false;
  }
  runner_.opened();
  return said();
}

Arm::~Arm() = default;

const Facts& Arm::facts() {
  ready();
  return facts_;
}

void Arm::abandon() noexcept {
  ended_ = true;
  process().abandon();
}

void Arm::end() noexcept {
  ended_ = true;
  process().kill_group();
}

void Arm::lost(const util::InfraError& error, double seconds) {
  if (error.code() == "E_WIRE_TIMEOUT") {
    process().kill_group();
    (void)process().wait();
    throw ArmFault(
        {device::Fault::Kind::timeout, "did not end within " + util::human_seconds(seconds)});
  }
  // Whoever closed the channel is mostly about to end, and how it ends tells more.
  constexpr double kDying = 5;
  const auto status = process().wait_for(error.code() == "E_WIRE_CLOSED" ? kDying : 0);
  process().kill_group();
  if (status) {
    throw ArmFault(death(*status), status->signal == SIGSYS);
  }
  throw ArmFault(
      {device::Fault::Kind::other, "the runner broke its protocol: " + error.message().what});
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
    channel().send(body, fds, seconds);
  } catch (const util::InfraError& error) {
    lost(error, seconds);
  }
  take_answer(seconds, take);
}

void Arm::take_answer(double seconds, const std::function<void(const json&)>& take) {
  json answer;
  try {
    answer = channel().receive(seconds).body;
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
    process().kill_group();
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
  deferred_.erase(sequence);
  order({{"do", "forget"}, {"sequence", sequence}});
}

void Arm::update_after_run(std::int64_t sequence, std::vector<StepPatch> patches) {
  deferred_[sequence] = {std::move(patches), false};
}

bool Arm::take_update(std::int64_t sequence) {
  const auto node = deferred_.extract(sequence);
  return !node.empty() && node.mapped().sent;
}

nlohmann::json Arm::open_updates() const {
  json list = json::array();
  for (const auto& [sequence, deferred] : deferred_) {
    if (!deferred.sent) {
      list.push_back({{"sequence", sequence}, {"patches", patches_to_json(deferred.patches)}});
    }
  }
  return list;
}

void Arm::close_updates() {
  for (auto& [sequence, deferred] : deferred_) {
    deferred.sent = true;
    deferred.patches.clear();
  }
}

void Arm::wash(std::uint32_t poison, const std::vector<std::int64_t>& sets) {
  order({{"do", "wash"}, {"poison", poison}, {"sets", sets}});
}

device::RunTime Arm::run(std::int64_t sequence,
                         double seconds,
                         std::uint32_t poison,
                         const std::vector<std::int64_t>& sets) {
  device::RunTime time;
  json message = {{"do", "run"}, {"sequence", sequence}, {"poison", poison}, {"sets", sets}};
  json updates = open_updates();
  if (!updates.empty()) {
    message["updates"] = std::move(updates);
  }
  ask(message, seconds, -1, [&](const json& answer) {
    time = {field<double>(answer, "device"), field<double>(answer, "host")};
  });
  close_updates();
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
