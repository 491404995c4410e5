// The compiler role from outside: what it must refuse, withhold, bound and remember.

#include "cpu_fixture.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include <sys/stat.h>

namespace sweep::test {
namespace {

using compile::Result;
using testing::HasSubstr;
using testing::Not;
using Status = compile::Result::Status;

constexpr const char* kSecret = "SWEEP_TEST_SECRET_47";

Result cpu(const std::string& source, std::vector<std::string> kernels = {"k"}) {
  return compiler().compile(cpu_request(source, std::move(kernels)));
}

Result cuda(const std::string& source, std::vector<std::string> kernels = {"k"}) {
  compile::Request request = cpu_request(source, std::move(kernels));
  request.target = {device::Kind::cuda, "sm_90a"};
  return compiler().compile(request);
}

bool have_nvrtc() {
  return !compiler().toolchain().nvrtc.empty();
}

// A file that everyone may read, outside every folder the role may read.
class PlantedFile {
 public:
  PlantedFile() : folder_("sweep-planted"), path_(folder_.path() / ".env") {
    std::ofstream(path_) << kSecret << " = 1;\nint " << kSecret << ";\n";
    chmod(folder_.path().c_str(), 0755);
    chmod(path_.c_str(), 0644);
  }

  [[nodiscard]] const std::string& path() const { return path_.native(); }

