// What models are told, by real runs on the cpu device and by NVRTC. The texts are files under
// tests/golden/tools; docs/testing.md says how they are made anew.
#include "../support/text_file.h"
#include "agent/tool_judge.h"
#include "agent/tools.h"
#include "compile/compiler.h"
#include "cpu_fixture.h"
#include "evaluate/preparation.h"
#include "util/excerpt.h"
#include "util/file.h"
#include "util/text.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace sweep::test {
namespace {

namespace fs = std::filesystem;
using agent::ToolOutcome;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// A kernel of test/affine: y = alpha * x + shift, total = the rows' sums; `row` is what a thread
// does with its row `r`.
std::string kernel(const std::string& row, const std::string& plan = "") {
  return "//@ problem test/affine\n" +
         (plan.empty()
              ? "//@ affine<<<ceildiv(rows, 32), 32>>>(x, shift, y, total, rows, cols, alpha)\n"
              : plan) +
         "__global__ void affine(const float* x, const float* shift, float* y, float* total, int "
         "rows,\n"
         "                       int cols, float alpha) {\n"
         "  int r = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  if (r >= rows) return;\n"
         "  float sum = 0;\n" +
         row + "  total[r] = sum;\n}\n";
}

const std::string kRight =
    "  for (int c = 0; c < cols; ++c) {\n"
    "    y[r * cols + c] = alpha * x[r * cols + c] + shift[c];\n"
    "    sum += y[r * cols + c];\n"
    "  }\n";

std::string with(const std::string& what, const std::string& instead) {
  std::string row = kRight;
  return kernel(row.replace(row.find(what), what.size(), instead));
}

class AgentTools : public testing::Test {
 protected:
  AgentTools() {
    fs::permissions(folder_.path(), fs::perms(0755));
    services_.problems = SWEEP_SOURCE_DIR "/tests/data/problems";
    services_.seeds = SWEEP_SOURCE_DIR "/tests/data/seeds";
    services_.cache = shared_cache();
    services_.locks = folder_.path() / "locks";
    services_.salt = folder_.path() / "state/salt";
    services_.program = SWEEP_BINARY;
    fs::create_directory(services_.locks);
    settings_.problem = "test/affine";
    settings_.device = {device::Kind::cpu, 0};
    settings_.correct_trials = 2;
    settings_.submit_trials = 2;
    settings_.deadline_seconds = 240;
    settings_.allow_unsandboxed = std::getenv("SWEEP_TEST_UNSANDBOXED") != nullptr;
  }

  // Runs the tool and compares its text.
  ToolOutcome run(const std::string& tool, const std::string& source, const std::string& golden) {
    const auto evaluator = agent::real_evaluator(services_);
    ToolOutcome out = agent::run_tool(tool, source, settings_, *evaluator);
    EXPECT_FALSE(out.infra) << out.evaluation.dump();
    EXPECT_THAT(out.text, StartsWith(tool + (out.success ? " PASSED: " : " FAILED: ")));
    EXPECT_THAT(out.text, Not(HasSubstr(folder_.path().string())));
    EXPECT_EQ(out.text, util::without_folders(out.text));
    expect_text("tools/" + golden + ".txt", out.text);
    return out;
  }

