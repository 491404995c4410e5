// Every problem that ships, on the cpu device: its reference against independent golden vectors,
// its seed against its reference.
#include "../support/every_run.h"
#include "compile/compiler.h"
#include "evaluate/evaluation.h"
#include "evaluate/golden.h"
#include "evaluate/preparation.h"
#include "problem/catalog.h"
#include "util/file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include <unistd.h>

namespace sweep::evaluate {
namespace {

const std::filesystem::path kSource = SWEEP_SOURCE_DIR;

std::vector<std::string> shipped() {
  std::vector<std::string> ids;
  const problem::Catalog catalog({kSource / "problems"});
  for (const problem::Entry& entry : catalog.entries()) {
    // One with its own seed.cu does not ship: somebody works on it here.
    if (!entry.planned() && !std::filesystem::exists(entry.folder / "seed.cu") &&
        test::in_every_run(entry.folder)) {
      ids.push_back(entry.id);
    }
  }
  return ids;
}

std::string file_name(std::string id) {
  std::ranges::replace(id, '/', '_');
  return id;
}

std::filesystem::path cache() {
  return std::filesystem::temp_directory_path() /
         ("sweep-test-cache-" + std::to_string(::getuid()));
}

class Shipped : public ::testing::TestWithParam<std::string> {};

TEST_P(Shipped, ReferenceAgreesWithAnIndependentProgram) {
  const problem::Problem problem = problem::Catalog({kSource / "problems"}).open(GetParam());
  const std::filesystem::path golden = kSource / "tests/golden" / (file_name(GetParam()) + ".json");
  compile::Options options;
  options.cache = cache();
  options.program = SWEEP_BINARY;
  compile::Compiler compiler(options);
  const GoldenReport report = check_golden(
      problem, util::read_file(golden, std::size_t{64} << 20U), compiler, {device::Kind::cpu, 0});
  EXPECT_GT(report.cases, 0);
  EXPECT_GT(report.values, 0);
  for (const std::string& failure : report.failures) {
    ADD_FAILURE() << failure;
  }
}

TEST_P(Shipped, SeedPassesItsOwnCheckAndStress) {
  util::TempDir folder;
  Services services;
  services.problems = kSource / "problems";
  services.seeds = kSource / "seeds";
  services.cache = cache();
  services.locks = folder.path() / "locks";
  // A judge that root starts runs as another user and makes its lock files there.
  std::filesystem::create_directory(services.locks);
  std::filesystem::permissions(services.locks, std::filesystem::perms::all);
  services.program = SWEEP_BINARY;
  EvaluationRequest request;
  request.problem = GetParam();
  request.submission = find_seed(services, find_problem(services, GetParam()));
  request.check_seeds = 2;
  request.stress_draws = 4;
  for (const Stage stage : {Stage::check, Stage::stress}) {
    request.only = stage;
    const Evaluation e = evaluate(request, services);
    EXPECT_EQ(outcome_of(e.verdict), Outcome::correct)
        << name(e.verdict) << ": " << e.headline << e.infra;
  }
}

INSTANTIATE_TEST_SUITE_P(Problems,
                         Shipped,
                         ::testing::ValuesIn(shipped()),
                         [](const auto& parameter) { return file_name(parameter.param); });

}  // namespace
}  // namespace sweep::evaluate
