// Cubins: what each of the three ways to make one yields, and what all of them refuse. Needs the
// CUDA toolkit, no GPU.

#include "compile_fixture.h"

#include <gmock/gmock.h>

namespace sweep::test {
namespace {

using testing::HasSubstr;
using Status = compile::Result::Status;

class CompileCuda : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    if (const std::string why = missing(GetParam()); !why.empty()) {
      GTEST_SKIP() << why;
    }
  }

  void expect(Status status, const std::string& text, const std::string& log = {}) const {
    const compile::Result result =
        compile_by(GetParam(), text + "\n__global__ void k(int* o, int n) { o[0] = v(n); }");
    EXPECT_EQ(result.status, status) << text << "\n" << result.log;
    EXPECT_THAT(result.log, HasSubstr(log)) << text;
  }
};

TEST_P(CompileCuda, YieldsNamesTypesAndResources) {
  const compile::Result result = compile_by(
      GetParam(),
      "#include <cuda_fp16.h>\n"
      "template <typename T, int N> __global__ void k(const T* __restrict__ a, float* b, int n) {\n"
      "  __shared__ float s[N];\n  s[threadIdx.x] = float(a[n]);\n  __syncthreads();\n"
      "  b[threadIdx.x] = s[N - 1 - threadIdx.x];\n}\n"
      "extern \"C\" __global__ void plain(float* a, const float* b, float c) { a[0] = b[0] + c; }\n"
      "static __global__ void inner(double* x, double* y) { x[0] = y[0]; }\n"
      "namespace { __global__ void hidden(double* x) { x[0] = 2; } }\n"
      "namespace ns { template <bool B> __global__ void two(long long* x, long long* y, double* z) "
      "{ x[0] = B; } }\n",
      {"k<__half, 64>", "plain", "inner", "hidden", "ns::two<(3 > 2)>"});
  ASSERT_EQ(result.status, Status::ok) << result.log;
  ASSERT_EQ(result.kernels.size(), 5U);
  EXPECT_EQ(result.kernels[0].lowered, "_Z1kI6__halfLi64EEvPKT_Pfi");
  EXPECT_GT(result.kernels[0].registers, 0);
  EXPECT_EQ(result.kernels[0].spill_bytes, 0);
  EXPECT_EQ(result.kernels[0].shared_bytes, 256);
  ASSERT_TRUE(result.kernels[0].parameters);
  EXPECT_EQ(result.kernels[0].parameters->size(), 3U);
  EXPECT_EQ(result.kernels[1].lowered, "plain");
  EXPECT_FALSE(result.kernels[1].parameters);
  EXPECT_EQ(result.kernels[2].parameters->size(), 2U);
  EXPECT_EQ(result.kernels[3].parameters->size(), 1U);
  EXPECT_THAT(result.kernels[4].lowered, HasSubstr("3two"));
  EXPECT_THAT(result.ptx, HasSubstr(".entry"));
  EXPECT_EQ(result.ptx.find("sweep_plan"), std::string::npos);
  const std::string image(reinterpret_cast<const char*>(result.image.bytes.data()),
                          result.image.bytes.size());
  EXPECT_EQ(image.find("sweep_plan"), std::string::npos);
  for (const compile::CompiledKernel& kernel : result.kernels) {
    EXPECT_NE(image.find(".text." + kernel.lowered), std::string::npos) << kernel.lowered;
  }
}

TEST_P(CompileCuda, TakesConstantsAndFlags) {
  compile::Request request = request_for(
      GetParam(),
      "__global__ void k(float* o) { static_assert(TM == 64 && NEG == -3); o[0] /= TM; }");
  request.defines = {{"TM", 64}, {"NEG", -3}};
  request.flags.maxrregcount = 32;
  request.flags.fast_math = true;
  EXPECT_EQ(compiler().compile(request).status, Status::ok);
  request.defines = {{"TM", 63}, {"NEG", -3}};
  EXPECT_EQ(compiler().compile(request).status, Status::compile_error);
}

