#include "../../support/every_run.h"
#include "evaluate/code.h"
#include "evaluate/signature.h"
#include "problem/draw.h"
#include "problem/problem.h"
#include "submission/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

// The problems that come with the program: their folders read without a mistake, and the plans of
// oracle and seed are legal at every visible shape, edge and stress draw. A sanitizer looks at the
// code, not at the problems: there the slate is enough (all of them took 50 s of 70).
namespace sweep::evaluate {
namespace {

namespace fs = std::filesystem;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSlateOnly = true;
#else
constexpr bool kSlateOnly = false;
#endif

struct Shipped {
  fs::path folder;
  fs::path seed;

  friend void PrintTo(const Shipped& one, std::ostream* out) { *out << one.folder; }
};

std::vector<Shipped> shipped() {
  const fs::path root(SWEEP_SOURCE_DIR);
  std::vector<Shipped> out;
  for (const auto& level : fs::directory_iterator(root / "problems")) {
    if (!level.is_directory()) {
      continue;
    }
    for (const auto& folder : fs::directory_iterator(level)) {
      if (fs::exists(folder.path() / "seed.cu")) {
        continue;  // does not ship: somebody works on it here
      }
      if (kSlateOnly && !test::in_every_run(folder.path())) {
        continue;
      }
      const fs::path name = level.path().filename() / (folder.path().filename().string() + ".cu");
      out.push_back({folder.path(), root / "seeds" / name});
    }
  }
  std::sort(out.begin(), out.end(), [](const Shipped& a, const Shipped& b) {
    return a.folder < b.folder;
  });
  return out;
}

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

problem::Problem open(const Shipped& one) {
  problem::Loaded loaded = problem::load(one.folder);
  for (const problem::Mistake& mistake : loaded.mistakes) {
    ADD_FAILURE() << mistake.code << " " << mistake.text();
  }
  return std::move(loaded.problem).value();
}

submission::Submission plan(const fs::path& file) {
  auto parsed = submission::parse(file.string(), read(file));
  if (const auto* error = std::get_if<submission::PlanError>(&parsed)) {
    ADD_FAILURE() << error->text(read(file));
    return {};
  }
  return std::get<submission::Submission>(std::move(parsed));
}

// Steps of the plan; 0 after a failure.
std::size_t expand_or_fail(const submission::Submission& submission,
                           const submission::Signature& signature,
                           const problem::Draw& draw) {
  const auto result = expand_for(submission, signature, draw, 132, {}, 65536);
  if (const auto* error = std::get_if<submission::PlanError>(&result)) {
    ADD_FAILURE() << draw.shape << ": " << error->code << " " << error->text(submission.source);
    return 0;
  }
  return std::get<submission::Expansion>(result).steps.size();
}

class ShippedProblem : public testing::TestWithParam<Shipped> {};

TEST_P(ShippedProblem, HasLegalPlansAtEveryShape) {
  const problem::Problem p = open(GetParam());
  const submission::Submission reference = plan(GetParam().folder / "reference.cu");
  const submission::Submission seed = plan(GetParam().seed);
  EXPECT_EQ(reference.plan.problem, p.id);
  EXPECT_EQ(seed.plan.problem, p.id);
  problem::Machine machine;
  machine.device_bytes = 140e9;
  const problem::Key key = problem::Key::from_seed(1);
  std::vector<problem::Draw> draws = problem::stress_draws(p, key, 0, 200, machine);
  const auto edges = problem::edge_draws(p, key, machine);
  draws.insert(draws.end(), edges.begin(), edges.end());
  for (const problem::Shape& shape : p.shapes) {
    draws.push_back(problem::visible_draw(p, shape, "default", key));
  }
  for (const problem::Draw& draw : draws) {
    expand_or_fail(reference, reference_signature(p), draw);
    expand_or_fail(seed, candidate_signature(p), draw);
  }
  EXPECT_GE(edges.size(), 5U);
}

TEST_P(ShippedProblem, KeepsTheCostRules) {
  const problem::Problem p = open(GetParam());
  bool any_cpu = false;
  double longest = 0;
  for (const problem::Shape& shape : p.shapes) {
    const problem::Draw draw =
        problem::visible_draw(p, shape, "default", problem::Key::from_seed(1));
    const problem::Sizes sizes = problem::sizes_of(p, draw);
    EXPECT_LE(sizes.oracle_seconds(), p.limits.oracle_seconds) << shape.name;
    if (shape.uses.cpu) {
      any_cpu = true;
      EXPECT_LE(sizes.reference_ops, 2e8) << shape.name;
    }
    const problem::WorkValues work = problem::work_of(p, draw);
    if (shape.uses.time) {
      const double streaming = work.bytes / 4.8e12;
      // Also what no known algorithm does without, where [work] does not call it a floor.
      longest = std::max(
          {longest, streaming, problem::floor_seconds(p, work), problem::nominal_seconds(p, work)});
    }
  }
  EXPECT_LE(p.limits.oracle_seconds, 2);
  EXPECT_TRUE(any_cpu);
  EXPECT_GE(longest, 50e-6);
}

INSTANTIATE_TEST_SUITE_P(All, ShippedProblem, testing::ValuesIn(shipped()), [](const auto& one) {
  std::string name = one.param.folder.parent_path().filename().string() + "_" +
                     one.param.folder.filename().string();
  return name;
});

}  // namespace
}  // namespace sweep::evaluate
