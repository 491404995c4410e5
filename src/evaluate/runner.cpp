#include "evaluate/runner.h"

#include "device/reach.h"
#include "evaluate/defence.h"
#include "evaluate/image_wire.h"
#include "evaluate/runner_protocol.h"
#include "evaluate/step_patch.h"
#include "util/lock_down.h"
#include "wire/channel.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <map>
#include <optional>
#include <utility>

namespace sweep::evaluate {
namespace {

using nlohmann::json;
using wire::field;

// The judge may be idle between messages while it fills, compares or runs the other arm.
constexpr double kRunnerIdleSeconds = 3600;

class Runner {
 public:
  explicit Runner(util::Fd socket) : channel_(std::move(socket), "judge", kRunnerMessageBytes) {}

  void serve() {
    while (true) {
      wire::Message message = channel_.receive(kRunnerIdleSeconds, 2);
      const auto what = field<std::string>(message.body, "do");
      if (what == "quit") {
        return;
      }
      const json reply = answer(what, message);
      channel_.send(reply);
      if (!reply.contains("fault")) {
        make_updates(message.body);
      }
    }
  }

 private:
  struct Prepared {
    std::vector<device::Step> steps;
    std::unique_ptr<device::Sequence> sequence;
    bool stale = false;  // made of other arguments than `steps` has
  };

  json answer(const std::string& what, wire::Message& message) {
    const json& body = message.body;
    if (what == "run") {
      return run(body);
    }
    if (what == "row") {
      return row(body);
    }
    if (what == "wash") {
      wash(body);
      return json::object();
    }
    if (what == "prepare") {
      return prepare(body);
    }
    if (what == "update") {
      return update(body);
    }
    if (what == "device") {
      return open(body);
    }
    if (what == "load") {
      return load(message);
    }
    if (what == "map") {
      return map(message);
    }
    return keep(what, body);
  }

  json keep(const std::string& what, const json& body) {
    if (what == "scratch") {
      return scratch(body);
    }
    if (what == "occupancy") {
      return {{"blocks",
               module_->occupancy(field<std::string>(body, "kernel"),
                                  static_cast<int>(field<std::int64_t>(body, "threads")),
                                  field<std::uint64_t>(body, "shared"))}};
    }
    if (what == "unmap") {
      mapped_.erase(field<std::int64_t>(body, "buffer"));
    } else if (what == "drop") {
      scratch_.erase(field<std::int64_t>(body, "set"));
    } else if (what == "forget") {
      sequences_.erase(field<std::int64_t>(body, "sequence"));
    } else {
      throw util::InfraError({"runner", "unknown message '" + what + "'", ""}, "E_RUNNER_PROTOCOL");
    }
    return json::object();
  }

  json open(const json& body) {
    if (device_ != nullptr) {
      throw util::InfraError({"runner", "a second device in one process", ""}, "E_RUNNER_PROTOCOL");
    }
    off_ = defences_from(field<std::vector<std::string>>(body, "off"));
    const device::Id id = device::parse_id(field<std::string>(body, "device"));
    device_ = device::open(id);
    channel_.set_spin(spin_seconds(id));
    util::lock_down(id.kind == device::Kind::cpu ? util::MemoryFiles::forbid
                                                 : util::MemoryFiles::allow);
    return {{"sm_count", device_->info().sm_count}};
  }

  // Once in a process: what a module leaves behind must not be there for another.
  json load(wire::Message& message) {
    if (device_ == nullptr || loaded_) {
      throw util::InfraError({"runner", "a second module in one process", ""}, "E_RUNNER_PROTOCOL");
    }
    loaded_ = true;
    const json& body = message.body;
    device_->use_own_code(image_from(body.at("own"), message.fds.at(0)));
    if (body.contains("library")) {
      return open_library(body.at("library"));
    }
    const device::Image image = image_from(body.at("kernels"), message.fds.at(1));
    auto loaded = device_->load(image);
    if (const auto* fault = std::get_if<device::Fault>(&loaded)) {
      return {{"fault", fault_to_json(*fault)}};
    }
    module_ = std::get<0>(std::move(loaded));
    json facts = json::object();
    for (const device::Kernel& kernel : image.kernels) {
      facts[kernel.name] = facts_to_json(module_->facts(kernel.name));
    }
    return {{"facts", std::move(facts)}};
  }

  json open_library(const json& body) {
    try {
      module_ = device_->open_library(field<std::string>(body, "function"),
                                      field<std::string>(body, "path"));
    } catch (const util::UsageError& error) {
      return {{"fault", fault_to_json({device::Fault::Kind::other, error.what()})}};
    }
    return {{"facts", json::object()}};
  }

  json map(wire::Message& message) {
    const json& body = message.body;
    const auto access =
        field<bool>(body, "write") ? device::Access::read_write : device::Access::read;
    auto buffer =
        device_->import(std::move(message.fds.at(0)), field<std::uint64_t>(body, "bytes"), access);
    const device::Address address = buffer->address();
    mapped_[++last_] = std::move(buffer);
    return {{"buffer", last_}, {"address", address}};
  }

