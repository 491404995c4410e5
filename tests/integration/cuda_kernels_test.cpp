// Right kernels that need a GPU (tests/honest_cuda, and the sheets of the prompts' hub), as far as
// they go without one: they are screened, compiled for sm_90a and bound for every visible, edge and
// some stress shapes. A line
// `// expect ptx: WORD..` says what the compiled code must hold; `// expect stress: VERDICT..` is
// for whoever judges them on a GPU (docs/testing.md).
#include "cpu_fixture.h"
#include "evaluate/code.h"
#include "evaluate/preparation.h"
#include "evaluate/signature.h"
#include "problem/draw.h"
#include "problem/problem.h"
#include "util/text.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

namespace sweep::evaluate {
namespace {

using ::testing::HasSubstr;

const std::filesystem::path kSource = SWEEP_SOURCE_DIR;
constexpr std::int64_t kSms = 132;

std::vector<std::string> files() {
  std::vector<std::string> out;
  for (const char* folder : {"tests/honest_cuda", "src/agent/prompts/hub"}) {
    for (const auto& entry : std::filesystem::directory_iterator(kSource / folder)) {
      if (entry.path().extension() != ".md") {
        out.push_back(folder + ("/" + entry.path().filename().string()));
      }
    }
  }
  std::ranges::sort(out);
  return out;
}

std::vector<std::string> expected(const std::string& source, const std::string& head) {
  std::vector<std::string> words;
  for (const std::string_view line : util::split(source, '\n')) {
    if (line.starts_with(head)) {
      for (const std::string_view word : util::split(util::trim(line.substr(head.size())), ' ')) {
        words.emplace_back(word);
      }
    }
  }
  return words;
}

class CudaKernels : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    constexpr std::size_t kMax = 1 << 16;
    source_ = util::read_file(kSource / GetParam(), kMax);
    auto parsed = submission::parse(GetParam(), source_);
    if (const auto* error = std::get_if<submission::PlanError>(&parsed)) {
      FAIL() << error->text(source_);
    }
    submission_ = std::get<submission::Submission>(std::move(parsed));
    problem_ = problem::require(kSource / "tests/data/problems" / submission_.plan.problem);
  }

  // Every buffer somewhere, 256-byte aligned, none at 0.
  static std::vector<device::Address> addresses(const submission::Expansion& expansion,
                                                const submission::Signature& signature) {
    std::vector<device::Address> out;
    for (std::size_t i = 0; i < signature.tensors.size() + expansion.scratch.size(); ++i) {
      out.push_back((i + 1) << 32U);
    }
    return out;
  }

  [[nodiscard]] std::vector<problem::Draw> draws() const {
    std::vector<problem::Draw> out;
    const problem::Key key = problem::Key::from_seed(5);
    problem::Machine machine;
    machine.device_bytes = 140e9;
    for (const problem::Shape& shape : problem_.shapes) {
      out.push_back(problem::visible_draw(problem_, shape, "default", key));
    }
    for (const problem::Draw& edge : problem::edge_draws(problem_, key, machine)) {
      out.push_back(edge);
    }
    for (const problem::Draw& draw : problem::stress_draws(problem_, key, 0, 20, machine)) {
      out.push_back(draw);
    }
    return out;
  }

  std::string source_;
  submission::Submission submission_;
  problem::Problem problem_;
};

TEST_P(CudaKernels, AreScreenedAndUnsupportedOnTheCpuDevice) {
  ASSERT_FALSE(expected(source_, "// expect stress: ").empty());
  for (const submission::PlanError& error :
       screen(problem_, submission_, device::Kind::cuda).errors) {
    ADD_FAILURE() << error.text(source_);
  }
  const ScreenResult cpu = screen(problem_, submission_, device::Kind::cpu);
  const bool by_plan = std::ranges::any_of(
      std::initializer_list<std::string_view>{"tensormap ", "cluster(", "cooperative>>>", "pdl>>>"},
      [this](std::string_view word) { return source_.find(word) != std::string::npos; });
  if (!by_plan) {
    EXPECT_TRUE(cpu.errors.empty());  // the compiler says it
    return;
  }
  ASSERT_EQ(cpu.errors.size(), 1U);
  EXPECT_EQ(cpu.errors[0].code, "E_PLAN_UNSUPPORTED");
}

TEST_P(CudaKernels, CompileAndBind) {
  compile::Compiler& compiler = test::compiler();
  const bool ptx = submission_.language == submission::Language::ptx;
  const compile::Toolchain& tools = compiler.toolchain();
  if (ptx ? tools.ptxas.empty() : tools.nvrtc.empty()) {
    GTEST_SKIP() << tools.nvrtc_reason << tools.ptxas_reason;
  }
  const compile::Result made =
      compiler.compile(compile_request(submission_, {device::Kind::cuda, "sm_90a"}, false));
  ASSERT_EQ(made.status, compile::Result::Status::ok) << made.log;
  for (const std::string& word : expected(source_, "// expect ptx: ")) {
    EXPECT_THAT(made.ptx, HasSubstr(word));
  }
  for (const compile::CompiledKernel& kernel : made.kernels) {
    EXPECT_EQ(kernel.spill_bytes, 0) << kernel.name;
  }
  const Code code = make_code(std::move(submission_), {}, candidate_signature(problem_), made);
  const auto all = draws();
  EXPECT_GT(all.size(), 5U);
  for (const problem::Draw& draw : all) {
    const auto expanded = expand_for(
        code.submission,
        code.signature,
        draw,
        kSms,
        [](const std::string&, std::int64_t, std::int64_t) { return std::int64_t{1}; },
        problem_.limits.launches);
    if (const auto* error = std::get_if<submission::PlanError>(&expanded)) {
      ADD_FAILURE() << error->text(source_);
      continue;
    }
    const auto& expansion = std::get<submission::Expansion>(expanded);
    const auto bound = bind_steps(code, expansion, {}, addresses(expansion, code.signature));
    if (const auto* error = std::get_if<submission::PlanError>(&bound)) {
      ADD_FAILURE() << error->text(source_);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Honest, CudaKernels, ::testing::ValuesIn(files()), [](const auto& one) {
  std::string name = one.param.substr(one.param.rfind('/') + 1);
  std::ranges::replace(name, '.', '_');
  name = one.param.starts_with("src") ? "hub_" + name : name;
  return name;
});

}  // namespace
}  // namespace sweep::evaluate
