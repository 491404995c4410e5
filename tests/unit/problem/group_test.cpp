#include "problem/groups.h"
#include "util/error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

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
  GroupData g = make("ragged", {{"parts", 40}, {"total", 1000}, {"skew", 1.5}, {"empty", 0.2}});
  const auto& offsets = g.integers("offsets");
  const auto& lengths = g.integers("lengths");
  const auto& owner = g.integers("owner");
  ASSERT_EQ(offsets.size(), 41U);
  EXPECT_EQ(offsets.back(), 1000);
  for (std::size_t part = 0; part < 40; ++part) {
    EXPECT_EQ(offsets[part + 1] - offsets[part], lengths[part]);
    for (std::int32_t i = offsets[part]; i < offsets[part + 1]; ++i) {
      EXPECT_EQ(owner[static_cast<std::size_t>(i)], static_cast<std::int32_t>(part));
    }
  }
  EXPECT_EQ(g.statistics().at("longest"), *std::max_element(lengths.begin(), lengths.end()));
  EXPECT_EQ(g.statistics().at("nonempty"),
            static_cast<double>(40 - std::count(lengths.begin(), lengths.end(), 0)));
  EXPECT_GT(std::count(lengths.begin(), lengths.end(), 0), 0);
}

void expect_csr(GroupData g, std::int32_t cols, bool unique, bool sorted) {
  const auto& offsets = g.integers("offsets");
  const auto& col = g.integers("col");
  EXPECT_EQ(static_cast<std::size_t>(offsets.back()), col.size());
  for (std::size_t row = 0; row + 1 < offsets.size(); ++row) {
    const auto begin = col.begin() + offsets[row], end = col.begin() + offsets[row + 1];
    EXPECT_TRUE(std::all_of(begin, end, [&](std::int32_t c) { return c >= 0 && c < cols; }));
    EXPECT_TRUE(!sorted || std::is_sorted(begin, end));
    EXPECT_TRUE(!unique ||
                std::set<std::int32_t>(begin, end).size() == static_cast<std::size_t>(end - begin));
  }
  const auto& order = g.integers("order");
  EXPECT_EQ(std::set<std::int32_t>(order.begin(), order.end()).size(), col.size());
}

TEST(Group, CsrAgrees) {
  GroupData g =
      make("csr", {{"rows", 50}, {"cols", 30}, {"nnz", 400}, {"skew", 1}, {"empty", 0.1}});
  expect_csr(g, 30, true, true);
  const auto& col = g.integers("col");
  EXPECT_EQ(g.statistics().at("distinct"),
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
    GroupData g = make("csr", {{"rows", 40}, {"cols", 40}, {"nnz", nnz}, {"symmetric", 1}});
    expect_csr(g, 40, true, true);
    std::set<std::pair<int, int>> entries;
    const auto& owner = g.integers("owner");
    const auto& col = g.integers("col");
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
  GroupData g = make("shuffle", {{"n", 100}, {"batch", 3}});
  const auto& forward = g.integers("forward");
  const auto& inverse = g.integers("inverse");
  for (std::size_t i = 0; i < 300; ++i) {
    EXPECT_EQ(inverse[i / 100 * 100 + static_cast<std::size_t>(forward[i])],
              static_cast<std::int32_t>(i % 100));
  }
  EXPECT_FALSE(std::equal(forward.begin(), forward.begin() + 100, forward.begin() + 100));
}

TEST(Group, RoutingAgrees) {
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    GroupData g = make(
        "routing", {{"tokens", 200}, {"experts", 8}, {"k", 2}, {"skew", 1}, {"empty", 0.3}}, seed);
    const auto& expert = g.integers("expert");
    const auto& slot = g.integers("slot");
    const auto& offsets = g.integers("offsets");
    const auto& inverse = g.integers("inverse");
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
                .statistics()
                .at("nonempty"),
            4);
  EXPECT_THROW((void)make("routing", {{"tokens", 9}, {"experts", 2}, {"k", 3}}), util::UsageError);
}

