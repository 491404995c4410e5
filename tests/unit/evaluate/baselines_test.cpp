#include "evaluate/baselines.h"

#include "util/file.h"
#include "wire/channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sweep::evaluate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

RecordedBaseline recorded(const std::string& problem, const std::string& name) {
  RecordedBaseline entry;
  entry.problem = problem;
  entry.problem_sha256 = problem::Problem{}.hash();
  entry.seed_sha256 = "seed hash";
  entry.name = name;
  entry.library = "cuSPARSE 12.6.3";
  entry.path = "/usr/local/cuda/lib64/libcusparse.so.12";
  entry.math = "f32";
  entry.made = 1000;
  entry.ratio = {1.9, 2, 2.1};
  entry.shapes = {{"mid", {{"n", 5}}, 2e-4, 1e-4, {1.9, 2, 2.1}},
                  {"full", {{"n", 50}}, 8e-4, 1e-4, {7, 8, 9}}};
  entry.conditions.sm_clock_mhz = 1980;
  entry.verdict = "PASS_FASTER";
  return entry;
}

BaselineTable table_of_baselines() {
  BaselineTable table;
  table.version = "1.2";
  table.device.uuid = "GPU-7";
  table.device.driver = "580.1";
  table.entries = {recorded("level1/3", "cuSPARSE"), recorded("level1/3", "seed")};
  return table;
}

TEST(Baselines, AreStoredByDeviceAndDriverAndReadBack) {
  const util::TempDir cache;
  BaselineTable table = table_of_baselines();
  table.entries.push_back(recorded("level1/2", "x"));
  store_baselines(cache.path(), table);
  EXPECT_EQ(table.id.size(), 16U);
  EXPECT_EQ(table.entries.front().problem, "level1/2");
  const FoundBaselines found = find_baselines(cache.path(), table.device);
  ASSERT_TRUE(found.table) << found.reason;
  EXPECT_EQ(to_json(*found.table), to_json(table));
  EXPECT_EQ(baselines_file(cache.path(), table.device),
            cache.path() / "baselines/GPU-7-580.1.json");
  device::Info newer = table.device;
  newer.driver = "590.2";
  EXPECT_THAT(find_baselines(cache.path(), newer).reason, HasSubstr("another driver"));
}

TEST(Baselines, TheStoreIsReadWithoutADevice) {
  const util::TempDir cache;
  EXPECT_TRUE(stored_baselines(cache.path()).empty());
  BaselineTable table = table_of_baselines();
  store_baselines(cache.path(), table);
  BaselineTable other = table_of_baselines();
  other.device.uuid = "GPU-8";
  store_baselines(cache.path(), other);
  util::write_file_atomic(cache.path() / "baselines/GPU-9-1.json", "{");
  util::write_file_atomic(cache.path() / "baselines/notes.txt", "x");
  const auto stored = stored_baselines(cache.path());
  ASSERT_EQ(stored.size(), 3U);
  EXPECT_EQ(stored[0].file, cache.path() / "baselines/GPU-7-580.1.json");
  EXPECT_EQ(stored[0].found.table->id, table.id);
  EXPECT_EQ(stored[1].found.table->device.uuid, "GPU-8");
  EXPECT_FALSE(stored[2].found.table);
  EXPECT_NE(stored[2].found.reason, "");
}

