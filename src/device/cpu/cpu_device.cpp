#include "device/cpu/cpu_device.h"

#include "device/cpu/memory.h"
#include "device/cpu/module.h"
#include "device/cpu/pool.h"
#include "util/error.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>

#include <sys/random.h>
#include <sys/sysinfo.h>

namespace sweep::device::cpu {
namespace {

using Clock = std::chrono::steady_clock;

// Virtual machines report the last-level cache of the whole host; more than this is never ours.
constexpr std::size_t kMaxFlushBytes = 256u << 20;

// Addresses are the process's own.
std::byte* at(Address address) {
  return reinterpret_cast<std::byte*>(address);
}

using PreparedStep = std::variant<PreparedLaunch, Memset, Memcpy>;

struct CpuSequence final : Sequence {
  const CpuModule* module = nullptr;
  std::vector<PreparedStep> steps;
};

Fault fault_of(const std::string& kernel, const Failure& failure) {
  Fault fault{failure.memory ? Fault::Kind::memory : Fault::Kind::other,
              kernel + ": " + failure.text};
  if (failure.memory && failure.address != nullptr) {
    fault.address = reinterpret_cast<Address>(failure.address);
  }
  return fault;
}

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(unsigned workers) : info_(describe()), workers_(workers) {
    if (workers_ == 0) {
      workers_ = static_cast<unsigned>(info_.sm_count);
    }
    info_.sm_count = static_cast<int>(workers_);
    if (getrandom(&key_, sizeof key_, 0) != static_cast<ssize_t>(sizeof key_)) {
      util::throw_errno("getrandom", "cpu device");
    }
  }

  [[nodiscard]] const Info& info() const override { return info_; }

  [[nodiscard]] std::size_t free_bytes() const override {
    struct sysinfo memory = {};
    return sysinfo(&memory) == 0
               ? static_cast<std::size_t>(memory.freeram + memory.bufferram) * memory.mem_unit
               : 0;
  }

  [[nodiscard]] std::unique_ptr<Buffer> allocate(std::size_t bytes) override {
    return CpuBuffer::make(bytes);
  }

  [[nodiscard]] std::unique_ptr<Buffer> import(util::Fd fd,
                                               std::size_t bytes,
                                               Access access) override {
    return CpuBuffer::map(std::move(fd), bytes, access);
  }

  void upload(Address to, std::span<const std::byte> from) override {
    if (!from.empty()) {
      memcpy(at(to), from.data(), from.size());
    }
  }

  void download(std::span<std::byte> to, Address from) override {
    if (!to.empty()) {
      memcpy(to.data(), at(from), to.size());
    }
  }

  void fill_words(Address to, std::size_t bytes, std::uint32_t pattern) override {
    auto* words = reinterpret_cast<std::uint32_t*>(to);
    const std::size_t count = bytes / sizeof pattern;
    constexpr std::size_t kSmall = 1 << 16;
    const unsigned workers = count < kSmall ? 1 : pool().size();
    const std::size_t share = (count + workers - 1) / workers;
    pool().run(workers, [&](unsigned worker, BlockRunner&) {
      const std::size_t begin = std::min(count, share * worker);
      std::fill(words + begin, words + std::min(count, begin + share), pattern);
    });
  }

  void copy(Address to, Address from, std::size_t bytes) override {
    if (bytes != 0) {
      memcpy(at(to), at(from), bytes);
    }
  }

  [[nodiscard]] bool equal(Address a, Address b, std::size_t bytes) override {
    return bytes == 0 || memcmp(at(a), at(b), bytes) == 0;
  }

  [[nodiscard]] std::variant<std::unique_ptr<Module>, Fault> load(const Image& image) override {
    util::Fd file = module_file_ ? std::move(module_file_) : CpuModule::make_file();
    auto loaded = CpuModule::load(image, std::move(file));
    if (auto* text = std::get_if<std::string>(&loaded)) {
      return Fault{Fault::Kind::launch, "module: " + *text};
    }
    return std::unique_ptr<Module>(std::move(std::get<0>(loaded)));
  }

  [[nodiscard]] std::variant<std::unique_ptr<Sequence>, Fault> prepare(
      Module& module, std::span<const Step> steps) override {
    auto sequence = std::make_unique<CpuSequence>();
    sequence->module = &dynamic_cast<CpuModule&>(module);
    for (const Step& step : steps) {
      if (const auto* launch = std::get_if<Launch>(&step)) {
        auto prepared = prepare_launch(*sequence->module, *launch);
        if (auto* fault = std::get_if<Fault>(&prepared)) {
          return std::move(*fault);
        }
        sequence->steps.emplace_back(std::get<PreparedLaunch>(std::move(prepared)));
      } else if (const auto* set = std::get_if<Memset>(&step)) {
        sequence->steps.emplace_back(*set);
      } else {
        sequence->steps.emplace_back(std::get<Memcpy>(step));
      }
    }
    return std::unique_ptr<Sequence>(std::move(sequence));
  }

  [[nodiscard]] std::variant<RunTime, Fault> run(Sequence& sequence) override {
    auto& steps = dynamic_cast<CpuSequence&>(sequence);
    (void)pool();
    const Catch signals;
    const AlternateStack stack;
    const auto start = Clock::now();
    for (PreparedStep& step : steps.steps) {
      if (auto failure = run_step(*steps.module, step)) {
        return std::move(*failure);
      }
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return RunTime{seconds, seconds};
  }

  [[nodiscard]] std::optional<double> flush_cache() override {
    const std::size_t words = std::min(2 * info_.l2_bytes, kMaxFlushBytes) / sizeof(std::uint32_t);
    flush_.resize(words);
    ++flushes_;
    const unsigned workers = pool().size();
    const std::size_t share = (words + workers - 1) / workers;
    pool().run(workers, [&](unsigned worker, BlockRunner&) {
      const std::size_t begin = std::min(words, share * worker);
      const std::size_t end = std::min(words, begin + share);
      std::fill(flush_.begin() + static_cast<std::ptrdiff_t>(begin),
                flush_.begin() + static_cast<std::ptrdiff_t>(end),
                flushes_);
    });
    return std::nullopt;
  }

  void wash() override {}  // shared memory is poisoned before every block

  void reset_persisting_cache() override {}

  void synchronize() override {}

 private:
  Pool& pool() {
    if (!pool_) {
      pool_ = std::make_unique<Pool>(workers_);
    }
    return *pool_;
  }

  std::optional<Fault> run_step(const CpuModule& module, PreparedStep& step) {
    if (auto* launch = std::get_if<PreparedLaunch>(&step)) {
      auto failure = run_launch(pool(), module, *launch, ++key_);
      return failure ? std::optional(fault_of(launch->kernel->name, *failure)) : std::nullopt;
    }
    if (const auto* set = std::get_if<Memset>(&step)) {
      memset(at(set->to), 0, set->bytes);
    } else {
      const auto& copy = std::get<Memcpy>(step);
      memcpy(at(copy.to), at(copy.from), copy.bytes);
    }
    return std::nullopt;
  }

  Info info_;
  unsigned workers_;
  std::uint64_t key_ = 0;
  util::Fd module_file_ = CpuModule::make_file();  // for the first load
  std::vector<std::uint32_t> flush_;
  std::uint32_t flushes_ = 0;
  std::unique_ptr<Pool> pool_;
};

}  // namespace

std::unique_ptr<Device> open(unsigned workers) {
  return std::make_unique<CpuDevice>(std::min(workers, kMaxWorkers));
}

}  // namespace sweep::device::cpu
