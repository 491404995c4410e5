// Conversations that use the tools which look at a kernel.
#include "fakes.h"
#include "profile/ncu_page.h"
#include "tool_stub.h"

#include <gmock/gmock.h>

namespace sweep::agent {
namespace {

using test::call;
using test::says;
using test::StubEvaluator;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

profile::NcuReport report_of(double seconds) {
  profile::KernelProfile kernel;
  kernel.kernel = "k()";
  for (const std::string& key : profile::metric_keys()) {
    kernel.metrics.push_back({key, std::nullopt, "not recorded"});
  }
  kernel.metrics[0].value = seconds;
  profile::NcuReport report;
  report.shape = "large";
  report.launches = 1;
  report.kernels = {kernel};
  report.report = "bytes of ncu";
  return report;
}

struct LookWorld : test::World {
  LookWorld() {
    config.agent.harness = config::builtin_harness("all");
    gpu.evaluation = test::checked();
    gpu.report.profile = report_of(2e-6);
  }

  record::Trajectory go() {
    const Services services{&memory, &model, &gpu, &clock, true};
    return agent::run(config, item, task, {device::Kind::cuda, 0}, {}, services);
  }

  StubEvaluator gpu;
};

TEST(LookSession, AMissingToolEndsNothing) {
  LookWorld w;
  w.gpu.report = {};
  w.gpu.report.profile = profile::Unavailable{"ncu was not found", "install Nsight Compute"};
  w.model.answers = {says("", {call("profile_kernel", "one"), call("ert_roofline", "")}),
                     says("", {call("submit_kernel", "one")})};
  const record::Trajectory t = w.go();
  EXPECT_EQ(t.stop_reason, "submitted");
  ASSERT_EQ(t.turns[0].tool_calls.size(), 2U);
  const record::ToolCall& profiled = t.turns[0].tool_calls[0];
  EXPECT_FALSE(profiled.success);
  EXPECT_EQ(profiled.metadata.at("unavailable"), "ncu was not found");
  EXPECT_THAT(profiled.result_text, HasSubstr("ncu was not found; install Nsight Compute"));
  EXPECT_THAT(t.turns[0].tool_calls[1].result_text, HasSubstr("run `sweep calibrate` on it"));
}

TEST(LookSession, ReportsAreArtifactsForPeopleOnly) {
  LookWorld w;
  w.model.answers = {says("", {call("profile_kernel", "one")}),
                     says("", {call("submit_kernel", "one")})};
  const record::Trajectory t = w.go();
  const record::ToolCall& profiled = t.turns.at(0).tool_calls.at(0);
  EXPECT_TRUE(profiled.success);
  const std::string hash = profiled.metadata.at("files").at("profile.ncu-rep");
  EXPECT_EQ(w.memory.artifacts.at(hash), "bytes of ncu");
  EXPECT_THAT(profiled.result_text, AllOf(Not(HasSubstr(hash)), Not(HasSubstr("ncu-rep"))));
}

// A process died after the first profile: nothing is profiled again, and the next profile is
// compared with the one on record.
TEST(LookSession, AResumedConversationTakesProfilesFromTheRecord) {
  LookWorld first;
  first.model.answers = {says("", {call("profile_kernel", "one")})};
  first.memory.stop = [&first] { return first.memory.tools.size() == 1; };
  (void)first.go();
  ASSERT_EQ(first.memory.tools.size(), 1U);
  LookWorld second;
  second.memory.old_requests = first.memory.requests;
  second.memory.old_tools = first.memory.tools;
  second.memory.artifacts = first.memory.artifacts;
  second.gpu.report.profile = report_of(1e-6);
  second.model.answers = {first.model.answers[0],
                          says("", {call("profile_kernel", "two")}),
                          says("", {call("submit_kernel", "two")})};
  second.model.next = 1;
  const record::Trajectory t = second.go();
  ASSERT_GE(t.turns.size(), 2U);
  EXPECT_EQ(second.gpu.wanted.size(), 1U);
  EXPECT_THAT(t.turns[0].tool_calls.at(0).result_text, Not(HasSubstr("against the last profile")));
  EXPECT_TRUE(t.turns[0].tool_calls.at(0).metadata.contains("files"));
  EXPECT_THAT(t.turns[1].tool_calls.at(0).result_text,
              HasSubstr("1.00 us (-50.0% against the last profile)"));
}

TEST(LookSession, AnswersAreCutToTheConversationsLimitWithTheirErrors) {
  LookWorld w;
  w.config.agent.tool_output_context_max_chars = 800;
  w.gpu.evaluation.verdict = evaluate::Verdict::compile_error;
  w.gpu.evaluation.compile->status = "compile_error";
  std::string log;
  for (int i = 0; i < 100; ++i) {
    log += "kernel.cu(3): note: candidate template ignored, this is a longer line\n";
    log += i == 50 ? "kernel.cu(77): error: no instance\n" : "";
  }
  w.gpu.evaluation.compile->log = log;
  w.model.answers = {says("", {call("compile_kernel", "one")}),
                     says("", {call("submit_kernel", "one")})};
  const record::Trajectory t = w.go();
  const record::ToolCall& compiled = t.turns.at(0).tool_calls.at(0);
  EXPECT_TRUE(compiled.output_truncated);
  EXPECT_LE(compiled.result_text.size(), 800U);
  EXPECT_THAT(compiled.result_text, HasSubstr("\nkernel.cu(77): error: no instance"));
}

}  // namespace
}  // namespace sweep::agent
