#include "device/cuda/library.h"

#include "util/error.h"
#include "util/text.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <system_error>

#include <dlfcn.h>
#include <fmt/format.h>

namespace sweep::device::cuda {
namespace {

namespace fs = std::filesystem;

struct Known {
  std::string_view library;
  std::array<const char*, 3> names;  // newest first
  const char* property;
  const char* package;  // of NVIDIA's repository for Ubuntu
  std::unique_ptr<VendorLibrary> (*make)(SharedLibrary library);
};

constexpr std::array kKnownLibraries =
    std::to_array<Known>({{"cuBLAS",
                           {"libcublas.so.13", "libcublas.so.12", "libcublas.so"},
                           "cublasGetProperty",
                           "libcublas-13-0",
                           make_cublas},
                          {"cuSPARSE",
                           {"libcusparse.so.12", "libcusparse.so", nullptr},
                           "cusparseGetProperty",
                           "libcusparse-13-0",
                           make_cusparse},
                          {"cuFFT",
                           {"libcufft.so.12", "libcufft.so.11", "libcufft.so"},
                           "cufftGetProperty",
                           "libcufft-13-0",
                           make_cufft}});

const Known& known_for(std::string_view function) {
  const LibraryFunction* found = find_library_function(function);
  if (found == nullptr) {
    std::vector<std::string> names;
    for (const LibraryFunction& one : library_functions()) {
      names.emplace_back(one.name);
    }
    throw util::UsageError({util::printable(std::string(function)),
                            "no such library call is built in",
                            fmt::format("there are {}", fmt::join(names, ", "))},
                           "E_LIBRARY_UNKNOWN");
  }
  return *std::ranges::find(kKnownLibraries, found->library, &Known::library);
}

[[noreturn]] void missing_library(const Known& known, const std::string& what) {
  throw util::UsageError({std::string(known.library),
                          what,
                          std::string("install package ") + known.package +
                              ", or set CUDA_HOME to a toolkit that has it"},
                         "E_LIBRARY_MISSING");
}

}  // namespace

std::vector<fs::path> VendorLibrary::search_path(std::string_view function) {
  const Known& known = known_for(function);
  std::vector<fs::path> folders;
  std::error_code error;
  if (const fs::path program = fs::read_symlink("/proc/self/exe", error); !error) {
    folders.push_back(program.parent_path() / "lib");
    folders.push_back(program.parent_path().parent_path() / "lib");
  }
  if (const char* home = std::getenv("CUDA_HOME"); home != nullptr && *home == '/') {
    folders.push_back(fs::path(home) / "lib64");
  }
  folders.emplace_back("/usr/local/cuda/lib64");
  std::vector<fs::path> out;
  for (const fs::path& folder : folders) {
    for (const char* name : known.names) {
      if (name != nullptr && fs::exists(folder / name, error)) {
        out.push_back(folder / name);
      }
    }
  }
  for (const char* name : known.names) {
    if (name != nullptr) {
      out.emplace_back(name);
    }
  }
  return out;
}

std::unique_ptr<VendorLibrary> VendorLibrary::open(std::string_view function) {
  return open(function, search_path(function));
}

std::unique_ptr<VendorLibrary> VendorLibrary::open(std::string_view function,
                                                   std::span<const fs::path> candidates) {
  const Known& known = known_for(function);
  std::string reasons;
  auto library = SharedLibrary::open(candidates, reasons);
  if (!library) {
    missing_library(known, "not found (" + reasons + ")");
  }
  std::unique_ptr<VendorLibrary> made = known.make(std::move(*library));
  if (!made->missing_.empty()) {
    missing_library(known, made->library_.path().string() + " lacks " + made->missing_);
  }
  made->complete(std::string(known.library), known.property);
  return made;
}

void VendorLibrary::complete(const std::string& name, const char* property) {
  info_.library = name;
  info_.path = library_.path().string();
  int (*get)(int, int*) = nullptr;
  if (!resolve(library_, property, get)) {
    missing_library(
        known_for(std::ranges::find(library_functions(), name, &LibraryFunction::library)->name),
        info_.path + " lacks " + property);
  }
  Dl_info place{};
  if (dladdr(reinterpret_cast<void*>(get), &place) != 0 && place.dli_fname != nullptr) {
    info_.path = place.dli_fname;
  }
  std::array<int, 3> version{};
  for (std::size_t i = 0; i < version.size(); ++i) {
    if (const int status = get(static_cast<int>(i), &version.at(i)); status != 0) {
      library_failed(property, "status " + std::to_string(status));
    }
  }
  info_.version = fmt::format("{}.{}.{}", version[0], version[1], version[2]);
}

int cuda_data_type(expr::DType type) {
  switch (type) {
    case expr::DType::f32:
      return 0;
    case expr::DType::f64:
      return 1;
    case expr::DType::f16:
      return 2;
    case expr::DType::i8:
      return 3;
    case expr::DType::c64:
      return 4;
    case expr::DType::c128:
      return 5;
    case expr::DType::i32:
      return 10;
    case expr::DType::bf16:
      return 14;
    default:
      return -1;
  }
}

void library_failed(const std::string& call, const std::string& what) {
  throw util::InfraError({call, what, ""}, "E_LIBRARY");
}

}  // namespace sweep::device::cuda
