#include "evaluate/judge_client.h"

#include "device/info_json.h"
#include "evaluate/evaluation_json.h"
#include "evaluate/image_wire.h"
#include "evaluate/sandboxes.h"
#include "util/error.h"
#include "util/file.h"
#include "util/lock.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sweep::evaluate {
namespace {

using nlohmann::json;
using wire::field;

// A judge that waits for a lock says so every second.
constexpr double kSilentSeconds = 60;
// Of what kernels print.
constexpr std::size_t kPrintedBytes = 65536;
// Its own threads (fills use one for each processor) and those of the runners of a timed batch.
constexpr std::uint32_t kJudgeProcesses = 4096;

std::filesystem::path lock_folder(const JudgeSpec& spec) {
  if (spec.locks.empty()) {
    return util::lock_folder();
  }
  util::make_folders(spec.locks);
  return spec.locks;
}

util::SandboxPolicy judge_policy(const JudgeSpec& spec, const std::filesystem::path& locks) {
  util::SandboxPolicy policy = util::system_libraries();
  policy.read.emplace_back("/sys/devices/system/cpu");
  if (spec.device.kind == device::Kind::cuda) {
    policy += util::nvidia_driver();
  }
  policy.read_execute.insert(
      policy.read_execute.end(), spec.libraries.begin(), spec.libraries.end());
  policy.read_write.push_back(locks);
  policy.start_sandboxed = true;
  policy.max_processes = kJudgeProcesses;
  policy.allow_unsandboxed = spec.allow_unsandboxed;
  return policy;
}

struct StartedJudge {
  util::Process process;
  util::Fd socket;
};

// `printed`: descriptor for what kernels print, or -1.
StartedJudge start_judge(const JudgeSpec& spec,
                         const std::filesystem::path& locks,
                         const std::filesystem::path& folder,
                         int printed) {
  // Of evaluations that were killed; their processes died with them.
  (void)util::remove_abandoned("sweep-judge");
  (void)util::remove_abandoned("sweep-compile", "/tmp");
  // Runners may be of other users and have their folders below this one.
  if (::chmod(folder.c_str(), 0711) != 0) {
    util::throw_errno("chmod", folder.string());
  }
  const util::Self program = util::Self::open(spec.program);
  const util::Fd lock_fd = util::open_file(locks.string(), O_PATH | O_DIRECTORY);
  auto [ours, theirs] = wire::Channel::make_pair();
  util::SpawnSpec made;
  made.argv = {"sweep", "__judge"};
  made.env = util::basic_environment(folder);
  const auto needed = device::role_environment(spec.device);
  made.env.insert(made.env.end(), needed.begin(), needed.end());
  made.fds = {{theirs.get(), wire::Channel::kRoleFd},
              {program.fd(), kJudgeProgramFd},
              {lock_fd.get(), kJudgeLocksFd},
              {2, 2}};
  if (printed >= 0) {
    made.fds.push_back({printed, 1});
  }
  made.deadline = spec.deadline_seconds;
  made.work_folder = folder;
  made.sandbox = judge_policy(spec, locks);
  util::Process process = util::Process::start_self(program, made);
  return {std::move(process), std::move(ours)};
}

}  // namespace

JudgeSpec judge_spec(const EvaluationRequest& request, const Services& services) {
  JudgeSpec spec;
  spec.program =
      services.program.empty() ? std::filesystem::read_symlink("/proc/self/exe") : services.program;
  spec.locks = services.locks;
  spec.device = request.device;
  spec.allow_unsandboxed = request.allow_unsandboxed;
  spec.device_printf = request.device_printf;
  spec.deadline_seconds = request.deadline_seconds;
  spec.off = request.off;
  spec.runners = request.only == Stage::compile ? 0 : spec.runners;
  return spec;
}

JudgeClient::JudgeClient(const JudgeSpec& spec)
    : spec_(spec),
      locks_(lock_folder(spec)),
      folder_("sweep-judge"),
      printed_(spec.device_printf ? std::make_unique<Printed>(kPrintedBytes) : nullptr),
      process_([&] {
        StartedJudge started =
            start_judge(spec, locks_, folder_.path(), printed_ != nullptr ? printed_->fd() : -1);
        if (printed_ != nullptr) {
          printed_->close_ours();
        }
        socket_ = std::move(started.socket);
        return std::move(started.process);
      }()),
      channel_(std::move(socket_), "judge", kJudgeMessageBytes) {
  channel_.send({{"do", "device"},
                 {"device", device::text(spec.device)},
                 {"allow_unsandboxed", spec.allow_unsandboxed},
                 {"device_printf", spec.device_printf},
                 {"off", names(spec.off)},
                 {"holder", ::getpid()}});
  if (spec_.ahead) {
    start();
  }
}

void JudgeClient::start() {
  channel_.send({{"do", "start"}, {"runners", spec_.runners}});
}

void JudgeClient::begin() {
  process_.restart_deadline();
  const json answer = receive();
  info_ = device::info_from_json(answer.at("device"));
  pageable_ = field<bool>(answer, "pageable");
  if (spec_.announced == nullptr && spec_.device.kind == device::Kind::cuda) {
    spec_.announced = std::make_shared<util::Fd>(util::announce(locks_, info_.uuid));
  }
  if (!spec_.ahead) {
    util::make_lock_files(locks_, info_.uuid);
    start();
  }
}

