// Disks that are full or fail, files that are damaged, a clock that jumps.
#include "campaign.h"
#include "util/clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>

namespace sweep::torture {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr int kCannot = 77;

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void put(const fs::path& file, const std::string& bytes) {
  fs::remove(file);
  std::ofstream(file, std::ios::binary) << bytes;
}

bool thorough() {
  return std::getenv("SWEEP_TORTURE_ROUNDS") != nullptr;
}

// One session after another, each with a later call that fails: none may lose what came before.
// At least `least` of the five sessions must end for want of the disk.
void fail_calls(const std::string& what, int error, int least) {
  Campaign campaign(error == EIO ? 1001 : 1002);
  int failed = 0;
  const std::vector<int> numbers =
      thorough() ? std::vector<int>{1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 26, 30, 35, 40}
                 : std::vector<int>{1, 3, 6, 11, 20};
  for (const int number : numbers) {
    campaign.before = {
        SWEEP_FAULTS, what, std::to_string(number), std::to_string(error), campaign.run().string()};
    campaign.start();
    const auto code = campaign.ended(300);
    ASSERT_TRUE(code);
    if (*code == kCannot) {
      GTEST_SKIP() << "seccomp notifications are not to be had";
    }
    EXPECT_TRUE(*code == 3 || *code == 0) << what << ' ' << number << ": " << *code;
    failed += *code == 3 ? 1 : 0;
    campaign.check();
  }
  EXPECT_GE(failed, least);
  campaign.before.clear();
  campaign.finish();
}

TEST(TortureFaults, AnFsyncThatFailsAnywhere) {
  fail_calls("fsync", EIO, 3);
}

TEST(TortureFaults, ARenameThatFailsAnywhere) {
  // A rename of what a model is saying may fail unnoticed: nobody can watch then.
  fail_calls("rename", ENOSPC, 1);
}

// The run lies on a disk of so many bytes and is carried from one to the next.
TEST(TortureFaults, ADiskThatIsFull) {
  Campaign campaign(1003);
  const fs::path runs = campaign.place().folder() / "runs";
  fs::create_directories(runs);
  int full = 0;
  for (const char* bytes : {"16k", "64k", "128k", "200k"}) {
    campaign.before = {SWEEP_WITHOUT,
                       "space",
                       runs.string(),
                       bytes,
                       "/bin/sh",
                       "-c",
                       "cp -a saved/. runs/ 2> /dev/null; \"$0\" \"$@\"; code=$?; rm -rf saved; "
                       "cp -a runs saved; exit $code"};
    campaign.start();
    const auto code = campaign.ended(300);
    ASSERT_TRUE(code);
    if (*code == kCannot) {
      GTEST_SKIP() << "nothing can be mounted here";
    }
    EXPECT_TRUE(*code == 3 || *code == 0) << bytes << ": " << *code;
    full += *code == 3 ? 1 : 0;
    fs::remove_all(runs);
    fs::copy(campaign.place().folder() / "saved", runs, fs::copy_options::recursive);
    campaign.check();
    fs::remove_all(runs);
    fs::create_directories(runs);
  }
  EXPECT_GE(full, 1);
  fs::remove_all(runs);
  fs::rename(campaign.place().folder() / "saved", runs);
  campaign.before.clear();
  campaign.finish();
}

TEST(TortureFaults, AWallClockThatJumps) {
  Campaign campaign(1004);
  campaign.environment = {std::string("LD_PRELOAD=") + SWEEP_CLOCK_JUMPS};
  std::mt19937 random(4);
  util::RealClock clock;
  for (int i = 0; i < 2; ++i) {
    campaign.start();
    clock.sleep(std::uniform_real_distribution(0.5, 2.0)(random));
    if (!campaign.ended(0)) {
      campaign.kill_all();
    }
    campaign.check();
  }
  campaign.finish();
}

// A run that was killed once two items had ended at most: every kind of damage is met by the next
// start, and nothing is asked again because of it.
class Damage : public ::testing::Test {
 protected:
  // Until an item has ended and another has an answer.
  void interrupt() {
    util::RealClock clock;
    campaign_.start();
    for (int i = 0; i < 6000 && campaign_.ended_items() < 1; ++i) {
      if (campaign_.ended(0.05)) {
        break;
      }
      campaign_.check();
    }
    if (!campaign_.ended(0)) {
      campaign_.kill_all();
    }
    campaign_.check();
  }

  int session() {
    campaign_.start();
    return campaign_.ended(300).value_or(-1);
  }

  std::string log() const {
    std::string all;
    for (const auto& entry : fs::directory_iterator(campaign_.place().folder())) {
      if (entry.path().extension() == ".log") {
        all += text_of(entry.path());
      }
    }
    return all;
  }

  Campaign campaign_{1005};
};

TEST_F(Damage, OfTheLedgerIsRefusedAndOfItsLastLineRepaired) {
  interrupt();
  const fs::path ledger = campaign_.run() / "ledger.jsonl";
  const std::string before = text_of(ledger);
  std::string changed = before;
  changed[before.size() / 2] = static_cast<char>(changed[before.size() / 2] ^ 1);
  put(ledger, changed);
  EXPECT_EQ(session(), 3);
  EXPECT_EQ(text_of(ledger), changed) << "nothing is repaired by guessing";
  EXPECT_THAT(log(), HasSubstr("the chain is broken"));
  put(ledger, before + R"({"data":{"half":)");
  campaign_.finish();
  EXPECT_THAT(text_of(ledger), HasSubstr(R"("kind":"repair")"));
}

TEST_F(Damage, OfTrajectoriesAndOfTheConfigurationIsMadeGood) {
  interrupt();
  for (const auto& entry : fs::recursive_directory_iterator(campaign_.run())) {
    if (entry.path().string().ends_with("_trajectory.json")) {
      // In progress or ended: the ledger decides, and the file is made again from it.
      put(entry.path(), "{}");
    }
  }
  put(campaign_.run() / "sweep_config.json", "{}");
  EXPECT_NE(campaign_.place().sweep({"verify", "r"}).code, 0);
  for (const auto& entry : fs::recursive_directory_iterator(campaign_.run())) {
    if (entry.path().string().ends_with("_trajectory.json")) {
      fs::remove(entry.path());
    }
  }
  campaign_.forget_files();
  campaign_.finish();
}

TEST_F(Damage, OfAnArtifactStopsItsItemUntilItIsThereAgain) {
  interrupt();
  // Answers of models, which are paid for.
  std::map<fs::path, std::string> kept;
  for (const std::string& hash : campaign_.answers()) {
    const fs::path file = campaign_.run() / "artifacts" / hash;
    kept[file] = text_of(file);
    put(file, "x" + kept[file]);
  }
  ASSERT_FALSE(kept.empty());
  (void)session();
  campaign_.check();
  for (const auto& [file, bytes] : kept) {
    put(file, bytes);
  }
  campaign_.finish();
}

}  // namespace
}  // namespace sweep::torture
