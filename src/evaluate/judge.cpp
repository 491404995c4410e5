#include "evaluate/judge.h"

#include "device/describe.h"
#include "device/info_json.h"
#include "evaluate/admission/stage.h"
#include "evaluate/draws_ahead.h"
#include "evaluate/energy.h"
#include "evaluate/evaluation_json.h"
#include "evaluate/image_wire.h"
#include "evaluate/judge_protocol.h"
#include "evaluate/judge_task.h"
#include "evaluate/memory.h"
#include "evaluate/session.h"
#include "evaluate/signature.h"
#include "util/clock.h"
#include "wire/channel.h"

#include <nlohmann/json.hpp>

#include <atomic>
#include <cstdio>
#include <exception>

#include <poll.h>
#include <unistd.h>

namespace sweep::evaluate {
namespace {

using nlohmann::json;
using wire::field;

// The caller may compile between messages.
constexpr double kIdleSeconds = 3600;
constexpr double kProgressSeconds = 0.1;
constexpr double kWaitingSeconds = 1;

// A message has come while the judge worked ahead.
struct Called {};

class Judge {
 public:
  explicit Judge(util::Fd socket) : channel_(std::move(socket), "evaluate", kJudgeMessageBytes) {}

  int serve() {
    while (true) {
      work_ahead();
      wire::Message message = channel_.receive(kIdleSeconds, util::kMaxPassedFds);
      if (message.body.contains("found")) {
        continue;  // neighbours, late
      }
      const auto what = field<std::string>(message.body, "do");
      if (what == "quit") {
        return 0;
      }
      if (what == "start") {
        start(message.body);
        continue;
      }
      if (what == "prepare") {
        prepare(message);
        continue;
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
      return describe(message.body);
    }
    if (what == "sandbox") {
      return sandbox(message.body);
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
    return {{"result", std::move(result)},
            {"protections", guards_to_json(session_->protections())}};
  }

  json stage(const std::string& what, const StageOptions& options, const Tick& tick) {
    if (what != "check" && what != "stress") {
      session_->forget_prepared();
    }
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
      const problem::Key key = problem::Key::from_seed(options.seed);
      TimeResult result = run_time(*session_, options, places, key, tick);
      if (options.energy && !result.failure) {
        tick("energy", 0, 0);
        result.energy = run_energy(*session_, places.back(), key);
      } else {
        result.energy.reason = "measured with --full on a GPU, for a right kernel";
      }
      return to_json(result);
    }
    if (what == "heldout") {
      return to_json(run_heldout(*session_, options, tick), View::archive);
    }
    if (what == "admit" && options.admit) {
      json rules = json::array();
      for (const auto& result : admission::run_admission(*session_, *options.admit, tick)) {
        rules.push_back(admission::to_json(result));
      }
      return {{"rules", std::move(rules)}};
    }
    throw util::InfraError({"judge", "unknown message '" + what + "'", ""}, "E_JUDGE_PROTOCOL");
  }

  json describe(const json& body) {
    options_.arm.program = &program_;
    options_.arm.device = device::parse_id(field<std::string>(body, "device"));
    options_.arm.allow_unsandboxed = field<bool>(body, "allow_unsandboxed");
    options_.arm.device_printf = field<bool>(body, "device_printf");
    options_.off = defences_from(field<std::vector<std::string>>(body, "off"));
    options_.arm.off = options_.off;
    options_.holder = static_cast<int>(field<std::int64_t>(body, "holder"));
    options_.waiting = [this](const std::vector<util::Holder>* holders) {
      report_waiting(holders);
    };
    options_.neighbours = [this](bool begin) { return neighbours(begin); };
    options_.overdue = [this](const util::Error& error) {
      if (!ahead_of_all_) {
        channel_.send({{"error", error_to_json(error)}});
      }
      ::_exit(0);
    };
    options_.locks = "/proc/self/fd/" + std::to_string(locks_.get());
    info_ = device::describe(options_.arm.device);
    return {{"device", device::to_json(info_)},
            {"pageable", device::pageable_memory(options_.arm.device)}};
  }

  // Beside shared holders only: a context that is made, and modules that are loaded, would disturb
  // one who times.
  [[nodiscard]] util::FileLock shared_lock() const {
    return lock_device(
        options_, info_, util::LockMode::shared, context_bytes(options_.arm.device.kind));
  }

  // While the caller compiles, who hears of a failure when it says "open".
  void start(const json& body) {
    try {
      const util::FileLock lock = shared_lock();
      for (std::int64_t i = field<std::int64_t>(body, "runners"); i > 0; --i) {
        runners_.emplace_back(options_.arm);
      }
      device_ = device::open(options_.arm.device);
      for (RunnerProcess& runner : runners_) {
        runner.opened();
      }
    } catch (const wire::WireError&) {
      throw;
    } catch (const std::exception&) {
      not_started_ = std::current_exception();
    }
  }

  // Problem, reference and seed, and what may be computed before there is a candidate. The caller
  // hears of a failure when it says "open".
  void prepare(wire::Message& message) {
    if (not_started_) {
      return;
    }
    try {
      ahead_.reset();
      if (session_ != nullptr) {  // of another problem
        runners_ = session_->release_runners();
        session_.reset();
      }
      not_prepared_ = nullptr;
      JudgeTask::Read task = JudgeTask::read(message.fds);
      options_.seed = task.seed_number;
      require_supported(task.problem);
      if (options_.arm.device.kind == device::Kind::cuda) {
        options_.arm.own_code = task.own;
        device_->use_own_code(task.own);
      }
      const util::FileLock lock = shared_lock();
      session_ = std::make_unique<Session>(options_,
                                           *device_,
                                           task.engine,
                                           std::move(task.problem),
                                           std::move(task.reference),
                                           std::move(task.seed));
      session_->adopt(std::exchange(runners_, {}));
      if (task.ahead) {
        ahead_ = std::make_unique<DrawsAhead>(*session_, *task.ahead);
      }
    } catch (const std::exception&) {
      not_prepared_ = std::current_exception();
    }
  }

  [[nodiscard]] bool called() const {
    pollfd one{channel_.fd(), POLLIN, 0};
    return ::poll(&one, 1, 0) != 0;
  }

  // While nobody asks for anything. What fails is met again, and told, by a judge that has not
  // worked ahead: this one's device may be broken.
  void work_ahead() {
    ahead_of_all_ = true;
    try {
      while (ahead_ != nullptr && !called()) {
        if (!ahead_->step()) {
          ahead_.reset();
        }
      }
    } catch (const Called&) {
      // It waited for the device.
    } catch (const std::exception&) {
      not_prepared_ = std::current_exception();
      ahead_.reset();
    }
    ahead_of_all_ = false;
  }

  json open(wire::Message& message) {
    ahead_.reset();
    for (const std::exception_ptr& failed : {not_started_, not_prepared_}) {
      if (failed) {
        std::rethrow_exception(failed);
      }
    }
    if (session_ == nullptr || session_->candidate().code != nullptr) {
      throw util::InfraError({"judge", "serves one candidate, after its task", ""},
                             "E_JUDGE_PROTOCOL");
    }
    const submission::Signature plain = candidate_signature(session_->problem());
    std::vector<Code> codes;
    const json& list = message.body.at("codes");
    for (std::size_t i = 0; i < list.size(); ++i) {
      codes.push_back(
          code_from_json(list[i], plain, image_from(list[i].at("image"), message.fds.at(i))));
    }
    std::optional<Code> versus;
    if (codes.size() > 1) {
      versus = std::move(codes[1]);
    }
    session_->take_candidate(std::move(codes.at(0)), std::move(versus));
    return json::object();
  }

  // What a runner that is started from here has; nothing is opened or loaded.
  [[nodiscard]] json sandbox(const json& body) const {
    ArmOptions options;
    options.program = &program_;
    options.device = device::parse_id(field<std::string>(body, "device"));
    options.allow_unsandboxed = true;
    return {{"runner", guards_to_json(probe_runner(options))}};
  }

  // The caller sees the machine's processes. One that was stopped shall not hold up who waits for
  // the device: then nobody looks, and its answer, should it come, is left.
  [[nodiscard]] std::vector<device::Neighbour> neighbours(bool begin) {
    constexpr double kSeconds = 5;
    if (unheard_) {
      return {};
    }
    try {
      return device::neighbours_from_json(
          channel_.ask({{"neighbours", begin}}, kSeconds).body.at("found"));
    } catch (const wire::WireError& error) {
      if (error.code() != "E_WIRE_TIMEOUT") {
        throw;
      }
      unheard_ = true;
      return {};
    }
  }

  // Every second at least, so that a judge that waits can be told from one that hangs.
  void report_waiting(const std::vector<util::Holder>* holders) {
    if (ahead_of_all_) {
      if (called()) {
        throw Called();
      }
      return;
    }
    const double now = clock_.monotonic();
    if (holders == nullptr) {
      channel_.send({{"waiting", ""}});
      waiting_ = -1;
    } else if (waiting_ < 0 || now - waiting_ >= kWaitingSeconds) {
      waiting_ = now;
      channel_.send({{"waiting",
                      "waiting for " + device::text(options_.arm.device) + " (" +
                          util::text(*holders) + ")"}});
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
  SessionOptions options_;
  device::Info info_;
  std::unique_ptr<device::Device> device_;
  std::vector<RunnerProcess> runners_;  // until the session takes them
  std::exception_ptr not_started_, not_prepared_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<DrawsAhead> ahead_;
  bool unheard_ = false;
  std::atomic<bool> ahead_of_all_ = false;  // nobody waits for an answer; the watchdog asks, too
  util::RealClock clock_;
  double reported_ = -1;
  double waiting_ = -1;  // when it was last said
};

}  // namespace

int judge_main(int fd) {
  try {
    return Judge(util::Fd(fd)).serve();
  } catch (const wire::WireError& error) {
    if (error.code() == "E_WIRE_CLOSED") {
      return 0;  // whoever asked has gone, and nobody is left to tell
    }
    std::fprintf(stderr, "judge: %s\n", error.what());
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "judge: %s\n", error.what());
    return 1;
  }
}

}  // namespace sweep::evaluate
