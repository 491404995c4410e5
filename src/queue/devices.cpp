#include "queue/devices.h"

#include "compile/compiler.h"
#include "device/info_json.h"
#include "queue/device_probe.h"
#include "util/error.h"
#include "util/process.h"
#include "wire/channel.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include <unistd.h>

namespace sweep::queue {

namespace {

struct Found {
  Lane lane;
  bool usable = false;
  std::string reason;
};

util::SpawnSpec devices_spec() {
  util::SpawnSpec spec;
  spec.argv = {"sweep", "__devices"};
  spec.env = util::basic_environment();
  if (const char* path = std::getenv("PATH")) {
    std::erase_if(spec.env, [](const std::string& entry) { return entry.starts_with("PATH="); });
    spec.env.push_back(std::string("PATH=") + path);
  }
  for (const char* name : {"CUDA_HOME", "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH"}) {
    if (const char* value = std::getenv(name)) {
      spec.env.push_back(std::string(name) + "=" + value);
    }
  }
  spec.deadline = 60;
  return spec;
}

std::vector<Found> found_in(const std::string& text) {
  std::vector<Found> out;
  const nlohmann::json answer = wire::parse_object(text, "devices");
  const std::string gxx = wire::field<std::string>(answer, "gxx_reason");
  const std::string nvrtc = wire::field<std::string>(answer, "nvrtc_reason");
  const std::string nvcc = wire::field<std::string>(answer, "nvcc_reason");
  for (const nlohmann::json& row : answer.at("devices")) {
    Found found;
    found.lane.id = device::parse_id(wire::field<std::string>(row, "id"));
    found.usable = wire::field<bool>(row, "usable");
    found.reason = wire::field<std::string>(row, "reason");
    found.lane.info = device::info_from_json(row.at("info"));
    found.lane.no_nvcc = found.lane.id.kind == device::Kind::cpu ? gxx : nvcc;
    found.lane.no_compiler = found.lane.id.kind == device::Kind::cpu ? gxx : nvrtc;
    out.push_back(std::move(found));
  }
  return out;
}

std::vector<Found> ask(const std::filesystem::path& program) {
  const util::Captured done =
      util::run_self(util::Self::open(program), devices_spec(), {}, std::size_t{1} << 20);
  if (!done.status.ok()) {
    throw util::InfraError({"devices",
                            "listing them failed: " + done.status.text() + " " + done.err,
                            "see `sweep doctor`"},
                           "E_DEVICES");
  }
  return found_in(done.out);
}

class DevicesProcess final : public LaneProbe {
 public:
  DevicesProcess(const std::filesystem::path& program, const device::Id& device)
      : device_(device), output_(util::make_memfd("sweep-devices")), process_([&] {
          util::SpawnSpec spec = devices_spec();
          spec.fds = {{output_.get(), 1}};
          return util::Process::start_self(util::Self::open(program), spec);
        }()) {}

  [[nodiscard]] int fd() const override { return process_.pidfd(); }

  [[nodiscard]] std::string problem() override {
    const util::ExitStatus status = process_.wait();
    if (!status.ok()) {
      return "listing the devices failed: " + status.text();
    }
    try {
      for (const Found& found : found_in(output())) {
        if (found.lane.id.kind == device_.kind && found.lane.id.index == device_.index) {
          return found.usable ? std::string() : found.reason;
        }
      }
      return "the device is gone";
    } catch (const std::exception& error) {
      return error.what();
    }
  }

 private:
  [[nodiscard]] std::string output() const {
    std::string text(std::size_t{1} << 20, '\0');
    if (::lseek(output_.get(), 0, SEEK_SET) < 0) {
      util::throw_errno("lseek", "devices");
    }
    text.resize(util::read_all(output_.get(), text.data(), text.size(), "devices"));
    return text;
  }

  device::Id device_;
  util::Fd output_;
  util::Process process_;
};

}  // namespace

std::unique_ptr<LaneProbe> probe_device(const std::filesystem::path& program,
                                        const device::Id& device) {
  return std::make_unique<DevicesProcess>(program, device);
}

std::vector<Lane> lanes(const std::filesystem::path& program,
                        const std::string& wanted,
                        std::size_t most,
                        const std::string& require_gpu) {
  const bool any = wanted == "cuda";
  const device::Id id = device::parse_id(wanted);
  std::vector<Lane> out;
  std::string reason;
  for (const Found& found : ask(program)) {
    if (found.lane.id.kind != id.kind || (!any && found.lane.id.index != id.index)) {
      continue;
    }
    const bool named =
        require_gpu.empty() || found.lane.info.name.find(require_gpu) != std::string::npos;
    if (!found.usable) {
      reason = found.reason;
    } else if (!named) {
      reason = "it is a '" + found.lane.info.name + "', and [run] require_gpu asks for '" +
               require_gpu + "'";
    } else if (most == 0 || out.size() < most) {
      out.push_back(found.lane);
    }
  }
  if (out.empty()) {
    // The reason may end in its own advice; for a GPU that is the advice of `eval`.
    const std::size_t end = std::min(reason.find("; "), reason.size());
    const std::string advice = end < reason.size() ? reason.substr(end + 2) : "see `sweep doctor`";
    reason.resize(end);
    const std::string next = id.kind == device::Kind::cuda
                                 ? "set [run] device = \"cpu\" (slow, timings not comparable) or "
                                   "see `sweep doctor --device cuda`"
                                 : advice;
    throw util::UsageError(
        {"device " + wanted, reason.empty() ? "no such device on this machine" : reason, next},
        "E_NO_DEVICE");
  }
  return out;
}

int devices_main() {
  nlohmann::json rows = nlohmann::json::array();
  for (const device::Listed& listed : device::list()) {
    rows.push_back({{"id", device::text(listed.id)},
                    {"usable", listed.usable},
                    {"reason", listed.reason},
                    {"info", device::to_json(listed.info)}});
  }
  const compile::Compiler compiler;
  const compile::Toolchain& tools = compiler.toolchain();
  std::cout << nlohmann::json{{"devices", rows},
                              {"gxx_reason", tools.gxx_reason},
                              {"nvrtc_reason", tools.nvrtc_reason},
                              {"nvcc_reason", tools.nvcc_reason}}
                   .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
            << '\n';
  return 0;
}

}  // namespace sweep::queue
