#include "device/info_json.h"

#include "wire/channel.h"

#include <nlohmann/json.hpp>

#include <limits>

namespace sweep::device {

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

}  // namespace sweep::device
