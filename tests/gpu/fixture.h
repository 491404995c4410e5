#pragma once

#include "kernels.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace sweep::gpu {

// Opens device 0 for each test, or skips with the reason why there is none.
class OnDevice : public testing::Test {
 protected:
  void SetUp() override;

  [[nodiscard]] device::Device& on() { return *device_; }

  // Loads and prepares; a fault fails the test and gives nullptr.
  [[nodiscard]] std::unique_ptr<device::Module> load(const device::Image& image);
  [[nodiscard]] std::unique_ptr<device::Sequence> prepare(device::Module& module,
                                                          const std::vector<device::Step>& steps);
  // Runs; a fault fails the test.
  device::RunTime run(device::Sequence& sequence);
  void run_once(device::Module& module, const device::Launch& launch);

  template <typename Value>
  [[nodiscard]] std::vector<Value> download(device::Address from, std::size_t count) {
    std::vector<Value> out(count);
    on().download(std::as_writable_bytes(std::span(out)), from);
    return out;
  }

 private:
  std::unique_ptr<device::Device> device_;
};

}  // namespace sweep::gpu
