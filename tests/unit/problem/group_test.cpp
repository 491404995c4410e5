#include "problem/groups.h"
#include "util/error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace sweep::problem {
namespace {

GroupData make(std::string_view function,
               const GroupArguments& arguments,
               std::uint64_t seed = 1,
               std::int64_t width = 0) {
  return make_group(function, arguments, width, Key::from_seed(seed), {"problem.toml", 3, 1});
}

TEST(Group, SplitKeepsSumBoundsAndAlign) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Split rule;
    rule.parts = static_cast<std::int64_t>(1 + seed * 7 % 50);
    rule.align = seed % 3 == 0 ? 8 : 1;
    rule.min = seed % 2 == 0 ? 8 : 0;
    rule.max = 1000;
    rule.total = 8 * (rule.parts * 20 + static_cast<std::int64_t>(seed));
    rule.skew = static_cast<double>(seed % 4);
    rule.empty = 0.3;
    const auto lengths = split(rule, Key::from_seed(seed), {});
    EXPECT_EQ(std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}), rule.total);
    for (const std::int32_t n : lengths) {
      EXPECT_EQ(n % rule.align, 0);
      EXPECT_LE(n, 1000);
      EXPECT_TRUE(n == 0 || n >= rule.min);
    }
  }
}

TEST(Group, SplitRefusesTheImpossible) {
  EXPECT_THROW((void)split({3, 10, 0, 3, 1, 0, 0}, Key{}, {}), util::UsageError);
  EXPECT_THROW((void)split({3, 10, 0, 30, 4, 0, 0}, Key{}, {}), util::UsageError);
  EXPECT_THROW((void)split({3, 10, 5, 30, 1, 0, 0}, Key{}, {}), util::UsageError);
  EXPECT_THROW((void)split({0, 1, 0, 30, 1, 0, 0}, Key{}, {}), util::UsageError);
  EXPECT_EQ(split({0, 0, 0, 30, 1, 0, 0}, Key{}, {}).size(), 0U);
}

TEST(Group, RaggedAgrees) {
  const GroupData g =
      make("ragged", {{"parts", 40}, {"total", 1000}, {"skew", 1.5}, {"empty", 0.2}});
  const auto& offsets = g.integers.at("offsets");
  const auto& lengths = g.integers.at("lengths");
  const auto& owner = g.integers.at("owner");
  ASSERT_EQ(offsets.size(), 41U);
  EXPECT_EQ(offsets.back(), 1000);
  for (std::size_t part = 0; part < 40; ++part) {
    EXPECT_EQ(offsets[part + 1] - offsets[part], lengths[part]);
    for (std::int32_t i = offsets[part]; i < offsets[part + 1]; ++i) {
      EXPECT_EQ(owner[static_cast<std::size_t>(i)], static_cast<std::int32_t>(part));
    }
  }
  EXPECT_EQ(g.statistics.at("longest"), *std::max_element(lengths.begin(), lengths.end()));
  EXPECT_EQ(g.statistics.at("nonempty"),
            static_cast<double>(40 - std::count(lengths.begin(), lengths.end(), 0)));
  EXPECT_GT(std::count(lengths.begin(), lengths.end(), 0), 0);
}

void expect_csr(const GroupData& g, std::int32_t cols, bool unique, bool sorted) {
  const auto& offsets = g.integers.at("offsets");
  const auto& col = g.integers.at("col");
  EXPECT_EQ(static_cast<std::size_t>(offsets.back()), col.size());
  for (std::size_t row = 0; row + 1 < offsets.size(); ++row) {
    const auto begin = col.begin() + offsets[row], end = col.begin() + offsets[row + 1];
    EXPECT_TRUE(std::all_of(begin, end, [&](std::int32_t c) { return c >= 0 && c < cols; }));
    EXPECT_TRUE(!sorted || std::is_sorted(begin, end));
    EXPECT_TRUE(!unique ||
                std::set<std::int32_t>(begin, end).size() == static_cast<std::size_t>(end - begin));
  }
  const auto& order = g.integers.at("order");
  EXPECT_EQ(std::set<std::int32_t>(order.begin(), order.end()).size(), col.size());
}

TEST(Group, CsrAgrees) {
  const GroupData g =
      make("csr", {{"rows", 50}, {"cols", 30}, {"nnz", 400}, {"skew", 1}, {"empty", 0.1}});
  expect_csr(g, 30, true, true);
  const auto& col = g.integers.at("col");
  EXPECT_EQ(g.statistics.at("distinct"),
            static_cast<double>(std::set<std::int32_t>(col.begin(), col.end()).size()));
  expect_csr(make("csr", {{"rows", 50}, {"cols", 30}, {"nnz", 3000}, {"unique", 0}, {"sorted", 0}}),
             30,
             false,
             false);
  expect_csr(make("csr", {{"rows", 5}, {"cols", 4}, {"nnz", 20}}), 4, true, true);
  EXPECT_THROW((void)make("csr", {{"rows", 5}, {"cols", 4}, {"nnz", 21}}), util::UsageError);
}

