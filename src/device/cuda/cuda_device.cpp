#ifdef SWEEP_HAVE_CUDA
#include "device/cuda/cuda_device.h"

#include "device/cuda/buffer.h"
#include "device/cuda/code.h"
#include "device/cuda/driver.h"
#include "device/cuda/harness.h"
#include "device/cuda/info.h"
#include "device/cuda/library_module.h"
#include "util/error.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace sweep::device::cuda {
namespace {

// The device's primary context, current in this thread, with a stream.
class Context {
 public:
  Context(std::shared_ptr<const Driver> driver, CUdevice device)
      : driver_(std::move(driver)), device_(device) {
    // Spinning while waiting: the host clock around a call must not include a sleep. Local memory,
    // once grown for a kernel, stays: resizing would fall between two timed calls.
    constexpr unsigned kFlags = CU_CTX_SCHED_SPIN | CU_CTX_LMEM_RESIZE_TO_MAX;
    driver_->check(driver_->cuDevicePrimaryCtxSetFlags_(device_, kFlags),
                   "cuDevicePrimaryCtxSetFlags");
    driver_->check(driver_->cuDevicePrimaryCtxRetain_(&context_, device_),
                   "cuDevicePrimaryCtxRetain");
    driver_->check(driver_->cuCtxSetCurrent_(context_), "cuCtxSetCurrent");
    driver_->check(driver_->cuStreamCreate_(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  }

  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // Releasing the context frees what is left in it; results do not matter any more.
  ~Context() {
    driver_->cuStreamDestroy_(stream_);
    driver_->cuDevicePrimaryCtxRelease_(device_);
  }

  [[nodiscard]] CUcontext get() const { return context_; }

  [[nodiscard]] CUstream stream() const { return stream_; }

 private:
  std::shared_ptr<const Driver> driver_;
  CUdevice device_;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
};

class CudaDevice final : public Device {
 public:
  CudaDevice(std::shared_ptr<const Driver> driver, CUdevice device, Image harness)
      : driver_(std::move(driver)),
        device_(device),
        info_(device_info(*driver_, device)),
        context_(driver_, device),
        own_code_(std::move(harness)) {}

  [[nodiscard]] const Info& info() const override { return info_; }

  [[nodiscard]] std::size_t free_bytes() const override {
    std::size_t free = 0;
    std::size_t total = 0;
    driver_->check(driver_->cuMemGetInfo_(&free, &total), "cuMemGetInfo");
    return free;
  }

  [[nodiscard]] std::unique_ptr<Buffer> allocate(std::size_t bytes) override {
    return VmmBuffer::create(driver_, device_, bytes);
  }

  [[nodiscard]] std::unique_ptr<Buffer> import(util::Fd fd,
                                               std::size_t bytes,
                                               Access access) override {
    return VmmBuffer::import(driver_, device_, std::move(fd), bytes, access);
  }

  void upload(Address to, std::span<const std::byte> from) override {
    if (!from.empty()) {
      driver_->check(driver_->cuMemcpyHtoDAsync_(to, from.data(), from.size(), context_.stream()),
                     "cuMemcpyHtoDAsync");
    }
    synchronize();
  }

  void download(std::span<std::byte> to, Address from) override {
    if (!to.empty()) {
      driver_->check(driver_->cuMemcpyDtoHAsync_(to.data(), from, to.size(), context_.stream()),
                     "cuMemcpyDtoHAsync");
    }
    synchronize();
  }

  void fill_words(Address to, std::size_t bytes, std::uint32_t pattern) override {
    driver_->check(driver_->cuMemsetD32Async_(to, pattern, bytes / 4, context_.stream()),
                   "cuMemsetD32Async");
  }

  void copy(Address to, Address from, std::size_t bytes) override {
    driver_->check(driver_->cuMemcpyDtoDAsync_(to, from, bytes, context_.stream()),
                   "cuMemcpyDtoDAsync");
  }

  [[nodiscard]] bool equal(Address a, Address b, std::size_t bytes) override {
    return holds(std::array{Claim{a, bytes, b}}).front();
  }

  [[nodiscard]] bool all_words(Address at, std::size_t bytes, std::uint32_t pattern) override {
    return holds(std::array{Claim{at, bytes, 0, pattern}}).front();
  }

  [[nodiscard]] std::vector<bool> holds(std::span<const Claim> claims) override {
    return harness().holds(claims);
  }

  void launch(Module& module, const Launch& launch) override;

  [[nodiscard]] std::variant<std::unique_ptr<Module>, Fault> load(const Image& image) override;

  [[nodiscard]] std::unique_ptr<Module> open_library(std::string_view function,
                                                     const std::string& path) override {
    return std::make_unique<LibraryModule>(driver_, function, path);
  }

  [[nodiscard]] std::variant<std::unique_ptr<Sequence>, Fault> prepare(
      Module& module, std::span<const Step> steps) override;
  [[nodiscard]] bool update(Sequence& sequence, std::span<const Step> steps) override;
  [[nodiscard]] std::variant<RunTime, Fault> run(Sequence& sequence) override;

  [[nodiscard]] std::optional<double> flush_cache() override { return harness().flush(); }

  void wash() override { harness().wash(local_bytes_); }

  [[nodiscard]] Image own_code() override {
    if (own_code_.bytes.empty()) {
      own_code_ = harness_image(info_.arch);
    }
    return own_code_;
  }

  void use_own_code(Image image) override { own_code_ = std::move(image); }

  void reset_persisting_cache() override {
    driver_->check(driver_->cuCtxResetPersistingL2Cache_(), "cuCtxResetPersistingL2Cache");
  }

  void synchronize() override {
    driver_->check(driver_->cuStreamSynchronize_(context_.stream()), "cuStreamSynchronize");
  }

 private:
  Harness& harness() {
    if (!harness_) {
      harness_ = std::make_unique<Harness>(driver_, device_, info_, context_.stream(), own_code());
    }
    return *harness_;
  }

  std::shared_ptr<const Driver> driver_;
  CUdevice device_;
  Info info_;
  Context context_;
  Image own_code_;
  std::unique_ptr<Harness> harness_;
  std::size_t local_bytes_ = 0;  // most of any module loaded so far
};

void CudaDevice::launch(Module& module, const Launch& launch) {
  CUfunction function = dynamic_cast<CudaModule&>(module).find(launch.kernel);
  if (function == nullptr) {
    throw util::InfraError({"cuda", "no kernel `" + launch.kernel + "` in the image", ""},
                           "E_DEVICE");
  }
  std::vector<std::vector<std::byte>> copies = launch.arguments;
  std::vector<void*> pointers;
  for (auto& bytes : copies) {
    pointers.push_back(bytes.data());
  }
  driver_->check(driver_->cuLaunchKernel_(function,
                                          launch.grid[0],
                                          launch.grid[1],
                                          launch.grid[2],
                                          launch.block[0],
                                          launch.block[1],
                                          launch.block[2],
                                          launch.shared_bytes,
                                          context_.stream(),
                                          pointers.data(),
                                          nullptr),
                 launch.kernel.c_str());
}

std::variant<std::unique_ptr<Module>, Fault> CudaDevice::load(const Image& image) {
  auto loaded = CudaModule::load(driver_, image);
  if (const auto* fault = std::get_if<Fault>(&loaded)) {
    return *fault;
  }
  auto& module = std::get<std::unique_ptr<CudaModule>>(loaded);
  if (module->local_bytes() > Harness::kMaxLocalBytes) {
    return Fault{Fault::Kind::out_of_memory,
                 std::to_string(module->local_bytes()) +
                     " bytes of local memory a thread; at most " +
                     std::to_string(Harness::kMaxLocalBytes) + " are allowed"};
  }
  local_bytes_ = std::max(local_bytes_, module->local_bytes());
  return std::unique_ptr<Module>(std::move(module));
}

std::variant<std::unique_ptr<Sequence>, Fault> CudaDevice::prepare(Module& module,
                                                                   std::span<const Step> steps) {
  auto* library = dynamic_cast<LibraryModule*>(&module);
  auto made = library != nullptr ? library->prepare(steps, context_.stream())
                                 : CudaSequence::make(driver_,
                                                      context_.get(),
                                                      dynamic_cast<CudaModule&>(module),
                                                      steps,
                                                      info_.max_shared_bytes);
  if (const auto* fault = std::get_if<Fault>(&made)) {
    return *fault;
  }
  auto& sequence = std::get<std::unique_ptr<CudaSequence>>(made);
  if (const auto fault = sequence->upload(context_.stream())) {
    return *fault;
  }
  if (const CUresult result = driver_->cuStreamSynchronize_(context_.stream());
      result != CUDA_SUCCESS) {
    return driver_->fault(result, Fault::Kind::launch);
  }
  return std::unique_ptr<Sequence>(std::move(sequence));
}

bool CudaDevice::update(Sequence& sequence, std::span<const Step> steps) {
  return dynamic_cast<CudaSequence&>(sequence).update(steps);
}

std::variant<RunTime, Fault> CudaDevice::run(Sequence& sequence) {
  auto& graph = dynamic_cast<CudaSequence&>(sequence);
  if (const auto fault = graph.upload(context_.stream())) {
    return *fault;
  }
  synchronize();
  const auto begin = std::chrono::steady_clock::now();
  CUresult result = driver_->cuGraphLaunch_(graph.exec(), context_.stream());
  if (result != CUDA_SUCCESS) {
    return driver_->fault(result, Fault::Kind::launch);
  }
  result = driver_->cuStreamSynchronize_(context_.stream());
  const auto end = std::chrono::steady_clock::now();
  if (result != CUDA_SUCCESS) {
    return driver_->fault(result, Fault::Kind::other);
  }
  return RunTime{graph.seconds(), std::chrono::duration<double>(end - begin).count()};
}

// Throws util::UsageError with the range that exists.
CUdevice device_at(const Driver& driver, int index) {
  int count = 0;
  driver.check(driver.cuDeviceGetCount_(&count), "cuDeviceGetCount");
  if (index < 0 || index >= count) {
    throw util::UsageError(
        {"cuda:" + std::to_string(index),
         "no such device; the driver shows " + std::to_string(count),
         count > 0 ? "use cuda:0" + (count > 1 ? " to cuda:" + std::to_string(count - 1) : "")
                   : "check CUDA_VISIBLE_DEVICES, or use --device cpu (correctness only)"},
        "E_NO_DEVICE");
  }
  CUdevice device = 0;
  driver.check(driver.cuDeviceGet_(&device, index), "cuDeviceGet");
  return device;
}

}  // namespace

std::unique_ptr<Device> open(int index, Image harness) {
  auto driver = Driver::load();
  const CUdevice device = device_at(*driver, index);
  return std::make_unique<CudaDevice>(std::move(driver), device, std::move(harness));
}

Info describe(int index) {
  const auto driver = Driver::load();
  return device_info(*driver, device_at(*driver, index));
}

bool pageable_memory(int index) {
  const auto driver = Driver::load();
  return pageable_memory_access(*driver, device_at(*driver, index));
}

std::vector<Listed> list() {
  std::vector<Listed> out;
  try {
    const auto driver = Driver::load();
    int count = 0;
    driver->check(driver->cuDeviceGetCount_(&count), "cuDeviceGetCount");
    for (int index = 0; index < count; ++index) {
      out.push_back(
          {{Kind::cuda, index}, device_info(*driver, device_at(*driver, index)), true, ""});
    }
  } catch (const util::Error& error) {
    out.push_back({{Kind::cuda, static_cast<int>(out.size())}, {}, false, error.what()});
  }
  return out;
}

}  // namespace sweep::device::cuda
#endif
