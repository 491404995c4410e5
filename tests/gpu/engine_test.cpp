#include "evaluate/engine.h"

#include "fixture.h"
#include "images.h"
#include "problem/draw.h"
#include "problem/fill.h"
#include "problem/problem.h"

#include <gmock/gmock.h>

#include <array>
#include <stdexcept>
#include <string>

namespace sweep::gpu {
namespace {

constexpr const char* kHead = R"T(schema = 1
id = "level1/1"
title = "t"
domain = "d"
statement = "s"
[dims]
n = "free(1, 1<<24)"
m = "free(1, 4096)"
[inputs]
x = ")T";

constexpr const char* kTail = R"T("
[outputs]
y = "f32[n]"
[shapes]
a = { n = 20000, m = 64, use = ["cpu", "time"] }
[stress]
n = "log(1, 1000)"
m = "log(1, 64)"
[edges]
list = []
[work]
flops = 1
reference_ops = 1
)T";

constexpr std::array kSpecs{"f32[n, m] = normal()",
                            "f64[n, m] = normal(1, 3)",
                            "f16[n, m] = normal()",
                            "bf16[n] = normal()",
                            "e4m3[n] = normal()",
                            "e5m2[n] = normal()",
                            "f32[n] = uniform(-1, 1)",
                            "f64[n] = uniform(0, 5)",
                            "i32[n] = integer(0, 1000)",
                            "i64[n] = integer(-5, m)",
                            "u8[n] = bits()",
                            "u32[n] = bits()",
                            "f32[n] = constant(2.5)",
                            "c64[n] = normal()"};

problem::Problem problem_with(const std::string& spec) {
  problem::Loaded loaded =
      problem::parse(kHead + spec + kTail, {{"reference.cu", "//@ nothing\n"}});
  if (!loaded.problem) {
    throw std::runtime_error(spec + ": " + loaded.mistakes.at(0).text());
  }
  return *std::move(loaded.problem);
}

class Engines : public OnDevice {};

// Needs no GPU.
TEST(EngineProblems, AreValid) {
  for (const std::string spec : kSpecs) {
    EXPECT_NO_THROW(static_cast<void>(problem_with(spec))) << spec;
  }
}

// The judge's fill of an element-wise tensor has the host's bits, whatever the type.
TEST_F(Engines, FillTheSameBitsAsTheHost) {
  evaluate::Store store(on());
  const auto engine = evaluate::make_device_engine(on(), store, engine_images(on().info().arch));
  int on_device = 0;
  for (const std::string spec : kSpecs) {
    const problem::Problem problem = problem_with(spec);
    const problem::Draw draw = problem::make_draw(
        problem, "t", {{"n", 20011}, {"m", 7}}, "default", problem::Key::from_seed(3));
    const problem::FillPlan plan(problem, draw);
    const problem::FilledTensor& filled = plan.tensors().at(0);
    on_device += filled.way == problem::FillWay::element ? 1 : 0;
    const auto bytes = static_cast<std::size_t>(filled.tensor.bytes);
    std::vector<std::byte> expected(bytes);
    plan.fill(0, 0, filled.tensor.count, expected);
    const auto buffer = on().allocate(bytes);
    on().fill_words(buffer->address(), (bytes + 3) / 4 * 4, 0xa5a5a5a5U);
    engine->fill(plan, 0, buffer->address());
    EXPECT_EQ(download<std::byte>(buffer->address(), bytes), expected) << spec;
  }
  EXPECT_GE(on_device, 12);
}

constexpr const char* kGroups = R"T(schema = 1
id = "level1/1"
title = "t"
domain = "d"
statement = "s"
[dims]
rows = "free(1, 1<<22)"
cols = "free(1, 1<<22)"
nnz = "free(0, 1<<28)"
[groups]
a = "csr(rows=rows, cols=cols, nnz=nnz, skew=1.5, empty=0.1)"
b = "shuffle(n=cols, batch=3)"
[inputs]
offsets = "i32[rows+1] = a.offsets"
col = "i32[nnz] = a.col"
owner = "u32[nnz] = a.owner"
order = "i32[nnz] = a.order"
wide = "i64[nnz] = a.col"
again = "i32[nnz] = copy(col)"
inverse = "i32[3, cols] = b.inverse"
[outputs]
y = "f32[rows]"
[shapes]
a = { rows = 200, cols = 64, nnz = 900, use = ["cpu", "time"] }
[stress]
rows = 5
cols = 6
nnz = 7
[edges]
list = []
[work]
flops = 1
reference_ops = 1
)T";

problem::Problem groups_problem() {
  problem::Loaded loaded = problem::parse(kGroups, {{"reference.cu", "//@ nothing\n"}});
  if (!loaded.problem) {
    throw std::runtime_error(loaded.mistakes.at(0).text());
  }
  return *std::move(loaded.problem);
}

// Needs no GPU.
TEST(EngineProblems, OfGroupsIsValid) {
  EXPECT_NO_THROW(static_cast<void>(groups_problem()));
}

// Small, large and small again: the engine keeps what it uploads for the kernels.
TEST_F(Engines, FillPartsOfGroupsWithTheBitsOfTheHost) {
  evaluate::Store store(on());
  const auto engine = evaluate::make_device_engine(on(), store, engine_images(on().info().arch));
  const problem::Problem problem = groups_problem();
  for (const std::int64_t rows : {5, 4001, 7, 1}) {
    const std::int64_t cols = 20 * rows + 3000;
    const problem::Draw draw =
        problem::make_draw(problem,
                           "t",
                           {{"rows", rows}, {"cols", cols}, {"nnz", 61 * rows}},
                           "default",
                           problem::Key::from_seed(3));
    const problem::FillPlan plan(problem, draw);
    for (std::size_t i = 0; i < plan.tensors().size(); ++i) {
      const problem::ConcreteTensor& tensor = plan.tensors()[i].tensor;
      const auto bytes = static_cast<std::size_t>(tensor.bytes);
      std::vector<std::byte> expected(bytes);
      plan.fill(i, 0, tensor.count, expected);
      const auto buffer = on().allocate(bytes);
      engine->fill(plan, i, buffer->address());
      EXPECT_EQ(download<std::byte>(buffer->address(), bytes), expected) << rows << tensor.name;
    }
  }
}

}  // namespace
}  // namespace sweep::gpu
