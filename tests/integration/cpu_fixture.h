#pragma once

#include "compile/compiler.h"
#include "device/device.h"
#include "util/file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

namespace sweep::test {

template <typename T>
std::vector<std::byte> argument(T value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

// The cache of all tests of a user.
inline std::filesystem::path shared_cache() {
  const char* cache = std::getenv("SWEEP_TEST_CACHE");
  return cache != nullptr ? std::filesystem::path(cache)
                          : std::filesystem::temp_directory_path() /
                                ("sweep-test-cache-" + std::to_string(::getuid()));
}

// The built program's compiler role. It compiles every text; only the cpu device's precompiled
// header, 3 s of work, comes from the cache.
inline compile::Compiler& compiler() {
  static compile::Compiler instance = [] {
    compile::Options options;
    options.cache = shared_cache();
    options.use_cache = false;
    options.program = SWEEP_BINARY;
    options.deadline_seconds = 120;  // other tests share the cores
    return compile::Compiler(options);
  }();
  return instance;
}

inline compile::Request cpu_request(const std::string& source, std::vector<std::string> kernels) {
  compile::Request request;
  request.file = "test.cu";
  request.source = source;
  request.kernels = std::move(kernels);
  return request;
}

// Compiles one source for cpu and runs its kernels on buffers of T.
class CpuProgram {
 public:
  CpuProgram(const std::string& source, std::vector<std::string> kernels)
      : device_(device::open({device::Kind::cpu, 0})) {
    compile::Result result = compiler().compile(cpu_request(source, std::move(kernels)));
    log = result.log;
    EXPECT_EQ(result.status, compile::Result::Status::ok) << log;
    if (result.status != compile::Result::Status::ok) {
      return;
    }
    auto loaded = device_->load(result.image);
    if (const auto* fault = std::get_if<device::Fault>(&loaded)) {
      ADD_FAILURE() << fault->text;
      return;
    }
    module_ = std::move(std::get<0>(loaded));
  }

  template <typename T>
  device::Address buffer(const std::vector<T>& values) {
    buffers_.push_back(device_->allocate(values.size() * sizeof(T)));
    const device::Address at = buffers_.back()->address();
    device_->upload(at, std::as_bytes(std::span(values)));
    return at;
  }

  template <typename T>
  std::vector<T> read(device::Address at, std::size_t count) {
    std::vector<T> values(count);
    device_->download(std::as_writable_bytes(std::span(values)), at);
    return values;
  }

  // Empty: it ran. Else the fault's text.
  template <typename... A>
  std::string run(
      const std::string& kernel, unsigned grid, unsigned block, unsigned shared, A... arguments) {
    device::Launch launch{kernel, {grid, 1, 1}, {block, 1, 1}, shared, {argument(arguments)...}};
    return run(launch);
  }

  std::string run(const device::Launch& launch) {
    if (!module_) {
      return "not compiled: " + log;
    }
    const std::vector<device::Step> steps = {launch};
    auto prepared = device_->prepare(*module_, steps);
    if (const auto* fault = std::get_if<device::Fault>(&prepared)) {
      return fault->text;
    }
    auto outcome = device_->run(*std::get<0>(prepared));
    last_fault = device::Fault{};
    if (const auto* fault = std::get_if<device::Fault>(&outcome)) {
      last_fault = *fault;
      return fault->text;
    }
    return {};
  }

  device::Device& device() { return *device_; }

  std::string log;
  device::Fault last_fault;

 private:
  std::unique_ptr<device::Device> device_;
  std::vector<std::unique_ptr<device::Buffer>> buffers_;
  std::unique_ptr<device::Module> module_;
};

}  // namespace sweep::test
