#include "evaluate/judge.h"

#include "device/info_json.h"
#include "evaluate/evaluation_json.h"
#include "evaluate/image_wire.h"
#include "evaluate/judge_protocol.h"
#include "evaluate/session.h"
#include "evaluate/signature.h"
#include "util/clock.h"
#include "wire/channel.h"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace sweep::evaluate {
namespace {

using nlohmann::json;
using wire::field;

// The caller may compile between messages.
constexpr double kIdleSeconds = 3600;
constexpr double kProgressSeconds = 0.1;
constexpr double kWaitingSeconds = 1;

class Judge {
 public:
  explicit Judge(util::Fd socket) : channel_(std::move(socket), "evaluate", kJudgeMessageBytes) {}

  int serve() {
    while (true) {
      wire::Message message = channel_.receive(kIdleSeconds, util::kMaxPassedFds);
      const auto what = field<std::string>(message.body, "do");
      if (what == "quit") {
        return 0;
      }
      try {
        channel_.send(answer(what, message));
      } catch (const wire::WireError&) {
        throw;
      } catch (const std::exception& error) {
        channel_.send({{"error", error_to_json(error)}});
        return 0;
      }
    }
  }

 private:
  json answer(const std::string& what, wire::Message& message) {
    if (what == "device") {
      device_id_ = device::parse_id(field<std::string>(message.body, "device"));
      device_ = device::open(device_id_);
      return {{"device", device::to_json(device_->info())}};
    }
    if (what == "open") {
      return open(message);
    }
    const StageOptions options = options_from_json(message.body.at("options"));
    const Tick tick = [this](const std::string& text, std::size_t done, std::size_t total) {
      report(text, done, total);
    };
    util::RealClock clock;
    const double begin = clock.monotonic();
    json result = stage(what, options, tick);
    result["seconds"] = clock.monotonic() - begin;
    return {{"result", std::move(result)}, {"protections", protections()}};
  }

  json stage(const std::string& what, const StageOptions& options, const Tick& tick) {
    if (what == "check") {
      return to_json(run_check(*session_, options, tick));
    }
    if (what == "stress") {
      return to_json(run_stress(*session_, options, tick), View::archive);
    }
    if (what == "time") {
      const problem::Problem& problem = session_->problem();
      const std::vector<Place> places =
          options.places.empty()
              ? visible_places(problem, session_->options().arm.device.kind, true)
              : options.places;
      return to_json(
          run_time(*session_, options, places, problem::Key::from_seed(options.seed), tick));
    }
    if (what == "heldout") {
      return to_json(run_heldout(*session_, options, tick), View::archive);
    }
    throw util::InfraError({"judge", "unknown message '" + what + "'", ""}, "E_JUDGE_PROTOCOL");
  }

  json open(wire::Message& message) {
    const json& body = message.body;
    SessionOptions options;
    options.arm.program = &program_;
    options.arm.device = device_id_;
    options.arm.allow_unsandboxed = field<bool>(body, "allow_unsandboxed");
    options.arm.device_printf = field<bool>(body, "device_printf");
    options.seed = field<std::uint64_t>(body, "seed");
    options.off = defences_from(field<std::vector<std::string>>(body, "off"));
    options.arm.off = options.off;
    options.holder = static_cast<int>(field<std::int64_t>(body, "holder"));
    options.waiting = [this](const std::vector<util::Holder>* holders) { report_waiting(holders); };
    options.locks = "/proc/self/fd/" + std::to_string(locks_.get());
    problem::Problem problem = problem_from_json(body.at("problem"));
    require_supported(problem);
    const submission::Signature plain = candidate_signature(problem);
    std::vector<Code> codes;
    const json& list = body.at("codes");
    for (std::size_t i = 0; i < list.size(); ++i) {
      codes.push_back(code_from_json(list[i],
                                     i == 0 ? reference_signature(problem) : plain,
                                     image_from(list[i].at("image"), message.fds.at(i))));
    }
    EngineImages engine;
    if (device_id_.kind == device::Kind::cuda) {
      const json& harness = body.at("harness");
      options.arm.own_code = image_from(harness.at(0), message.fds.at(codes.size()));
      engine.fill = image_from(harness.at(1), message.fds.at(codes.size() + 1));
      engine.compare = image_from(harness.at(2), message.fds.at(codes.size() + 2));
      device_->use_own_code(options.arm.own_code);
    }
    std::optional<Code> versus;
    if (codes.size() > 3) {
      versus = std::move(codes[3]);
    }
    session_ = std::make_unique<Session>(std::move(options),
                                         std::move(device_),
                                         engine,
                                         std::move(problem),
                                         std::move(codes.at(0)),
                                         std::move(codes.at(1)),
                                         std::move(codes.at(2)),
                                         std::move(versus));
    return json::object();
  }

  // How the runners were started, by the names of util::protection_names().
  json protections() const {
    json list = json::array();
    for (const util::Protection& protection : session_->protections()) {
      list.push_back({{"name", protection.name},
                      {"active", protection.active},
                      {"detail", protection.detail}});
    }
    return list;
  }

  // Every second at least, so that a judge that waits can be told from one that hangs.
  void report_waiting(const std::vector<util::Holder>* holders) {
    const double now = clock_.monotonic();
    if (holders == nullptr) {
      channel_.send({{"waiting", ""}});
      waiting_ = -1;
    } else if (waiting_ < 0 || now - waiting_ >= kWaitingSeconds) {
      waiting_ = now;
      channel_.send(
          {{"waiting",
            "waiting for " + device::text(device_id_) + " (" + util::text(*holders) + ")"}});
    }
  }

  void report(const std::string& text, std::size_t done, std::size_t total) {
    const double now = clock_.monotonic();
    if (now - reported_ >= kProgressSeconds) {
      reported_ = now;
      channel_.send({{"progress", {{"text", text}, {"done", done}, {"total", total}}}});
    }
  }

  const util::Self program_ = util::Self::adopt(util::Fd(kJudgeProgramFd));
  const util::Fd locks_{kJudgeLocksFd};
  wire::Channel channel_;
  device::Id device_id_;
  std::unique_ptr<device::Device> device_;  // until the session takes it
  std::unique_ptr<Session> session_;
  util::RealClock clock_;
  double reported_ = -1;
  double waiting_ = -1;  // when it was last said
};

}  // namespace

int judge_main(int fd) {
  try {
    return Judge(util::Fd(fd)).serve();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "judge: %s\n", error.what());
    return 1;
  }
}

}  // namespace sweep::evaluate
