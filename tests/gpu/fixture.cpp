#include "fixture.h"

#include "util/error.h"

namespace sweep::gpu {

void OnDevice::SetUp() {
  try {
    device_ = device::cuda::open(0);
  } catch (const util::UsageError& error) {
    GTEST_SKIP() << error.what();
  }
}

std::unique_ptr<device::Module> OnDevice::load(const device::Image& image) {
  auto loaded = on().load(image);
  if (const auto* fault = std::get_if<device::Fault>(&loaded)) {
    ADD_FAILURE() << fault->text;
    return nullptr;
  }
  return std::move(std::get<0>(loaded));
}

std::unique_ptr<device::Sequence> OnDevice::prepare(device::Module& module,
                                                    const std::vector<device::Step>& steps) {
  auto made = on().prepare(module, steps);
  if (const auto* fault = std::get_if<device::Fault>(&made)) {
    ADD_FAILURE() << fault->text;
    return nullptr;
  }
  return std::move(std::get<0>(made));
}

device::RunTime OnDevice::run(device::Sequence& sequence) {
  const auto ran = on().run(sequence);
  if (const auto* fault = std::get_if<device::Fault>(&ran)) {
    ADD_FAILURE() << fault->text;
    return {};
  }
  return std::get<0>(ran);
}

void OnDevice::run_once(device::Module& module, const device::Launch& launch) {
  const auto sequence = prepare(module, {launch});
  ASSERT_NE(sequence, nullptr);
  run(*sequence);
}

}  // namespace sweep::gpu