TEST_P(CompileCuda, ErrorsNameTheLine) {
  const compile::Result result =
      compile_by(GetParam(), "\n\n__global__ void k(int* o) { o[0] = nothing; }");
  EXPECT_EQ(result.status, Status::compile_error);
  EXPECT_THAT(result.log, HasSubstr("test.cu(3)"));
  EXPECT_EQ(result.log.find("unit.cu"), std::string::npos) << result.log;
  EXPECT_EQ(compile_by(GetParam(), "__global__ void k(int* o) {}", {"other"}).status,
            Status::compile_error);
  EXPECT_EQ(compile_by(GetParam(), "__device__ void k(int* o) {}", {"k"}).status,
            Status::compile_error);
}

// Editors put it there; the lines of errors stay where they were.
TEST_P(CompileCuda, TakesOneByteOrderMark) {
  const std::string mark = "\xEF\xBB\xBF";
  const std::string kernel = "__global__ void k(int* o) { o[0] = 1; }\n";
  EXPECT_EQ(compile_by(GetParam(), mark + kernel).status, Status::ok);
  if (GetParam() == Way::nvrtc) {  // the preprocessor of nvcc is g++, which skips one of its own
    EXPECT_EQ(compile_by(GetParam(), mark + mark + kernel).status, Status::compile_error);
  }
  EXPECT_EQ(compile_by(GetParam(), kernel + mark).status, Status::compile_error);
  EXPECT_THAT(compile_by(GetParam(), mark + kernel + "int v = nothing;\n").log,
              HasSubstr("test.cu(2)"));
}

TEST_P(CompileCuda, RefusesStateInVariables) {
  const std::string why = "module variable";
  expect(Status::forbidden, "__device__ int c;\n__device__ int v(int) { return c++; }", why);
  expect(Status::forbidden, "__device__ int c = 3;\n__device__ int v(int) { return c++; }", why);
  expect(Status::forbidden,
         "__device__ int v(int) { static int c = 4; return atomicAdd(&c, 1); }",
         why);
  expect(Status::forbidden,
         "__device__ int c[4] = {1, 2, 3, 4};\n__device__ int v(int n) { return c[n]++; }",
         why);
  expect(Status::forbidden,
         "__device__ int c;\n__device__ int* p = &c;\n__device__ int v(int) { return ++*p; }",
         why);
  expect(Status::forbidden,
         "__device__ int c;\n__device__ __noinline__ int w(int* p) { return atomicAdd(p, 1); }\n"
         "__device__ int v(int) { return w(&c); }",
         why);
  // Inline assembly on one line.
  expect(Status::forbidden,
         "extern \"C\" __device__ int c = 1;\n__device__ int v(int n) { int r = c; "
         "asm volatile(\"ld.global.u32 %0, [c]; { .reg .u64 t; mov.u64 t, c; st.global.u32 [t], "
         "%1; }\" "
         ": \"=r\"(r) : \"r\"(n)); return r; }",
         why);
  expect(Status::forbidden,
         "__device__ int v(int n) { int r; asm volatile(\"{ .global .u32 hid; "
         "atom.global.add.u32 %0, [hid], 1; }\" : \"=r\"(r)); return r; }",
         why);
}

TEST_P(CompileCuda, TakesTables) {
  expect(Status::ok,
         "__device__ const int c[4] = {1, 2, 3, 4};\n__constant__ int d[4] = {1, 2, 3, 4};\n"
         "struct S { static constexpr int zero = 0; };\n"
         "__device__ int v(int n) { const int* p = n > 3 ? c : d; return p[n & 3] + d[n] + "
         "S::zero + int(sinf(n)); }");
}

TEST_P(CompileCuda, RefusesWhatIsNotDefined) {
  expect(Status::forbidden,
         "__device__ int v(int n) { int* p = (int*)malloc(4 * n); return p ? *p : 0; }",
         "device malloc");
  expect(Status::forbidden,
         "extern \"C\" __device__ void __assertfail(const char*, const char*, unsigned, const "
         "char*, size_t);\n__device__ int v(int n) { __assertfail(\"\", \"\", n, \"\", 1); return "
         "n; }",
         "assert");
  // The headers of nvcc declare these otherwise.
  if (GetParam() == Way::nvrtc) {
    expect(Status::forbidden,
           "extern \"C\" __device__ int vprintf(const char*, void*);\n"
           "__device__ int v(int n) { return vprintf(\"\", &n); }",
           "printf");
    // Only what the driver itself defines passes ptxas.
    expect(Status::compile_error,
           "extern \"C\" __device__ int cudaLaunchDeviceV2(void*, void*);\n"
           "__device__ int v(int n) { return cudaLaunchDeviceV2(nullptr, nullptr); }",
           "cudaLaunchDeviceV2");
  }
  expect(Status::ok, "#include <cstdio>\n__device__ int v(int n) { printf(\"%d\", n); return n; }");
  expect(Status::ok, "#include <cassert>\n__device__ int v(int n) { assert(n); return n; }");
  expect(Status::forbidden, "__managed__ int m;\n__device__ int v(int n) { return m; }", "managed");
}

