// The kernels of the corpus compiled for a GPU, sm_90a by NVRTC: what is refused then must be
// expected, and by a defence that the head names. Those that cannot run on the cpu device, and
// every sixth of the others; with SWEEP_CORPUS_ALL set (torture.corpus_cuda) all.
#include "cli/corpus.h"
#include "compile/compiler.h"
#include "evaluate/argument_check.h"
#include "evaluate/conclusion.h"
#include "evaluate/preparation.h"
#include "evaluate/signature.h"
#include "submission/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <variant>

#include <unistd.h>

namespace sweep::cli {

// GoogleTest prints parameters of tests that fail.
void PrintTo(const Specimen& specimen, std::ostream* out);

void PrintTo(const Specimen& specimen, std::ostream* out) {
  *out << specimen.source.file;
}

namespace {

const std::filesystem::path kSource = SWEEP_SOURCE_DIR;

std::vector<Specimen> for_a_gpu() {
  constexpr int kSample = 6;
  std::vector<Specimen> chosen;
  int others = 0;
  for (Specimen& specimen : load_corpus(kSource / "tests", device::Kind::cuda)) {
    const bool alone = !parse_specimen(specimen.source, specimen.exploit, device::Kind::cpu).runs;
    const bool sampled = alone || others++ % kSample == 0;
    if (specimen.runs && (sampled || std::getenv("SWEEP_CORPUS_ALL") != nullptr)) {
      chosen.push_back(std::move(specimen));
    }
  }
  return chosen;
}

class CudaCorpus : public ::testing::TestWithParam<Specimen> {};

TEST_P(CudaCorpus, Compiles) {
  const Specimen& specimen = GetParam();
  const auto wants = [&specimen](evaluate::Verdict verdict) {
    return std::ranges::find(specimen.expected, verdict) != specimen.expected.end();
  };
  const auto parsed = submission::parse(specimen.source.file, specimen.source.text);
  const auto* made = std::get_if<submission::Submission>(&parsed);
  if (made == nullptr) {
    EXPECT_TRUE(wants(evaluate::Verdict::plan_error))
        << std::get<submission::PlanError>(parsed).text(specimen.source.text);
    return;
  }
  compile::Options options;
  const char* cache = std::getenv("SWEEP_TEST_CACHE");
  options.cache = cache != nullptr ? std::filesystem::path(cache)
                                   : std::filesystem::temp_directory_path() /
                                         ("sweep-test-cache-" + std::to_string(::getuid()));
  options.allow_unsandboxed = std::getenv("SWEEP_TEST_UNSANDBOXED") != nullptr;
  options.program = SWEEP_BINARY;
  compile::Compiler compiler(options);
  if (compiler.toolchain().nvrtc.empty()) {
    GTEST_SKIP() << compiler.toolchain().nvrtc_reason;
  }
  using Status = compile::Result::Status;
  const compile::Result result =
      compiler.compile(evaluate::compile_request(*made, {device::Kind::cuda, "sm_90a"}, false));
  const auto refusal = [](evaluate::Verdict verdict) {
    return verdict == evaluate::Verdict::rejected_forbidden ||
           verdict == evaluate::Verdict::compile_error;
  };
  if (result.status == Status::ok) {
    EXPECT_FALSE(std::ranges::all_of(specimen.expected, refusal)) << "compiles";
    if (made->plan.problem.empty() || wants(evaluate::Verdict::plan_error)) {
      return;
    }
    // Arguments that fit are not refused, tensor maps among them.
    evaluate::Services services;
    services.problems = kSource / "problems";
    services.more_problems = {kSource / "tests/data/problems"};
    const problem::Problem problem = evaluate::find_problem(services, made->plan.problem);
    auto again = submission::parse(specimen.source.file, specimen.source.text);
    const evaluate::Code code =
        evaluate::make_code(std::get<submission::Submission>(std::move(again)),
                            {},
                            evaluate::candidate_signature(problem),
                            result);
    const auto misfit = evaluate::argument_error(code, problem, 132);
    EXPECT_FALSE(misfit) << misfit->text(specimen.source.text);
    return;
  }
  evaluate::Evaluation refused;
  refused.verdict = result.status == Status::forbidden ? evaluate::Verdict::rejected_forbidden
                                                       : evaluate::Verdict::compile_error;
  refused.compile = evaluate::describe(result);
  EXPECT_TRUE(wants(refused.verdict)) << result.log;
  for (const evaluate::Defence defence : evaluate::caught_by(refused)) {
    EXPECT_TRUE(std::ranges::find(specimen.defences, defence) != specimen.defences.end())
        << evaluate::name(defence) << ": " << result.log;
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus,
                         CudaCorpus,
                         ::testing::ValuesIn(for_a_gpu()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace sweep::cli
