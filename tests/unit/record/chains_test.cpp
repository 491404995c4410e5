#include "record/chains.h"

#include "record/plan.h"
#include "record/verify.h"
#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace sweep::record {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kItem = "v/m/level1/3";

class ChainsTest : public ::testing::Test {
 protected:
  ChainsTest() {
    run_.create();
    Ledger root(run_.ledger_file());
    (void)root.append(kind::run_start, {}, {{"n", "root"}});
  }

  [[nodiscard]] Ledger chain(const std::string& task) const {
    Ledger ledger(run_.chain_file(task));
    if (ledger.rows().empty()) {
      (void)ledger.append(kind::task_start,
                          {},
                          {{"root_sha256", verify_ledger(run_.ledger_file()).head}, {"n", task}});
    }
    return ledger;
  }

  void item(const std::string& task, std::int64_t epoch, const std::string& word) const {
    Ledger ledger = chain(task);
    (void)ledger.append(kind::item_start, kItem, {{"epoch", epoch}, {"n", word}});
    (void)ledger.append(kind::request, kItem, {{"n", word + "."}});
  }

  void commit(const std::string& task) const {
    const Verification read = verify_ledger(run_.chain_file(task));
    Ledger root(run_.ledger_file());
    (void)root.append(kind::task_head,
                      {},
                      {{"ledger", "ledger." + task + ".jsonl"},
                       {"rows", read.rows},
                       {"head", read.head},
                       {"n", "head"}});
  }

  [[nodiscard]] std::vector<std::string> order() const {
    std::vector<std::string> out;
    for (const Row& row : read_chains(run_).rows()) {
      out.push_back(row.data.at("n"));
    }
    return out;
  }

  util::TempDir dir_;
  RunDir run_{dir_.path() / "run"};
};

TEST_F(ChainsTest, WithoutTasksTheRowsAreTheRoots) {
  EXPECT_THAT(order(), ElementsAre("root"));
  EXPECT_EQ(read_chains(run_).problem(), "");
}

// The first holder writes on after the takeover: its rows still come before.
TEST_F(ChainsTest, AnItemsRowsAreInTheOrderOfItsEpochs) {
  item("a", 2, "second");
  item("b", 1, "first");
  EXPECT_THAT(order(), ElementsAre("root", "a", "b", "first", "first.", "second", "second."));
}

TEST_F(ChainsTest, ALaterArrayComesAfterTheHeadsOfTheFirst) {
  item("z", 1, "early");
  commit("z");
  item("a", 1, "late");
  EXPECT_THAT(order(), ElementsAre("root", "z", "early", "early.", "head", "a", "late", "late."));
  const Chains chains = read_chains(run_);
  EXPECT_EQ(chains.tasks[0].committed, 0U);
  EXPECT_EQ(chains.tasks[1].committed, 3U);
}

TEST_F(ChainsTest, ALastRowThatWasNotWholeIsNoProblem) {
  item("a", 1, "x");
  std::ofstream(run_.chain_file("a"), std::ios::app) << "{\"torn";
  EXPECT_EQ(read_chains(run_).problem(), "");
  std::ofstream(run_.chain_file("empty"));
  EXPECT_EQ(read_chains(run_).problem(), "");
}

TEST_F(ChainsTest, VerifyFindsWhatWasDoneToAChain) {
  item("a", 1, "x");
  commit("a");
  EXPECT_THAT(verify_run(run_).broken, IsEmpty());
  EXPECT_EQ(verify_run(run_).chain_rows, 3U);
  const std::string whole = read_whole(run_.chain_file("a"));
  const auto broken_by = [&](const std::string& text) {
    write_whole(run_.chain_file("a"), text);
    const auto broken = verify_run(run_).broken;
    return broken.empty() ? std::string() : broken.front();
  };
  // The last row cut off, which a chain alone cannot show.
  EXPECT_THAT(broken_by(whole.substr(0, whole.rfind("\n{") + 1)), HasSubstr("its 3 rows"));
  std::string changed = whole;
  changed.replace(changed.find("\"x\""), 3, "\"y\"");
  EXPECT_THAT(broken_by(changed), HasSubstr("hash"));
  std::filesystem::remove(run_.chain_file("a"));
  EXPECT_THAT(verify_run(run_).broken, ElementsAre(HasSubstr("ledger.a.jsonl: missing")));
  write_whole(run_.chain_file("a"), whole);
  EXPECT_THAT(verify_run(run_).broken, IsEmpty());
}

TEST_F(ChainsTest, AChainThatFollowsNoRowOfTheRootIsFound) {
  Ledger other(run_.chain_file("x"));
  (void)other.append(kind::task_start, {}, {{"root_sha256", std::string(64, 'a')}});
  EXPECT_THAT(verify_run(run_).broken, ElementsAre(HasSubstr("goes on from no row")));
  // Its rows count nowhere.
  EXPECT_EQ(read_chains(run_).rows().size(), 1U);
}

TEST_F(ChainsTest, HostileHeadsAndNames) {
  Ledger root(run_.ledger_file());
  (void)root.append(kind::task_head, {}, {{"ledger", 7}, {"rows", "x"}, {"head", nullptr}});
  EXPECT_THAT(read_chains(run_).problem(), HasSubstr("missing"));
  EXPECT_TRUE(is_task_name("12_3r1"));
  EXPECT_FALSE(is_task_name(""));
  EXPECT_FALSE(is_task_name("../x"));
  EXPECT_FALSE(is_task_name("a.b"));
  EXPECT_FALSE(is_task_name(std::string(81, 'a')));
}

}  // namespace
}  // namespace sweep::record
