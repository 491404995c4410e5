#ifdef SWEEP_HAVE_CUDA
#include "device/cuda/library_module.h"

#include "util/error.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <utility>

namespace sweep::device::cuda {

// A call with its workspace; the nodes of a captured graph point to both.
class LibraryModule::Held {
 public:
  Held(std::shared_ptr<const Driver> driver, std::unique_ptr<LibraryCall> call)
      : driver_(std::move(driver)), call_(std::move(call)) {
    constexpr std::size_t kLeast = 256;  // a library may refuse a null pointer that it never uses
    driver_->check(driver_->cuMemAlloc_(&workspace_, std::max(call_->workspace_bytes(), kLeast)),
                   "cuMemAlloc");
  }

  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  ~Held() { driver_->cuMemFree_(workspace_); }

  void enqueue() { call_->enqueue(workspace_); }

 private:
  std::shared_ptr<const Driver> driver_;
  std::unique_ptr<LibraryCall> call_;
  CUdeviceptr workspace_ = 0;
};

LibraryModule::LibraryModule(std::shared_ptr<const Driver> driver,
                             std::string_view function,
                             const std::string& path)
    : driver_(std::move(driver)), function_(function) {
  const std::array<std::filesystem::path, 1> only{path};
  library_ = VendorLibrary::open(function, only);
}

FunctionFacts LibraryModule::facts(std::string_view /*kernel*/) const {
  return {};
}

int LibraryModule::occupancy(std::string_view /*kernel*/,
                             int /*threads*/,
                             std::size_t /*shared_bytes*/) const {
  return 0;
}

std::variant<std::unique_ptr<CudaSequence>, Fault> LibraryModule::prepare(
    std::span<const Step> steps, CUstream stream) {
  const Launch* launch = steps.size() == 1 ? std::get_if<Launch>(&steps.front()) : nullptr;
  if (launch == nullptr || launch->kernel != function_) {
    return Fault{Fault::Kind::launch, "a library's sequence is one call of " + function_};
  }
  try {
    const auto held =
        std::make_shared<Held>(driver_, library_->call(library_arguments(*launch), stream));
    held->enqueue();
    if (const CUresult result = driver_->cuStreamSynchronize_(stream); result != CUDA_SUCCESS) {
      return driver_->fault(result, Fault::Kind::launch);
    }
    auto body = capture(*held, stream);
    if (const auto* fault = std::get_if<Fault>(&body)) {
      return *fault;
    }
    CUgraph graph = std::get<CUgraph>(body);
    auto made = CudaSequence::around(driver_, graph, held);
    driver_->cuGraphDestroy_(graph);  // the sequence has a copy
    return made;
  } catch (const util::InfraError& error) {
    if (error.code() != "E_LIBRARY") {
      throw;
    }
    return Fault{Fault::Kind::launch, error.what()};
  }
}

std::variant<CUgraph, Fault> LibraryModule::capture(Held& held, CUstream stream) const {
  driver_->check(driver_->cuStreamBeginCapture_(stream, CU_STREAM_CAPTURE_MODE_RELAXED),
                 "cuStreamBeginCapture");
  std::optional<Fault> refused;
  try {
    held.enqueue();
  } catch (const util::InfraError& error) {
    refused = Fault{Fault::Kind::launch, error.what()};
  }
  CUgraph graph = nullptr;
  const CUresult ended = driver_->cuStreamEndCapture_(stream, &graph);
  std::size_t nodes = 0;
  if (ended == CUDA_SUCCESS && !refused) {
    driver_->check(driver_->cuGraphGetNodes_(graph, nullptr, &nodes), "cuGraphGetNodes");
  }
  if (ended == CUDA_SUCCESS && nodes > 0) {
    return graph;
  }
  if (graph != nullptr) {
    driver_->cuGraphDestroy_(graph);
  }
  if (refused) {
    return *refused;
  }
  return ended == CUDA_SUCCESS ? Fault{Fault::Kind::launch, function_ + " enqueued no work"}
                               : driver_->fault(ended, Fault::Kind::launch);
}

}  // namespace sweep::device::cuda
#endif
