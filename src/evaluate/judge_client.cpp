#include "evaluate/judge_client.h"

#include "device/info_json.h"
#include "evaluate/evaluation_json.h"
#include "evaluate/image_wire.h"
#include "util/file.h"
#include "util/lock.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdlib>

#include <sys/resource.h>

namespace sweep::evaluate {
namespace {

using nlohmann::json;
using wire::field;

std::filesystem::path lock_folder(const JudgeSpec& spec) {
  return spec.locks.empty() ? util::lock_folder() : spec.locks;
}

util::SpawnSpec spawn_spec(const JudgeSpec& spec, int socket) {
  util::SpawnSpec made;
  made.argv = {"sweep", "__judge"};
  made.env = util::basic_environment();
  const auto needed = device::role_environment(spec.device);
  made.env.insert(made.env.end(), needed.begin(), needed.end());
  // Standard error carries what runners print with device_printf; errors travel as messages.
  made.fds = {{socket, wire::Channel::kRoleFd}, {2, 1}, {2, 2}};
  made.limits = {{RLIMIT_CORE, 0}};
  made.deadline = spec.deadline_seconds;
  return made;
}

}  // namespace

JudgeClient::JudgeClient(const JudgeSpec& spec)
    : spec_(spec),
      process_([&] {
        auto [ours, theirs] = wire::Channel::make_pair();
        socket_ = std::move(ours);
        return util::Process::start_self(util::Self::open(spec.program),
                                         spawn_spec(spec, theirs.get()));
      }()),
      channel_(std::move(socket_), "judge", kJudgeMessageBytes) {
  channel_.send({{"do", "device"}, {"device", device::text(spec.device)}});
  info_ = device::info_from_json(receive().at("device"));
}

void JudgeClient::open(const problem::Problem& problem,
                       const std::vector<const Code*>& codes,
                       const HarnessImages& harness) {
  json list = json::array();
  json own = json::array();
  std::vector<util::Fd> images;
  for (const Code* code : codes) {
    list.push_back(code_to_json(*code));
    images.push_back(image_fd(code->image, code->submission.file));
  }
  if (spec_.device.kind == device::Kind::cuda) {
    for (const device::Image* image :
         {&harness.own, &harness.engine.fill, &harness.engine.compare}) {
      own.push_back(kernels_to_json(*image));
      images.push_back(image_fd(*image, "the harness"));
    }
  }
  std::vector<int> fds;
  for (const util::Fd& image : images) {
    fds.push_back(image.get());
  }
  channel_.send({{"do", "open"},
                 {"allow_unsandboxed", spec_.allow_unsandboxed},
                 {"device_printf", spec_.device_printf},
                 {"seed", spec_.seed},
                 {"locks", lock_folder(spec_).string()},
                 {"program", spec_.program.string()},
                 {"problem", problem_to_json(problem)},
                 {"codes", std::move(list)},
                 {"harness", std::move(own)}},
                fds);
  (void)receive();
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

json JudgeClient::receive() {
  try {
    json body = channel_.receive(process_.time_left()).body;
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

json JudgeClient::stage(const char* what, const StageOptions& options, const Tick& tick) {
  channel_.send({{"do", what}, {"options", options_to_json(options)}});
  while (true) {
    json body = receive();
    if (body.contains("progress")) {
      const json& progress = body.at("progress");
      tick(field<std::string>(progress, "text"),
           field<std::uint64_t>(progress, "done"),
           field<std::uint64_t>(progress, "total"));
      continue;
    }
    protections_.clear();
    for (const json& item : body.at("protections")) {
      protections_.push_back({field<std::string>(item, "name"),
                              true,
                              field<bool>(item, "active"),
                              field<std::string>(item, "detail")});
    }
    return std::move(body.at("result"));
  }
}

}  // namespace sweep::evaluate
