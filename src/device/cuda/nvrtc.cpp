#include "device/cuda/nvrtc.h"

#include "device/cuda/shared_library.h"
#include "util/error.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>

namespace sweep::device::cuda {
namespace {

namespace fs = std::filesystem;

// NVRTC's C interface as documented; declared here so that the build needs no toolkit.
using Handle = void*;
using Status = int;
constexpr Status kSuccess = 0;

fs::path program_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : program.parent_path();
}

}  // namespace

struct Nvrtc::Api {
  explicit Api(SharedLibrary opened) : library(std::move(opened)) {}

  SharedLibrary library;
  const char* (*error_string)(Status) = nullptr;
  Status (*version)(int*, int*) = nullptr;
  Status (*arch_count)(int*) = nullptr;
  Status (*archs)(int*) = nullptr;
  Status (*create)(Handle*, const char*, const char*, int, const char* const*, const char* const*) =
      nullptr;
  Status (*destroy)(Handle*) = nullptr;
  Status (*compile)(Handle, int, const char* const*) = nullptr;
  Status (*log_size)(Handle, std::size_t*) = nullptr;
  Status (*log)(Handle, char*) = nullptr;
  Status (*cubin_size)(Handle, std::size_t*) = nullptr;
  Status (*cubin)(Handle, char*) = nullptr;
  Status (*ptx_size)(Handle, std::size_t*) = nullptr;
  Status (*ptx)(Handle, char*) = nullptr;
  Status (*add_name)(Handle, const char*) = nullptr;
  Status (*lowered_name)(Handle, const char*, const char**) = nullptr;

  // Name of the first missing function; empty when complete.
  [[nodiscard]] std::string bind() {
    std::string missing;
    const auto get = [&](const char* name, auto*& function) {
      if (!resolve(library, name, function) && missing.empty()) {
        missing = name;
      }
    };
    get("nvrtcGetErrorString", error_string);
    get("nvrtcVersion", version);
    get("nvrtcGetNumSupportedArchs", arch_count);
    get("nvrtcGetSupportedArchs", archs);
    get("nvrtcCreateProgram", create);
    get("nvrtcDestroyProgram", destroy);
    get("nvrtcCompileProgram", compile);
    get("nvrtcGetProgramLogSize", log_size);
    get("nvrtcGetProgramLog", log);
    get("nvrtcGetCUBINSize", cubin_size);
    get("nvrtcGetCUBIN", cubin);
    get("nvrtcGetPTXSize", ptx_size);
    get("nvrtcGetPTX", ptx);
    get("nvrtcAddNameExpression", add_name);
    get("nvrtcGetLoweredName", lowered_name);
    return missing;
  }

  void check(Status status, const char* call) const {
    if (status != kSuccess) {
      throw util::InfraError({library.path().string(),
                              std::string(call) + " failed: " + error_string(status),
                              "run `sweep doctor`"},
                             "E_NVRTC");
    }
  }
};

namespace {

// One nvrtcProgram; destroyed with its owner.
class Unit {
 public:
  Unit(Status (*destroy)(Handle*), Handle handle) : destroy_(destroy), handle_(handle) {}

  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;

  ~Unit() { destroy_(&handle_); }

  [[nodiscard]] Handle get() const { return handle_; }

 private:
  Status (*destroy_)(Handle*);
  Handle handle_;
};

std::vector<const char*> pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> out;
  std::transform(texts.begin(), texts.end(), std::back_inserter(out), [](const std::string& text) {
    return text.c_str();
  });
  return out;
}

// NVRTC counts the terminating NUL in the sizes of its texts.
std::string without_nul(std::string text) {
  while (!text.empty() && text.back() == '\0') {
    text.pop_back();
  }
  return text;
}

}  // namespace

Nvrtc::Nvrtc(std::unique_ptr<Api> api) : api_(std::move(api)) {}

Nvrtc::Nvrtc(Nvrtc&&) noexcept = default;
Nvrtc& Nvrtc::operator=(Nvrtc&&) noexcept = default;
Nvrtc::~Nvrtc() = default;

