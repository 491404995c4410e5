#include "device/library.h"

#include "device/cpu/cpu_device.h"
#include "device/cuda/library.h"
#include "util/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include <dlfcn.h>

namespace sweep::device {
namespace {

using cuda::VendorLibrary;
using expr::DType;
using ::testing::HasSubstr;

void* const kFakeStream = reinterpret_cast<void*>(5);
constexpr Address kFakeWorkspace = 256;

// Arguments of a function by name; those not given are at their defaults.
std::vector<LibraryArgument> arguments_with(
    std::string_view function, const std::map<std::string_view, LibraryArgument>& some) {
  std::vector<LibraryArgument> out;
  for (const LibraryParameter& parameter : find_library_function(function)->parameters) {
    const auto found = some.find(parameter.name);
    out.push_back(found != some.end()
                      ? found->second
                      : LibraryArgument{0, DType::f32, parameter.otherwise.value_or(0)});
  }
  return out;
}

LibraryArgument tensor_at(Address address, DType type) {
  return {address, type, 0};
}

LibraryArgument number_at(std::int64_t value) {
  return {0, DType::f64, value};
}

// The libraries of tests/support/fake_vendor.cpp.
class FakeVendor : public ::testing::Test {
 protected:
  FakeVendor() : handle_(dlopen(SWEEP_FAKE_VENDOR, RTLD_NOW | RTLD_NODELETE)) {
    reset_ = reinterpret_cast<void (*)(int)>(dlsym(handle_, "fake_reset"));
    log_ = reinterpret_cast<const char* (*)()>(dlsym(handle_, "fake_log"));
    reset_(0);
  }

  ~FakeVendor() override {
    reset_(0);
    dlclose(handle_);
  }

  static std::unique_ptr<VendorLibrary> open(std::string_view function) {
    const std::array<std::filesystem::path, 2> candidates{"/nonexistent.so", SWEEP_FAKE_VENDOR};
    return VendorLibrary::open(function, candidates);
  }

  // What the library was asked for one enqueued call.
  std::string calls_of(std::string_view function,
                       const std::map<std::string_view, LibraryArgument>& some) {
    const auto library = open(function);
    reset_(0);
    {
      const auto call = library->call(arguments_with(function, some), kFakeStream);
      workspace_ = call->workspace_bytes();
      call->enqueue(kFakeWorkspace);
    }
    return log_();
  }

  std::string refusal_of(std::string_view function,
                         const std::map<std::string_view, LibraryArgument>& some,
                         int status = 0) {
    const auto library = open(function);
    reset_(status);
    try {
      library->call(arguments_with(function, some), kFakeStream)->enqueue(kFakeWorkspace);
    } catch (const util::InfraError& error) {
      EXPECT_EQ(error.code(), "E_LIBRARY");
      return error.what();
    }
    return "";
  }