void JudgeClient::prepare(const JudgeTask& task) {
  if (task.key() == task_) {
    return;
  }
  try {
    channel_.send({{"do", "prepare"}}, task.fds());
    task_ = task.key();
  } catch (const wire::WireError&) {
    // It has ended: open() meets that, too.
    return;
  }
}

void JudgeClient::open(const std::vector<const Code*>& codes, const Tick& tick) {
  json list = json::array();
  std::vector<util::Fd> images;
  std::vector<int> fds;
  for (const Code* code : codes) {
    list.push_back(code_to_json(*code));
    images.push_back(image_fd(code->image, code->submission.file));
    fds.push_back(images.back().get());
  }
  channel_.send({{"do", "open"}, {"codes", std::move(list)}}, fds);
  (void)answer(tick);
}

void JudgeClient::open(const problem::Problem& problem,
                       const std::vector<const Code*>& codes,
                       const HarnessImages& harness,
                       std::uint64_t seed,
                       const Tick& tick) {
  prepare({problem, *codes.at(0), *codes.at(1), harness, spec_.device.kind, seed, std::nullopt});
  open({codes.begin() + 2, codes.end()}, tick);
}

JudgeClient::~JudgeClient() {
  try {
    channel_.send({{"do", "quit"}}, {}, 1);
    (void)process_.wait_for(2);
  } catch (const std::exception&) {
    // It has ended already, or its destructor ends it.
    return;
  }
}

bool JudgeClient::judge_lacks(const std::string& protection) const {
  return std::ranges::any_of(process_.protections(), [&](const util::Protection& own) {
    return own.name == protection && own.mandatory && !own.active;
  });
}

void JudgeClient::note_waiting(bool waiting) {
  const double now = clock_.monotonic();
  if (waiting && !waiting_since_) {
    waiting_since_ = now;
  } else if (!waiting && waiting_since_) {
    process_.extend_deadline(now - *waiting_since_);
    waited_ += now - *waiting_since_;
    waiting_since_.reset();
  }
}

Sandboxes probe_sandboxes(const std::filesystem::path& program, device::Kind kind) {
  constexpr double kSeconds = 20;
  JudgeSpec spec;
  spec.program = program;
  spec.device.kind = kind;
  spec.allow_unsandboxed = true;
  spec.deadline_seconds = kSeconds;
  const util::WorkFolder folder("sweep-judge");
  StartedJudge started = start_judge(spec, lock_folder(spec), folder.path(), -1);
  wire::Channel channel(std::move(started.socket), "judge", kJudgeMessageBytes);
  const json answer =
      channel.ask({{"do", "sandbox"}, {"device", device::text(spec.device)}}, kSeconds).body;
  if (answer.contains("error")) {
    throw_error(answer.at("error"));
  }
  return {started.process.protections(), guards_from_json(answer.at("runner"))};
}

json JudgeClient::receive() {
  try {
    json body = channel_.receive(waiting_since_ ? kSilentSeconds : process_.time_left()).body;
    if (body.contains("error")) {
      throw_error(body.at("error"));
    }
    return body;
  } catch (const wire::WireError& error) {
    process_.kill_group();
    const util::ExitStatus status = process_.wait();
    throw util::InfraError(
        {"judge",
         error.code() == "E_WIRE_TIMEOUT" ? "the evaluation ran past its deadline"
                                          : "ended without an answer: " + status.text(),
         "run it again; if it recurs, see `sweep doctor`"},
        "E_JUDGE_LOST");
  }
}

// Passes on what the judge says meanwhile.
json JudgeClient::answer(const Tick& tick) {
  while (true) {
    json body = receive();
    if (body.contains("waiting")) {
      const auto text = field<std::string>(body, "waiting");
      note_waiting(!text.empty());
      tick(text, 0, 0);
      continue;
    }
    note_waiting(false);
    if (body.contains("neighbours")) {
      channel_.send({{"found", neighbours(field<bool>(body, "neighbours"))}});
      continue;
    }
    if (!body.contains("progress")) {
      return body;
    }
    const json& progress = body.at("progress");
    tick(field<std::string>(progress, "text"),
         field<std::uint64_t>(progress, "done"),
         field<std::uint64_t>(progress, "total"));
  }
}

// The judge asks while it holds the device alone and times nothing.
json JudgeClient::neighbours(bool begin) {
  device::Conditions found;
  if (neighbours_ != nullptr) {
    if (begin) {
      neighbours_->begin();
    }
    found.neighbours = neighbours_->look();
  }
  return device::to_json(found).at("neighbours");
}

json JudgeClient::stage(const char* what, const StageOptions& options, const Tick& tick) {
  channel_.send({{"do", what}, {"options", options_to_json(options)}});
  const std::string_view stage(what);
  if (neighbours_ == nullptr && spec_.device.kind == device::Kind::cuda &&
      (stage == "time" || stage == "heldout")) {
    // Opened while the judge gets ready.
    neighbours_ = std::make_unique<Neighbours>(spec_.device, info_, locks_);
  }
  json body = answer(tick);
  protections_ = guards_from_json(body.at("protections"));
  for (util::Protection& item : protections_) {
    item.active = item.active && !judge_lacks(item.name);
  }
  return std::move(body.at("result"));
}

}  // namespace sweep::evaluate