std::vector<fs::path> Nvrtc::search_path() {
  std::vector<fs::path> folders;
  if (const fs::path program = program_folder(); !program.empty()) {
    folders.push_back(program / "lib");
    folders.push_back(program.parent_path() / "lib");
  }
  if (const char* home = std::getenv("CUDA_HOME"); home != nullptr && *home == '/') {
    folders.push_back(fs::path(home) / "lib64");
  }
  folders.emplace_back("/usr/local/cuda/lib64");
  std::vector<fs::path> out;
  std::error_code error;
  for (const auto& folder : folders) {
    for (const char* name : {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"}) {
      if (fs::exists(folder / name, error)) {
        out.push_back(folder / name);
        break;
      }
    }
  }
  out.insert(out.end(), {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"});
  return out;
}

Nvrtc Nvrtc::load() {
  return load(search_path());
}

Nvrtc Nvrtc::load(std::span<const fs::path> candidates) {
  std::string reasons;
  auto library = SharedLibrary::open(candidates, reasons);
  if (!library) {
    throw util::UsageError({"nvrtc",
                            "libnvrtc.so not found (" + reasons + ")",
                            "install the CUDA toolkit's NVRTC (package cuda-nvrtc-13-0), or set "
                            "CUDA_HOME to the toolkit's folder"},
                           "E_NVRTC_MISSING");
  }
  auto api = std::make_unique<Api>(std::move(*library));
  if (const std::string missing = api->bind(); !missing.empty()) {
    throw util::UsageError({api->library.path().string(),
                            "NVRTC has no function " + missing,
                            "install CUDA toolkit 12.0 or newer"},
                           "E_NVRTC_MISSING");
  }
  return Nvrtc(std::move(api));
}

std::pair<int, int> Nvrtc::version() const {
  std::pair<int, int> out;
  api_->check(api_->version(&out.first, &out.second), "nvrtcVersion");
  return out;
}

const fs::path& Nvrtc::library() const {
  return api_->library.path();
}

std::vector<int> Nvrtc::architectures() const {
  int count = 0;
  api_->check(api_->arch_count(&count), "nvrtcGetNumSupportedArchs");
  std::vector<int> out(static_cast<std::size_t>(std::max(count, 0)));
  api_->check(api_->archs(out.data()), "nvrtcGetSupportedArchs");
  return out;
}

fs::path Nvrtc::toolkit_include() const {
  std::error_code error;
  const fs::path library_file = fs::canonical(library(), error);
  std::vector<fs::path> folders;
  if (!error) {
    // TOOLKIT/lib64/libnvrtc.so or TOOLKIT/targets/x86_64-linux/lib/libnvrtc.so
    folders.push_back(library_file.parent_path().parent_path() / "include");
  }
  if (const char* home = std::getenv("CUDA_HOME"); home != nullptr && *home == '/') {
    folders.push_back(fs::path(home) / "include");
  }
  folders.emplace_back("/usr/local/cuda/include");
  for (const auto& folder : folders) {
    if (fs::exists(folder / "cuda_fp16.h", error)) {
      return folder;
    }
  }
  return {};
}

Compiled Nvrtc::compile(const Program& program) const {
  std::vector<std::string> names;
  std::vector<std::string> texts;
  for (const auto& [name, text] : program.headers) {
    names.push_back(name);
    texts.push_back(text);
  }
  const auto header_names = pointers(names);
  const auto header_texts = pointers(texts);
  Handle handle = nullptr;
  api_->check(api_->create(&handle,
                           program.source.c_str(),
                           program.file.c_str(),
                           static_cast<int>(names.size()),
                           header_texts.data(),
                           header_names.data()),
              "nvrtcCreateProgram");
  const Unit unit(api_->destroy, handle);
  Compiled out;
  for (const auto& kernel : program.kernels) {
    if (const Status added = api_->add_name(unit.get(), kernel.c_str()); added != kSuccess) {
      out.error = api_->error_string(added);
      out.log = "name expression `" + kernel + "` was refused";
      return out;
    }
  }
  const auto options = pointers(program.options);
  const Status status = api_->compile(unit.get(), static_cast<int>(options.size()), options.data());
  const auto text = [&](auto size_of, auto get, const char* call) {
    std::size_t size = 0;
    api_->check(size_of(unit.get(), &size), call);
    std::string bytes(size, '\0');
    api_->check(get(unit.get(), bytes.data()), call);
    return bytes;
  };
  out.error = api_->error_string(status);
  out.log = without_nul(text(api_->log_size, api_->log, "nvrtcGetProgramLog"));
  if (status != kSuccess) {
    return out;
  }
  const std::string cubin = text(api_->cubin_size, api_->cubin, "nvrtcGetCUBIN");
  const auto bytes = std::as_bytes(std::span(cubin));
  out.image.bytes.assign(bytes.begin(), bytes.end());
  out.ptx = without_nul(text(api_->ptx_size, api_->ptx, "nvrtcGetPTX"));
  for (const auto& kernel : program.kernels) {
    const char* lowered = nullptr;
    const Status found = api_->lowered_name(unit.get(), kernel.c_str(), &lowered);
    if (found != kSuccess) {
      out.error = api_->error_string(found);
      out.log += "\nname expression `" + kernel + "` names no kernel";
      return out;
    }
    out.image.kernels.push_back({kernel, lowered});
  }
  out.ok = true;
  return out;
}

}  // namespace sweep::device::cuda
