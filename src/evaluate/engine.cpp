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

  [[nodiscard]] bool equal(device::Address a, device::Address b, std::size_t bytes) override {
    return download(device_, a, bytes) == download(device_, b, bytes);
  }

  [[nodiscard]] bool all_words(device::Address at,
                               std::size_t bytes,
                               std::uint32_t pattern) override {
    const std::vector<std::byte> found = download(device_, at, bytes);
    for (std::size_t i = 0; i + sizeof pattern <= found.size(); i += sizeof pattern) {
      std::uint32_t word = 0;
      std::memcpy(&word, found.data() + i, sizeof word);
      if (word != pattern) {
        return false;
      }
    }
    return true;
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
