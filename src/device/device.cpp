#include "device/device.h"

#include "device/cpu/cpu_device.h"
#include "device/cuda/cuda_device.h"
#include "device/describe.h"
#include "util/error.h"

#include <charconv>
#include <string>
#include <utility>

#include <unistd.h>

namespace sweep::device {
namespace {

constexpr int kMaxIndex = 1023;

[[noreturn]] void refuse(std::string_view text) {
  throw util::UsageError(
      {"--device " + std::string(text), "no such kind of device", "use cpu, cuda or cuda:N"},
      "E_DEVICE_NAME");
}

// g++ somewhere on $PATH: what the compile step needs for this device.
bool have_gxx() {
  const char* path = getenv("PATH");
  std::string rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  while (!rest.empty()) {
    const auto colon = rest.find(':');
    const std::string folder = rest.substr(0, colon);
    if (!folder.empty() && access((folder + "/g++").c_str(), X_OK) == 0) {
      return true;
    }
    rest = colon == std::string::npos ? std::string() : rest.substr(colon + 1);
  }
  return false;
}

}  // namespace

Id parse_id(std::string_view text) {
  if (text == "cpu") {
    return {Kind::cpu, 0};
  }
  constexpr std::string_view kCuda = "cuda";
  if (text.substr(0, kCuda.size()) != kCuda) {
    refuse(text);
  }
  const std::string_view rest = text.substr(kCuda.size());
  if (rest.empty()) {
    return {Kind::cuda, 0};
  }
  int index = -1;
  const char* end = rest.data() + rest.size();
  const auto [stop, error] = std::from_chars(rest.data() + 1, end, index);
  if (rest.size() < 2 || rest[0] != ':' || rest[1] == '-' || error != std::errc() || stop != end ||
      index > kMaxIndex) {
    refuse(text);
  }
  return {Kind::cuda, index};
}

std::string text(Id id) {
  return id.kind == Kind::cpu ? "cpu" : "cuda:" + std::to_string(id.index);
}

std::unique_ptr<Device> open(Id id, Image own_code) {
  if (id.kind == Kind::cpu) {
    return cpu::open();
  }
  return cuda::open(id.index, std::move(own_code));
}

Info describe(Id id) {
  return id.kind == Kind::cpu ? cpu::describe() : cuda::describe(id.index);
}

bool pageable_memory(Id id) {
  return id.kind == Kind::cuda && cuda::pageable_memory(id.index);
}

OwnSource own_source(Kind kind) {
  return kind == Kind::cuda ? cuda::own_source() : OwnSource{};
}

std::vector<Listed> list() {
  std::vector<Listed> all;
  const bool usable = have_gxx();
  all.push_back({{Kind::cpu, 0},
                 cpu::describe(),
                 usable,
                 usable ? "" : "g++ is not on the path; install g++ 12 or newer"});
  for (Listed& listed : cuda::list()) {
    all.push_back(std::move(listed));
  }
  return all;
}

}  // namespace sweep::device