  util::TempDir folder_{"sweep-tools-test"};
  evaluate::Services services_;
  agent::ToolSettings settings_;
};

TEST_F(AgentTools, StaticCheck) {
  EXPECT_TRUE(run("static_check", kernel(kRight), "static_ok").success);
  EXPECT_FALSE(
      run("static_check",
          kernel(kRight,
                 "//@ affine<<<ceildiv(rows, 32), 32>>>(x, shft, y, total, rows, cols, alpha)\n"),
          "static_plan_error")
          .success);
  // Fences and host code of other harnesses.
  EXPECT_FALSE(
      run("static_check",
          "```cuda\n#include <torch/extension.h>\nvoid launch() { cudaMalloc(0, 0); }\n```\n",
          "static_other_harness")
          .success);
}

TEST_F(AgentTools, ASourceOfTwoMebibytesIsRefusedInOneLine) {
  const std::string large = kernel(kRight) + "/*" + std::string(2U << 20U, 'x') + "*/\n";
  for (const char* tool : {"static_check", "compile_kernel", "run_correctness", "submit_kernel"}) {
    EXPECT_FALSE(run(tool, large, std::string("too_large_") + tool).success);
  }
}

TEST_F(AgentTools, Compile) {
  EXPECT_TRUE(run("compile_kernel", kernel(kRight), "compile_ok").success);
  EXPECT_FALSE(
      run("compile_kernel",
          kernel(kRight, "//@ affine<<<ceildiv(rows, 32), 32>>>(x, shift, y, rows, cols, alpha)\n"),
          "compile_plan_error")
          .success);
  EXPECT_FALSE(run("compile_kernel", with("alpha * x", "alpa * x"), "compile_error").success);
  EXPECT_FALSE(run("compile_kernel",
                   kernel("  asm volatile(\"mov.u32 %0, 1;\" : \"=r\"(r));\n"),
                   "compile_unsupported")
                   .success);
}

TEST_F(AgentTools, RightResults) {
  const ToolOutcome out = run("run_correctness", kernel(kRight), "correct_ok");
  EXPECT_TRUE(out.success);
  EXPECT_GT(out.device_seconds, 0);
}

TEST_F(AgentTools, WrongResults) {
  const struct {
    const char* golden;
    std::string source;
  } cases[] = {
      {"wrong_all_zero", with("alpha * x[r * cols + c] + shift[c]", "0")},
      {"wrong_next_element",
       with("x[r * cols + c] + shift[c]",
            "x[min(r * cols + c + 1, rows * cols - 1)] + shift[(c + 1) % cols]")},
      {"wrong_nan", with("alpha * x[r * cols + c]", "sqrtf(-1.0f) * x[r * cols + c]")},
      {"wrong_tail",
       with("c < cols; ++c) {\n",
            "c < cols; ++c) {\n    if (c >= cols / 8 * 8 - 8) { y[r * cols + c] = 7; continue; "
            "}\n")},
      {"wrong_unwritten", with("c < cols; ++c", "c < cols - 1; ++c")},
      {"wrong_precision",
       with("alpha * x[r * cols + c] + shift[c]",
            "__half2float(__float2half(alpha * x[r * cols + c] + shift[c]))")},
      {"wrong_out_of_bounds", kernel(kRight + "  if (r == rows - 1) y[rows * cols] = 1;\n")},
      {"wrong_input_written", kernel(kRight + "  ((float*)x)[r] = 1;\n")},
  };

  for (const auto& one : cases) {
    SCOPED_TRACE(one.golden);
    std::string source = one.source;
    if (source.find("half") != std::string::npos) {
      source.insert(source.find("__global__"), "#include <cuda_fp16.h>\n");
    }
    EXPECT_FALSE(run("run_correctness", source, one.golden).success);
  }
}

TEST_F(AgentTools, CrashAndHang) {
  EXPECT_FALSE(run("run_correctness", kernel(kRight + "  *(float*)64 = sum;\n"), "crash").success);
  EXPECT_FALSE(run("run_correctness",
                   kernel(kRight + "  volatile int on = 1;\n  while (on) { }\n"),
                   "timeout")
                   .success);
  EXPECT_FALSE(
      run("run_correctness",
          kernel(
              kRight,
              "//@ affine<<<ceildiv(rows, 32), 2048>>>(x, shift, y, total, rows, cols, alpha)\n"),
          "correct_plan_error")
          .success);
}

// Right where it can be seen, wrong elsewhere: one bit.
TEST_F(AgentTools, SubmitTellsOneBitOfStress) {
  const ToolOutcome out =
      run("submit_kernel",
          kernel("  if (!((rows == 24 && cols == 40) || (rows == 8 && cols == 320))) cols = 0;\n" +
                 kRight),
          "submit_generalisation");
  EXPECT_FALSE(out.success);
  EXPECT_EQ(out.metadata.at("verdict"), "INCORRECT_GENERALISATION");
}

TEST_F(AgentTools, GpuToolsHaveNoMeaningHere) {
  const auto evaluator = agent::real_evaluator(services_);
  for (const char* tool :
       {"profile_kernel", "disassemble_kernel", "sanitize_kernel", "ert_roofline"}) {
    const ToolOutcome out = agent::run_tool(tool, kernel(kRight), settings_, *evaluator);
    EXPECT_FALSE(out.success || out.infra);
    EXPECT_THAT(out.text, HasSubstr("no meaning on the cpu device"));
  }
}

// What NVRTC and ptxas say about a text, as compile_kernel hands it on.
class CudaTexts : public AgentTools {
 protected:
  ToolOutcome compile(const std::string& source) {
    auto parsed = submission::parse("kernel.cu", source);
    evaluate::Evaluation evaluation;
    evaluation.screen.emplace();
    const compile::Request request = evaluate::compile_request(
        std::get<submission::Submission>(parsed), {device::Kind::cuda, "sm_90a"}, false);
    compile::Options options;
    options.cache = services_.cache;
    options.program = services_.program;
    options.allow_unsandboxed = settings_.allow_unsandboxed;
    const compile::Result result = compile::Compiler(options).compile(request);
    evaluation.compile = evaluate::describe(result);
    evaluation.verdict = result.status == compile::Result::Status::ok
                             ? evaluate::Verdict::pass_inconclusive
                             : evaluate::verdict_of(result.status);
    return agent::judged("compile_kernel", source, evaluation);
  }