TEST(Baselines, AlteredOrBrokenTablesAreNotBelieved) {
  const util::TempDir cache;
  BaselineTable table = table_of_baselines();
  store_baselines(cache.path(), table);
  const auto file = baselines_file(cache.path(), table.device);
  const auto refused = [&](const nlohmann::json& body) {
    util::write_file_atomic(file, body.dump());
    const FoundBaselines found = find_baselines(cache.path(), table.device);
    return !found.table && !found.reason.empty();
  };
  const nlohmann::json good = to_json(table);
  EXPECT_FALSE(refused(good));
  nlohmann::json body = good;
  body["entries"][0]["shapes"][0]["seconds"] = 1e-5;
  EXPECT_TRUE(refused(body)) << "the id is of other content";
  body["entries"][0]["shapes"][0]["seconds"] = -1;
  EXPECT_TRUE(refused(body));
  body = good;
  body["schema"] = 2;
  EXPECT_TRUE(refused(body));
  body = good;
  body["entries"][0].erase("conditions");
  EXPECT_TRUE(refused(body));
  EXPECT_TRUE(refused(nlohmann::json::array()));
  body = good;
  body["device"]["uuid"] = "GPU-8";
  EXPECT_TRUE(refused(body));
}

TEST(Baselines, ANewRecordingTakesTheProblemsPlace) {
  BaselineTable table = table_of_baselines();
  table.entries.push_back(recorded("level1/2", "x"));
  replace_problem(table, "level1/3", {recorded("level1/3", "other")});
  std::vector<std::string> names;
  for (const RecordedBaseline& entry : table.entries) {
    names.push_back(entry.name);
  }
  EXPECT_THAT(names, ElementsAre("x", "other"));
}

TimeResult timed_at(const std::vector<std::pair<std::int64_t, double>>& ratios) {
  TimeResult time;
  for (const auto& [n, ratio] : ratios) {
    ShapeTiming& shape = time.shapes.emplace_back();
    shape.dims = {{"n", n}};
    shape.ratio.point = ratio;
  }
  return time;
}

problem::Problem problem_of_baselines() {
  problem::Problem problem;
  problem.id = "level1/3";
  return problem;
}

TEST(Baselines, StandBesideAnEvaluationAtTheShapesInCommon) {
  const auto shown = shown_baselines(table_of_baselines(),
                                     problem_of_baselines(),
                                     "seed hash",
                                     timed_at({{5, 4}, {6, 100}}),
                                     4600);
  ASSERT_EQ(shown.size(), 1U) << "the seed's own entry is not shown";
  EXPECT_EQ(shown[0].shapes, 1);
  EXPECT_DOUBLE_EQ(shown[0].ratio, 2);
  EXPECT_DOUBLE_EQ(shown[0].candidate, 2);
  EXPECT_DOUBLE_EQ(shown[0].age_seconds, 3600);
  const auto both = shown_baselines(
      table_of_baselines(), problem_of_baselines(), "seed hash", timed_at({{5, 1}, {50, 4}}), 0);
  EXPECT_DOUBLE_EQ(both.at(0).ratio, 4);
  EXPECT_DOUBLE_EQ(both.at(0).candidate, 0.5);
  EXPECT_EQ(to_json(shown_from_json(to_json(both))), to_json(both));
}

TEST(Baselines, ThoseThatDoNotSuitSayWhy) {
  const auto reason = [](const BaselineTable& table, const std::string& seed, std::int64_t n) {
    const auto shown = shown_baselines(table, problem_of_baselines(), seed, timed_at({{n, 1}}), 0);
    EXPECT_EQ(to_json(shown).at(0).at("candidate"), nullptr);
    EXPECT_EQ(to_json(shown_from_json(to_json(shown))), to_json(shown));
    return shown.at(0).reason;
  };
  BaselineTable table = table_of_baselines();
  EXPECT_THAT(reason(table, "another", 5), HasSubstr("another version"));
  EXPECT_THAT(reason(table, "seed hash", 7), HasSubstr("none of the shapes"));
  table.entries[0].problem_sha256 = "x";
  EXPECT_THAT(reason(table, "seed hash", 5), HasSubstr("another version"));
  table.entries[0].failure = "wrong, not timed: y[0]";
  EXPECT_EQ(reason(table, "seed hash", 5), "wrong, not timed: y[0]");
  EXPECT_THROW((void)shown_from_json(nlohmann::json::object()), wire::WireError);
}

}  // namespace
}  // namespace sweep::evaluate