TEST_P(CompileCuda, RefusesTheTimeOfDay) {
  for (const std::string word : {"__DATE__", "__TIME__", "__TIMESTAMP__"}) {
    expect(Status::forbidden, "__device__ int v(int n) { return " + word + "[n]; }", "differ");
  }
}

TEST_P(CompileCuda, TellsStaticMemory) {
  compile::Result result = compile_by(
      GetParam(),
      "__device__ char big[1ull << 36];\n__constant__ char c[100] = {1};\n"
      "__global__ void k(int* o, int n) { volatile char a[500000]; for (int i = 0; i < n; ++i) "
      "a[i * 7 % 500000] = i; o[0] = a[n] + big[n] + c[n]; }");
  ASSERT_EQ(result.status, Status::ok) << result.log;
  EXPECT_GE(result.static_bytes, (1ULL << 36) + 100);
  EXPECT_LT(result.static_bytes, (1ULL << 36) + 4096);
  EXPECT_GE(result.stack_bytes, 500000U);
  EXPECT_LT(result.stack_bytes, 510000U);
  result = compile_by(GetParam(), "__global__ void k(int* o) { o[0] = 1; }");
  EXPECT_EQ(result.static_bytes, 0U);
  EXPECT_EQ(result.stack_bytes, 0U);
}

// A compiler's log holds text of the submission: it must not be taken for the compiler's figures.
TEST_P(CompileCuda, FiguresCannotBeForged) {
  const compile::Result result = compile_by(
      GetParam(),
      "[[deprecated(\"x\\nptxas info    : Compiling entry function '_Z1kPi' for 'sm_90a'\\nptxas "
      "info    : Function properties for _Z1kPi\\nptxas info    : Used 1 registers\\n\")]]\n"
      "__device__ inline int f(volatile int* a) { return a[1]; }\n"
      "__global__ void k(int* o) { volatile int a[300]; a[o[0]] = 1; o[0] = f(a) + a[o[1]]; }");
  ASSERT_EQ(result.status, Status::ok) << result.log;
  EXPECT_GT(result.kernels.at(0).registers, 1);
  EXPECT_GE(result.stack_bytes, 1200U);
}

INSTANTIATE_TEST_SUITE_P(Ways,
                         CompileCuda,
                         testing::Values(Way::nvrtc, Way::nvcc),
                         [](const auto& way) { return std::string(name(way.param)); });

// What NVRTC cannot take: host functions, the C++ library's headers, `__device__` lambdas.
TEST(CompileNvcc, TakesHostHeadersAndFunctions) {
  if (const std::string why = missing(Way::nvcc); !why.empty()) {
    GTEST_SKIP() << why;
  }
  const std::string source =
      "#include <vector>\n#include <array>\n#include <string>\n#include <cub/cub.cuh>\n"
      "void host() { std::vector<int> v(3); }\n"
      "__global__ void k(const float* a, float* o) {\n  using R = cub::BlockReduce<float, 128>;\n"
      "  __shared__ typename R::TempStorage t;\n  float s = R(t).Sum(a[threadIdx.x]);\n"
      "  if (threadIdx.x == 0) o[0] = [=] __device__(float v) { return v + 1; }(s);\n}\n";
  const compile::Result result = compile_by(Way::nvcc, source);
  EXPECT_EQ(result.status, Status::ok) << result.log;
  EXPECT_EQ(compile_by(Way::nvrtc, source).status, Status::compile_error);
}

class CompilePtx : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = missing(Way::ptxas); !why.empty()) {
      GTEST_SKIP() << why;
    }
  }

  static void expect(Status status, const std::string& source, const std::string& log = {}) {
    const compile::Result result = compile_by(Way::ptxas, source);
    EXPECT_EQ(result.status, status) << source << "\n" << result.log;
    EXPECT_THAT(result.log, HasSubstr(log)) << source;
  }
};

