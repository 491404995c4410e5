#include "queue/devices.h"

#include "util/error.h"
#include "util/process.h"
#include "wire/channel.h"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <iostream>

namespace sweep::queue {

namespace {

struct Found {
  Lane lane;
  bool usable = false;
  std::string reason;
};

std::vector<Found> ask(const std::filesystem::path& program) {
  util::SpawnSpec spec;
  spec.argv = {"sweep", "__devices"};
  spec.env = util::basic_environment();
  for (const char* name : {"CUDA_HOME", "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH"}) {
    if (const char* value = std::getenv(name)) {
      spec.env.push_back(std::string(name) + "=" + value);
    }
  }
  spec.deadline = 60;
  const util::Captured done =
      util::run_self(util::Self::open(program), spec, {}, std::size_t{1} << 20);
  if (!done.status.ok()) {
    throw util::InfraError({"devices",
                            "listing them failed: " + done.status.text() + " " + done.err,
                            "see `sweep doctor`"},
                           "E_DEVICES");
  }
  std::vector<Found> out;
  const nlohmann::json answer = wire::parse_object(done.out, "devices");
  for (const nlohmann::json& row : answer.at("devices")) {
    Found found;
    found.lane.id = device::parse_id(wire::field<std::string>(row, "id"));
    found.usable = wire::field<bool>(row, "usable");
    found.reason = wire::field<std::string>(row, "reason");
    device::Info& info = found.lane.info;
    info.name = wire::field<std::string>(row, "name");
    info.uuid = wire::field<std::string>(row, "uuid");
    info.driver = wire::field<std::string>(row, "driver");
    info.arch = wire::field<std::string>(row, "arch");
    info.sm_count = static_cast<int>(wire::field<std::int64_t>(row, "sm_count"));
    info.total_bytes = wire::field<std::uint64_t>(row, "total_bytes");
    info.l2_bytes = wire::field<std::uint64_t>(row, "l2_bytes");
    info.max_shared_bytes = wire::field<std::uint64_t>(row, "max_shared_bytes");
    info.clock_mhz = wire::field<double>(row, "clock_mhz");
    info.dram_bytes_per_second = wire::field<double>(row, "dram_bytes_per_second");
    out.push_back(std::move(found));
  }
  return out;
}

}  // namespace

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
    const std::string next = id.kind == device::Kind::cuda
                                 ? "set [run] device = \"cpu\" (slow, timings not comparable) or "
                                   "see `sweep doctor --device cuda`"
                                 : "see `sweep doctor`";
    throw util::UsageError(
        {"device " + wanted, reason.empty() ? "no such device on this machine" : reason, next},
        "E_NO_DEVICE");
  }
  return out;
}

int devices_main() {
  nlohmann::json rows = nlohmann::json::array();
  for (const device::Listed& listed : device::list()) {
    const device::Info& i = listed.info;
    rows.push_back({{"id", device::text(listed.id)},
                    {"usable", listed.usable},
                    {"reason", listed.reason},
                    {"name", i.name},
                    {"uuid", i.uuid},
                    {"driver", i.driver},
                    {"arch", i.arch},
                    {"sm_count", i.sm_count},
                    {"total_bytes", i.total_bytes},
                    {"l2_bytes", i.l2_bytes},
                    {"max_shared_bytes", i.max_shared_bytes},
                    {"clock_mhz", i.clock_mhz},
                    {"dram_bytes_per_second", i.dram_bytes_per_second}});
  }
  std::cout << nlohmann::json{{"devices", rows}}.dump() << '\n';
  return 0;
}

}  // namespace sweep::queue
