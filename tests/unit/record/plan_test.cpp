#include "record/plan.h"

#include "record/artifacts.h"
#include "util/error.h"
#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::record {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> problems(const std::vector<ItemName>& items) {
  std::vector<std::string> out;
  for (const ItemName& item : items) {
    out.push_back(item.level + "/" + item.problem);
  }
  return out;
}

class RecordedPlan : public ::testing::Test {
 protected:
  void add(std::string_view kind, const std::vector<std::string>& problems) {
    std::vector<ItemName> items;
    for (const std::string& problem : problems) {
      items.push_back({"v", "m", "1", problem, 1});
    }
    add_hash(kind, Artifacts(run_.artifacts_folder()).put(plan_json(items)));
  }

  void add_hash(std::string_view kind, const std::string& hash) {
    Row& row = rows_.emplace_back();
    row.kind = kind;
    row.data = {{"items_sha256", hash}};
  }

  [[nodiscard]] std::vector<std::string> planned() const {
    return problems(planned_items(run_, rows_));
  }

  util::TempDir dir_;
  RunDir run_{dir_.path() / "run"};
  std::vector<Row> rows_;
};

TEST_F(RecordedPlan, AResumptionAddsAndAConfigurationReplaces) {
  add(kind::run_start, {"3", "1"});
  EXPECT_THAT(planned(), ElementsAre("1/3", "1/1"));
  add(kind::run_resume, {"1", "7"});
  EXPECT_THAT(planned(), ElementsAre("1/3", "1/1", "1/7"));
  add(kind::config, {"9"});
  EXPECT_THAT(planned(), ElementsAre("1/9"));
}

TEST_F(RecordedPlan, RowsThatNameNoPlanArePassedOver) {
  EXPECT_THAT(planned(), IsEmpty());
  rows_.emplace_back().kind = kind::run_start;
  add_hash(kind::run_resume, std::string(64, 'a'));
  add_hash(kind::run_resume, "../../etc/passwd");
  add_hash(kind::run_resume, Artifacts(run_.artifacts_folder()).put("[{\"model\":1}]"));
  EXPECT_THAT(planned(), IsEmpty());
  add(kind::run_resume, {"3"});
  EXPECT_THAT(planned(), ElementsAre("1/3"));
}

TEST(Plan, SurvivesTheRoundTrip) {
  const auto back = plan_from_json(plan_json({{"v", "a \"model\"", "sci", "heat2d", 2}}));
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(back[0].variant, "v");
  EXPECT_EQ(back[0].model, "a \"model\"");
  EXPECT_EQ(back[0].level, "sci");
  EXPECT_EQ(back[0].problem, "heat2d");
  EXPECT_EQ(back[0].attempt, 2);
}

TEST(Plan, AnythingElseIsRefused) {
  for (const char* text : {"", "7", "{}", "[1]", "[{}]", "[[[[[[[[]]]]]]]]"}) {
    EXPECT_THROW((void)plan_from_json(text), util::InfraError) << text;
  }
}

}  // namespace
}  // namespace sweep::record
