// What the prompts teach is so: the worked example is right, each mistake of the table gets the
// code that stands beside it, and what the table offers instead is accepted.
#include "agent/prompt.h"

#include "evaluate/evaluation.h"
#include "util/file.h"
#include "util/text.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>

#include <unistd.h>

namespace sweep::agent {
namespace {

using ::testing::HasSubstr;

const std::filesystem::path kSource = SWEEP_SOURCE_DIR;

// The kernels that the table speaks of.
constexpr std::string_view kKernels =
    "__global__ void k(const float* x, float* y, int rows, int cols) {}\n"
    "template <int N> __global__ void pick(const float* x, float* y) {}\n";
constexpr std::string_view kLast = "//@ k<<<ceildiv(rows, 64), 64>>>(x, y, rows, cols)\n";

struct Mistake {
  std::string wrong, code, right;
};

std::string_view quoted(std::string_view cell) {
  cell = util::trim(cell);
  const bool code = cell.size() > 2 && cell.front() == '`' && cell.back() == '`';
  return code ? cell.substr(1, cell.size() - 2) : std::string_view();
}

// Rows of the table whose second column is a code.
std::vector<Mistake> mistakes() {
  std::vector<Mistake> out;
  const std::string text = fill_prompt("submission.md", {{"id", "a/b"}, {"example", ""}});
  for (const std::string_view line : util::split(text, '\n')) {
    const auto first = line.find(" | E_PLAN_");
    const auto second = first == std::string_view::npos ? first : line.find(" | ", first + 3);
    if (second == std::string_view::npos)
      continue;
    std::string_view last = line.substr(second + 3);
    last.remove_suffix(last.ends_with('|') ? 1 : 0);
    out.push_back({std::string(quoted(line.substr(1, first))),
                   std::string(line.substr(first + 3, second - first - 3)),
                   std::string(quoted(last))});
  }
  return out;
}

// What tells the code: the judge's own errors come without it.
std::string sign_of(const std::string& code) {
  if (code == "E_PLAN_ARGUMENT_COUNT")
    return "arguments, plan passes";
  if (code == "E_PLAN_ARGUMENT_CONST")
    return "is a read-only input";
  return code == "E_PLAN_ARGUMENT_TYPE" ? "but the kernel declares" : code;
}

class Prompt : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* cache = std::getenv("SWEEP_TEST_CACHE");
    services_.problems = kSource / "tests/data/problems";
    services_.seeds = kSource / "tests/data/seeds";
    services_.cache = cache != nullptr ? std::filesystem::path(cache)
                                       : std::filesystem::temp_directory_path() /
                                             ("sweep-test-cache-" + std::to_string(::getuid()));
    services_.locks = folder_.path() / "locks";
    std::filesystem::create_directory(services_.locks);
    services_.salt = folder_.path() / "state/salt";
    services_.program = SWEEP_BINARY;
  }

  evaluate::Evaluation judge(const std::string& source, std::optional<evaluate::Stage> only) {
    evaluate::EvaluationRequest request;
    request.submission = {"mine.cu", source};
    request.device = {device::Kind::cpu, 0};
    request.only = only;
    request.check_seeds = 2;
    request.stress_draws = 4;
    request.allow_unsandboxed = std::getenv("SWEEP_TEST_UNSANDBOXED") != nullptr;
    return evaluate::evaluate(request, services_);
  }

  // With the fragment as part of an otherwise right plan. Arguments are held against the compiled
  // kernel, when the judge binds them.
  evaluate::Evaluation judge_plan(const std::string& fragment, const std::string& code) {
    return judge(
        "//@ problem example/center\n//@ " + fragment + "\n" + std::string(kLast) +
            std::string(kKernels),
        code.starts_with("E_PLAN_ARGUMENT") ? evaluate::Stage::check : evaluate::Stage::compile);
  }

  util::TempDir folder_;
  evaluate::Services services_;
};

TEST_F(Prompt, WorkedExampleIsRight) {
  const std::string example = fill_prompt("example.cu");
  for (const evaluate::Stage stage : {evaluate::Stage::check, evaluate::Stage::stress}) {
    const evaluate::Evaluation made = judge(example, stage);
    EXPECT_EQ(made.outcome(), evaluate::Outcome::correct) << made.headline << made.infra;
    EXPECT_TRUE(made.judged());
  }
}

TEST_F(Prompt, EachMistakeGetsItsCodeAndItsCureIsAccepted) {
  const std::vector<Mistake> rows = mistakes();
  EXPECT_GT(rows.size(), 15U);
  for (const Mistake& row : rows) {
    ASSERT_FALSE(row.wrong.empty()) << row.code;
    const evaluate::Evaluation wrong = judge_plan(row.wrong, row.code);
    EXPECT_EQ(wrong.verdict, evaluate::Verdict::plan_error) << row.wrong;
    EXPECT_THAT(evaluate::to_json(wrong, evaluate::View::open).dump(), HasSubstr(sign_of(row.code)))
        << row.wrong << "\n"
        << wrong.headline << wrong.infra;
    if (row.right.empty())
      continue;
    const evaluate::Evaluation right = judge_plan(row.right, row.code);
    EXPECT_TRUE(right.compile && right.compile->status == "ok") << row.right << right.headline;
    EXPECT_NE(right.verdict, evaluate::Verdict::plan_error) << row.right << "\n"
                                                            << right.headline << right.infra;
  }
}

}  // namespace
}  // namespace sweep::agent
