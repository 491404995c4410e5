#pragma once

#include "device/device.h"
#include "expr/dtype.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Calls of vendor libraries (cuBLAS, cuSPARSE, cuFFT) that a problem may declare as baselines. The
// libraries are opened at run time; nothing of them is needed to build.
namespace sweep::device {

struct LibraryParameter {
  std::string_view name;
  bool tensor = false;                                   // else an integer
  std::optional<std::int64_t> otherwise = std::nullopt;  // of an integer that is not given
};

// docs/problem_format.md says what each computes; matrices are dense and row major.
struct LibraryFunction {
  std::string_view name;     // "cublas.gemm"
  std::string_view library;  // "cuBLAS"
  std::span<const LibraryParameter> parameters;
};

[[nodiscard]] std::span<const LibraryFunction> library_functions();
[[nodiscard]] const LibraryFunction* find_library_function(std::string_view name);  // null: none

// Value of a parameter: a tensor's address and type, or a number.
struct LibraryArgument {
  Address address = 0;
  expr::DType type{};
  std::int64_t number = 0;
};

// A call as the one step of a sequence: `kernel` is the function's name, `arguments` are the bytes
// of its parameters in their order.
[[nodiscard]] Launch library_launch(std::string_view function,
                                    std::span<const LibraryArgument> arguments);
// Throws util::InfraError "E_LIBRARY" for anything but what library_launch() made.
[[nodiscard]] std::vector<LibraryArgument> library_arguments(const Launch& launch);

// A library that was found.
struct LibraryInfo {
  std::string library;  // "cuBLAS"
  std::string version;  // "13.1.0", as the library says
  std::string path;     // absolute
};

// Opens the library of a function of library_functions() in this process, without a GPU, and asks
// for its version. Throws util::UsageError "E_LIBRARY_UNKNOWN", or "E_LIBRARY_MISSING" with what to
// install where it is not found, lacks a function or does not load.
[[nodiscard]] LibraryInfo describe_library(std::string_view function);

}  // namespace sweep::device
