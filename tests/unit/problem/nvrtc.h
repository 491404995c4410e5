#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include <dlfcn.h>

namespace sweep::problem {

// NVRTC by its exported names; declared here because the headers may be absent.
struct Nvrtc {
  using Program = void*;
  void* library = nullptr;
  int (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*) =
      nullptr;
  int (*compile)(Program, int, const char* const*) = nullptr;
  int (*log_size)(Program, std::size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*cubin_size)(Program, std::size_t*) = nullptr;
  int (*cubin)(Program, char*) = nullptr;
  int (*destroy)(Program*) = nullptr;

  Nvrtc() {
    const char* home = std::getenv("CUDA_HOME");
    for (const std::string& folder :
         {home == nullptr ? std::string("/usr/local/cuda") : std::string(home),
          std::string("/usr/local/cuda")}) {
      for (const char* name : {"/lib64/libnvrtc.so", "/lib/libnvrtc.so"}) {
        library = library == nullptr
                      ? dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)
                      : library;
      }
    }
    if (library != nullptr) {
      take(create, "nvrtcCreateProgram");
      take(compile, "nvrtcCompileProgram");
      take(log_size, "nvrtcGetProgramLogSize");
      take(log, "nvrtcGetProgramLog");
      take(cubin_size, "nvrtcGetCUBINSize");
      take(cubin, "nvrtcGetCUBIN");
      take(destroy, "nvrtcDestroyProgram");
    }
  }

  template <typename F>
  void take(F& function, const char* name) const {
    function = reinterpret_cast<F>(dlsym(library, name));
  }
};

struct Compiled {
  std::string log;
  std::string cubin;
};

inline Compiled compile(const Nvrtc& nvrtc, const std::string& source) {
  Nvrtc::Program program = nullptr;
  EXPECT_EQ(nvrtc.create(&program, source.c_str(), "device.cu", 0, nullptr, nullptr), 0);
  const char* const options[] = {"--gpu-architecture=sm_90a", "--std=c++20"};
  const int result = nvrtc.compile(program, 2, options);
  Compiled out;
  std::size_t size = 0;
  EXPECT_EQ(nvrtc.log_size(program, &size), 0);
  out.log.resize(size);
  EXPECT_EQ(nvrtc.log(program, out.log.data()), 0);
  if (result == 0) {
    EXPECT_EQ(nvrtc.cubin_size(program, &size), 0);
    out.cubin.resize(size);
    EXPECT_EQ(nvrtc.cubin(program, out.cubin.data()), 0);
  }
  EXPECT_EQ(nvrtc.destroy(&program), 0);
  return out;
}

}  // namespace sweep::problem
