// The kernels of tests/expert, each written by hand to beat its seed: right on the cpu device where
// it has what they use, compiled for sm_90a without spills, and out of reach of models. Whether
// they are faster is for a GPU (`gpu-check --only expert`; docs/expert_kernels.md).
#include "../support/every_run.h"
#include "cpu_fixture.h"
#include "evaluate/code.h"
#include "evaluate/evaluation.h"
#include "evaluate/preparation.h"
#include "evaluate/signature.h"
#include "problem/draw.h"
#include "problem/problem.h"
#include "submission/plan.h"
#include "util/text.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>

namespace sweep::evaluate {
namespace {

using ::testing::Not;

const std::filesystem::path kSource = SWEEP_SOURCE_DIR;
constexpr std::size_t kMax = 1 << 16;
constexpr int kSms = 132;

std::filesystem::path path_of(const std::string& name) {
  return kSource / "tests/expert" / (name + ".cu");
}

std::string text_of(const std::string& name) {
  return util::read_file(path_of(name), kMax);
}

submission::Submission submission_of(const std::string& name) {
  auto parsed = submission::parse(name + ".cu", text_of(name));
  if (const auto* error = std::get_if<submission::PlanError>(&parsed)) {
    throw std::runtime_error(error->text(text_of(name)));
  }
  return std::get<submission::Submission>(std::move(parsed));
}

std::vector<std::string> all() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kSource / "tests/expert")) {
    names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

bool needs_gpu(const std::string& name) {
  const std::string text = text_of(name);
  const auto has = [&text](std::string_view word) { return text.find(word) != std::string::npos; };
  return has("//@ tensormap ") || (has("asm") && !has("#ifdef __CUDA_ARCH__"));
}

Services services_in(const std::filesystem::path& folder) {
  Services services;
  services.problems = kSource / "problems";
  services.seeds = kSource / "seeds";
  services.cache = test::shared_cache();
  services.locks = folder / "locks";
  // A judge that root starts runs as another user and makes its lock files there.
  std::filesystem::create_directory(services.locks);
  std::filesystem::permissions(services.locks, std::filesystem::perms::all);
  services.program = SWEEP_BINARY;
  return services;
}

// The text as a device of kSms multiprocessors would run it: the cpu device has a few, and plans
// choose other kernels there.
std::string as_on_a_gpu(const std::string& name) {
  return std::regex_replace(text_of(name), std::regex("sm_count"), std::to_string(kSms));
}

// Those of every run: their problem is one of it (support/every_run.h).
std::vector<std::string> for_the_cpu() {
  Services services;
  services.problems = kSource / "problems";
  std::vector<std::string> names = all();
  std::erase_if(names, [&services](const std::string& name) {
    return needs_gpu(name) ||
           !test::in_every_run(find_problem(services, submission_of(name).plan.problem).folder);
  });
  return names;
}

std::string same(const ::testing::TestParamInfo<std::string>& info) {
  return info.param;
}

class ExpertOnCpu : public ::testing::TestWithParam<std::string> {};

TEST_P(ExpertOnCpu, IsRight) {
  const util::TempDir folder;
  const Services services = services_in(folder.path());
  EvaluationRequest request;
  request.problem = submission_of(GetParam()).plan.problem;
  request.submission = {GetParam() + ".cu", as_on_a_gpu(GetParam())};
  request.check_seeds = 2;
  request.stress_draws = 4;
  for (const Stage stage : {Stage::check, Stage::stress}) {
    request.only = stage;
    const Evaluation e = evaluate(request, services);
    EXPECT_EQ(outcome_of(e.verdict), Outcome::correct)
        << name(e.verdict) << ": " << e.headline << e.infra;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, ExpertOnCpu, ::testing::ValuesIn(for_the_cpu()), same);

// Every shape that a plan may meet: visible, edges and some stress.
std::vector<problem::Draw> draws_of(const problem::Problem& problem) {
  constexpr int kStress = 20;
  const problem::Key key = problem::Key::from_seed(5);
  problem::Machine machine;
  machine.device_bytes = 140e9;
  std::vector<problem::Draw> out;
  for (const problem::Shape& shape : problem.shapes) {
    out.push_back(problem::visible_draw(problem, shape, "default", key));
  }
  for (auto more : {problem::edge_draws(problem, key, machine),
                    problem::stress_draws(problem, key, 0, kStress, machine)}) {
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

// Empty, or why a plan cannot be expanded or bound for a draw. Kernels are kResident times on a
// multiprocessor.
std::string misfit(const Code& code, const problem::Problem& problem, const problem::Draw& draw) {
  constexpr std::int64_t kResident = 3;
  const auto expanded = expand_for(
      code.submission,
      code.signature,
      draw,
      kSms,
      [](const std::string&, std::int64_t, std::int64_t) { return kResident; },
      problem.limits.launches);
  if (const auto* error = std::get_if<submission::PlanError>(&expanded)) {
    return error->what;
  }
  const auto& expansion = std::get<submission::Expansion>(expanded);
  // Every buffer somewhere, 256-byte aligned, none at 0.
  constexpr unsigned kApart = 32;
  std::vector<device::Address> addresses;
  while (addresses.size() < code.signature.tensors.size() + expansion.scratch.size()) {
    addresses.push_back((addresses.size() + 1) << kApart);
  }
  const auto bound = bind_steps(code, expansion, {}, addresses);
  const auto* error = std::get_if<submission::PlanError>(&bound);
  return error == nullptr ? "" : error->what;
}

class ExpertOnCuda : public ::testing::TestWithParam<std::string> {};

TEST_P(ExpertOnCuda, CompilesWithoutSpillsAndFitsItsProblem) {
  compile::Compiler& compiler = test::compiler();
  if (compiler.toolchain().nvrtc.empty()) {
    GTEST_SKIP() << compiler.toolchain().nvrtc_reason;
  }
  Services services;
  services.problems = kSource / "problems";
  submission::Submission made = submission_of(GetParam());
  const problem::Problem problem = find_problem(services, made.plan.problem);
  for (const submission::PlanError& error : screen(problem, made, device::Kind::cuda).errors) {
    ADD_FAILURE() << error.text(text_of(GetParam()));
  }
  const compile::Result result =
      compiler.compile(compile_request(made, {device::Kind::cuda, "sm_90a"}, false));
  ASSERT_EQ(result.status, compile::Result::Status::ok) << result.log;
  for (const compile::CompiledKernel& kernel : result.kernels) {
    EXPECT_EQ(kernel.spill_bytes, 0) << kernel.name;
  }
  const Code code = make_code(std::move(made), {}, candidate_signature(problem), result);
  for (const problem::Draw& draw : draws_of(problem)) {
    EXPECT_EQ(misfit(code, problem, draw), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, ExpertOnCuda, ::testing::ValuesIn(all()), same);

TEST(Experts, AreTwelveProblemsAtLeastEachNamedByItsFile) {
  std::set<std::string> problems;
  for (const std::string& name : all()) {
    const std::string text = text_of(name);
    std::string id = submission_of(name).plan.problem;
    EXPECT_TRUE(text.starts_with("// ")) << name << ": a head that says why it is faster";
    EXPECT_NE(text.find("Expected: "), std::string::npos) << name;
    problems.insert(id);
    std::ranges::replace(id, '/', '_');
    EXPECT_TRUE(name == id || name.starts_with(id + "_")) << name << " is for " << id;
  }
  EXPECT_GE(problems.size(), 12U);
}

// What a model is told comes from the program, which holds its prompts, and from the problem and
// its seed. A sheet of the hub shows that a text in the program would be found.
TEST(Experts, AreInNoTextOfTheProgram) {
  constexpr std::size_t kProgram = std::size_t{1} << 30U;
  const std::string program = util::read_file(SWEEP_BINARY, kProgram);
  const auto longest = [](const std::string& text) {
    std::string_view best;
    for (const std::string_view line : util::split(text, '\n')) {
      best = line.size() > best.size() ? line : best;
    }
    return std::string(best);
  };
  const std::string sheet =
      longest(util::read_file(kSource / "src/agent/prompts/hub/mma_sync.cu", kMax));
  EXPECT_NE(program.find(sheet), std::string::npos) << sheet;
  EXPECT_EQ(program.find("tests/expert"), std::string::npos);
  for (const std::string& name : all()) {
    EXPECT_EQ(program.find(longest(text_of(name))), std::string::npos) << name;
  }
}

// The sandbox of the compiler holds the toolchain and nothing of the source tree.
TEST(Experts, CannotBeIncluded) {
  const std::string include = "#include \"" + path_of("sci_heat2d").string() + "\"\n";
  compile::Request request =
      test::cpu_request(include + "__global__ void k(int* o) { o[0] = 1; }\n", {"k"});
  for (const compile::Target& target :
       {compile::Target{device::Kind::cpu, ""}, compile::Target{device::Kind::cuda, "sm_90a"}}) {
    if (target.kind == device::Kind::cuda && test::compiler().toolchain().nvrtc.empty()) {
      continue;
    }
    request.target = target;
    const compile::Result result = test::compiler().compile(request);
    EXPECT_EQ(result.status, compile::Result::Status::compile_error) << result.log;
    EXPECT_THAT(result.log, Not(::testing::HasSubstr("march")));
  }
}

}  // namespace
}  // namespace sweep::evaluate