TEST_F(CompilePtx, YieldsParametersAndResources) {
  const std::string head = ".version 8.0\n.target sm_90a\n.address_size 64\n";
  const compile::Result result = compile_by(
      Way::ptxas,
      head +
          ".visible .entry one(.param .u64 p, .param .f32 f, .param .align 8 .b8 s[24]) {\n"
          ".reg .u64 %a; .reg .f32 %f;\n.shared .align 4 .b8 buffer[64];\n"
          "ld.param.u64 %a, [p]; ld.param.f32 %f, [f];\ncvta.to.global.u64 %a, %a;\n"
          "st.shared.f32 [buffer], %f; st.global.f32 [%a], %f;\nret;\n}\n"
          ".entry _Z3twoPKfi(.param .u64 p, .param .u32 n) { ret; }\n",
      {"one", "_Z3twoPKfi"});
  ASSERT_EQ(result.status, Status::ok) << result.log;
  EXPECT_GT(result.kernels.at(0).registers, 0);
  EXPECT_EQ(result.kernels[0].shared_bytes, 64);
  ASSERT_TRUE(result.kernels[0].parameters);
  ASSERT_EQ(result.kernels[0].parameters->size(), 3U);
  EXPECT_EQ(result.kernels[0].parameters->at(1).kind, submission::Parameter::Kind::real);
  EXPECT_EQ(result.kernels[0].parameters->at(2).bytes, 24U);
  ASSERT_TRUE(result.kernels[1].parameters);
  EXPECT_EQ(result.kernels[1].parameters->at(0).text, "const float*");
}

TEST_F(CompilePtx, Errors) {
  expect(Status::compile_error, "not ptx");
  expect(Status::compile_error, "");
  expect(Status::compile_error, ".version 8.0\n.target sm_90a\n.address_size 64\n", "no .entry");
  expect(Status::compile_error, ptx_kernel("bogus.u32 %r, 1;"), "bogus");
  expect(Status::compile_error, ptx_kernel(std::string("\0", 1)), "NUL");
  expect(Status::compile_error, ptx_kernel("call foo;", ".weak .func foo();"), "foo");
}

TEST_F(CompilePtx, Refusals) {
  const std::string why = "module variable";
  expect(Status::ok, ptx_kernel("ld.global.u32 %r, [c];", ".global .u32 c = 5;"));
  expect(Status::ok, ptx_kernel("", ".extern .shared .align 16 .b8 dynamic[];"));
  expect(Status::forbidden,
         ptx_kernel("ld.global.u32 %r, [c]; st.global.u32 [c], %r;", ".global .u32 c = 5;"),
         why);
  expect(Status::forbidden, ptx_kernel("st.global.u32 [c2], %r;", ".global .u32 c<4>;"), why);
  expect(Status::forbidden,
         ptx_kernel("atom.global.add.u32 %r, [d], 1;", ".global .u32 c = 1, d = 2;"),
         why);
  expect(Status::forbidden,
         ptx_kernel("{ .reg .u64 t; mov.u64 t, c; cvta.const.u64 t, t; st.u32 [t], 3; }",
                    ".const .u32 c = 5;"),
         why);
  expect(Status::forbidden,
         ptx_kernel("{ .global .u32 hid; atom.global.add.u32 %r, [hid], 1; }"),
         why);
  expect(Status::forbidden,
         ptx_kernel("ld.global.u32 %r, [e];", ".extern .global .u32 e;"),
         "extern variable");
  expect(Status::forbidden,
         ptx_kernel("ld.global.u32 %r, [m];", ".global .attribute(.managed) .u32 m;"),
         "managed");
  expect(Status::forbidden,
         ptx_kernel("{ .reg .f32 %f<4>; tex.1d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [t, {%r}]; "
                    "st.global.f32 [%a], %f0; }",
                    ".global .texref t;"),
         "texture");
  expect(Status::forbidden,
         ptx_kernel("{ .param .b64 q; .param .b64 w; st.param.b64 [q], %a; call.uni (w), malloc, "
                    "(q); ld.param.b64 %a, [w]; }",
                    ".extern .func (.param .b64 r) malloc(.param .b64 n);"),
         "malloc");
}

}  // namespace
}  // namespace sweep::test
