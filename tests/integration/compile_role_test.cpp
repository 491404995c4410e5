// The compiler role from outside: what it must refuse, withhold, bound and remember.

#include "compile_fixture.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace sweep::test {
namespace {

using compile::Result;
using testing::HasSubstr;
using testing::Not;
using Status = compile::Result::Status;

Result cpu(const std::string& source, std::vector<std::string> kernels = {"k"}) {
  return compiler().compile(cpu_request(source, std::move(kernels)));
}

class CompileBomb : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    if (const std::string why = missing(GetParam()); !why.empty()) {
      GTEST_SKIP() << why;
    }
    // Makes the precompiled header, which the hurried ones then find.
    if (GetParam() == Way::gxx) {
      ASSERT_EQ(plain(120).status, Status::ok);
    }
  }

  [[nodiscard]] compile::Compiler with_deadline(double seconds) const {
    compile::Options options;
    options.program = SWEEP_BINARY;
    options.cache = shared_cache();
    options.use_cache = false;
    options.deadline_seconds = seconds;
    return compile::Compiler(options);
  }

  [[nodiscard]] Result plain(double seconds) const {
    const std::string source =
        GetParam() == Way::ptxas ? ptx_kernel("") : "__global__ void k(int* o) { o[0] = 1; }";
    return with_deadline(seconds).compile(request_for(GetParam(), source));
  }

  // Ends as a fault of the text, with a short log, and the next one compiles.
  void expect_end(const std::string& source) const {
    constexpr double kSeconds = 4;
    const Result result = with_deadline(kSeconds).compile(request_for(GetParam(), source));
    EXPECT_TRUE(result.status == Status::timeout || result.status == Status::out_of_memory ||
                result.status == Status::compile_error || result.status == Status::unsupported)
        << static_cast<int>(result.status) << result.log.substr(0, 2000);
    EXPECT_LE(result.log.size(), 65536U + 128U);
    EXPECT_EQ(plain(120).status, Status::ok);
  }
};

const std::string kOne = "\n__global__ void k(int* o) { o[0] = 1; }\n";

TEST_P(CompileBomb, Templates) {
  expect_end(
      "template <int A, int B> struct S { static constexpr long v = S<A - 1, B * 2>::v + S<A - 1, "
      "B "
      "* 2 + 1>::v; };\ntemplate <int B> struct S<0, B> { static constexpr long v = B; };\n"
      "__global__ void k(long* o) { o[0] = S<26, 1>::v; }");
}

TEST_P(CompileBomb, Macros) {
  expect_end(
      "#define A(x) x x x x x x x x\n#define B(x) A(A(A(A(x))))\n#define C(x) B(B(B(x)))\n"
      "__device__ int a = C(1 +) 1;" +
      kOne);
}

TEST_P(CompileBomb, Includes) {
  expect_end("#include \"test.cu\"\n#include \"test.cu\"\n" + kOne);
}

TEST_P(CompileBomb, Nesting) {
  const std::string many(200000, GetParam() == Way::ptxas ? '{' : '(');
  expect_end(GetParam() == Way::ptxas ? ptx_kernel(many)
                                      : "__global__ void k(int* o) { o[0] = " + many);
}

TEST_P(CompileBomb, ConstantExpressions) {
  expect_end(
      "constexpr long f(long n) { long s = 0; for (long i = 0; i < n; ++i) s += i * s + f(n - 1); "
      "return s; }\n__global__ void k(long* o) { constexpr long v = f(1L << 40); o[0] = v; }");
}

TEST_P(CompileBomb, Logs) {
  std::string source;
  for (int i = 0; i < 4000; ++i) {  // over twice the bound
    source += "#warning line " + std::to_string(i) + "\n";
  }
  const Result result = with_deadline(120).compile(request_for(GetParam(), source + kOne));
  EXPECT_LE(result.log.size(), 65536U + 128U);
}

INSTANTIATE_TEST_SUITE_P(Ways,
                         CompileBomb,
                         testing::Values(Way::gxx, Way::nvrtc, Way::nvcc, Way::ptxas),
                         [](const auto& way) { return std::string(name(way.param)); });

TEST(CompileDefines, ReachTheSourceAndInjectNothing) {
  compile::Request request = cpu_request(
      "__global__ void k(int* o) { static_assert(TM == 64 && NEG == -3); o[0] = TM; }", {"k"});
  request.defines = {{"TM", 64}, {"NEG", -3}};
  EXPECT_EQ(compiler().compile(request).status, Status::ok);
  const util::TempDir folder("sweep-injected");
  const std::string mark = (folder.path() / "mark").native();
  request.defines = {{"X`touch " + mark + "`", 1}};
  EXPECT_EQ(compiler().compile(request).status, Status::compile_error);
  request.defines = {{"X=$(touch " + mark + ")", 1}};
  EXPECT_EQ(compiler().compile(request).status, Status::compile_error);
  EXPECT_FALSE(std::filesystem::exists(mark));
}

