#ifdef SWEEP_HAVE_CUDA
#include "device/cuda/info.h"

#include "device/cuda/telemetry.h"
#include "util/error.h"

#include <array>

namespace sweep::device::cuda {
namespace {

int attribute(const Driver& driver, CUdevice device, CUdevice_attribute name) {
  int value = 0;
  driver.check(driver.cuDeviceGetAttribute_(&value, name, device), "cuDeviceGetAttribute");
  return value;
}

// The driver API gives only the CUDA version; NVML has the driver's own. Without NVML: "CUDA 13.0".
std::string driver_version(const Driver& driver, const std::string& uuid) {
  try {
    if (std::string version = Telemetry::open(uuid).driver_version(); !version.empty()) {
      return version;
    }
  } catch (const util::Error&) {
    // Containers without the utility capability have no NVML.
  }
  int version = 0;
  driver.check(driver.cuDriverGetVersion_(&version), "cuDriverGetVersion");
  return "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

std::string uuid_text(const CUuuid& uuid) {
  constexpr const char* digits = "0123456789abcdef";
  std::string out = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) {
      out += '-';
    }
    const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
    out += digits[byte >> 4U];
    out += digits[byte & 15U];
  }
  return out;
}

std::string arch_text(int major, int minor) {
  return "sm_" + std::to_string(major) + std::to_string(minor) + (major >= 9 ? "a" : "");
}

bool pageable_memory_access(const Driver& driver, CUdevice ordinal) {
  return attribute(driver, ordinal, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS) != 0;
}

Info device_info(const Driver& driver, CUdevice ordinal) {
  const auto get = [&](CUdevice_attribute name) { return attribute(driver, ordinal, name); };
  Info out;
  std::array<char, 256> name{};
  driver.check(driver.cuDeviceGetName_(name.data(), static_cast<int>(name.size()) - 1, ordinal),
               "cuDeviceGetName");
  out.name = name.data();
  CUuuid uuid{};
  driver.check(driver.cuDeviceGetUuid_(&uuid, ordinal), "cuDeviceGetUuid");
  out.uuid = uuid_text(uuid);
  out.driver = driver_version(driver, out.uuid);
  out.arch = arch_text(get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                       get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  out.sm_count = get(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  driver.check(driver.cuDeviceTotalMem_(&out.total_bytes, ordinal), "cuDeviceTotalMem");
  out.l2_bytes = static_cast<std::size_t>(get(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
  out.max_shared_bytes =
      static_cast<std::size_t>(get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  out.clock_mhz = get(CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1e3;
  // Memory clock in kHz, two transfers a cycle, bus width in bits.
  out.dram_bytes_per_second = get(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) * 1e3 * 2 *
                              get(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) / 8;
  return out;
}

}  // namespace sweep::device::cuda
#endif
