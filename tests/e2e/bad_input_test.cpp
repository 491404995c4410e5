// Thirteen ways in which a user's input or machine is not as it should be: one clear line, the
// right exit code, and nothing lost.
#include "program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace sweep::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A sweep of one item by a built-in model that hands its kernel in at once. `run` is added to
// [run], `model` to the model.
std::string config(const std::string& run = "",
                   const std::string& model = R"(base_url = "builtin:demo")",
                   const std::string& agent = "") {
  return R"([run]
name = "r"
problems = ["level1/3"]
num_correct_trials = 1
submit_num_correct_trials = 1
)" + (run.find("device") == std::string::npos ? "device = \"cpu\"\n" + run : run) +
         "\n[agent]\n" + agent + R"(
[report]
serve = false
[[models]]
name = "demo-flaky"
api_kind = "openai_chat"
)" + model +
         "\n";
}

// One line "sweep: ..." and nothing else on standard error.
void expect_line(const Outcome& outcome, int code, const std::string& words) {
  EXPECT_EQ(outcome.code, code) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(outcome.err.starts_with("sweep: ")) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr(words));
}

class BadInput : public ::testing::Test {
 protected:
  [[nodiscard]] Outcome sweep(const std::string& toml) const {
    here_.write("s.toml", toml);
    return here_.sweep({"s.toml"});
  }

  [[nodiscard]] bool began() const { return std::filesystem::exists(here_.folder() / "runs"); }

  [[nodiscard]] bool intact(const std::string& run) const {
    return here_.sweep({"verify", run}).code == 0;
  }

  Workspace here_;
};

TEST_F(BadInput, MissingFile) {
  expect_line(
      here_.sweep({"missing.toml"}), 2, "missing.toml: no such config file; give a sweep's");
  expect_line(here_.sweep({"verify", "nothing"}), 2, "nothing: no such run; give a run's folder");
}

TEST_F(BadInput, BrokenToml) {
  expect_line(sweep("[run]\nname = \"r\nx"), 2, "s.toml:2:");
  expect_line(sweep(std::string("\xff\xfe")), 2, "s.toml:1:1: ");
  EXPECT_FALSE(began());
}

TEST_F(BadInput, UnknownKey) {
  expect_line(sweep(config("devise = \"cpu\"")), 2, "unknown key 'devise' in [run]");
  EXPECT_FALSE(began());
}

TEST_F(BadInput, UnknownProblem) {
  std::string toml = config();
  toml.replace(toml.find("level1/3"), 8, "level1/33");
  expect_line(sweep(toml), 2, "s.toml:3:13: no problem 'level1/33'; did you mean 'level1/3'?");
  EXPECT_FALSE(began());
}

TEST_F(BadInput, MissingKeyVariable) {
  expect_line(
      sweep(config("", "base_url = \"http://127.0.0.1:1/v1\"\napi_key_env = \"NO_KEY_HERE\"")),
      2,
      "key variable NO_KEY_HERE is not set");
  EXPECT_FALSE(began());
}

TEST_F(BadInput, KeysThatCannotBeSent) {
  here_.write("s.toml",
              config("", "base_url = \"http://127.0.0.1:1/v1\"\napi_key_env = \"E2E_KEY\""));
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"s.toml"}, std::vector<std::string>{"probe", "s.toml"}}) {
    const Outcome outcome = here_.sweep(command, {"E2E_KEY=hunter\nhunter"});
    expect_line(outcome, 2, "the environment: E2E_KEY has a line break inside");
    EXPECT_THAT(outcome.err, Not(HasSubstr("hunter")));
  }
  EXPECT_FALSE(began());
  const Outcome dry = here_.sweep({"s.toml", "--dry-run"}, {"E2E_KEY=Bearer hunter"});
  EXPECT_THAT(dry.out + dry.err, HasSubstr("E2E_KEY holds a whole header"));
  EXPECT_THAT(dry.out + dry.err, Not(HasSubstr("hunter")));
}