  json scratch(const json& body) {
    std::vector<std::unique_ptr<device::Buffer>> set;
    json addresses = json::array();
    json too_much = {
        {"fault",
         fault_to_json({device::Fault::Kind::out_of_memory, "scratch does not fit the device"})}};
    try {
      for (const std::int64_t bytes : field<std::vector<std::int64_t>>(body, "bytes")) {
        if (static_cast<std::uint64_t>(bytes) > device_->free_bytes()) {
          return too_much;
        }
        set.push_back(device_->allocate(static_cast<std::size_t>(bytes)));
        addresses.push_back(set.back()->address());
      }
    } catch (const util::InfraError& error) {
      if (error.code() != "E_DEVICE_MEMORY") {
        throw;
      }
      return too_much;
    }
    scratch_[++last_] = std::move(set);
    return {{"set", last_}, {"addresses", std::move(addresses)}};
  }

  json prepare(const json& body) {
    std::vector<device::Step> steps = steps_from_json(body.at("steps"));
    auto made = device_->prepare(*module_, steps);
    if (const auto* fault = std::get_if<device::Fault>(&made)) {
      return {{"fault", fault_to_json(*fault)}};
    }
    sequences_[++last_] = {std::move(steps), std::get<0>(std::move(made)), false};
    return {{"sequence", last_}};
  }

  json update(const json& body) {
    const auto fault = refresh(change(body));
    return fault ? json{{"fault", fault_to_json(*fault)}} : json::object();
  }

  // Leaves the device alone.
  Prepared& change(const json& body) {
    Prepared& prepared = sequences_.at(field<std::int64_t>(body, "sequence"));
    apply_patches(patches_from_json(body.at("patches")), prepared.steps);
    prepared.stale |= !device_->update(*prepared.sequence, prepared.steps);
    return prepared;
  }

  // Those that came with a run, now that its answer is on its way.
  void make_updates(const json& body) {
    if (body.contains("updates")) {
      for (const json& next : body.at("updates")) {
        (void)change(next);
      }
    }
  }

  // Makes a sequence anew that could not take its changes.
  std::optional<device::Fault> refresh(Prepared& prepared) {
    if (!prepared.stale) {
      return std::nullopt;
    }
    auto made = device_->prepare(*module_, prepared.steps);
    if (auto* fault = std::get_if<device::Fault>(&made)) {
      return std::move(*fault);
    }
    prepared.sequence = std::get<0>(std::move(made));
    prepared.stale = false;
    return std::nullopt;
  }

  void wash(const json& body) {
    const auto poison = static_cast<std::uint32_t>(field<std::uint64_t>(body, "poison"));
    for (const std::int64_t set : field<std::vector<std::int64_t>>(body, "sets")) {
      if (off_.contains(Defence::scratch_poison)) {
        break;
      }
      for (const auto& buffer : scratch_.at(set)) {
        // With all that a kernel can reach around it, or it would keep something between calls.
        const device::Reach all = device::reach(*buffer);
        device_->fill_words(all.begin, all.bytes, poison);
      }
    }
    if (!off_.contains(Defence::wash)) {
      device_->wash();
    }
    if (!off_.contains(Defence::persisting_reset)) {
      device_->reset_persisting_cache();
    }
    device_->synchronize();
  }

  // The call, then what "wash" does, in one turn of the device.
  json run(const json& body) {
    Prepared& prepared = sequences_.at(field<std::int64_t>(body, "sequence"));
    if (const auto fault = refresh(prepared)) {
      return {{"fault", fault_to_json(*fault)}};
    }
    const auto result = device_->run(*prepared.sequence);
    if (const auto* fault = std::get_if<device::Fault>(&result)) {
      return {{"fault", fault_to_json(*fault)}};
    }
    wash(body);
    const auto& time = std::get<device::RunTime>(result);
    return {{"device", time.device_seconds}, {"host", time.host_seconds}};
  }

  // Calls one after another, each after a flush if asked for; the judge times the whole.
  json row(const json& body) {
    const auto calls = field<std::int64_t>(body, "calls");
    const bool flush = field<bool>(body, "flush");
    Prepared& prepared = sequences_.at(field<std::int64_t>(body, "sequence"));
    if (const auto fault = refresh(prepared)) {
      return {{"fault", fault_to_json(*fault)}};
    }
    for (std::int64_t i = 0; i < calls; ++i) {
      if (flush) {
        (void)device_->flush_cache();
      }
      const auto result = device_->run(*prepared.sequence);
      if (const auto* fault = std::get_if<device::Fault>(&result)) {
        return {{"fault", fault_to_json(*fault)}};
      }
    }
    wash(body);
    return json::object();
  }

  wire::Channel channel_;
  DefenceSet off_;
  std::unique_ptr<device::Device> device_;
  bool loaded_ = false;
  // Destroyed before the device, sequences before the module and buffers.
  std::map<std::int64_t, std::unique_ptr<device::Buffer>> mapped_;
  std::map<std::int64_t, std::vector<std::unique_ptr<device::Buffer>>> scratch_;
  std::unique_ptr<device::Module> module_;
  std::map<std::int64_t, Prepared> sequences_;
  std::int64_t last_ = 0;
};

}  // namespace

int runner_main(int fd) {
  // What kernels print must not be lost when the judge kills this process.
  (void)std::setvbuf(stdout, nullptr, _IOLBF, 0);
  try {
    Runner(util::Fd(fd)).serve();
    return 0;
  } catch (const std::exception& error) {
    // Standard error is read by the judge only when a runner ends before it has loaded anything.
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

}  // namespace sweep::evaluate
