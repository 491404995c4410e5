#include "evaluate/engine.h"
#include "problem/device/compare.cuh"
#include "util/error.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>

namespace sweep::evaluate {
namespace {

constexpr std::uint32_t kThreads = 256;
constexpr std::int64_t kWarps = 8;  // in a block of 256
constexpr std::int64_t kBlocksPerSm = 8;

template <typename Value>
std::vector<std::byte> bytes_of(const Value& value) {
  static_assert(std::is_trivially_copyable_v<Value>);
  std::vector<std::byte> out(sizeof(Value));
  std::memcpy(out.data(), &value, sizeof(Value));
  return out;
}

class DeviceEngine final : public Engine {
 public:
  DeviceEngine(device::Device& device, Store& store, const EngineImages& images)
      : device_(device), store_(store), fill_(load(images.fill)), compare_(load(images.compare)) {}

  void fill(const problem::FillPlan& plan, std::size_t index, device::Address to) override {
    const problem::FilledTensor& filled = plan.tensors().at(index);
    if (const std::optional<problem::GroupFill> group = plan.on_device(index)) {
      fill_group(*group, to);
      return;
    }
    if (filled.way != problem::FillWay::element) {
      std::vector<std::byte> values(static_cast<std::size_t>(filled.tensor.bytes));
      plan.fill(index, 0, filled.tensor.count, values);
      device_.upload(to, values);
      return;
    }
    device::Launch launch;
    launch.kernel = "sweep_fill";
    launch.grid[0] = blocks(filled.tensor.count / 32 + 1);
    launch.block[0] = kThreads;
    launch.arguments = {bytes_of(filled.parameters),
                        bytes_of(to),
                        bytes_of(std::int64_t{0}),
                        bytes_of(filled.tensor.count)};
    device_.launch(*fill_, launch);
  }

  void copy(device::Address to, device::Address from, std::size_t bytes) override {
    device_.copy(to, from, bytes);
  }

  [[nodiscard]] std::vector<bool> holds(std::span<const device::Claim> claims) override {
    return device_.holds(claims);
  }

  [[nodiscard]] problem::Comparison compare(const CompareJob& job) override {
    problem::CompareParameters p = job.parameters;
    p.prefix = problem::checked_prefix(p, job.sizes());
    p.has_poison = job.poison ? 1 : 0;
    p.poison = job.poison.value_or(0);
    if (p.count == 0) {
      return problem::to_comparison(p, job.shape, {});
    }
    const std::size_t bytes = problem::compare_workspace_bytes(p);
    const Store::Piece space = store_.take(bytes);
    device_.fill_words(space.address(), bytes, 0);
    for (const problem::ComparePass& pass : problem::compare_passes(p)) {
      device::Launch launch;
      launch.kernel = pass.kernel;
      launch.grid[0] = blocks(pass.warps);
      launch.block[0] = kThreads;
      launch.arguments = {
          bytes_of(p), bytes_of(data_of(job)), bytes_of(space.address()), bytes_of(pass.pass)};
      device_.launch(*compare_, launch);
    }
    problem::CompareResult result;
    device_.download(std::as_writable_bytes(std::span(&result, 1)), space.address());
    return problem::to_comparison(p, job.shape, result);
  }

 private:
  void fill_group(const problem::GroupFill& group, device::Address to) {
    const std::size_t bytes = group.offsets.size_bytes();
    if (bytes > 0) {
      // Held beyond this call: the kernels may run later.
      if (offsets_.bytes() < bytes) {
        offsets_ = store_.take(bytes);
      }
      device_.upload(offsets_.address(), std::as_bytes(group.offsets));
    }
    for (const problem::GroupFill::Launch& step : group.launches) {
      device::Launch launch;
      launch.kernel = step.kernel;
      launch.grid[0] = static_cast<std::uint32_t>(std::clamp<std::int64_t>(
          step.blocks, std::int64_t{1}, step.blocks_a_sm * device_.info().sm_count));
      launch.block[0] = step.threads;
      launch.arguments = {bytes_of(group.parameters), bytes_of(offsets_.address()), bytes_of(to)};
      device_.launch(*fill_, launch);
    }
  }

  [[nodiscard]] std::unique_ptr<device::Module> load(const device::Image& image) {
    auto loaded = device_.load(image);
    if (const auto* fault = std::get_if<device::Fault>(&loaded)) {
      throw util::InfraError({"the judge's own kernels", fault->text, "run `sweep doctor`"},
                             "E_HARNESS_KERNELS");
    }
    return std::get<0>(std::move(loaded));
  }

  [[nodiscard]] std::uint32_t blocks(std::int64_t warps) const {
    const std::int64_t most = kBlocksPerSm * device_.info().sm_count;
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>((warps + kWarps - 1) / kWarps, std::int64_t{1}, most));
  }

  template <class T>
  static const T* pointer(const Region& region) {
    // The address is the device's; the host only hands it on.
    return region.bytes == 0 ? nullptr : reinterpret_cast<const T*>(region.address);
  }

  static problem::CompareData data_of(const CompareJob& job) {
    problem::CompareData data;
    data.got = pointer<void>(job.got);
    data.oracle = pointer<void>(job.oracle);
    data.seed = pointer<void>(job.seed);
    data.base = pointer<void>(job.base);
    data.scale = pointer<double>(job.scale);
    data.unless = pointer<unsigned char>(job.unless);
    data.otherwise = pointer<double>(job.otherwise);
    return data;
  }

  device::Device& device_;
  Store& store_;
  std::unique_ptr<device::Module> fill_, compare_;
  Store::Piece offsets_;  // of rows, for fill_group
};

}  // namespace

std::unique_ptr<Engine> make_device_engine(device::Device& device,
                                           Store& store,
                                           const EngineImages& images) {
  return std::make_unique<DeviceEngine>(device, store, images);
}

}  // namespace sweep::evaluate
