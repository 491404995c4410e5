#include "program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace sweep::e2e {
namespace {

using ::testing::HasSubstr;

// The model needs three requests and may make one a minute: such a sweep is at work for long.
const std::string kSlow = std::string(kOneItem) + "rpm = 1\n";

// Starts the sweep, waits for its first recorded request, and does `then` beside it; $p is its
// process. Its exit code is the last line of standard output.
std::string beside(const std::string& then) {
  return "\"$0\" s.toml > out 2> err & p=$!\n"
         "for i in $(seq 600); do grep -qs '\"kind\":\"request\"' runs/r/ledger.jsonl && break; "
         "sleep 0.1; done\n" +
         then + "\nwait $p; echo $?\n";
}

TEST(Status, ShowsARunInWorkAndStopEndsIt) {
  const Workspace here;
  here.write("s.toml", kSlow);
  const Outcome ran = here.command({"/bin/sh",
                                    "-c",
                                    beside("\"$0\" status r --json > status.json; echo $?\n"
                                           "\"$0\" status r > status.txt\n"
                                           "\"$0\" stop r; echo $?"),
                                    Workspace::program()});
  EXPECT_EQ(ran.out, "0\nruns/r: stopped; the same sweep goes on where it was\n0\n130\n")
      << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("sweep: asked process "));
  const nlohmann::json status = nlohmann::json::parse(std::ifstream(here.folder() / "status.json"));
  EXPECT_EQ(status.at("state"), "running");
  EXPECT_EQ(status.at("items"), 1);
  EXPECT_EQ(status.at("ended"), 0);
  EXPECT_THAT(status.at("holder").get<std::string>(), HasSubstr("process "));
  EXPECT_EQ(status.at("models").at(0).at("name"), "demo-fixer");
  EXPECT_EQ(status.at("open").at(0).at("item"), "custom/demo-fixer/level1/3");
  const nlohmann::json after = here.sweep_json({"status", "r"});
  EXPECT_EQ(after.at("state"), "stopped");
  EXPECT_EQ(after.at("starts"), 1);
  EXPECT_EQ(here.sweep({"verify", "r"}).code, 0);
  const Outcome nobody = here.sweep({"stop", "r"});
  EXPECT_EQ(nobody.code, 0);
  EXPECT_EQ(nobody.out, "nothing works on runs/r\n");
}

TEST(Status, SaysWhatAnItemWaitsForAndTheLogWhatWasSaid) {
  const Workspace here;
  here.write("s.toml", kSlow);
  const Outcome ran = here.command({"/bin/sh",
                                    "-c",
                                    beside("for i in $(seq 300); do \"$0\" status r > status.txt; "
                                           "grep -q waiting: status.txt && break; sleep 0.2; done\n"
                                           "cat status.txt; \"$0\" stop r --now > stop.txt"),
                                    Workspace::program()});
  EXPECT_THAT(ran.out, HasSubstr("waiting: rpm, next try in ")) << ran.err;
  EXPECT_FALSE(std::filesystem::exists(here.folder() / "runs/r/.live.json"));
  const Outcome log = here.command({"/bin/cat", "runs/r/log/sweep.log"});
  EXPECT_THAT(log.out, HasSubstr("Z a sweep begins on "));
  EXPECT_THAT(log.out, HasSubstr("Z ends: a signal"));
  // Quiet is quiet on the terminal only.
  const Outcome quiet = here.sweep({"s.toml", "--quiet", "--dry-run"});
  EXPECT_EQ(quiet.err, "");
}

// Two sweeps of one machine take turns at its device: neither is at its end before the other has
// begun to get results.
TEST(Status, TwoSweepsShareTheDevice) {
  const Workspace here;
  for (const char* name : {"a", "b"}) {
    here.write(std::string(name) + ".toml",
               "[run]\nname = \"" + std::string(name) +
                   "\"\nproblems = [\"level1/3\"]\nattempts_per_problem = 4\ndevice = \"cpu\"\n"
                   "num_correct_trials = 1\nsubmit_num_correct_trials = 1\n[parallelism]\n"
                   "agents_per_gpu = 2\n[report]\nserve = false\n[[models]]\n"
                   "name = \"demo-fixer\"\napi_kind = \"openai_chat\"\n"
                   "base_url = \"builtin:demo\"\n");
  }
  const Outcome both = here.command({"/bin/sh",
                                     "-c",
                                     "\"$0\" a.toml -q > a 2>&1 & p=$!; \"$0\" b.toml -q > b 2>&1; "
                                     "q=$?; wait $p; echo $? $q",
                                     Workspace::program()});
  EXPECT_EQ(both.out, "0 0\n") << both.err;
  const auto ends = [&](const std::string& run) {
    std::vector<std::string> times;
    std::ifstream ledger(here.folder() / "runs" / run / "ledger.jsonl");
    for (std::string line; std::getline(ledger, line);) {
      const nlohmann::json row = nlohmann::json::parse(line);
      if (row.at("kind") == "item_end") {
        times.push_back(row.at("time"));
      }
    }
    return times;
  };
  const auto a = ends("a");
  const auto b = ends("b");
  ASSERT_EQ(a.size(), 4U);
  ASSERT_EQ(b.size(), 4U);
  EXPECT_LT(a.front(), b.back());
  EXPECT_LT(b.front(), a.back());
}

TEST(Status, ADeadSweepIsInterrupted) {
  const Workspace here;
  here.write("s.toml", kSlow);
  const Outcome ran = here.command({"/bin/sh", "-c", beside("kill -9 $p"), Workspace::program()});
  EXPECT_EQ(ran.out, "137\n") << ran.err;
  const Outcome status = here.sweep({"status", "r"});
  EXPECT_EQ(status.code, 0) << status.err;
  EXPECT_THAT(status.out, HasSubstr("interrupted"));
  EXPECT_THAT(status.out, HasSubstr("custom/demo-fixer/level1/3"));
}

TEST(Status, BadInputIsRefusedAndABrokenLedgerSaid) {
  const Workspace here;
  EXPECT_EQ(here.sweep({"status", "nothing"}).code, 2);
  EXPECT_EQ(here.sweep({"stop", "nothing"}).code, 2);
  EXPECT_EQ(here.sweep({"stop", "nothing", "--wait", "-1"}).code, 2);
  here.write("runs/x/ledger.jsonl", "{\"kind\":1}\n");
  const Outcome broken = here.sweep({"status", "x"});
  EXPECT_EQ(broken.code, 3);
  EXPECT_THAT(broken.out, HasSubstr("broken"));
}

}  // namespace
}  // namespace sweep::e2e
