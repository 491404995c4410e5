// Models that misbehave, through the real built-in endpoint, client and loop: each trajectory ends
// in a state that says what happened. Only the judge is not real.
#include "../../support/test_name.h"
#include "agent/session.h"
#include "endpoint/builtin.h"
#include "fakes.h"
#include "util/file.h"

#include <gmock/gmock.h>

namespace sweep::agent {
namespace {

using test::World;
using testing::HasSubstr;

struct Bad {
  const char* name;
  std::string turns;  // of the script
  const char* harness;
  const char* stop_reason;
  const char* outcome;
  const char* said;  // somewhere in what the model was told, or in the error
};

std::string turn(const std::string& rest) {
  return "[[conversation.turn]]\n" + rest + "\n";
}

std::string times(int n, const std::string& text) {
  std::string out;
  for (int i = 0; i < n; ++i)
    out += text;
  return out;
}

std::string kernel_call(const std::string& tool, const std::string& file) {
  return R"({ tool = ")" + tool + R"(", kernel = ")" + file + R"(" })";
}

std::string calls(const std::string& list) {
  return turn("calls = [" + list + "]");
}

std::string source(double mebibytes) {
  return "__global__ void fast() {}\n//" +
         std::string(static_cast<std::size_t>(mebibytes * 1048576), 'x');
}

const std::string kProse = turn("text = \"I would tile it and keep sums in registers.\"");

class BadModels : public testing::TestWithParam<Bad> {
 protected:
  BadModels() {
    const auto put = [&](const char* name, const std::string& text) {
      util::write_file_atomic(folder_.path() / name, text);
    };
    put("fast.cu", "__global__ void fast() {}");
    put("wrong.cu", "__global__ void wrong() {}");
    put("large.cu", source(1.05));
    std::string binary;
    for (int i = 1; i < 4096; ++i)
      binary += static_cast<char>(i * 37 % 256);
    put("binary.cu", binary);
    put("plan.cu", "//@ problem level1/3\n//@ broken<<<1, 1>>>(x)\n");
  }

  // The trajectory of the script under the case's harness.
  record::Trajectory lead(endpoint::Api api) {
    const Bad& bad = GetParam();
    util::write_file_atomic(folder_.path() / "bad.toml",
                            "model = \"bad\"\n[[conversation]]\nproblem = \"*\"\n" + bad.turns);
    const endpoint::ScriptServer server(folder_.path());
    World w;
    w.config.agent.harness = config::builtin_harness(bad.harness);
    w.config.models[0].deployment_name = "bad";
    endpoint::Target target;
    target.api = api;
    target.base_url = server.base_url();
    target.model = "bad";
    endpoint::Services needs;
    needs.clock = &w.clock;
    const auto endpoint = endpoint::connect(target, {}, needs);
    const Services services{&w.memory, endpoint.get(), &w.judge, &w.clock, false};
    return run(w.config, w.item, w.task, device::Id{}, {}, services);
  }

  util::TempDir folder_;
};

TEST_P(BadModels, EndInAStateThatSaysWhy) {
  const Bad& bad = GetParam();
  for (const endpoint::Api api : {endpoint::Api::chat, endpoint::Api::responses}) {
    const record::Trajectory t = lead(api);
    EXPECT_EQ(t.stop_reason, bad.stop_reason) << t.error;
    EXPECT_EQ(t.outcome, bad.outcome) << t.error;
    EXPECT_TRUE(t.finished());
    std::string told = t.error;
    for (const record::Turn& one : t.turns)
      told += "\n" + one.feedback_to_model;
    EXPECT_THAT(told, HasSubstr(bad.said));
    // What was recorded can be written and read again, and stays small.
    const std::string file = record::to_json(t).dump();
    EXPECT_LT(file.size(), std::size_t{4} << 20U);
    EXPECT_EQ(record::to_json(record::parse_trajectory(file, "t")), record::to_json(t));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All,
    BadModels,
    testing::Values(
        Bad{"never calls", times(10, kProse), "default", "turns", "error", "called no tool"},
        Bad{"never calls in repair", times(5, kProse), "repair", "turns", "error", "Format error"},
        Bad{"prose in one turn",
            kProse,
            "single_turn",
            "turns",
            "error",
            "no kernel was handed in"},
        Bad{"unknown tools",
            times(10, calls(R"({ tool = "rm_rf", arguments = "{}" })")),
            "default",
            "turns",
            "error",
            "no tool 'rm_rf'"},
        Bad{"more than a MiB of source",
            calls(kernel_call("submit_kernel", "large.cu")),
            "single_turn",
            "turns",
            "error",
            "larger than 1 MiB"},
        Bad{"too much source again and again",
            times(10, calls(kernel_call("compile_kernel", "large.cu"))),
            "default",
            "policy_stop",
            "error",
            "exactly this text was given to it before"},
        Bad{"too much source again and again in repair",
            times(5, calls(kernel_call("submit_kernel", "large.cu"))),
            "repair",
            "policy_stop",
            "error",
            "exactly this text was given to it before"},
        Bad{"a quarter MiB of source in a fence twice",
            times(2, turn("text = \"\"\"```cuda\n" + source(0.25) + "\n```\"\"\"")),
            "optimize",
            "policy_stop",
            "correct",  // the stand-in of the judge takes any text
            "exactly this text was tried before"},
        Bad{"source that is no string",
            times(
                9,
                calls(R"({ tool = "compile_kernel", arguments = "{\"kernel_code\": [\"a\"]}" })")) +
                calls(kernel_call("submit_kernel", "fast.cu")),
            "default",
            "submitted",
            "correct",
            "kernel_code must be a string with the complete text of the submission, and is an "
            "array"},
        Bad{"cut again and again",
            times(10, turn("text = \"First I derive\"\nfinish = \"length\"")),
            "default",
            "policy_stop",
            "error",
            "cut off by the output limit"},
        Bad{"binary bytes",
            times(10, calls(R"({ tool = "compile_kernel", arguments = "\u0001\u0002 not JSON" })")),
            "default",
            "turns",
            "error",
            "was not run"},
        Bad{"binary kernel",
            calls(kernel_call("submit_kernel", "binary.cu")),
            "single_turn",
            "submitted",
            "correct",  // the stand-in of the judge takes any text
            "submit_kernel PASSED"},
        Bad{"ten calls at once",
            calls(times(10, kernel_call("get_gpu_specs", "fast.cu") + ", ") +
                  kernel_call("run_correctness", "fast.cu")) +
                calls(kernel_call("submit_kernel", "fast.cu")),
            "default",
            "submitted",
            "correct",
            "run_correctness PASSED"},
        Bad{"ten submissions at once",
            calls(times(10, kernel_call("submit_kernel", "wrong.cu") + ", ")) + times(9, kProse),
            "optimize",
            "turns",
            "incorrect",
            "one version an answer"},
        Bad{"the same kernel ten times",
            times(10, calls(kernel_call("run_correctness", "fast.cu"))),
            "default",
            "policy_stop",
            "correct",
            "exactly this text was given to it before"},
        Bad{"the same version ten times",
            times(10, calls(kernel_call("submit_kernel", "wrong.cu"))),
            "optimize",
            "policy_stop",
            "incorrect",
            "exactly this text was tried before"},
        Bad{"a plan without a kernel",
            calls(kernel_call("submit_kernel", "plan.cu")),
            "single_turn",
            "submitted",
            "compile_fail",
            "submit_kernel FAILED"}),
    sweep::test::named([](const Bad& bad) { return std::string(bad.name); }));

}  // namespace
}  // namespace sweep::agent
