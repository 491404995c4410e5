// Whole kernels with the verdict that they must get: tests/exploits cheat or are broken,
// tests/honest are right in a style that is easily judged wrong. A line `// expect STAGE:
// VERDICT..` says how far a file is judged and what may come out; before stress, check must find it
// right.
#include "evaluate/evaluation.h"
#include "util/file.h"
#include "util/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <unistd.h>

namespace sweep::evaluate {
namespace {

const std::filesystem::path kSource = SWEEP_SOURCE_DIR;

struct Expectation {
  Stage last = Stage::check;
  std::vector<std::string> verdicts;
};

Expectation expectation_of(const std::string& source) {
  for (const std::string_view raw : util::split(source, '\n')) {
    const std::string_view line = util::trim(raw);
    for (const Stage stage : {Stage::check, Stage::stress}) {
      const std::string head =
          std::string("// expect ") + (stage == Stage::check ? "check: " : "stress: ");
      if (line.starts_with(head)) {
        Expectation found{stage, {}};
        for (const std::string_view word : util::split(line.substr(head.size()), ' ')) {
          found.verdicts.emplace_back(word);
        }
        return found;
      }
    }
  }
  return {};
}

std::vector<std::string> files_of(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kSource / "tests" / folder)) {
    files.push_back(folder + "/" + entry.path().stem().string());
  }
  std::ranges::sort(files);
  return files;
}

class Kernels : public ::testing::TestWithParam<std::string> {
 protected:
  Evaluation judge(const std::string& source, Stage only) {
    const char* cache = std::getenv("SWEEP_TEST_CACHE");
    Services services;
    services.problems = kSource / "tests/data/problems";
    services.seeds = kSource / "tests/data/seeds";
    services.cache = cache != nullptr ? std::filesystem::path(cache)
                                      : std::filesystem::temp_directory_path() /
                                            ("sweep-test-cache-" + std::to_string(::getuid()));
    services.locks = folder_.path() / "locks";
    std::filesystem::create_directories(services.locks);
    services.salt = folder_.path() / "state/salt";
    services.program = SWEEP_BINARY;
    EvaluationRequest request;
    request.submission = {"mine.cu", source};
    request.device = {device::Kind::cpu, 0};
    request.only = only;
    request.check_seeds = 3;
    request.stress_draws = 4;
    request.deadline_seconds = 240;
    request.allow_unsandboxed = std::getenv("SWEEP_TEST_UNSANDBOXED") != nullptr;
    return evaluate(request, services);
  }

  util::TempDir folder_;
};

TEST_P(Kernels, GetTheirVerdict) {
  constexpr std::size_t kMax = 1 << 16;
  const std::string source = util::read_file(kSource / "tests" / (GetParam() + ".cu"), kMax);
  const Expectation expected = expectation_of(source);
  ASSERT_FALSE(expected.verdicts.empty()) << "no line `// expect STAGE: VERDICT`";
  Evaluation found = judge(source, Stage::check);
  if (expected.last == Stage::stress) {
    ASSERT_EQ(outcome_of(found.verdict), Outcome::correct) << found.headline;
    found = judge(source, Stage::stress);
  }
  EXPECT_THAT(expected.verdicts, ::testing::Contains(std::string(name(found.verdict))))
      << found.headline << "\n"
      << found.infra << (found.compile ? found.compile->log : "");
}

std::string name_of(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace(name, '/', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Exploits, Kernels, ::testing::ValuesIn(files_of("exploits")), name_of);
INSTANTIATE_TEST_SUITE_P(Honest, Kernels, ::testing::ValuesIn(files_of("honest")), name_of);

}  // namespace
}  // namespace sweep::evaluate