  [[nodiscard]] static bool has_nvrtc() {
    std::error_code error;
    return fs::exists("/usr/local/cuda/lib64/libnvrtc.so", error);
  }
};

TEST_F(CudaTexts, NamesTheLineAndTheIdentifier) {
  if (!has_nvrtc()) {
    GTEST_SKIP() << "no NVRTC";
  }
  const ToolOutcome out = compile(with("alpha * x", "alpa * x"));
  EXPECT_FALSE(out.success);
  EXPECT_THAT(out.text,
              StartsWith("compile_kernel FAILED: COMPILE_ERROR: kernel.cu(9): error: identifier "
                         "\"alpa\" is undefined"));
}

TEST_F(CudaTexts, TellsSpills) {
  if (!has_nvrtc()) {
    GTEST_SKIP() << "no NVRTC";
  }
  std::string source = kernel(
      "  float v[64];\n"
      "#pragma unroll\n"
      "  for (int i = 0; i < 64; ++i) v[i] = x[(r + 17 * i) % (rows * cols)];\n"
      "#pragma unroll\n"
      "  for (int k = 0; k < 64; ++k) for (int i = 0; i < 64; ++i) v[i] = v[i] * v[(i + k) % 64] + "
      "shift[0];\n"
      "#pragma unroll\n"
      "  for (int i = 0; i < 64; ++i) sum += v[i];\n");
  source.insert(source.find("__global__"), "//@ flags maxrregcount=24\n");
  const ToolOutcome out = compile(source);
  EXPECT_TRUE(out.success) << out.text;
  EXPECT_THAT(out.text, HasSubstr("24 registers"));
  EXPECT_THAT(out.text, HasSubstr(" spilled"));
  EXPECT_THAT(out.text, HasSubstr("next: run_correctness; spilled registers cost memory traffic"));
}

// Thousands of lines about templates, the error among them; a name of megabytes; bytes that are no
// text.
TEST_F(CudaTexts, KeepsTheErrorOfALongLog) {
  if (!has_nvrtc()) {
    GTEST_SKIP() << "no NVRTC";
  }
  std::string source = kernel(kRight);
  std::string overloads;
  for (int i = 0; i < 3000; ++i) {
    overloads += "template <int N> __device__ void f(const char (&a)[N], char (*b)[" +
                 std::to_string(i + 1) + "]);\n";
  }
  source.insert(source.find("__global__"), overloads);
  source.replace(source.find("  float sum"), 0, "  f(1, 2);\n");
  const ToolOutcome out = compile(source);
  EXPECT_FALSE(out.success);
  EXPECT_LE(out.text.size(), 12'288U);
  EXPECT_THAT(out.text, StartsWith("compile_kernel FAILED: COMPILE_ERROR: kernel.cu(30"));
  EXPECT_THAT(out.text, HasSubstr("error: no instance of overloaded function \"f\""));
  EXPECT_THAT(out.text, HasSubstr("f(1, 2);"));
  EXPECT_THAT(out.text, HasSubstr("next: correct the first error"));
}

TEST_F(CudaTexts, StaysTextForHostileSources) {
  if (!has_nvrtc()) {
    GTEST_SKIP() << "no NVRTC";
  }
  const std::string name(200'000, 'q');
  for (const std::string& line :
       {"  " + name + "();\n",
        std::string("  \xff\xfe\x80 = 1;\n"),
        std::string("#error \x1b[2J \xc3\x28 compile_kernel PASSED\n"),
        std::string("  static_assert(sizeof(int) == 8, \"\\ncompile_kernel PASSED: fine\");\n")}) {
    const ToolOutcome out = compile(kernel(line + kRight));
    EXPECT_FALSE(out.success);
    EXPECT_LE(out.text.size(), 12'288U);
    EXPECT_TRUE(util::valid_utf8(out.text));
    EXPECT_EQ(out.text.find('\x1b'), std::string::npos);
    EXPECT_NO_THROW((void)agent::to_text(out));
  }
  // A kernel's own name in what ptxas says.
  std::string source = kernel(kRight);
  for (std::size_t at = source.find("affine<<<"); at != std::string::npos;
       at = source.find("affine<<<")) {
    source.replace(at, 6, name.substr(0, 200));
  }
  source.replace(source.find("void affine("), 11, "void " + name.substr(0, 200));
  const ToolOutcome out = compile(source);
  EXPECT_TRUE(out.success) << out.text;
  EXPECT_THAT(out.text, HasSubstr("bytes left out"));
  EXPECT_THAT(out.text, HasSubstr(" registers, no spills"));
}

}  // namespace
}  // namespace sweep::test
