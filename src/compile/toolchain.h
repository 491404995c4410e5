#pragma once

#include "compile/compiler.h"

#include <filesystem>
#include <string>

namespace sweep::compile {

// Where the compilers are; an empty path means "not found" and `names` says why.
struct ToolPaths {
  std::filesystem::path gxx;
  std::filesystem::path nvrtc;
  std::filesystem::path cuda_include;
  std::filesystem::path ptxas;
  std::filesystem::path nvcc;
  Toolchain names;
};

[[nodiscard]] ToolPaths find_tools();

// Identifies this processor's instruction set: -march=native depends on it.
[[nodiscard]] std::string processor_identity();

}  // namespace sweep::compile
