#include "program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::e2e {
namespace {

using ::testing::HasSubstr;

TEST(Cli, HelpNamesEveryCommand) {
  const Workspace here;
  const Outcome help = here.sweep({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const char* word : {"eval",
                           "new",
                           "problems",
                           "probe",
                           "report",
                           "compare",
                           "publish",
                           "verify",
                           "selftest",
                           "doctor",
                           "exit codes"}) {
    EXPECT_THAT(help.out, HasSubstr(word));
  }
}

TEST(Cli, HelpWithACommandIsThatCommandsHelp) {
  const Workspace here;
  EXPECT_EQ(here.sweep({"help", "eval"}).out, here.sweep({"eval", "--help"}).out);
}

TEST(Cli, HelpConfigListsTheKeys) {
  const Workspace here;
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--help", "config"}, {"run", "--help", "config"}}) {
    const Outcome help = here.sweep(arguments);
    EXPECT_EQ(help.code, 0);
    EXPECT_THAT(help.out, HasSubstr("num_correct_trials"));
  }
}

TEST(Cli, ProblemsShowPromptIsWhatAModelIsSentFirst) {
  const Workspace here;
  const Outcome shown =
      here.sweep({"problems", "show", "level1/3", "--prompt", "--harness", "optimize"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("# Problem level1/3"));
  EXPECT_THAT(shown.out, HasSubstr("## Baseline"));
  EXPECT_THAT(shown.out, HasSubstr("//@ problem level1/3"));
  const Outcome wrong = here.sweep({"problems", "show", "level1/3", "--prompt", "--harness", "x"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--harness x: unknown harness"));
  EXPECT_THAT(wrong.err, HasSubstr("--config FILE"));
  // Without --prompt it would be of no effect; with --config it would be one harness too many.
  const Outcome unused = here.sweep({"problems", "show", "level1/3", "--harness", "optimize"});
  EXPECT_EQ(unused.code, 2);
  EXPECT_THAT(unused.err, HasSubstr("--prompt"));
  EXPECT_EQ(here.sweep({"problems",
                        "show",
                        "level1/3",
                        "--prompt",
                        "--harness",
                        "all",
                        "--config",
                        "x.toml"})
                .code,
            2);
}

TEST(Cli, ProblemsShowTakesAFolder) {
  const Workspace here;
  ASSERT_EQ(here.sweep({"problems", "new", "my/1_scale"}).code, 0);
  const Outcome shown = here.sweep({"problems", "show", "problems/my/1_scale"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("my/1"));
  EXPECT_THAT(shown.out, HasSubstr("sweep problems admit problems/my/1_scale"));
  const Outcome prompt = here.sweep({"problems", "show", "problems/my/1_scale", "--prompt"});
  EXPECT_EQ(prompt.code, 0) << prompt.err;
  EXPECT_THAT(prompt.out, HasSubstr("# Problem my/1"));
}

TEST(Cli, MistypedCommandIsSuggested) {
  const Workspace here;
  const Outcome outcome = here.sweep({"probee", "x.toml"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("did you mean `sweep probe`?"));
}

TEST(Cli, MissingConfigIsSaidWithExitCode2) {
  const Workspace here;
  const Outcome outcome = here.sweep({"missing.toml"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("missing.toml"));
}

TEST(Cli, UnknownOptionIsSuggested) {
  const Workspace here;
  const Outcome outcome = here.sweep({"eval", "x.cu", "--devise", "cpu"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("did you mean '--device'?"));
}

TEST(Cli, AFolderWithoutALedgerIsNoRun) {
  const Workspace here;
  for (const char* command : {"verify", "report"}) {
    const Outcome outcome = here.sweep({command, "."});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.err,
              "sweep: .: holds no run: it has no ledger.jsonl; give a run's folder, e.g. runs/demo "
              "[E_RUN_MISSING]\n");
  }
  EXPECT_EQ(here.command({"/bin/sh", "-c", "test -e report"}).code, 1);
}

TEST(Cli, MissingKernelFile) {
  const Workspace here;
  const Outcome outcome = here.sweep({"eval", "nothing.cu", "--device", "cpu"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err,
              HasSubstr("nothing.cu: no such file; start one with `sweep new PROBLEM > mine.cu`"));
}

TEST(Cli, UnknownProblemIsSuggested) {
  const Workspace here;
  const Outcome outcome = here.sweep({"problems", "show", "level1/33333"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("level1/33333"));
}

TEST(Cli, WrongShapeIsSaid) {
  const Workspace here;
  here.write("k.cu", "//@ problem level1/3\n");
  const Outcome outcome = here.sweep({"eval", "k.cu", "--shape", "rows=x"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("'rows=x' is not NAME=INTEGER"));
}

TEST(Cli, WrongDefineIsSaid) {
  const Workspace here;
  here.write("k.cu", "//@ problem level1/3\n");
  const Outcome outcome = here.sweep({"eval", "k.cu", "--device", "cpu", "-D", "ROWS=x"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err,
            "sweep: -D: 'ROWS=x' is not NAME=INTEGER; write e.g. -D TILE=64, for a constant that "
            "the plan declares with `const` [E_CLI_DEFINE]\n");
}

TEST(Problems, AWordIsLookedForInTitles) {
  const Workspace here;
  const Outcome outcome = here.sweep({"problems", "list", "Softmax"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("level1/2 "));
  EXPECT_THAT(outcome.out, ::testing::Not(HasSubstr("level1/3 ")));
}

TEST(Problems, AnUnknownDomainIsAnswered) {
  const Workspace here;
  const Outcome outcome = here.sweep({"problems", "list", "--domain", "cooking"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("there are "));
  EXPECT_THAT(outcome.err, HasSubstr("stencil"));
}

TEST(Problems, CatalogueListsTheWholePlan) {
  const Workspace here;
  const nlohmann::json list = here.sweep_json({"problems", "list"});
  ASSERT_TRUE(list.contains("problems"));
  std::size_t numbered = 0;
  for (const auto& entry : list["problems"]) {
    const auto id = entry["id"].get<std::string>();
    // Whoever works here may have problems of their own besides.
    numbered += id.starts_with("level") || id.starts_with("sci/") ? 1U : 0U;
  }
  EXPECT_EQ(numbered, 126U);  // 95 in levels 1 to 3, 12 scientific, 19 translations
}

// The longest id has a gap behind it as well.
TEST(Problems, TheListHasColumns) {
  const Workspace here;
  const Outcome list = here.sweep({"problems", "list"});
  EXPECT_THAT(list.out, HasSubstr("ptx/mha_bwd_causal_bf16  planned"));
}

TEST(Problems, AllShippedOnesCheckClean) {
  const Workspace here;
  const nlohmann::json checked = here.sweep_json({"problems", "check"});
  EXPECT_GE(checked["checked"].get<int>(), 8);
  EXPECT_EQ(checked["wrong"].get<int>(), 0) << checked["mistakes"].dump(2);
}

TEST(Problems, TemplateChecksClean) {
  const Workspace here;
  EXPECT_EQ(here.sweep({"problems", "new", "my/1_scan"}).code, 0);
  const Outcome check = here.sweep({"problems", "check", "problems/my/1_scan"});
  EXPECT_EQ(check.code, 0) << check.out << check.err;
  EXPECT_EQ(here.sweep({"problems", "new", "my/1_scan"}).code, 2);  // never overwritten
}

TEST(Problems, TheTemplateOutsideTheRepositoryIsWorkable) {
  const Workspace here;
  ASSERT_EQ(here.sweep({"problems", "new", "my/1_scan"}).code, 0);
  const Outcome starter = here.sweep({"new", "problems/my/1_scan"});
  ASSERT_EQ(starter.code, 0) << starter.err;
  here.write("mine.cu", starter.out);
  const Outcome verdict =
      here.sweep({"eval", "mine.cu", "--problem", "problems/my/1_scan", "--device", "cpu"});
  EXPECT_EQ(verdict.code, 0) << verdict.out << verdict.err;
  EXPECT_THAT(verdict.out, HasSubstr("stress   ok"));
  // By id, with the folder named in the environment.
  const Outcome by_id = here.sweep({"eval", "mine.cu", "--device", "cpu", "--only", "check"},
                                   {"SWEEP_PROBLEMS=problems"});
  EXPECT_EQ(by_id.code, 0) << by_id.out << by_id.err;
}

TEST(Problems, AMissingSeedIsSaidWithTheFileToWrite) {
  const Workspace here;
  ASSERT_EQ(here.sweep({"problems", "new", "my/1_scan"}).code, 0);
  here.write("mine.cu", here.sweep({"new", "problems/my/1_scan"}).out);
  std::filesystem::remove(here.folder() / "problems/my/1_scan/seed.cu");
  const Outcome check = here.sweep({"problems", "check", "problems/my/1_scan"});
  EXPECT_EQ(check.code, 2);
  EXPECT_THAT(check.out, HasSubstr("has no seed kernel"));
  EXPECT_THAT(check.out, HasSubstr("write problems/my/1_scan/seed.cu"));
  const Outcome verdict =
      here.sweep({"eval", "mine.cu", "--problem", "problems/my/1_scan", "--device", "cpu"});
  EXPECT_EQ(verdict.code, 2);
  EXPECT_THAT(verdict.err, HasSubstr("write problems/my/1_scan/seed.cu"));
  EXPECT_EQ(here.sweep({"new", "problems/my/1_scan"}).code, 2);
}

TEST(Problems, ABrokenPlanOfASeedIsAMistake) {
  const Workspace here;
  ASSERT_EQ(here.sweep({"problems", "new", "my/1_scan"}).code, 0);
  here.write("problems/my/1_scan/seed.cu",
             "//@ k<<<1, 1>>>(nothing)\n__global__ void k(float*) {}\n");
  const Outcome check = here.sweep({"problems", "check", "problems/my/1_scan"});
  EXPECT_EQ(check.code, 2);
  EXPECT_THAT(check.out, HasSubstr("seed.cu:1:"));
  EXPECT_THAT(check.out, HasSubstr("nothing"));
}

TEST(Eval, TheStarterIsCorrect) {
  const Workspace here;
  const Outcome starter = here.sweep({"new", "level1/3"});
  ASSERT_EQ(starter.code, 0) << starter.err;
  here.write("mine.cu", starter.out);
  const Outcome verdict = here.sweep({"eval", "mine.cu", "--device", "cpu", "--fast"});
  EXPECT_EQ(verdict.code, 0) << verdict.out << verdict.err;
  EXPECT_THAT(verdict.out, HasSubstr("check    ok"));  // on a busy machine the verdict is UNSTABLE
}

TEST(Eval, ACompilerThatWouldNotBeUsedIsAMistake) {
  const Workspace here;
  here.write("mine.cu", "//@ problem level1/3\n");
  here.write("mine.ptx", "//@ problem level1/3\n");
  const Outcome cpu = here.sweep({"eval", "mine.cu", "--device", "cpu", "--compiler", "nvcc"});
  EXPECT_EQ(cpu.code, 2);
  EXPECT_EQ(cpu.out, "");
  EXPECT_EQ(cpu.err,
            "sweep: --compiler nvcc: the cpu device compiles with g++ alone; leave it out, or give "
            "--device cuda [E_EVAL_COMPILER]\n");
  const Outcome ptx = here.sweep({"eval", "mine.ptx", "--compiler", "nvcc"});
  EXPECT_EQ(ptx.code, 2);
  EXPECT_THAT(ptx.err, HasSubstr("PTX is assembled by ptxas alone"));
}

TEST(Eval, NoGpuIsSaidWithTheWayOut) {
  const Workspace here;
  here.write("mine.cu", here.sweep({"new", "level1/3"}).out);
  const Outcome outcome = here.sweep({"eval", "mine.cu", "--device", "cuda:0"});
  if (outcome.code == 0) {
    GTEST_SKIP() << "this machine has a GPU";
  }
  EXPECT_EQ(outcome.code, 2) << outcome.out;
  EXPECT_THAT(outcome.err, HasSubstr("--device cpu"));
}

}  // namespace
}  // namespace sweep::e2e
