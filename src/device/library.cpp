#include "device/library.h"

#include "device/cuda/library.h"
#include "util/error.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace sweep::device {
namespace {

constexpr std::array kGemmParameters = std::to_array<LibraryParameter>({{"a", true},
                                                                        {"b", true},
                                                                        {"c", true},
                                                                        {"m"},
                                                                        {"n"},
                                                                        {"k"},
                                                                        {"batch", false, 1},
                                                                        {"transpose_a", false, 0},
                                                                        {"transpose_b", false, 0},
                                                                        {"stride_a", false, -1},
                                                                        {"stride_b", false, -1},
                                                                        {"tf32", false, 0}});
constexpr std::array kSpmmParameters = std::to_array<LibraryParameter>({{"offsets", true},
                                                                        {"columns", true},
                                                                        {"values", true},
                                                                        {"b", true},
                                                                        {"c", true},
                                                                        {"rows"},
                                                                        {"cols"},
                                                                        {"nnz"},
                                                                        {"n"},
                                                                        {"algorithm", false, 0}});
constexpr std::array kFftParameters = std::to_array<LibraryParameter>({{"x", true},
                                                                       {"y", true},
                                                                       {"n0"},
                                                                       {"n1", false, 0},
                                                                       {"n2", false, 0},
                                                                       {"batch", false, 1},
                                                                       {"inverse", false, 0}});
constexpr std::array kLibraryFunctions =
    std::to_array<LibraryFunction>({{"cublas.gemm", "cuBLAS", kGemmParameters},
                                    {"cusparse.spmm", "cuSPARSE", kSpmmParameters},
                                    {"cufft.c2c", "cuFFT", kFftParameters}});

// An argument's bytes: address, type and number, 64 bits each.
using ArgumentWords = std::array<std::uint64_t, 3>;

}  // namespace

std::span<const LibraryFunction> library_functions() {
  return kLibraryFunctions;
}

const LibraryFunction* find_library_function(std::string_view name) {
  const auto* found = std::ranges::find(kLibraryFunctions, name, &LibraryFunction::name);
  return found == kLibraryFunctions.end() ? nullptr : found;
}

Launch library_launch(std::string_view function, std::span<const LibraryArgument> arguments) {
  Launch made;
  made.kernel = function;
  for (const LibraryArgument& argument : arguments) {
    const ArgumentWords words{argument.address,
                              static_cast<std::uint64_t>(argument.type),
                              static_cast<std::uint64_t>(argument.number)};
    const auto bytes = std::as_bytes(std::span(words));
    made.arguments.emplace_back(bytes.begin(), bytes.end());
  }
  return made;
}

std::vector<LibraryArgument> library_arguments(const Launch& launch) {
  const LibraryFunction* function = find_library_function(launch.kernel);
  if (function == nullptr || launch.arguments.size() != function->parameters.size()) {
    throw util::InfraError({"library", "'" + launch.kernel + "' is no call of a library", ""},
                           "E_LIBRARY");
  }
  std::vector<LibraryArgument> arguments;
  for (const std::vector<std::byte>& bytes : launch.arguments) {
    ArgumentWords words{};
    if (bytes.size() == sizeof words) {
      std::memcpy(words.data(), bytes.data(), sizeof words);
    }
    if (bytes.size() != sizeof words || words[1] > static_cast<std::uint64_t>(expr::DType::c128)) {
      throw util::InfraError({"library", "an argument of " + launch.kernel + " is broken", ""},
                             "E_LIBRARY");
    }
    arguments.push_back(
        {words[0], static_cast<expr::DType>(words[1]), static_cast<std::int64_t>(words[2])});
  }
  return arguments;
}

LibraryInfo describe_library(std::string_view function) {
  return cuda::VendorLibrary::open(function)->info();
}

}  // namespace sweep::device