TEST(CompileRefusal, Cpu) {
  const std::string kernel = "__global__ void k(int* o) { o[0] = v(); }";
  const auto status = [&](const std::string& text) { return cpu(text + kernel).status; };
  EXPECT_EQ(status("__device__ int c;\n__device__ int v() { return c++; }"), Status::forbidden);
  EXPECT_EQ(status("__device__ int v() { static int c; return c++; }"), Status::forbidden);
  EXPECT_EQ(status("struct S { S(); int a; };\nS s;\nextern \"C\" int system(const char*);\nS::S() "
                   "{ a = 1; }\n__device__ int v() { return s.a; }"),
            Status::forbidden);
  EXPECT_EQ(
      status(
          "extern \"C\" int system(const char*);\n__device__ int v() { return system(\"ls\"); }"),
      Status::forbidden);
  EXPECT_EQ(status("__device__ int v() { return *(int*)malloc(4); }"), Status::forbidden);
  EXPECT_EQ(status("__device__ int v();"), Status::forbidden);
  EXPECT_EQ(status("// __DATE__\n__device__ int v() { return 1; }"), Status::ok);
  EXPECT_EQ(status("__device__ int v() { return __TIME__[0]; }"), Status::forbidden);
  EXPECT_EQ(status("__constant__ int t[3] = {1, 2, 3};\n__device__ const int u[2] = {4, "
                   "5};\n__device__ int v() { return t[1] + u[0]; }"),
            Status::ok);
}

TEST(CompileRefusal, UnsupportedOnCpu) {
  const auto expect = [](const std::string& source, const std::string& what) {
    const Result result = cpu(source);
    EXPECT_EQ(result.status, Status::unsupported) << result.log;
    EXPECT_THAT(result.log, HasSubstr("unsupported on device cpu: " + what));
  };
  expect("__global__ void k(int* o) { asm volatile(\"mov.u32 %0, %laneid;\" : \"=r\"(o[0])); }",
         "inline PTX");
  expect(
      "__global__ void k(int* o) { __asm__ volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(o[0])); }",
      "inline PTX");
  expect("#include <cub/cub.cuh>\n__global__ void k(int* o) { o[0] = 1; }", "CUB");
  expect("#include <cuda/std/array>\n__global__ void k(int* o) { o[0] = 1; }", "cuda::std");
  expect("#include <mma.h>\n__global__ void k(int* o) { o[0] = 1; }", "wmma");
  expect("__global__ void q(int* o) {}\n__global__ void k(int* o) { q<<<1, 1>>>(o); }", "launches");
  expect("__global__ void k(cudaTextureObject_t t, float* o) { o[0] = tex1Dfetch<float>(t, 0); }",
         "textures");
  compile::Request request = cpu_request(".version 8.0", {"k"});
  request.language = submission::Language::ptx;
  EXPECT_EQ(compiler().compile(request).status, Status::unsupported);
}

// The header from the cache names the folder of the process that precompiled it.
TEST(CompileErrors, AreShownWithAHeaderThatAnotherProcessPrecompiled) {
  if (const std::string why = missing(Way::gxx); !why.empty()) {
    GTEST_SKIP() << why;
  }
  const util::TempDir cache("compile-role");
  compile::Options options;
  options.program = SWEEP_BINARY;
  options.cache = cache.path();
  for (int process = 0; process < 2; ++process) {
    const Result result = compile::Compiler(options).compile(cpu_request(
        "__global__ void k(int* o) { o[0] = __shfl_sync(1); } // " + std::to_string(process),
        {"k"}));
    EXPECT_EQ(result.status, Status::compile_error);
    EXPECT_THAT(result.log, HasSubstr("__shfl_sync"));
    EXPECT_THAT(result.log, Not(HasSubstr("sweep-headers")));
  }
}

TEST(CompileErrors, NameTheLine) {
  const Result result = cpu("\n\n__global__ void k(int* o) { o[0] = nothing; }");
  EXPECT_EQ(result.status, Status::compile_error);
  EXPECT_THAT(result.log, HasSubstr("test.cu:3:"));
  EXPECT_EQ(cpu("__global__ void k(int* o) {}", {"other"}).status, Status::compile_error);
}

TEST(CompileCache, IsCheckedWhenRead) {
  const util::TempDir folder("sweep-cache-test");
  compile::Options options;
  options.program = SWEEP_BINARY;
  options.cache = folder.path();
  options.deadline_seconds = 120;
  compile::Compiler first(options);
  const auto request = cpu_request("__global__ void k(int* o) { o[0] = 12345; }", {"k"});
  const Result made = first.compile(request);
  ASSERT_EQ(made.status, Status::ok) << made.log;
  EXPECT_FALSE(made.cached);
  const Result again = compile::Compiler(options).compile(request);
  EXPECT_TRUE(again.cached);
  EXPECT_EQ(again.image.bytes, made.image.bytes);
  EXPECT_EQ(again.kernels.at(0).lowered, "_Z1kPi");
  const auto file = folder.path() / "compiled" / made.key.substr(0, 2) / made.key;
  std::fstream(file, std::ios::in | std::ios::out | std::ios::binary).seekp(2000) << "X";
  const Result third = compile::Compiler(options).compile(request);
  EXPECT_FALSE(third.cached);
  EXPECT_EQ(third.status, Status::ok) << third.log;
}

TEST(CompileCpu, ReadsParametersFromTheName) {
  const Result result = cpu(
      "template <int N> __global__ void k(const float* a, float* b, int n) { b[0] = a[N + n]; }\n"
      "static __global__ void inner(double* x) { x[0] = 1; }",
      {"k<4>", "inner"});
  ASSERT_EQ(result.status, Status::ok) << result.log;
  ASSERT_TRUE(result.kernels.at(0).parameters);
  EXPECT_EQ(result.kernels[0].parameters->size(), 3U);
  EXPECT_TRUE(result.kernels[0].parameters->at(0).points_to_const);
  EXPECT_EQ(result.kernels[1].lowered, "_ZL5innerPd");
}

}  // namespace
}  // namespace sweep::test
