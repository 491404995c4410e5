#include "queue/status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace sweep::queue {
namespace {

using Data = nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

const std::string kA = "v/m1/level1/3", kB = "v/m1/level1/3#2", kC = "v/m2/sci/heat2d";

std::vector<record::ItemName> planned() {
  return {{"v", "m1", "1", "3", 1}, {"v", "m1", "1", "3", 2}, {"v", "m2", "sci", "heat2d", 1}};
}

// Rows with their numbers and times.
class Rows {
 public:
  Rows& add(std::string_view kind, const std::string& item = {}, Data data = Data::object()) {
    record::Row row;
    row.seq = static_cast<std::int64_t>(rows.size());
    row.time = "2026-01-01T00:00:0" + std::to_string(rows.size() % 10) + ".000Z";
    row.kind = kind;
    row.item = item;
    row.data = std::move(data);
    rows.push_back(std::move(row));
    return *this;
  }

  Rows& request(const std::string& item, int index, Data facts) {
    return add(record::kind::request, item, {{"index", index}, {"facts", std::move(facts)}});
  }

  Rows& end(const std::string& item, const char* outcome) {
    return add(record::kind::item_end, item, {{"outcome", outcome}});
  }

  std::vector<record::Row> rows;
};

TEST(Status, CountsEndsTokensAndCostByModel) {
  Rows r;
  r.add(record::kind::run_start)
      .add(record::kind::item_start, kA)
      .add(record::kind::item_start, kC);
  r.request(kA,
            0,
            {{"usage", {{"input", 100}, {"output", 20}}},
             {"cost_nano_usd", 5'000'000},
             {"wasted_nano_usd", 1'000'000}});
  r.request(kC, 0, {{"usage", {{"input", 7}, {"output", 3}}}, {"cost_nano_usd", nullptr}});
  r.add(record::kind::tool, kA, {{"index", 1}}).end(kC, "incorrect");
  const RunStatus s = status_of(r.rows, planned(), true);
  EXPECT_EQ(s.state, RunStatus::State::running);
  EXPECT_EQ(s.items, 3U);
  EXPECT_EQ(s.ended, 1U);
  EXPECT_EQ(s.starts, 1);
  EXPECT_THAT(s.outcomes, ElementsAre(Pair("incorrect", 1U)));
  ASSERT_EQ(s.models.size(), 2U);
  EXPECT_EQ(s.models[0].name, "m1");
  EXPECT_EQ(s.models[0].items, 2U);
  EXPECT_EQ(s.models[0].ended, 0U);
  EXPECT_EQ(s.models[0].tokens, 120);
  EXPECT_EQ(s.models[0].nano_usd, 6'000'000);
  EXPECT_TRUE(s.models[0].price_known);
  EXPECT_EQ(s.models[1].tokens, 10);
  EXPECT_FALSE(s.models[1].price_known);
  ASSERT_EQ(s.open.size(), 1U);
  EXPECT_EQ(s.open[0].item, kA);
  EXPECT_EQ(s.open[0].last, "tool call 2");
  EXPECT_EQ(s.open[0].since, "2026-01-01T00:00:01.000Z");
  EXPECT_EQ(s.open[0].at, "2026-01-01T00:00:05.000Z");
}

TEST(Status, TellsAStopFromADeathAndAnEnd) {
  Rows r;
  r.add(record::kind::run_start).add(record::kind::item_start, kA).end(kA, "correct");
  EXPECT_EQ(status_of(r.rows, planned(), false).state, RunStatus::State::interrupted);
  r.add(record::kind::run_end);
  EXPECT_EQ(status_of(r.rows, planned(), false).state, RunStatus::State::stopped);
  r.add(record::kind::config);
  EXPECT_EQ(status_of(r.rows, planned(), false).state, RunStatus::State::interrupted);
  EXPECT_EQ(status_of(r.rows, planned(), false).starts, 2);
  r.add(record::kind::run_end);
  r.add(record::kind::run_resume);
  EXPECT_EQ(status_of(r.rows, planned(), false).state, RunStatus::State::interrupted);
  r.end(kB, "correct").end(kC, "timeout");
  const RunStatus s = status_of(r.rows, planned(), false);
  EXPECT_EQ(s.state, RunStatus::State::finished);
  EXPECT_EQ(s.starts, 3);
  EXPECT_THAT(s.open, IsEmpty());
}

TEST(Status, AnItemSetBackHasNoEnd) {
  Rows r;
  r.add(record::kind::run_start).add(record::kind::item_start, kA).end(kA, "error");
  r.add(record::kind::retry, kA, {{"outcome", "error"}});
  EXPECT_EQ(status_of(r.rows, planned(), false).ended, 0U);
  r.add(record::kind::item_start, kA);
  EXPECT_EQ(status_of(r.rows, planned(), false).open.size(), 1U);
}

TEST(Status, RowsOfAForeignHandCountAsNothing) {
  Rows r;
  r.add(record::kind::run_start).add(record::kind::item_end, "no such item", {{"outcome", 7}});
  r.add(record::kind::item_end, kA, {{"outcome", Data::array()}});
  r.request(kB, -3, {{"usage", "many"}, {"cost_nano_usd", -5}});
  r.request(kB, 0, {{"usage", {{"input", -4}, {"output", 1e30}}}, {"wasted_nano_usd", "x"}});
  const RunStatus s = status_of(r.rows, planned(), false);
  EXPECT_EQ(s.ended, 1U);
  EXPECT_THAT(s.outcomes, ElementsAre(Pair("", 1U)));
  EXPECT_EQ(s.models.at(0).tokens, 0);
  EXPECT_EQ(s.models.at(0).nano_usd, 0);
}

TEST(Status, TheLargestNumbersAreHeld) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  Rows r;
  r.add(record::kind::run_start).add(record::kind::item_start, kA);
  r.add(record::kind::request,
        kA,
        {{"index", kMost}, {"facts", {{"usage", {{"input", kMost}, {"output", kMost}}}}}});
  const RunStatus s = status_of(r.rows, planned(), false);
  EXPECT_EQ(s.open.at(0).last, "request " + std::to_string(kMost));
  EXPECT_EQ(s.models.at(0).tokens, kMost);
}

TEST(Status, AnEmptyLedgerIsNoFinishedRun) {
  const RunStatus s = status_of(std::vector<record::Row>{}, {}, false);
  EXPECT_EQ(s.state, RunStatus::State::interrupted);
  EXPECT_EQ(s.rows, 0U);
}

}  // namespace
}  // namespace sweep::queue
