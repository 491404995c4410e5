#include "queue/endings.h"

#include "util/file.h"

#include <gtest/gtest.h>

#include <fstream>

namespace sweep::queue {
namespace {

record::Row row(std::string_view kind, const std::string& item, nlohmann::json data = {}) {
  record::Row out;
  out.kind = kind;
  out.item = item;
  out.data = std::move(data);
  return out;
}

TEST(Endings, TheLastRowOfAnItemCounts) {
  const Endings endings({row(record::kind::item_start, "a"),
                         row(record::kind::item_end, "a", {{"outcome", "correct"}}),
                         row(record::kind::item_start, "b"),
                         row(record::kind::item_end, "b", {{"outcome", "infra_error"}}),
                         row(record::kind::item_start, "b"),
                         row(record::kind::item_end, "c", {{"outcome", "error"}}),
                         row(record::kind::retry, "c", {{"outcome", "error"}})});
  ASSERT_NE(endings.of("a"), nullptr);
  EXPECT_EQ(endings.of("a")->outcome, "correct");
  EXPECT_FALSE(endings.of("a")->told) << "a row of 0.1.0";
  EXPECT_EQ(endings.of("b"), nullptr);
  EXPECT_TRUE(endings.begun("b"));
  EXPECT_EQ(endings.of("c"), nullptr);
  EXPECT_FALSE(endings.begun("d"));
}

TEST(Endings, FactsComeBackAsTheyWere) {
  record::Trajectory t;
  t.outcome = "correct";
  t.llm_total_tokens = 12;
  t.cost_usd = 0.25;
  t.cost_wasted_usd = 0.5;
  t.provenance.device = "cpu";
  t.final_result.emplace();
  t.final_result->verdict = "PASS_FASTER";
  t.final_result->reason = "why";
  t.final_result->speedup = record::Interval{2, 1.5, 2.5};
  Ending back;
  facts_from(facts_json(ending_of(t)), back);
  EXPECT_TRUE(back.told);
  EXPECT_EQ(back.verdict, "PASS_FASTER");
  EXPECT_EQ(back.reason, "why");
  EXPECT_EQ(back.tokens, 12);
  EXPECT_DOUBLE_EQ(back.cost_usd.value(), 0.25);
  EXPECT_DOUBLE_EQ(back.wasted_usd, 0.5);
  EXPECT_EQ(back.device, "cpu");
  EXPECT_DOUBLE_EQ(back.speedup.value().high, 2.5);
  facts_from(facts_json(ending_of(record::Trajectory())), back);
  EXPECT_FALSE(back.cost_usd);
}

// Its answers are in the ledger: it goes on from there.
TEST(Endings, AnEndWithoutItsTrajectoryDoesNotStand) {
  const util::TempDir dir;
  const record::RunDir run(dir.path());
  const record::ItemName name{"v", "m", "1", "3", 1};
  const Endings endings({row(record::kind::item_end, "x", {{"outcome", "correct"}})});
  EXPECT_EQ(standing(endings, run, "x", name), nullptr);
  record::Trajectory t;
  t.outcome = "incorrect";
  run.save(name, t);
  ASSERT_NE(standing(endings, run, "x", name), nullptr);
  EXPECT_EQ(standing(endings, run, "x", name)->outcome, "correct") << "the ledger counts";
  EXPECT_EQ(standing(endings, run, "y", name), nullptr);
}

}  // namespace
}  // namespace sweep::queue
