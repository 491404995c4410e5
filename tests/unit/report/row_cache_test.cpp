#include "report/row_cache.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sweep::report {
namespace {

Saved one() {
  CachedRow cached;
  cached.trajectory = {1, 2, 3, 4};
  cached.page = {5, 6, 7, 8};
  cached.made_with = "run";
  cached.row.model = "m\n\xc3\xa9";
  cached.row.speedup = record::Interval{2, 1.5, 2.5};
  cached.row.flags = {"a", ""};
  cached.row.tools["compile_kernel"] = {3, 1};
  cached.row.series = {
      {1, 0, 10, 0.5, 1, 1, std::nullopt, true, {{"t", "native", true, "", 0, 1}}}};
  record::LedgerDigest ledger{9, "hash", 1, "head", "time", {}};
  ledger.run_rows.emplace_back().data = {{"drift", true}};
  cached.row.digest = digest_of(cached.row);
  return {ledger,
          {{"v/m/level_1_problem_1_trajectory.json", cached}},
          {{"m/m.html", {{1, 2, 3, 4}, "rows", "frame"}}}};
}

TEST(RowCache, ReadsBackWhatItWrote) {
  const Saved saved = one();
  const RowCache& cache = saved.rows;
  const auto all = saved_from(to_bytes(saved, "program"), "program");
  ASSERT_TRUE(all.has_value());
  EXPECT_EQ(all->ledger.head, "head");
  EXPECT_EQ(all->ledger.run_rows.at(0).data, saved.ledger.run_rows.at(0).data);
  const RowCache* read = &all->rows;
  ASSERT_EQ(read->size(), 1U);
  const CachedRow& found = read->begin()->second;
  EXPECT_EQ(read->begin()->first, cache.begin()->first);
  EXPECT_EQ(found.trajectory, cache.begin()->second.trajectory);
  EXPECT_EQ(found.page, cache.begin()->second.page);
  EXPECT_EQ(found.made_with, "run");
  EXPECT_EQ(to_json(found.row), to_json(cache.begin()->second.row));
  EXPECT_EQ(found.row.digest, digest_of(found.row));
  EXPECT_EQ(all->pages.at("m/m.html").file, saved.pages.at("m/m.html").file);
  EXPECT_EQ(all->pages.at("m/m.html").made_from, "rows");
  EXPECT_EQ(all->pages.at("m/m.html").frame, "frame");
}

TEST(RowCache, TheDigestOfARowIsOfEveryField) {
  const Row row = one().rows.begin()->second.row;
  EXPECT_EQ(row.digest.size(), 32U);
  Row other = row;
  other.cut = !other.cut;
  EXPECT_NE(digest_of(other), row.digest);
  other = row;
  other.series[0].calls[0].seconds += 1e-9;
  EXPECT_NE(digest_of(other), row.digest);
  other = row;
  other.digest = "x";
  EXPECT_EQ(digest_of(other), row.digest);
}

TEST(RowCache, OfAnotherProgramIsNone) {
  EXPECT_FALSE(saved_from(to_bytes(one(), "program"), "another").has_value());
  EXPECT_FALSE(saved_from(to_bytes(one(), ""), "").has_value());
  EXPECT_FALSE(this_program().empty());
}

TEST(RowCache, AnyDamageMakesItNone) {
  const std::string good = to_bytes(one(), "program");
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] ^= 1;
    EXPECT_FALSE(saved_from(bad, "program").has_value()) << i;
    EXPECT_FALSE(saved_from(good.substr(0, i), "program").has_value()) << i;
  }
  EXPECT_FALSE(saved_from(good + '\0', "program").has_value());
}

}  // namespace
}  // namespace sweep::report