TEST(Group, PagedAgrees) {
  const GroupArguments arguments{
      {"seqs", 10}, {"total", 1000}, {"page", 16}, {"pages", 80}, {"skew", 1}};
  GroupData flat = make("paged", arguments);
  const auto& offsets = flat.integers("offsets");
  const auto& lengths = flat.integers("lengths");
  EXPECT_EQ(std::accumulate(lengths.begin(), lengths.end(), 0), 1000);
  for (std::size_t s = 0; s < 10; ++s) {
    EXPECT_EQ(offsets[s + 1] - offsets[s], (lengths[s] + 15) / 16);
  }
  EXPECT_EQ(flat.statistics().at("used"), offsets.back());
  const auto& table = flat.integers("table");
  EXPECT_EQ(std::set<std::int32_t>(table.begin(), table.end()).size(), 80U);
  GroupData wide = make("paged", arguments, 1, 12);
  EXPECT_EQ(wide.integers("table").size(), 120U);
  for (const std::int32_t n : wide.integers("lengths")) {
    EXPECT_LE(n, 12 * 16);
  }
  EXPECT_THROW((void)make("paged", {{"seqs", 10}, {"total", 1000}, {"page", 16}, {"pages", 20}}),
               util::UsageError);
}

TEST(Group, Sparse24KeepsTwoOfFour) {
  GroupData g = make("sparse24", {{"rows", 6}, {"cols", 16}});
  const auto& values = g.reals("values");
  const auto& dense = g.reals("dense");
  const auto& meta = g.integers("meta");
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

// FNV-1a (Fowler, Noll and Vo) of the values' bytes.
std::uint64_t hash_of(const void* data, std::size_t bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (std::size_t i = 0; i < bytes; ++i) {
    hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3ULL;
  }
  return hash;
}

std::uint64_t hash_of(GroupData& group, const std::string& part) {
  if (group.is_real(part)) {
    const Reals& values = group.reals(part);
    return hash_of(values.data(), values.size() * sizeof(double));
  }
  const Integers& values = group.integers(part);
  return hash_of(values.data(), values.size() * sizeof(std::int32_t));
}

// All parts and statistics of one draw of each function: contents of published results depend on
// these bits.
TEST(Group, BitsStay) {
  struct Pin {
    std::string function;
    GroupArguments arguments;
    std::int64_t width;
    std::map<std::string, std::uint64_t> parts;
    std::map<std::string, double, std::less<>> statistics;
  };

  const std::vector<Pin> pins{
      {"ragged",
       {{"empty", 0.2}, {"parts", 3001}, {"skew", 0.8}, {"total", 90000}},
       0,
       {{"lengths", 0xfef95a734a05b9f6ULL},
        {"offsets", 0x680ca000e6d4dc53ULL},
        {"owner", 0xcdc503e2d14d8aa0ULL}},
       {{"longest", 424}, {"nonempty", 2412}}},
      {"ragged",
       {{"align", 8},
        {"empty", 0.9},
        {"max", 400},
        {"min", 8},
        {"parts", 50},
        {"skew", 2},
        {"total", 4000}},
       0,
       {{"lengths", 0x6ae2a8ae80417fa5ULL},
        {"offsets", 0x6f61400f96dbb550ULL},
        {"owner", 0x19efad0711090725ULL}},
       {{"longest", 400}, {"nonempty", 10}}},
      {"csr",
       {{"cols", 700}, {"empty", 0.1}, {"nnz", 20011}, {"rows", 501}, {"skew", 1}},
       0,
       {{"col", 0xf88470c84f0a65ebULL},
        {"degree", 0x8e10d4cb252d29f3ULL},
        {"offsets", 0x1202d08dc5a71779ULL},
        {"order", 0x6e9c75de2341bd0cULL},
        {"owner", 0xdeb542e828702d5aULL}},
       {{"distinct", 700}, {"longest", 652}, {"nonempty", 449}}},
      {"csr",
       {{"cols", 9}, {"nnz", 999}, {"rows", 40}, {"sorted", 0}, {"unique", 0}},
       0,
       {{"col", 0xe8ca08a0bdf33367ULL},
        {"degree", 0x04e7ff8296092744ULL},
        {"offsets", 0x93a2302924d02953ULL},
        {"order", 0x3e8fbcf69529543bULL},
        {"owner", 0x4e07924daf273ddfULL}},
       {{"distinct", 9}, {"longest", 25}, {"nonempty", 40}}},
      {"csr",
       {{"cols", 5000}, {"nnz", 9001}, {"rows", 3}, {"unique", 0}},
       0,
       {{"col", 0x1adb626752ff95a3ULL},
        {"degree", 0xba9a6d39c34fc3c5ULL},
        {"offsets", 0xede1573ba2c27e81ULL},
        {"order", 0x05ef6e203fc767f8ULL},
        {"owner", 0xe50a639ba3486957ULL}},
       {{"distinct", 4179}, {"longest", 3001}, {"nonempty", 3}}},
      {"csr",
       {{"cols", 300}, {"nnz", 4001}, {"rows", 300}, {"skew", 1}, {"symmetric", 1}},
       0,
       {{"col", 0xb5fd63721910d84dULL},
        {"degree", 0x5548f4ecadbf1890ULL},
        {"offsets", 0x0d782a72e4212f63ULL},
        {"order", 0x5d7157ea945a8fb8ULL},
        {"owner", 0x3c5f26797d153529ULL}},
       {{"distinct", 300}, {"longest", 48}, {"nonempty", 300}}},
      {"shuffle",
       {{"batch", 5}, {"n", 1009}},
       0,
       {{"forward", 0x9b3a6674a4d173e8ULL}, {"inverse", 0x1bdd27d35d3e5a9cULL}},
       {}},
      {"routing",
       {{"empty", 0.3}, {"experts", 16}, {"k", 3}, {"skew", 1}, {"tokens", 999}},
       0,
       {{"expert", 0x51ff3adb6d8721efULL},
        {"inverse", 0x17417a49971447e4ULL},
        {"offsets", 0x386d49bf5b31c29eULL},
        {"slot", 0x157d2cdcbfcf8c80ULL}},
       {{"largest", 740}, {"nonempty", 12}}},
      {"paged",
       {{"page", 16}, {"pages", 700}, {"seqs", 33}, {"skew", 1}, {"total", 9000}},
       0,
       {{"lengths", 0x7f02c5b2d5826482ULL},
        {"offsets", 0x9231b4a6c0992d27ULL},
        {"table", 0x824f9c3ddea65c15ULL}},
       {{"used", 579}}},
      {"paged",
       {{"page", 16}, {"pages", 700}, {"seqs", 33}, {"skew", 1}, {"total", 9000}},
       40,
       {{"lengths", 0x616c3f42a76e0f69ULL},
        {"offsets", 0xfab759f18204443fULL},
        {"table", 0x1910d7c7ff5c138fULL}},
       {{"used", 579}}},
      {"sparse24",
       {{"cols", 64}, {"rows", 30}},
       0,
       {{"meta", 0xd48a1857ad1dee64ULL},
        {"dense", 0x7c42536153a60a2eULL},
        {"values", 0xdb9965d0b91699eeULL}},
       {}},
  };
  for (const Pin& pin : pins) {
    GroupData group = make(pin.function, pin.arguments, 7, pin.width);
    // Each part alone, so that none depends on which were made before.
    for (const auto& [part, hash] : pin.parts) {
      GroupData alone = make(pin.function, pin.arguments, 7, pin.width);
      EXPECT_EQ(hash_of(alone, part), hash) << pin.function << "." << part;
      EXPECT_EQ(hash_of(group, part), hash) << pin.function << "." << part;
    }
    EXPECT_EQ(group.parts().size(), pin.parts.size());
    EXPECT_EQ(group.statistics(), pin.statistics);
  }
}

TEST(Group, PartsAreMadeWhenAskedFor) {
  GroupData g = make("csr", {{"rows", 50}, {"cols", 300}, {"nnz", 4000}});
  const std::size_t degree = 50 * 4;
  EXPECT_EQ(g.bytes(), degree);
  EXPECT_EQ(g.size("col"), 4000U);
  EXPECT_EQ(g.size("order"), 4000U);
  EXPECT_EQ(g.bytes(), degree);
  (void)g.integers("offsets");
  EXPECT_EQ(g.bytes(), degree + 51 * 4);
  const Integers& col = g.integers("col");
  EXPECT_EQ(g.bytes(), degree + 51 * 4 + 4000 * 4);
  EXPECT_EQ(&col, &g.integers("col"));
  EXPECT_THROW((void)g.integers("meta"), std::out_of_range);
  EXPECT_THROW((void)g.reals("col"), std::out_of_range);
}

TEST(Group, SplitRefusesMinAboveMax) {
  EXPECT_THROW((void)split({3, 30, 20, 15, 1, 0, 0.9}, Key::from_seed(2), {}), util::UsageError);
}

}  // namespace
}  // namespace sweep::problem
