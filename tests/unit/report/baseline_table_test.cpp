#include "report/baseline_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sweep::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string table_of(nlohmann::json evaluation) {
  record::FinalResult result;
  result.evaluation = std::move(evaluation);
  return baseline_table(result).html();
}

TEST(BaselineTable, HasTheKernelAgainstEachLibrary) {
  const std::string html =
      table_of({{"baselines",
                 {{{"name", "cuSPARSE <b>"},
                   {"library", "cuSPARSE 12.6.3"},
                   {"math", "f32"},
                   {"candidate", 0.83},
                   {"ratio", 1.5},
                   {"reason", ""}},
                  {{"name", "other"}, {"candidate", nullptr}, {"reason", "wrong, not timed"}}}}});
  EXPECT_THAT(html, HasSubstr("0.830x"));
  EXPECT_THAT(html, HasSubstr("cuSPARSE 12.6.3, f32"));
  EXPECT_THAT(html, HasSubstr("wrong, not timed"));
  EXPECT_THAT(html, Not(HasSubstr("<b>")));
}

TEST(BaselineTable, IsLeftOutWhereThereIsNothingToShow) {
  for (const nlohmann::json& evaluation :
       {nlohmann::json(nullptr),
        nlohmann::json(3),
        nlohmann::json::object(),
        nlohmann::json{{"baselines", 3}},
        nlohmann::json{{"baselines", nlohmann::json::array({1, "x", nullptr})}}}) {
    EXPECT_EQ(table_of(evaluation), "") << evaluation;
  }
}

}  // namespace
}  // namespace sweep::report
