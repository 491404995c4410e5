#include "device/device.h"

#include <cstdlib>

namespace sweep::device {

std::vector<std::string> role_environment(Id id) {
  if (id.kind == Kind::cpu) {
    return {};
  }
  std::vector<std::string> out{"CUDA_DISABLE_PTX_JIT=1",
                               "CUDA_CACHE_DISABLE=1",
                               "CUDA_MODULE_LOADING=EAGER",
                               // One stream is all that a role uses. What this saves when a
                               // context is opened has not been measured.
                               "CUDA_DEVICE_MAX_CONNECTIONS=1"};
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "CUDA_HOME", "LD_LIBRARY_PATH"}) {
    if (const char* value = std::getenv(name)) {
      out.push_back(std::string(name) + "=" + value);
    }
  }
  return out;
}

}  // namespace sweep::device
