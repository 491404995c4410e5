#include "program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

// Several tasks on one run, without a batch system.
namespace sweep::e2e {
namespace {

using ::testing::HasSubstr;

std::string config(const std::string& name, const std::string& more = {}) {
  return "[run]\nname = \"" + name +
         "\"\nproblems = [\"level1/3\"]\nattempts_per_problem = 3\n"
         "device = \"cpu\"\nnum_correct_trials = 1\nsubmit_num_correct_trials = 1\n"
         "[parallelism]\nagents_per_gpu = 1\n[report]\nserve = false\n"
         "[[models]]\nname = \"demo-fixer\"\napi_kind = \"openai_chat\"\n"
         "base_url = \"builtin:demo\"\n" +
         more;
}

// Rows of a kind in all chains of a run; a request that was given up unsent is none.
int all_rows(const Workspace& here, const std::string& run, const std::string& kind) {
  const Outcome found = here.command(
      {"/bin/sh",
       "-c",
       "cat runs/" + run +
           "/ledger*.jsonl | grep -v '\"error\":\"cancelled\"' | grep -c '\"kind\":\"" + kind +
           "\"'"});
  return std::atoi(found.out.c_str());
}

// What the results of a run are, without its times.
std::string results(const Workspace& here, const std::string& run) {
  return here
      .command({"/bin/sh",
                "-c",
                "cd runs/" + run +
                    " && for f in $(find custom -name '*_kernel.cu' | sort); do echo $f; "
                    "sha256sum < $f; done; grep -h '^ \"outcome\"' $(find custom -name "
                    "'*_trajectory.json' | sort)"})
      .out;
}

TEST(Tasks, TwoShareARunAndAJoinEndsIt) {
  const Workspace here;
  here.write("s.toml", config("r"));
  here.write("t.toml", config("alone"));
  const Outcome both = here.command(
      {"/bin/sh",
       "-c",
       "\"$0\" s.toml --task 7_0 --tasks 2 > a 2>&1 & \"$0\" s.toml --task 7_1 --tasks 2 > b 2>&1; "
       "first=$?; wait $!; echo $first $?; cat a b >&2",
       Workspace::program()});
  EXPECT_EQ(both.out, "0 0\n") << both.err;
  const nlohmann::json before = here.sweep_json({"status", "r"});
  EXPECT_EQ(before.at("ended"), 3);
  EXPECT_EQ(before.at("chains"), 2);
  EXPECT_EQ(all_rows(here, "r", "item_end"), 3);
  EXPECT_EQ(here.rows("runs/r", "item_end"), 0);  // the root has none of them
  EXPECT_EQ(here.sweep({"verify", "r"}).code, 0);
  const Outcome joined = here.sweep({"join", "r"});
  EXPECT_EQ(joined.code, 0) << joined.err;
  EXPECT_THAT(joined.out, HasSubstr("2 chains joined; 3 of 3 items have ended"));
  EXPECT_EQ(here.rows("runs/r", "task_head"), 2);
  EXPECT_FALSE(std::filesystem::exists(here.folder() / "runs/r/claims"));
  EXPECT_TRUE(std::filesystem::exists(here.folder() / "runs/r/report/index.html"));
  EXPECT_EQ(here.sweep_json({"status", "r"}).at("state"), "finished");
  EXPECT_EQ(here.sweep({"verify", "r"}).code, 0);
  EXPECT_EQ(here.sweep({"gc", "r"}).code, 0);
  // A start that is no task finds nothing to do, and the results are those of a run by itself.
  const int requests = all_rows(here, "r", "request");
  EXPECT_EQ(here.sweep({"s.toml"}).code, 0);
  EXPECT_EQ(all_rows(here, "r", "request"), requests);
  EXPECT_EQ(here.sweep({"t.toml"}).code, 0);
  EXPECT_EQ(results(here, "r"), results(here, "alone"));
  EXPECT_EQ(all_rows(here, "alone", "request"), requests);
}

TEST(Tasks, AKilledTasksItemsGoOnInAnotherAndNothingIsPaidTwice) {
  const Workspace here;
  here.write("slow.toml", config("r", "rpm = 1\n"));
  here.write("s.toml", config("r"));
  const Outcome killed = here.command(
      {"/bin/sh",
       "-c",
       "\"$0\" slow.toml --task 1_0 --tasks 2 --lease 4 > a 2>&1 & p=$!\n"
       "for i in $(seq 900); do grep -qs '\"kind\":\"request\"' runs/r/ledger.1_0.jsonl && break; "
       "sleep 0.1; done; kill -9 $p; wait $p; echo $?\n"
       "\"$0\" s.toml --task 1_0 --tasks 2 --lease 4 2> b; echo $?; cat a b >&2",
       Workspace::program()});
  EXPECT_THAT(killed.out, ::testing::StartsWith("137\n")) << killed.err;
  EXPECT_THAT(killed.out, ::testing::EndsWith("\n0\n")) << killed.err;
  EXPECT_THAT(killed.out, HasSubstr("task 1_0r1: 3 items ended here")) << killed.err;
  EXPECT_THAT(killed.err, HasSubstr("taken over from a task that gave no sign of life"));
  EXPECT_EQ(here.sweep({"join", "r"}).code, 0);
  EXPECT_EQ(here.sweep({"verify", "r"}).code, 0);
  here.write("t.toml", config("alone"));
  EXPECT_EQ(here.sweep({"t.toml"}).code, 0);
  EXPECT_EQ(results(here, "r"), results(here, "alone"));
  EXPECT_EQ(all_rows(here, "r", "request"), all_rows(here, "alone", "request"));
}

TEST(Tasks, StopEndsTasksAndASweepAloneGoesOn) {
  const Workspace here;
  here.write("slow.toml", config("r", "rpm = 1\n"));
  here.write("s.toml", config("r"));
  const Outcome stopped = here.command(
      {"/bin/sh",
       "-c",
       "\"$0\" slow.toml --task 1_0 --tasks 1 > a 2>&1 & p=$!\n"
       "for i in $(seq 900); do grep -qs '\"kind\":\"request\"' runs/r/ledger.1_0.jsonl && break; "
       "sleep 0.1; done\n"
       "\"$0\" status r; \"$0\" s.toml; echo $?; \"$0\" gc r; echo $?; \"$0\" join r --wait 0; "
       "echo $?\n"
       "\"$0\" stop r; echo $?; wait $p; echo $?; \"$0\" slow.toml --task 1_1 --tasks 1; echo $?; "
       "cat a >&2",
       Workspace::program()});
  EXPECT_THAT(stopped.out, HasSubstr("running: 1 task")) << stopped.err;
  EXPECT_THAT(stopped.out, HasSubstr("1_0 on ")) << stopped.err;
  EXPECT_THAT(stopped.out,
              ::testing::EndsWith("2\n2\n2\nruns/r: stopped; tasks that begin later end at once, "
                                  "until `sweep join` or `sweep submit`\n0\n130\n130\n"))
      << stopped.err;
  EXPECT_EQ(here.sweep({"join", "r"}).code, 3);  // items are left
  const Outcome alone = here.sweep({"s.toml"});
  EXPECT_EQ(alone.code, 0) << alone.err;
  EXPECT_EQ(here.sweep({"verify", "r"}).code, 0);
  here.write("t.toml", config("alone"));
  EXPECT_EQ(here.sweep({"t.toml"}).code, 0);
  EXPECT_EQ(all_rows(here, "r", "request"), all_rows(here, "alone", "request"));
}

TEST(Tasks, AResultThatIsGarbageDoesNotCountAndItsItemGoesOn) {
  const Workspace here;
  here.write("s.toml", config("r"));
  ASSERT_EQ(here.sweep({"s.toml", "--task", "1_0", "--tasks", "1"}).code, 0);
  const int requests = all_rows(here, "r", "request");
  // One is another item's, one is damaged together with its file in the run: they are one file.
  const Outcome spoilt = here.command(
      {"/bin/sh",
       "-c",
       "cd runs/r/claims && cp 'custom%2Fdemo-fixer%2Flevel1%2F3.1.result' other && mv other "
       "'custom%2Fdemo-fixer%2Flevel1%2F3%232.1.result' && "
       "echo garbage > 'custom%2Fdemo-fixer%2Flevel1%2F3%233.1.result'"});
  ASSERT_EQ(spoilt.code, 0) << spoilt.err;
  const Outcome joined = here.sweep({"join", "r"});
  EXPECT_THAT(joined.err, HasSubstr("3%232.1.result: is the result of another item"));
  EXPECT_THAT(joined.err, HasSubstr("3%233.1.result: not JSON"));
  const Outcome damaged = here.sweep({"verify", "r"});
  EXPECT_EQ(damaged.code, 3);
  const std::string file = "custom/demo-fixer/level_1_problem_3_a3_trajectory.json";
  EXPECT_THAT(damaged.out, HasSubstr(file + ": changed since it was judged"));
  std::filesystem::remove(here.folder() / "runs/r" / file);
  EXPECT_EQ(here.sweep({"s.toml"}).code, 0);
  EXPECT_EQ(here.sweep({"verify", "r"}).code, 0);
  EXPECT_EQ(all_rows(here, "r", "request"), requests);
}

// What a broken chain says was done would be paid for again.
TEST(Tasks, ABrokenOrForgedChainIsRefusedByAll) {
  const Workspace here;
  here.write("s.toml", config("r"));
  ASSERT_EQ(here.sweep({"s.toml", "--task", "1_0", "--tasks", "2"}).code, 0);
  const auto refused = [&](const std::string& file) {
    for (const std::vector<std::string>& words : {std::vector<std::string>{"s.toml"},
                                                  {"s.toml", "--task", "1_1", "--tasks", "2"},
                                                  {"join", "r"},
                                                  {"reeval", "r"},
                                                  {"replay", "r"}}) {
      const Outcome one = here.sweep(words);
      EXPECT_EQ(one.code, 3) << words.front() << words.back() << one.out;
      EXPECT_THAT(one.err, HasSubstr(file)) << words.front() << words.back();
    }
    EXPECT_EQ(here.sweep({"verify", "r"}).code, 3);
  };
  ASSERT_EQ(here.command({"/bin/sh",
                          "-c",
                          "cp runs/r/ledger.1_0.jsonl whole && sed -i "
                          "'s/\"outcome\":\"correct\"/\"outcome\":\"stopped\"/' "
                          "runs/r/ledger.1_0.jsonl"})
                .code,
            0);
  refused("ledger.1_0.jsonl:");
  // A chain of another run, whole in itself.
  here.write("o.toml", config("other"));
  ASSERT_EQ(here.sweep({"o.toml", "--task", "9_9", "--tasks", "1"}).code, 0);
  ASSERT_EQ(here.command({"/bin/sh",
                          "-c",
                          "mv whole runs/r/ledger.1_0.jsonl && cp "
                          "runs/other/ledger.9_9.jsonl runs/r/"})
                .code,
            0);
  refused("ledger.9_9.jsonl:1: goes on from no row");
  std::filesystem::remove(here.folder() / "runs/r/ledger.9_9.jsonl");
  EXPECT_EQ(here.sweep({"join", "r"}).code, 0);
  EXPECT_EQ(here.sweep({"verify", "r"}).code, 0);
}

TEST(Tasks, SubmitPrintsItsScriptsAndRefusesBadInput) {
  const Workspace here;
  here.write("s.toml", config("r"));
  const Outcome printed = here.sweep({"submit",
                                      "s.toml",
                                      "--slurm",
                                      "--print",
                                      "--tasks",
                                      "3",
                                      "--retry",
                                      "errors",
                                      "--",
                                      "--partition=a b",
                                      "--account=it's"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  for (const char* part : {"#SBATCH --array=0-2\n",
                           "#SBATCH --requeue\n",
                           "#SBATCH --signal=B:USR1@120\n",
                           "--tasks 3 --lease 120 --yes '--retry' 'errors'",
                           "'--partition=a b' '--account=it'\\''s'",
                           "--dependency=afterany:JOB",
                           "join '"}) {
    EXPECT_THAT(printed.out, HasSubstr(part));
  }
  EXPECT_EQ(printed.out.find("--gres=gpu"), std::string::npos);  // the cpu device needs none
  EXPECT_FALSE(std::filesystem::exists(here.folder() / "runs"));
  EXPECT_EQ(here.sweep({"submit", "s.toml"}).code, 2);
  EXPECT_EQ(here.sweep({"submit", "s.toml", "--slurm", "--tasks", "0"}).code, 2);
  EXPECT_EQ(here.sweep({"submit", "no.toml", "--slurm"}).code, 2);
  EXPECT_EQ(here.sweep({"s.toml", "--task", "../x"}).code, 2);
  EXPECT_EQ(here.sweep({"join", "r"}).code, 2);
  here.write("u.toml",
             "[run]\nname = \"u\"\nproblems = [\"level1/3\"]\ndevice = \"cpu\"\n[[models]]\n"
             "name = \"m\"\nrpm = 2\nbase_url = \"https://example.invalid/v1\"\n"
             "api_key_env = \"K\"\n");
  const Outcome many =
      here.sweep({"submit", "u.toml", "--slurm", "--print", "--tasks", "3"}, {"K=secret"});
  EXPECT_EQ(many.code, 2);
  EXPECT_THAT(many.err, HasSubstr("models.m rpm = 2"));
  const Outcome few =
      here.sweep({"submit", "u.toml", "--slurm", "--print", "--tasks", "2"}, {"K=secret"});
  EXPECT_EQ(few.code, 0) << few.err;
  EXPECT_EQ(few.out.find("secret"), std::string::npos);
}

}  // namespace
}  // namespace sweep::e2e
