#include "evaluate/engine.h"

#include <algorithm>
#include <cstring>

namespace sweep::evaluate {
namespace {

class HostEngine final : public Engine {
 public:
  explicit HostEngine(device::Device& device) : device_(device) {}

  void fill(const problem::FillPlan& plan, std::size_t index, device::Address to) override {
    const problem::ConcreteTensor& tensor = plan.tensors().at(index).tensor;
    std::vector<std::byte> values(static_cast<std::size_t>(tensor.bytes));
    plan.fill(index, 0, tensor.count, values);
    device_.upload(to, values);
  }

  void copy(device::Address to, device::Address from, std::size_t bytes) override {
    device_.upload(to, download(device_, from, bytes));
  }

  [[nodiscard]] std::vector<bool> holds(std::span<const device::Claim> claims) override {
    return device_.holds(claims);
  }

  [[nodiscard]] problem::Comparison compare(const CompareJob& job) override {
    const auto bytes = [this](const Region& region) {
      return download(device_, region.address, region.bytes);
    };
    const auto reals = [&bytes](const Region& region) {
      const std::vector<std::byte> raw = bytes(region);
      std::vector<double> values(raw.size() / sizeof(double));
      std::memcpy(values.data(), raw.data(), values.size() * sizeof(double));
      return values;
    };
    const std::vector<std::byte> got = bytes(job.got), oracle = bytes(job.oracle),
                                 seed = bytes(job.seed), base = bytes(job.base),
                                 marks = bytes(job.unless);
    const std::vector<double> scale = reals(job.scale), otherwise = reals(job.otherwise);
    problem::CompareInputs inputs;
    inputs.got = got;
    inputs.oracle = oracle;
    inputs.seed = seed;
    inputs.base = base;
    inputs.scale = scale;
    inputs.unless = {reinterpret_cast<const std::uint8_t*>(marks.data()), marks.size()};
    inputs.otherwise = otherwise;
    inputs.poison = job.poison;
    return problem::compare(job.parameters, job.shape, inputs);
  }

 private:
  device::Device& device_;
};

}  // namespace

std::unique_ptr<Engine> make_host_engine(device::Device& device) {
  return std::make_unique<HostEngine>(device);
}

std::vector<std::byte> download(device::Device& device, device::Address from, std::size_t bytes) {
  std::vector<std::byte> values(bytes);
  if (bytes > 0) {
    device.download(values, from);
  }
  return values;
}

}  // namespace sweep::evaluate
