#include "device/cpu/block.h"
#include "device/cpu/cpu_device.h"

#include <algorithm>
#include <fstream>
#include <string>

#include <sched.h>
#include <sys/sysinfo.h>
#include <unistd.h>

namespace sweep::device::cpu {
namespace {

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? std::string() : text.substr(begin);
}

// First "key : value" of /proc/cpuinfo.
std::string cpuinfo(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const auto colon = line.find(':');
    if (colon != std::string::npos && line.compare(0, key.size(), key) == 0) {
      return trimmed(line.substr(colon + 1));
    }
  }
  return {};
}

std::size_t last_level_cache() {
  const long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
  const long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
  constexpr long kUnknown = 32L << 20;
  return static_cast<std::size_t>(l3 > 0 ? l3 : l2 > 0 ? l2 : kUnknown);
}

int processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return std::clamp(count, 1, static_cast<int>(kMaxWorkers));
}

}  // namespace

Info describe() {
  Info info;
  info.name = cpuinfo("model name");
  info.name = info.name.empty() ? "cpu" : info.name;
  info.uuid = "cpu";
  info.arch = "x86-64";
  info.sm_count = processors();
  struct sysinfo memory = {};
  if (sysinfo(&memory) == 0) {
    info.total_bytes = static_cast<std::size_t>(memory.totalram) * memory.mem_unit;
  }
  info.l2_bytes = last_level_cache();
  info.max_shared_bytes = sweep_simt::kMaxSharedBytes;
  const std::string mhz = cpuinfo("cpu MHz");
  info.clock_mhz = mhz.empty() ? 0 : std::strtod(mhz.c_str(), nullptr);
  return info;
}

}  // namespace sweep::device::cpu