TEST(Group, SymmetricCsrEqualsItsTranspose) {
  for (const double nnz : {0.0, 1.0, 200.0, 201.0}) {
    const GroupData g = make("csr", {{"rows", 40}, {"cols", 40}, {"nnz", nnz}, {"symmetric", 1}});
    expect_csr(g, 40, true, true);
    std::set<std::pair<int, int>> entries;
    const auto& owner = g.integers.at("owner");
    const auto& col = g.integers.at("col");
    for (std::size_t i = 0; i < col.size(); ++i) {
      entries.emplace(owner[i], col[i]);
    }
    EXPECT_EQ(entries.size(), static_cast<std::size_t>(nnz));
    for (const auto& [a, b] : entries) {
      EXPECT_TRUE(entries.contains({b, a}));
    }
  }
}

TEST(Group, ShuffleInverts) {
  const GroupData g = make("shuffle", {{"n", 100}, {"batch", 3}});
  const auto& forward = g.integers.at("forward");
  const auto& inverse = g.integers.at("inverse");
  for (std::size_t i = 0; i < 300; ++i) {
    EXPECT_EQ(inverse[i / 100 * 100 + static_cast<std::size_t>(forward[i])],
              static_cast<std::int32_t>(i % 100));
  }
  EXPECT_FALSE(std::equal(forward.begin(), forward.begin() + 100, forward.begin() + 100));
}

TEST(Group, RoutingAgrees) {
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    const GroupData g = make(
        "routing", {{"tokens", 200}, {"experts", 8}, {"k", 2}, {"skew", 1}, {"empty", 0.3}}, seed);
    const auto& expert = g.integers.at("expert");
    const auto& slot = g.integers.at("slot");
    const auto& offsets = g.integers.at("offsets");
    const auto& inverse = g.integers.at("inverse");
    ASSERT_EQ(expert.size(), 400U);
    for (std::size_t i = 0; i < 400; ++i) {
      EXPECT_GE(slot[i], offsets[static_cast<std::size_t>(expert[i])]);
      EXPECT_LT(slot[i], offsets[static_cast<std::size_t>(expert[i]) + 1]);
      EXPECT_EQ(inverse[static_cast<std::size_t>(slot[i])], static_cast<std::int32_t>(i));
    }
    for (std::size_t t = 0; t < 200; ++t) {
      EXPECT_NE(expert[2 * t], expert[2 * t + 1]);
    }
  }
  EXPECT_EQ(make("routing", {{"tokens", 9}, {"experts", 4}, {"k", 4}, {"empty", 1}})
                .statistics.at("nonempty"),
            4);
  EXPECT_THROW((void)make("routing", {{"tokens", 9}, {"experts", 2}, {"k", 3}}), util::UsageError);
}

TEST(Group, PagedAgrees) {
  const GroupArguments arguments{
      {"seqs", 10}, {"total", 1000}, {"page", 16}, {"pages", 80}, {"skew", 1}};
  const GroupData flat = make("paged", arguments);
  const auto& offsets = flat.integers.at("offsets");
  const auto& lengths = flat.integers.at("lengths");
  EXPECT_EQ(std::accumulate(lengths.begin(), lengths.end(), 0), 1000);
  for (std::size_t s = 0; s < 10; ++s) {
    EXPECT_EQ(offsets[s + 1] - offsets[s], (lengths[s] + 15) / 16);
  }
  EXPECT_EQ(flat.statistics.at("used"), offsets.back());
  const auto& table = flat.integers.at("table");
  EXPECT_EQ(std::set<std::int32_t>(table.begin(), table.end()).size(), 80U);
  const GroupData wide = make("paged", arguments, 1, 12);
  EXPECT_EQ(wide.integers.at("table").size(), 120U);
  for (const std::int32_t n : wide.integers.at("lengths")) {
    EXPECT_LE(n, 12 * 16);
  }
  EXPECT_THROW((void)make("paged", {{"seqs", 10}, {"total", 1000}, {"page", 16}, {"pages", 20}}),
               util::UsageError);
}

TEST(Group, Sparse24KeepsTwoOfFour) {
  const GroupData g = make("sparse24", {{"rows", 6}, {"cols", 16}});
  const auto& values = g.reals.at("values");
  const auto& dense = g.reals.at("dense");
  const auto& meta = g.integers.at("meta");
  ASSERT_EQ(values.size(), 48U);
  ASSERT_EQ(meta.size(), 24U);
  for (std::size_t four = 0; four < 24; ++four) {
    const auto low = static_cast<std::size_t>(meta[four] & 3),
               high = static_cast<std::size_t>(meta[four] >> 2);
    EXPECT_LT(low, high);
    for (std::size_t k = 0; k < 4; ++k) {
      const double want = k == low ? values[2 * four] : (k == high ? values[2 * four + 1] : 0.0);
      EXPECT_EQ(dense[4 * four + k], want);
    }
  }
}

}  // namespace
}  // namespace sweep::problem