 private:
  util::TempDir folder_;
  std::filesystem::path path_;
};

std::vector<std::string> ways_to_read(const std::string& path) {
  const std::string relative = "../../../../../../../.." + path;
  const std::string kernel = "\n__global__ void k(int* o) { o[0] = 1; }\n";
  return {
      "#include \"" + path + "\"" + kernel,
      "#include <" + path + ">" + kernel,
      "#include \"" + relative + "\"" + kernel,
      "#define F \"" + path + "\"\n#include F" + kernel,
      "%:include \"" + path + "\"" + kernel,
      "#inc\\\nlude \"" + path + "\"" + kernel,
      "#/**/include \"" + path + "\"" + kernel,
      "#include_next \"" + path + "\"" + kernel,
      "#import \"" + path + "\"" + kernel,
      "#pragma GCC dependency \"" + path + "\"" + kernel,
      "#include \"/proc/self/root" + path + "\"" + kernel,
      "#line 1 \"" + path + "\"\nint x = undeclared_name;" + kernel,
      "# 1 \"" + path + "\"\nint x = undeclared_name;" + kernel,
      "__asm__(\".incbin \\\"" + path + "\\\"\");" + kernel,
      "__asm__(\".include \\\"" + path + "\\\"\");" + kernel,
      "const unsigned char t[] = {\n#embed \"" + path + "\"\n};" + kernel,
  };
}

TEST(CompileLeak, NoSpellingReadsAFile) {
  const PlantedFile file;
  for (const std::string& source : ways_to_read(file.path())) {
    const Result result = cpu(source);
    EXPECT_THAT(result.log, Not(HasSubstr(kSecret))) << source;
    const std::string image(reinterpret_cast<const char*>(result.image.bytes.data()),
                            result.image.bytes.size());
    EXPECT_EQ(image.find(kSecret), std::string::npos) << source;
  }
}

TEST(CompileLeak, NoSpellingReadsAFileWithNvrtc) {
  if (!have_nvrtc()) {
    GTEST_SKIP() << compiler().toolchain().nvrtc_reason;
  }
  const PlantedFile file;
  for (const std::string& source : ways_to_read(file.path())) {
    EXPECT_THAT(cuda(source).log, Not(HasSubstr(kSecret))) << source;
  }
}

// The test can fail: the planted file is readable to this user and is found where it may be read.
TEST(CompileLeak, ThePlantedFileIsReadable) {
  const PlantedFile file;
  EXPECT_THAT(util::read_file(file.path(), 4096), HasSubstr(kSecret));
  EXPECT_EQ(cpu("#if !__has_include(\"/usr/include/math.h\")\n#error missing\n#endif\n__global__ "
                "void k(int* o) { o[0] = 1; }")
                .status,
            Status::ok);
}

TEST(CompileLeak, ExistenceIsHidden) {
  const PlantedFile file;
  const Result result =
      cpu("#if __has_include(\"" + file.path() +
          "\")\n#error it is there\n#endif\n__global__ void k(int* o) { o[0] = 1; }");
  EXPECT_THAT(result.log, Not(HasSubstr("it is there")));
}

TEST(CompileBound, TemplateBombEnds) {
  compile::Options options;
  options.program = SWEEP_BINARY;
  options.use_cache = false;
  options.deadline_seconds = 6;
  compile::Compiler hurried(options);
  // The first call also makes the precompiled header within this deadline.
  const Result result = hurried.compile(
      cpu_request("template <int A, int B> struct S { static constexpr long v = S<A - 1, B * 2>::v "
                  "+ S<A - 1, B * 2 + 1>::v; };\n"
                  "template <int B> struct S<0, B> { static constexpr long v = B; };\n"
                  "__global__ void k(long* o) { o[0] = S<26, 1>::v; }",
                  {"k"}));
  EXPECT_TRUE(result.status == Status::timeout || result.status == Status::out_of_memory)
      << static_cast<int>(result.status) << result.log;
  EXPECT_LT(result.seconds, 60);
}

TEST(CompileBound, LogsAreShort) {
  std::string source;
  for (int i = 0; i < 20000; ++i) {
    source += "#warning line " + std::to_string(i) + "\n";
  }
  EXPECT_LE(cpu(source + "__global__ void k(int* o) { o[0] = 1; }").log.size(), 65536U + 128U);
}

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

TEST(CompileCuda, KernelsForSm90a) {
  if (!have_nvrtc()) {
    GTEST_SKIP() << compiler().toolchain().nvrtc_reason;
  }
  const Result result = cuda(
      "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <stdint.h>\n#include "
      "<cmath>\n#include <algorithm>\n"
      "#include <limits>\n#include <type_traits>\n#include <cstdio>\n#include <float.h>\n#include "
      "<cuda.h>\n#include <cassert>\n"
      "template <typename T, int N> __global__ void k(const T* __restrict__ a, float* b, int n) {\n"
      "  __shared__ float s[N];\n  static_assert(std::is_same_v<T, __half>);\n"
      "  s[threadIdx.x] = std::min(std::sqrt(float(a[n])), std::numeric_limits<float>::max());\n  "
      "__syncthreads();\n"
      "  printf(\"%d\", n); assert(n);\n  b[threadIdx.x] = s[N - 1 - threadIdx.x] + std::max(1, 2) "
      "+ INFINITY * FLT_MAX + int32_t(3);\n}\n"
      "__global__ void t(const __grid_constant__ CUtensorMap m, float* o) { o[0] = sizeof m; }",
      {"k<__half, 64>", "t"});
  ASSERT_EQ(result.status, Status::ok) << result.log;
  EXPECT_GT(result.kernels.at(0).registers, 0);
  EXPECT_EQ(result.kernels[0].spill_bytes, 0);
  EXPECT_EQ(result.kernels[0].shared_bytes, 256);
  EXPECT_THAT(result.ptx, HasSubstr(".entry"));
  EXPECT_EQ(result.kernels[0].parameters->size(), 3U);
}

TEST(CompileCuda, Refusals) {
  if (!have_nvrtc()) {
    GTEST_SKIP() << compiler().toolchain().nvrtc_reason;
  }
  const std::string kernel = "\n__global__ void k(int* o, int n) { o[0] = v(n); }";
  const auto status = [&](const std::string& text) { return cuda(text + kernel).status; };
  EXPECT_EQ(status("__device__ int c;\n__device__ int v(int) { return c++; }"), Status::forbidden);
  EXPECT_EQ(status("__device__ int c = 3;\n__device__ int v(int) { return c++; }"),
            Status::forbidden);
  EXPECT_EQ(status("__device__ int v(int) { static int c = 4; return atomicAdd(&c, 1); }"),
            Status::forbidden);
  EXPECT_EQ(
      status("__device__ int c[4] = {1, 2, 3, 4};\n__device__ int v(int n) { return c[n]++; }"),
      Status::forbidden);
  EXPECT_EQ(status("__device__ int v(int n) { int* p = (int*)malloc(4 * n); return p ? *p : 0; }"),
            Status::forbidden);
  EXPECT_EQ(
      status("__device__ const int c[4] = {1, 2, 3, 4};\n__constant__ int d[4] = {1, 2, 3, 4};\n"
             "__device__ int v(int n) { return c[n] + d[n]; }"),
      Status::ok);
  EXPECT_EQ(status("__device__ int v(int n) { printf(\"%d\", n); return n; }"), Status::ok);
  EXPECT_EQ(status("__device__ int v(int n) { return nothing; }"), Status::compile_error);
}

TEST(CompileCuda, PtxByPtxas) {
  if (compiler().toolchain().ptxas.empty()) {
    GTEST_SKIP() << compiler().toolchain().ptxas_reason;
  }
  compile::Request request = cpu_request(
      ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry one(.param .u64 p) {\n.reg "
      ".u64 %a;\n"
      "ld.param.u64 %a, [p];\ncvta.to.global.u64 %a, %a;\nst.global.u32 [%a], 1;\nret;\n}\n",
      {"one"});
  request.file = "one.ptx";
  request.language = submission::Language::ptx;
  request.target = {device::Kind::cuda, "sm_90a"};
  const Result result = compiler().compile(request);
  ASSERT_EQ(result.status, Status::ok) << result.log;
  EXPECT_GT(result.kernels.at(0).registers, 0);
  request.source = "not ptx";
  EXPECT_EQ(compiler().compile(request).status, Status::compile_error);
}

}  // namespace
}  // namespace sweep::test
