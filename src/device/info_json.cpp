#include "device/info_json.h"

#include "wire/channel.h"

#include <nlohmann/json.hpp>

#include <limits>

namespace sweep::device {
namespace {

nlohmann::json reading_or_null(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

std::optional<double> reading_from(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  return found == json.end() || found->is_null() ? std::nullopt
                                                 : std::optional(wire::field<double>(json, key));
}

}  // namespace

nlohmann::json to_json(const Info& info) {
  return {{"name", info.name},
          {"uuid", info.uuid},
          {"driver", info.driver},
          {"arch", info.arch},
          {"sm_count", info.sm_count},
          {"total_bytes", info.total_bytes},
          {"l2_bytes", info.l2_bytes},
          {"max_shared_bytes", info.max_shared_bytes},
          {"clock_mhz", info.clock_mhz},
          {"dram_bytes_per_second", info.dram_bytes_per_second}};
}

Info info_from_json(const nlohmann::json& json) {
  using wire::field;
  const auto sm_count = field<std::int64_t>(json, "sm_count");
  if (sm_count < 0 || sm_count > std::numeric_limits<int>::max()) {
    throw wire::WireError({"device", "sm_count is out of range", ""}, "E_WIRE_FIELD");
  }
  Info info;
  info.name = field<std::string>(json, "name");
  info.uuid = field<std::string>(json, "uuid");
  info.driver = field<std::string>(json, "driver");
  info.arch = field<std::string>(json, "arch");
  info.sm_count = static_cast<int>(sm_count);
  info.total_bytes = field<std::uint64_t>(json, "total_bytes");
  info.l2_bytes = field<std::uint64_t>(json, "l2_bytes");
  info.max_shared_bytes = field<std::uint64_t>(json, "max_shared_bytes");
  info.clock_mhz = field<double>(json, "clock_mhz");
  info.dram_bytes_per_second = field<double>(json, "dram_bytes_per_second");
  return info;
}

nlohmann::json to_json(const Conditions& conditions) {
  nlohmann::json neighbours = nlohmann::json::array();
  for (const Neighbour& one : conditions.neighbours) {
    neighbours.push_back({{"pid", one.pid}, {"name", one.name}, {"busy", one.busy}});
  }
  return {{"sm_clock_mhz", reading_or_null(conditions.sm_clock_mhz)},
          {"max_sm_clock_mhz", reading_or_null(conditions.max_sm_clock_mhz)},
          {"memory_clock_mhz", reading_or_null(conditions.memory_clock_mhz)},
          {"temperature_c", reading_or_null(conditions.temperature_c)},
          {"power_watts", reading_or_null(conditions.power_watts)},
          {"throttle", conditions.throttle},
          {"neighbours", std::move(neighbours)},
          {"reason", conditions.reason}};
}

std::vector<Neighbour> neighbours_from_json(const nlohmann::json& list) {
  constexpr std::size_t kMost = 4096;
  if (!list.is_array() || list.size() > kMost) {
    throw wire::WireError({"device", "neighbours are not a list", ""}, "E_WIRE_FIELD");
  }
  std::vector<Neighbour> made;
  for (const nlohmann::json& one : list) {
    const auto pid = wire::field<std::int64_t>(one, "pid");
    if (pid < 0 || pid > std::numeric_limits<int>::max()) {
      throw wire::WireError({"device", "pid is out of range", ""}, "E_WIRE_FIELD");
    }
    made.push_back({static_cast<int>(pid),
                    wire::field<std::string>(one, "name"),
                    wire::field<bool>(one, "busy")});
  }
  return made;
}

Conditions conditions_from_json(const nlohmann::json& json) {
  Conditions made;
  made.sm_clock_mhz = reading_from(json, "sm_clock_mhz");
  made.max_sm_clock_mhz = reading_from(json, "max_sm_clock_mhz");
  made.memory_clock_mhz = reading_from(json, "memory_clock_mhz");
  made.temperature_c = reading_from(json, "temperature_c");
  made.power_watts = reading_from(json, "power_watts");
  made.throttle = wire::field<std::vector<std::string>>(json, "throttle");
  made.reason = wire::field<std::string>(json, "reason");
  if (const auto list = json.find("neighbours"); list != json.end()) {  // older ones lack it
    made.neighbours = neighbours_from_json(*list);
  }
  return made;
}

}  // namespace sweep::device
