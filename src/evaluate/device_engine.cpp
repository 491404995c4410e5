#include "device/cuda/nvrtc.h"
#include "evaluate/engine.h"
#include "util/error.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>

namespace sweep::evaluate {
namespace {

constexpr std::uint32_t kFillThreads = 256;
constexpr std::int64_t kFillBlocksPerSm = 8;

template <typename Value>
std::vector<std::byte> bytes_of(const Value& value) {
  static_assert(std::is_trivially_copyable_v<Value>);
  std::vector<std::byte> out(sizeof(Value));
  std::memcpy(out.data(), &value, sizeof(Value));
  return out;
}

// No contraction of a * b + c: the same bits as on the host.
device::Image compile_fill(const std::string& arch) {
  const device::cuda::Nvrtc nvrtc = device::cuda::Nvrtc::load();
  device::cuda::Compiled compiled = nvrtc.compile({"fill.cu",
                                                   problem::fill_device_source(),
                                                   {"-arch=" + arch, "-std=c++20", "--fmad=false"},
                                                   {"sweep_fill"},
                                                   {}});
  if (!compiled.ok) {
    throw util::InfraError(
        {"the harness's fill kernel", compiled.error + "\n" + compiled.log, "run `sweep doctor`"},
        "E_HARNESS_KERNELS");
  }
  return std::move(compiled.image);
}

class DeviceEngine final : public Engine {
 public:
  explicit DeviceEngine(device::Device& device) : device_(device) {
    auto loaded = device_.load(compile_fill(device_.info().arch));
    if (const auto* fault = std::get_if<device::Fault>(&loaded)) {
      throw util::InfraError({"the harness's fill kernel", fault->text, "run `sweep doctor`"},
                             "E_HARNESS_KERNELS");
    }
    module_ = std::get<0>(std::move(loaded));
  }

  void fill(const problem::FillPlan& plan, std::size_t index, device::Address to) override {
    const problem::FilledTensor& filled = plan.tensors().at(index);
    if (filled.way != problem::FillWay::element) {
      std::vector<std::byte> values(static_cast<std::size_t>(filled.tensor.bytes));
      plan.fill(index, 0, filled.tensor.count, values);
      device_.upload(to, values);
      return;
    }
    const std::int64_t wanted = (filled.tensor.count + kFillThreads - 1) / kFillThreads;
    const std::int64_t most = kFillBlocksPerSm * device_.info().sm_count;
    device::Launch launch;
    launch.kernel = "sweep_fill";
    launch.grid[0] =
        static_cast<std::uint32_t>(std::clamp<std::int64_t>(wanted, std::int64_t{1}, most));
    launch.block[0] = kFillThreads;
    launch.arguments = {bytes_of(filled.parameters),
                        bytes_of(to),
                        bytes_of(std::int64_t{0}),
                        bytes_of(filled.tensor.count)};
    device_.launch(*module_, launch);
  }

  void copy(device::Address to, device::Address from, std::size_t bytes) override {
    device_.copy(to, from, bytes);
  }

  [[nodiscard]] bool equal(device::Address a, device::Address b, std::size_t bytes) override {
    return device_.equal(a, b, bytes);
  }

  [[nodiscard]] bool all_words(device::Address at,
                               std::size_t bytes,
                               std::uint32_t pattern) override {
    return device_.all_words(at, bytes, pattern);
  }

 private:
  device::Device& device_;
  std::unique_ptr<device::Module> module_;
};

}  // namespace

std::unique_ptr<Engine> make_device_engine(device::Device& device) {
  return std::make_unique<DeviceEngine>(device);
}

}  // namespace sweep::evaluate
