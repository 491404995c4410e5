#pragma once

#include "device/cpu/pool.h"
#include "device/device.h"
#include "util/fd.h"

#include <sweep/simt/runtime.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace sweep::device::cpu {

// A shared object of the compile step, loaded from memory. Loading runs no code of it: the compile
// step refuses initialisers. Kept open until destruction.
class CpuModule final : public Module {
 public:
  // An empty memory file for load(), to be made while the process may still make one.
  [[nodiscard]] static util::Fd make_file();
  // Writes the image to `file`, a fresh one of make_file(), and loads it. The image is not a module
  // of this version, or the loader refuses it: a text.
  [[nodiscard]] static std::variant<std::unique_ptr<CpuModule>, std::string> load(
      const Image& image, util::Fd file);
  CpuModule(const CpuModule&) = delete;
  CpuModule& operator=(const CpuModule&) = delete;
  ~CpuModule() override;

  [[nodiscard]] FunctionFacts facts(std::string_view kernel) const override;
  // One block at a time runs on a worker.
  [[nodiscard]] int occupancy(std::string_view kernel,
                              int threads,
                              std::size_t shared_bytes) const override;

  // Null where the module has no such kernel.
  [[nodiscard]] const sweep_simt::KernelEntry* find(std::string_view kernel) const;

  // Shared memory that every block of this module has besides the launch's, in bytes.
  [[nodiscard]] std::size_t static_shared() const noexcept { return static_shared_; }

  [[nodiscard]] bool uses_dynamic_shared() const noexcept {
    return table_->dynamic_shared != nullptr;
  }

  // Fills the calling OS thread's shared memory (static part, `dynamic` bytes and the canary after
  // them) with a pattern whose floats are NaN.
  void poison_shared(std::size_t dynamic) const;

  // Whether the bytes after `dynamic` are still as poison_shared() left them.
  [[nodiscard]] bool canary_intact(std::size_t dynamic) const;

 private:
  CpuModule(util::Fd file, void* handle, const sweep_simt::ModuleTable* table);
  [[nodiscard]] std::size_t tls_bytes() const;

  util::Fd file_;  // open while loaded: the loader knows the object by this descriptor's path
  void* handle_ = nullptr;
  const sweep_simt::ModuleTable* table_ = nullptr;
  std::size_t static_shared_ = 0;
  std::size_t tls_module_ = 0;  // loader's number of this object's thread-local memory
};

// A launch checked against device limits and the kernel's parameters, or why it cannot run.
struct PreparedLaunch {
  const sweep_simt::KernelEntry* kernel = nullptr;
  LaunchShape shape;
  std::vector<std::vector<std::byte>> storage;
  std::vector<void*> arguments;
  std::size_t shared_bytes = 0;
};

[[nodiscard]] std::variant<PreparedLaunch, Fault> prepare_launch(const CpuModule& module,
                                                                 const Launch& launch);

// Runs all blocks over the pool; the result is the first failure. `key` decides the order of
// threads.
[[nodiscard]] std::optional<Failure> run_launch(Pool& pool,
                                                const CpuModule& module,
                                                PreparedLaunch& launch,
                                                std::uint64_t key);

}  // namespace sweep::device::cpu