TEST_F(BadInput, EndpointDown) {
  const Outcome outcome =
      sweep(config("", "base_url = \"http://127.0.0.1:1/v1\"", "llm_error_retries = 1"));
  EXPECT_EQ(outcome.code, 3) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("infra_error"));
  EXPECT_THAT(outcome.err, HasSubstr("check that the endpoint is up and reachable from here"));
  EXPECT_THAT(outcome.out, HasSubstr("go on with  sweep s.toml"));
  EXPECT_TRUE(intact("r"));
}

TEST_F(BadInput, NoGpu) {
  const Outcome outcome = sweep(config("device = \"cuda:0\""));
  if (outcome.code == 0) {
    GTEST_SKIP() << "this machine has a GPU";
  }
  expect_line(outcome, 2, "device = \"cpu\"");
  EXPECT_FALSE(began());
}

TEST_F(BadInput, NoCompiler) {
  std::filesystem::create_directory(here_.folder() / "bin");
  const std::vector<std::string> env{"PATH=" + (here_.folder() / "bin").string()};
  here_.write("mine.cu", here_.sweep({"new", "level1/3"}).out);
  expect_line(here_.sweep({"eval", "mine.cu", "--device", "cpu"}, env),
              2,
              "g++ is not on the path; install g++");
  // Before a model is asked anything.
  here_.write("s.toml", config());
  expect_line(here_.sweep({"s.toml"}, env), 2, "g++ is not on the path; install g++");
  EXPECT_FALSE(began());
}

TEST_F(BadInput, NoLandlock) {
  here_.write("mine.cu", here_.sweep({"new", "level1/3"}).out);
  const Outcome eval = here_.sweep_without({"landlock"}, {"eval", "mine.cu", "--device", "cpu"});
  if (eval.code == Workspace::kCannot) {
    GTEST_SKIP() << eval.err;
  }
  EXPECT_EQ(eval.code, 3) << eval.out << eval.err;
  EXPECT_THAT(eval.out, HasSubstr("landlock"));
  EXPECT_THAT(eval.out, HasSubstr("--allow-unsandboxed"));
  here_.write("s.toml", config());
  expect_line(here_.sweep_without({"landlock"}, {"s.toml"}), 3, "landlock is missing");
  EXPECT_FALSE(began());
  const Outcome allowed = here_.sweep_without(
      {"landlock"},
      {"eval", "mine.cu", "--device", "cpu", "--only", "check", "--allow-unsandboxed"});
  EXPECT_EQ(allowed.code, 0) << allowed.out << allowed.err;
  EXPECT_THAT(allowed.out, HasSubstr("run without a sandbox"));
}

// A disk that fills while the item runs: the same folder with room goes on from there.
TEST_F(BadInput, FullDisk) {
  const std::filesystem::path disk = here_.folder() / "disk";
  const std::filesystem::path kept = here_.folder() / "kept";
  std::filesystem::create_directory(disk);
  here_.write("s.toml", config("runs_dir = \"disk\""));
  // What the small disk held is copied out before it goes with its program.
  const std::string script = "\"$0\" s.toml; code=$?; cp -r disk kept; exit $code";
  const Outcome outcome = here_.run_without({"space", disk.string(), "40k"},
                                            {"/bin/sh", "-c", script, here_.program()});
  if (outcome.code == Workspace::kCannot) {
    GTEST_SKIP() << outcome.err;
  }
  EXPECT_EQ(outcome.code, 3) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.err,
              HasSubstr("No space left on device; free space, then run the same command"));
  std::filesystem::remove(disk);
  std::filesystem::rename(kept, disk);
  EXPECT_TRUE(intact("disk/r"));
  const int asked = here_.rows("disk/r", "request");
  const Outcome again = here_.sweep({"s.toml"});
  EXPECT_EQ(again.code, 0) << again.out << again.err;
  EXPECT_EQ(here_.rows("disk/r", "request"), std::max(asked, 1));  // a paid answer is kept
  EXPECT_TRUE(intact("disk/r"));
}

