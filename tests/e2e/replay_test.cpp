#include "program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace sweep::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const std::string kConfig = R"([run]   # a comment that no run keeps
name = "r"
problems = ["level1/3"]
device = "cpu"
num_correct_trials = 1
submit_num_correct_trials = 1
[report]
serve = false
[[models]]
name = "demo-fixer"
api_kind = "openai_chat"
base_url = "builtin:demo"
[[models]]
name = "demo-flaky"
api_kind = "openai"
base_url = "builtin:demo"
)";

std::string text_of(const fs::path& file) {
  std::ostringstream out;
  out << std::ifstream(file, std::ios::binary).rdbuf();
  return out.str();
}

// One run for all tests; each copies what it changes.
class Replay : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    here_ = new Workspace;
    here_->write("s.toml", kConfig);
    const Outcome run = here_->sweep({"s.toml"});
    ASSERT_EQ(run.code, 0) << run.out << run.err;
  }

  static void TearDownTestSuite() {
    delete here_;
    here_ = nullptr;
  }

  // A copy of the run that a test may damage.
  static fs::path copy(const std::string& name) {
    fs::copy(here_->folder() / "runs/r", here_->folder() / name, fs::copy_options::recursive);
    return here_->folder() / name;
  }

  static Workspace* here_;
};

Workspace* Replay::here_ = nullptr;

TEST_F(Replay, AFinishedRunIsLedAgainAndJudgedAgain) {
  const Outcome again = here_->sweep({"replay", "r", "--out", "again"});
  EXPECT_EQ(again.code, 0) << again.out << again.err;
  EXPECT_THAT(again.out, HasSubstr("judged again, correct"));
  EXPECT_THAT(again.out, HasSubstr("2 the same, 0 different, 0 skipped"));
  // What it leaves is a run.
  EXPECT_EQ(here_->sweep({"verify", "again"}).code, 0);
  EXPECT_EQ(here_->sweep({"report", "again"}).code, 0);
  EXPECT_EQ(here_->rows("again", "request"), here_->rows("runs/r", "request"));
  // And it can be led again itself.
  EXPECT_EQ(here_->sweep({"replay", "again", "--no-judge"}).code, 0);
  const Outcome full = here_->sweep({"replay", "r", "--no-judge", "--out", "again"});
  EXPECT_EQ(full.code, 2);
  EXPECT_THAT(full.err, HasSubstr("already holds something"));
}

TEST_F(Replay, AMissNamesItemTurnAndWhatDiffers) {
  here_->write("three.toml", kConfig + "[agent]\nmax_turns = 3\n");
  const Outcome other =
      here_->sweep({"replay", "r", "--no-judge", "--config", "three.toml", "--only", "**fixer**"});
  EXPECT_EQ(other.code, 3) << other.out << other.err;
  EXPECT_THAT(other.out, HasSubstr("DIFFERS custom/demo-fixer/level1/3"));
  EXPECT_THAT(other.out, HasSubstr("turn 2 (try 1): not recorded: messages"));
  const nlohmann::json json = nlohmann::json::parse(
      here_->sweep({"replay", "r", "--no-judge", "--config", "three.toml", "--json"}).out);
  EXPECT_FALSE(json.at("same").get<bool>());
}

TEST_F(Replay, WhatMatchesNothingOrLacksAModelIsRefusedByName) {
  const Outcome none = here_->sweep({"replay", "r", "--no-judge", "--only", "nix", "--out", "no"});
  EXPECT_EQ(none.code, 2) << none.out;
  EXPECT_THAT(none.err, HasSubstr("--only nix: matches no item of the run"));
  EXPECT_FALSE(fs::exists(here_->folder() / "no"));
  std::string other = kConfig;
  other.replace(other.find("demo-flaky"), 10, "demo-other");
  here_->write("other.toml", other);
  const Outcome lacks = here_->sweep({"replay", "r", "--no-judge", "--config", "other.toml"});
  EXPECT_EQ(lacks.code, 2) << lacks.out;
  EXPECT_THAT(lacks.err, HasSubstr("other.toml: has no model 'demo-flaky'"));
}

TEST_F(Replay, DamagedRunsAreRefusedOrADifference) {
  const fs::path broken = copy("broken");
  const std::string ledger = text_of(broken / "ledger.jsonl");
  here_->write("broken/ledger.jsonl", "{" + ledger);
  const Outcome chain = here_->sweep({"replay", "broken", "--no-judge"});
  EXPECT_EQ(chain.code, 3);
  EXPECT_THAT(chain.err, HasSubstr("E_LEDGER_BROKEN"));
  // Every artifact says something else now.
  const fs::path lies = copy("lies");
  for (const auto& entry : fs::directory_iterator(lies / "artifacts")) {
    if (text_of(entry.path()).find("\"tries\"") != std::string::npos) {
      fs::permissions(entry.path(), fs::perms::owner_write, fs::perm_options::add);
      std::ofstream(entry.path(), std::ios::app) << " ";
    }
  }
  const Outcome changed = here_->sweep({"replay", "lies", "--no-judge"});
  EXPECT_EQ(changed.code, 3);
  EXPECT_THAT(changed.out, HasSubstr("DIFFERS"));
}

TEST_F(Replay, TheRecordedConfigurationHasNoComments) {
  for (const auto& entry : fs::directory_iterator(here_->folder() / "runs/r/artifacts")) {
    EXPECT_EQ(text_of(entry.path()).find("that no run keeps"), std::string::npos) << entry.path();
  }
}

}  // namespace
}  // namespace sweep::e2e