  void* handle_;
  void (*reset_)(int) = nullptr;
  const char* (*log_)() = nullptr;
  std::size_t workspace_ = 0;
};

const std::map<std::string_view, LibraryArgument> kGemm{{"a", tensor_at(1000, DType::f32)},
                                                        {"b", tensor_at(2000, DType::f32)},
                                                        {"c", tensor_at(3000, DType::f32)},
                                                        {"m", number_at(2)},
                                                        {"n", number_at(3)},
                                                        {"k", number_at(4)}};

const std::map<std::string_view, LibraryArgument> kSpmm{{"offsets", tensor_at(10, DType::i32)},
                                                        {"columns", tensor_at(20, DType::i64)},
                                                        {"values", tensor_at(30, DType::f32)},
                                                        {"b", tensor_at(40, DType::f32)},
                                                        {"c", tensor_at(50, DType::f32)},
                                                        {"rows", number_at(6)},
                                                        {"cols", number_at(7)},
                                                        {"nnz", number_at(8)},
                                                        {"n", number_at(9)}};

TEST_F(FakeVendor, TellsItsVersionAndWhereItIs) {
  for (const LibraryFunction& function : library_functions()) {
    const LibraryInfo info = open(function.name)->info();
    EXPECT_EQ(info.library, function.library);
    EXPECT_EQ(info.version, "97.1.2");
    EXPECT_EQ(info.path, SWEEP_FAKE_VENDOR);
  }
}

TEST_F(FakeVendor, ARowMajorProductIsTheTransposedOneOfColumns) {
  const std::string calls = calls_of("cublas.gemm", kGemm);
  EXPECT_THAT(calls, HasSubstr("stream 5\n"));
  EXPECT_THAT(calls, HasSubstr("workspace 256 33554432\n"));
  EXPECT_THAT(calls,
              HasSubstr("gemm 00 3x2x4 a=2000:0/3/12 b=1000:0/4/8 c=3000:0/3/6 batch=1 compute=68 "
                        "algorithm=-1\n"));
  EXPECT_THAT(calls, ::testing::EndsWith("destroy\n"));
  EXPECT_EQ(workspace_, std::size_t{32} << 20U);
}

TEST_F(FakeVendor, ProductsTakeTransposedBatchedAndBroadcastMatrices) {
  auto with = kGemm;
  with["transpose_a"] = number_at(1);
  with["transpose_b"] = number_at(1);
  with["batch"] = number_at(5);
  with["stride_b"] = number_at(0);
  EXPECT_THAT(calls_of("cublas.gemm", with),
              HasSubstr("gemm 11 3x2x4 a=2000:0/4/0 b=1000:0/2/8 c=3000:0/3/6 batch=5"));
}

TEST_F(FakeVendor, Tf32IsUsedOnlyWhenAskedFor) {
  auto with = kGemm;
  with["tf32"] = number_at(1);
  EXPECT_THAT(calls_of("cublas.gemm", with), HasSubstr("compute=77"));
  for (const char* name : {"a", "b", "c"}) {
    with[name].type = DType::f64;
  }
  EXPECT_THAT(calls_of("cublas.gemm", with), HasSubstr("compute=70"));
  with["a"].type = with["b"].type = DType::bf16;
  EXPECT_THAT(refusal_of("cublas.gemm", with), HasSubstr("takes no bf16 for a result of f64"));
  with["c"].type = DType::f32;
  EXPECT_THAT(calls_of("cublas.gemm", with), HasSubstr("a=2000:14/"));
}

TEST_F(FakeVendor, ASparseProductDescribesItsMatrices) {
  const std::string calls = calls_of("cusparse.spmm", kSpmm);
  EXPECT_THAT(calls, HasSubstr("csr 6x7 nnz=8 10:2 20:3 30:0 base=0\n"));
  EXPECT_THAT(calls, HasSubstr("dense 7x9 ld=9 40:0 order=2\n"));
  EXPECT_THAT(calls, HasSubstr("dense 6x9 ld=9 50:0 order=2\n"));
  EXPECT_THAT(calls, HasSubstr("spmm 00 alpha=1 beta=0 type=0 algorithm=0 workspace=256\n"));
  EXPECT_THAT(calls, ::testing::EndsWith("destroy dense\ndestroy dense\ndestroy csr\ndestroy\n"));
  EXPECT_EQ(workspace_, 4096U);
  auto with = kSpmm;
  with["algorithm"] = number_at(2);
  for (const char* name : {"values", "b", "c"}) {
    with[name].type = DType::f64;
  }
  EXPECT_THAT(calls_of("cusparse.spmm", with),
              HasSubstr("spmm 00 alpha=1 beta=0 type=1 algorithm=6"));
}

TEST_F(FakeVendor, WhatASparseProductDoesNotTakeIsSaid) {
  auto with = kSpmm;
  with["algorithm"] = number_at(3);
  EXPECT_THAT(refusal_of("cusparse.spmm", with), HasSubstr("algorithm must be"));
  with = kSpmm;
  with["b"].type = DType::f16;
  EXPECT_THAT(refusal_of("cusparse.spmm", with), HasSubstr("all be f32 or all f64"));
  with = kSpmm;
  with["offsets"].type = DType::u32;
  EXPECT_THAT(refusal_of("cusparse.spmm", with), HasSubstr("no u32 as an index"));
}

TEST_F(FakeVendor, ATransformHasItsLengthsInOrder) {
  const std::map<std::string_view, LibraryArgument> some{{"x", tensor_at(10, DType::c64)},
                                                         {"y", tensor_at(20, DType::c64)},
                                                         {"n0", number_at(8)},
                                                         {"n1", number_at(16)},
                                                         {"batch", number_at(3)}};
  const std::string calls = calls_of("cufft.c2c", some);
  EXPECT_THAT(calls, HasSubstr("own workspace 0\nplan rank=2 8,16 type=41 batch=3\nstream 5\n"));
  EXPECT_THAT(calls, HasSubstr("workspace 256\nc2c 10 20 -1\n"));
  auto with = some;
  with["inverse"] = number_at(1);
  with["x"].type = with["y"].type = DType::c128;
  EXPECT_THAT(calls_of("cufft.c2c", with), HasSubstr("z2z 10 20 1\n"));
  with["y"].type = DType::f32;
  EXPECT_THAT(refusal_of("cufft.c2c", with), HasSubstr("both be c64 or both c128"));
  with = some;
  with["n0"] = with["n1"] = number_at(0);
  EXPECT_THAT(refusal_of("cufft.c2c", with), HasSubstr("has no length"));
}

// The second call is captured: it may do nothing but enqueue.
TEST_F(FakeVendor, ASecondCallOnlyEnqueues) {
  const std::map<std::string_view, LibraryArgument> fft{
      {"x", tensor_at(10, DType::c64)}, {"y", tensor_at(20, DType::c64)}, {"n0", number_at(8)}};
  const std::map<std::string_view, std::map<std::string_view, LibraryArgument>> all{
      {"cublas.gemm", kGemm}, {"cusparse.spmm", kSpmm}, {"cufft.c2c", fft}};
  for (const auto& [function, some] : all) {
    const auto library = open(function);
    const auto call = library->call(arguments_with(function, some), kFakeStream);
    call->enqueue(kFakeWorkspace);
    reset_(0);
    call->enqueue(kFakeWorkspace);
    const std::string said = log_();
    EXPECT_EQ(std::ranges::count(said, '\n'), 1) << function << ": " << said;
    EXPECT_THAT(said, ::testing::ContainsRegex("^(gemm|spmm|c2c) ")) << function;
  }
}

TEST_F(FakeVendor, AStatusIsSaidInTheLibrarysWords) {
  EXPECT_THAT(refusal_of("cublas.gemm", kGemm, 13), HasSubstr("cublasCreate: CUBLAS_STATUS_FAKE"));
  EXPECT_THAT(refusal_of("cusparse.spmm", kSpmm, 3), HasSubstr("CUSPARSE_STATUS_FAKE"));
}

TEST(Library, AMissingOneSaysWhatToInstall) {
  const std::array<std::filesystem::path, 1> nowhere{"/nonexistent/libcublas.so"};
  try {
    (void)VendorLibrary::open("cublas.gemm", nowhere);
    FAIL();
  } catch (const util::UsageError& error) {
    EXPECT_EQ(error.code(), "E_LIBRARY_MISSING");
    EXPECT_THAT(error.what(), HasSubstr("install package libcublas-13-0"));
    EXPECT_THAT(error.what(), HasSubstr("/nonexistent/libcublas.so"));
  }
}

TEST(Library, OneWithoutItsFunctionsIsRefusedByName) {
  const std::array<std::filesystem::path, 1> other{"libc.so.6"};
  for (const LibraryFunction& function : library_functions()) {
    try {
      (void)VendorLibrary::open(function.name, other);
      FAIL() << function.name;
    } catch (const util::UsageError& error) {
      EXPECT_EQ(error.code(), "E_LIBRARY_MISSING");
      EXPECT_THAT(error.what(), HasSubstr("lacks cu"));
    }
  }
}

TEST(Library, AnUnknownCallNamesThoseThatThereAre) {
  try {
    (void)describe_library("cudnn.conv");
    FAIL();
  } catch (const util::UsageError& error) {
    EXPECT_EQ(error.code(), "E_LIBRARY_UNKNOWN");
    EXPECT_THAT(error.what(), HasSubstr("cublas.gemm, cusparse.spmm, cufft.c2c"));
  }
}

TEST(Library, IsLookedForByVersionWhereToolkitsAre) {
  const auto path = VendorLibrary::search_path("cusparse.spmm");
  EXPECT_THAT(path, ::testing::Contains(std::filesystem::path("libcusparse.so.12")));
  EXPECT_EQ(path.back(), "libcusparse.so");
}

// The toolkit of this machine, where it has one; no GPU is needed to ask for a version.
TEST(Library, ThoseOfAToolkitTellTheirVersions) {
  for (const LibraryFunction& function : library_functions()) {
    LibraryInfo info;
    try {
      info = describe_library(function.name);
    } catch (const util::UsageError& error) {
      GTEST_SKIP() << error.what();
    }
    EXPECT_TRUE(std::filesystem::path(info.path).is_absolute()) << info.path;
    EXPECT_THAT(info.version, ::testing::ContainsRegex("^[1-9][0-9]*\\.[0-9]+\\.[0-9]+$"));
  }
}

TEST(Library, ArgumentsTravelAsBytesOfALaunch) {
  const auto arguments =
      arguments_with("cufft.c2c", {{"x", tensor_at(77, DType::c128)}, {"n0", number_at(-3)}});
  Launch launch = library_launch("cufft.c2c", arguments);
  const auto back = library_arguments(launch);
  ASSERT_EQ(back.size(), arguments.size());
  EXPECT_EQ(back[0].address, 77U);
  EXPECT_EQ(back[0].type, DType::c128);
  EXPECT_EQ(back[2].number, -3);
  launch.arguments[0][8] = std::byte{200};  // no such type
  EXPECT_THROW((void)library_arguments(launch), util::InfraError);
  launch.arguments[0].clear();
  EXPECT_THROW((void)library_arguments(launch), util::InfraError);
  launch.arguments.pop_back();
  EXPECT_THROW((void)library_arguments(launch), util::InfraError);
  launch.kernel = "copy";
  EXPECT_THROW((void)library_arguments(launch), util::InfraError);
}

TEST(Library, TheCpuDeviceHasNone) {
  try {
    (void)cpu::open(1)->open_library("cublas.gemm", "libcublas.so");
    FAIL();
  } catch (const util::UsageError& error) {
    EXPECT_EQ(error.code(), "E_LIBRARY_DEVICE");
  }
}

}  // namespace
}  // namespace sweep::device