TEST_F(BadInput, ReadOnlyRunFolder) {
  const std::filesystem::path folder = here_.folder() / "fixed";
  std::filesystem::create_directory(folder);
  here_.write("s.toml", config("runs_dir = \"fixed\""));
  const Outcome outcome = here_.sweep_without({"writing", folder.string()}, {"s.toml"});
  if (outcome.code == Workspace::kCannot) {
    GTEST_SKIP() << outcome.err;
  }
  expect_line(outcome, 3, "Read-only file system; make the folder writable, or choose another");
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(BadInput, AnotherSweepOnTheSameRun) {
  here_.write("s.toml", config());
  ASSERT_EQ(here_.sweep({"s.toml"}).code, 0);
  here_.write("s.toml", config("attempts_per_problem = 2"));  // a finished run is only shown
  const std::string lock = (here_.folder() / "runs/r/.lock").string();
  const int fd = ::open(lock.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(::flock(fd, LOCK_EX | LOCK_NB), 0);
  expect_line(here_.sweep({"s.toml"}), 2, "another sweep works on this run (process ");
  const Outcome dry = here_.sweep({"s.toml", "--dry-run"});
  EXPECT_EQ(dry.code, 0);
  EXPECT_THAT(dry.out, HasSubstr("busy: another sweep works on this run (process "));
  ::close(fd);
  EXPECT_EQ(here_.sweep({"s.toml"}).code, 0);
}

TEST_F(BadInput, ChangedToml) {
  here_.write("s.toml", config());
  ASSERT_EQ(here_.sweep({"s.toml"}).code, 0);
  const int rows = here_.rows("runs/r", "request");
  here_.write("s.toml", config("", R"(base_url = "builtin:demo")", "max_turns = 3"));
  const Outcome changed = here_.sweep({"s.toml"});
  expect_line(changed, 2, "agent.max_turns: 10 -> 3");
  EXPECT_THAT(changed.err, HasSubstr("--run-name NEW, or go on with --accept-drift"));
  EXPECT_THAT(here_.sweep({"s.toml", "--dry-run"}).out,
              HasSubstr("changed since this run began: agent.max_turns: 10 -> 3;"));
  EXPECT_TRUE(intact("r"));
  const Outcome accepted = here_.sweep({"s.toml", "--accept-drift"});
  EXPECT_EQ(accepted.code, 0) << accepted.err;
  EXPECT_EQ(here_.rows("runs/r", "request"), rows);
}

TEST_F(BadInput, ADryRunSaysWhatIsLeftAndTouchesNothing) {
  here_.write("s.toml", config());
  const Outcome before = here_.sweep({"s.toml", "--dry-run"});
  EXPECT_THAT(before.out, HasSubstr("\n1 item to run,"));
  EXPECT_FALSE(began());
  ASSERT_EQ(here_.sweep({"s.toml"}).code, 0);
  const int rows = here_.rows("runs/r", "run_resume");
  const Outcome done = here_.sweep({"s.toml", "--dry-run"});
  EXPECT_THAT(done.out, HasSubstr("  finished    custom/demo-flaky/level1/3\n"));
  EXPECT_THAT(done.out, HasSubstr("runs/r: 1 finished, 0 left\n"));
  EXPECT_THAT(done.out, HasSubstr("\nnothing to run: every item is finished\n"));
  EXPECT_THAT(done.out, Not(HasSubstr("drift")));
  EXPECT_THAT(done.out, Not(HasSubstr("busy")));
  here_.write("s.toml", config("attempts_per_problem = 3"));
  const auto more = here_.sweep_json({"s.toml", "--dry-run"});
  EXPECT_EQ(more.at("finished"), 1);
  EXPECT_EQ(more.at("left"), 2);
  EXPECT_EQ(more.at("items").at(2).at("state"), "run");
  EXPECT_EQ(here_.rows("runs/r", "run_resume"), rows);
}

TEST_F(BadInput, AHarnessOfOnesOwnIsCheckedAndNamed) {
  const std::string model = R"(base_url = "builtin:demo")";
  here_.write("s.toml",
              config("",
                     model,
                     "harness = \"mine\"\n[harness.mine]\nbase = \"repair\"\nmax_turns = 3\n"
                     "feedback = \"check\""));
  const Outcome dry = here_.sweep({"s.toml", "--dry-run"});
  EXPECT_EQ(dry.code, 0) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr("harness mine\n"));
  EXPECT_THAT(
      dry.out,
      HasSubstr("  based on repair: 3 turns, 5 tool calls; each answer is tried until one is "
                "correct, feedback check; tools submit_kernel\n"));
  const auto json = here_.sweep_json({"s.toml", "--dry-run"});
  EXPECT_EQ(json.at("harness").at("name"), "mine");
  EXPECT_EQ(json.at("harness").at("feedback"), "check");
  here_.write("s.toml", config("", model, "harness = \"mine\"\n[harness.mine]\nstop = \"never\""));
  const Outcome wrong = here_.sweep({"s.toml", "--dry-run"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("unknown stop 'never'"));
}

TEST_F(BadInput, AProbeWarnsAsADryRunDoes) {
  here_.write("s.toml",
              config("",
                     "base_url = \"http://host.example/v1\"\napi_key_env = \"E2E_KEY\"\n"
                     "price = { input = 0.000001, output = 1 }"));
  // No name is resolved: the proxy is not there.
  const std::vector<std::string> environment = {"E2E_KEY=hunter2hunter2",
                                                "http_proxy=http://127.0.0.1:1"};
  for (const std::vector<std::string>& command : {std::vector<std::string>{"s.toml", "--dry-run"},
                                                  std::vector<std::string>{"probe", "s.toml"}}) {
    const Outcome outcome = here_.sweep(command, environment);
    EXPECT_THAT(outcome.err, HasSubstr("would travel unencrypted; use https://"));
    EXPECT_THAT(outcome.err, HasSubstr("dollars per MILLION tokens; did you mean 1?"));
  }
  EXPECT_THAT(here_.sweep({"probe", "s.toml", "--quiet"}, environment).err,
              Not(HasSubstr("warning")));
}

TEST_F(BadInput, AProbeWithoutItsKey) {
  here_.write("s.toml",
              config("", "base_url = \"http://127.0.0.1:1/v1\"\napi_key_env = \"NO_KEY_HERE\""));
  expect_line(here_.sweep({"probe", "s.toml"}), 2, "key variable NO_KEY_HERE is not set");
}

TEST_F(BadInput, AFolderWithoutARun) {
  std::filesystem::create_directory(here_.folder() / "empty");
  for (const char* command : {"verify", "report"}) {
    expect_line(here_.sweep({command, "empty"}), 2, "holds no run: it has no ledger.jsonl");
    expect_line(here_.sweep({command, "nowhere"}), 2, "no such run");
  }
}

TEST_F(BadInput, AMessageNamesTheProgramOnceAndALongWordNotWhole) {
  expect_line(here_.sweep({"--frobnicate"}), 2, "sweep: unknown option '--frobnicate'");
  const Outcome eval = here_.sweep({"eval", "--frobnicate"});
  EXPECT_THAT(eval.err, HasSubstr("sweep eval: unknown option '--frobnicate'"));
  for (const std::string end : {"", ".toml"}) {
    const Outcome outcome = here_.sweep({std::string(5000, 'x') + end});
    EXPECT_EQ(outcome.code, 2) << end;
    EXPECT_LT(outcome.err.size(), 400U) << outcome.err;
  }
  for (const std::string& message : {here_.sweep({"--frobnicate"}).err, eval.err}) {
    EXPECT_THAT(message, Not(HasSubstr("sweep: sweep")));
  }
}

TEST_F(BadInput, TooFewDescriptors) {
  here_.write("s.toml", config());
  const Outcome outcome =
      here_.command({"/bin/sh", "-c", "ulimit -n 20; exec \"$0\" s.toml", Workspace::program()});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("RLIMIT_NOFILE"));
  EXPECT_THAT(outcome.err, HasSubstr("ulimit -n"));
}

// The run does not begin, so that the corrected file is no change of a run.
TEST_F(BadInput, UnknownScriptsOfABuiltinModel) {
  expect_line(sweep(config("", R"(base_url = "builtin:dmeo")")), 2, "no folder of scripts");
  EXPECT_FALSE(began());
  const Outcome dry = here_.sweep({"s.toml", "--dry-run"});
  EXPECT_EQ(dry.code, 2);
  EXPECT_THAT(dry.err, HasSubstr("no folder of scripts"));
  EXPECT_THAT(dry.out, HasSubstr("1 item, 0 of them can run; 1 lacks a script"));
}

TEST_F(BadInput, ABuiltinModelThatNoScriptPlays) {
  expect_line(sweep(config("", "base_url = \"builtin:demo\"\ndeployment_name = \"demo-flakey\"")),
              2,
              "no script plays model 'demo-flakey'");
  EXPECT_FALSE(began());
  EXPECT_THAT(here_.sweep({"s.toml", "--dry-run"}).err, HasSubstr("did you mean 'demo-flaky'?"));
}

TEST_F(BadInput, AFileThatMayNotBeRead) {
  const std::filesystem::path file = here_.write("s.toml", config());
  std::filesystem::permissions(file, std::filesystem::perms::none);
  if (::access(file.c_str(), R_OK) == 0) {
    GTEST_SKIP() << "this user may read every file";
  }
  expect_line(here_.sweep({"s.toml"}), 2, "may not be read; check the permissions");
}

// A descriptor that is closed at the start must not become the ledger's, or progress is written
// into it.
TEST_F(BadInput, ClosedStandardDescriptors) {
  here_.write("s.toml", config());
  const std::vector<std::pair<std::string, int>> cases = {
      {"<&- 2>&-", 0}, {">&- 2>&-", 3}, {"<&- >&- 2>&-", 3}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& [closed, code] = cases[i];
    const std::string run = "c" + std::to_string(i);
    const std::string script = "exec \"$0\" s.toml --run-name " + run + " " + closed;
    const Outcome outcome = here_.command({"/bin/sh", "-c", script, Workspace::program()});
    EXPECT_EQ(outcome.code, code) << closed << outcome.out << outcome.err;
    EXPECT_TRUE(intact(run)) << closed;
    EXPECT_EQ(here_.rows("runs/" + run, "item_end"), 1) << closed;
  }
}

// `ulimit -f`: said, and the run goes on without the limit.
TEST_F(BadInput, ALimitOfFileSize) {
  here_.write("s.toml", config());
  const Outcome outcome =
      here_.command({"/bin/sh", "-c", "ulimit -f 8; exec \"$0\" s.toml", Workspace::program()});
  EXPECT_EQ(outcome.code, 3) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("File too large; raise the limit (ulimit -f), then run"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("worker")));
  EXPECT_TRUE(intact("r"));
  EXPECT_EQ(here_.sweep({"s.toml"}).code, 0);
  EXPECT_TRUE(intact("r"));
}

TEST_F(BadInput, AResultThatCannotBeWrittenIsAnError) {
  const Outcome outcome = here_.command(
      {"/bin/sh", "-c", "exec \"$0\" problems list > /dev/full", Workspace::program()});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("E_CLI_OUTPUT"));
}

}  // namespace
}  // namespace sweep::e2e
