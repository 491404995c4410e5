// The replay that profiling tools watch, without a tool.

#include "profile/replay.h"

#include "child.h"
#include "device/plain.h"
#include "evaluate/signature.h"
#include "fixture.h"

#include <gmock/gmock.h>

#include <stdexcept>

namespace sweep::gpu {
namespace {

using testing::HasSubstr;

constexpr const char* kProblem = R"T(schema = 1
id = "level1/1"
title = "t"
domain = "d"
statement = "s"
[dims]
n = "free(1, 1<<24)"
[inputs]
x = "f32[n] = constant(2.5)"
[outputs]
y = "f32[n]"
[shapes]
a = { n = 1000, use = ["cpu", "check", "time"] }
[stress]
n = "log(1, 1000)"
[edges]
list = []
[work]
flops = 1
reference_ops = 1
)T";

class Replay : public OnDevice {
 protected:
  // Replays a plan of two launches over scratch; `body` is the second kernel's.
  [[nodiscard]] profile::Replayed replay(const std::string& body) {
    problem::Loaded loaded = problem::parse(kProblem, {{"reference.cu", "//@ nothing\n"}});
    if (!loaded.problem) {
      throw std::runtime_error(loaded.mistakes.at(0).text());
    }
    const problem::Problem problem = *std::move(loaded.problem);
    const std::string source =
        "//@ scratch f32 t[n]\n//@ one<<<ceildiv(n, 128), 128>>>(x, t, n)\n"
        "//@ two<<<ceildiv(n, 128), 128>>>(t, y, n)\n"
        "__global__ void one(const float* x, float* t, int n) {\n"
        "  int i = blockIdx.x * 128 + threadIdx.x;\n"
        "  if (i < n) { if (x[i] != 2.5f) __trap(); t[i] = 2 * x[i]; }\n}\n"
        "__global__ void two(const float* t, float* y, int n) {\n"
        "  int i = blockIdx.x * 128 + threadIdx.x;\n" +
        body + "\n}\n";
    auto parsed = submission::parse("mine.cu", source);
    if (const auto* error = std::get_if<submission::PlanError>(&parsed)) {
      throw std::runtime_error(error->text(source));
    }
    compile::Result compiled;
    compiled.status = compile::Result::Status::ok;
    compiled.image = compile(source, {"one", "two"});
    for (const device::Kernel& kernel : compiled.image.kernels) {
      compile::CompiledKernel made;
      made.name = kernel.name;
      made.lowered = kernel.lowered;
      made.parameters = submission::parameters_of(kernel.lowered);
      compiled.kernels.push_back(std::move(made));
    }
    const evaluate::Code code =
        evaluate::make_code(std::get<submission::Submission>(std::move(parsed)),
                            {},
                            evaluate::candidate_signature(problem),
                            compiled);
    const problem::Draw draw = problem::make_draw(
        problem, "a", problem.shapes.front().free, "default", problem::Key::from_seed(1));
    return profile::replay(on(), {device::Kind::cuda, 0}, problem, code, draw);
  }
};

TEST_F(Replay, FillsRunsAndCounts) {
  const profile::Replayed result =
      replay("if (i < n) { if (t[i] != 5.0f) __trap(); y[i] = t[i]; }");
  EXPECT_EQ(result.fault.value_or(""), "");
  EXPECT_EQ(result.launches, 2);
  EXPECT_GT(result.device_seconds, 0);
}

TEST_F(Replay, DISABLED_FaultInAProcessOfItsOwn) {
  const profile::Replayed result = replay("if (i == 0) __trap();");
  EXPECT_THAT(result.fault.value_or(""), HasSubstr("CUDA error"));
}

TEST_F(Replay, AFaultIsAValue) {
  const ChildResult child = run_child("test", {"Replay.DISABLED_FaultInAProcessOfItsOwn"}, -1);
  EXPECT_EQ(child.exit_code, 0) << child.output;
  EXPECT_THAT(child.output, HasSubstr("1 test from 1 test suite ran"));
}

TEST_F(Replay, PlainMemoryHoldsWhatIsUploaded) {
  const auto buffer = device::allocate_plain(on(), {device::Kind::cuda, 0}, 1000);
  EXPECT_EQ(buffer->address() % 256, 0U);
  EXPECT_EQ(buffer->bytes(), 1000U);
  const std::vector<int> values = {1, 2, 3};
  on().upload(buffer->address(), std::as_bytes(std::span(values)));
  EXPECT_EQ(download<int>(buffer->address(), 3), values);
}

}  // namespace
}  // namespace sweep::gpu
