// The kernels of the corpus that need a GPU must at least compile for one: sm_90a, by NVRTC. With
// SWEEP_CORPUS_ALL set, also those that run on both kinds of device.
#include "cli/corpus.h"
#include "compile/compiler.h"
#include "evaluate/preparation.h"
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
  std::vector<Specimen> chosen;
  for (Specimen& specimen : load_corpus(kSource / "tests", device::Kind::cuda)) {
    const bool alone = !parse_specimen(specimen.source, specimen.exploit, device::Kind::cpu).runs;
    if (specimen.runs && (alone || std::getenv("SWEEP_CORPUS_ALL") != nullptr)) {
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
  const bool allowed =
      (result.status == Status::forbidden && wants(evaluate::Verdict::rejected_forbidden)) ||
      (result.status == Status::compile_error && wants(evaluate::Verdict::compile_error));
  EXPECT_TRUE(result.status == Status::ok || allowed) << result.log;
}

INSTANTIATE_TEST_SUITE_P(Corpus,
                         CudaCorpus,
                         ::testing::ValuesIn(for_a_gpu()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace sweep::cli
