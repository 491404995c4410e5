#include "problem/likeness.h"

#include "compare_case.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>

namespace sweep::problem {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing_case::Case;
using testing_case::close_f32;

constexpr std::int64_t kLikeRows = 48, kLikeColumns = 40;

// The words for outputs that are `wrong(i)` where `where(i)` holds.
std::string words_for(
    const std::function<double(std::int64_t, const Case&)>& wrong,
    const std::function<bool(std::int64_t)>& where = [](auto) { return true; }) {
  Case c(kLikeRows, kLikeColumns);
  for (std::int64_t i = 0; i < kLikeRows * kLikeColumns; ++i) {
    if (where(i)) {
      c.y[static_cast<std::size_t>(i)] = static_cast<float>(wrong(i, c));
    }
  }
  return likeness(close_f32(kLikeRows, kLikeColumns),
                  {kLikeRows, kLikeColumns},
                  std::as_bytes(std::span(c.y)),
                  std::as_bytes(std::span(c.r)));
}

double right_at(const Case& c, std::int64_t i) {
  return i >= 0 && i < kLikeRows * kLikeColumns ? c.r[static_cast<std::size_t>(i)] : 7e5;
}

bool in_tail(std::int64_t i) {
  return i % kLikeColumns >= 32;
}

TEST(Likeness, ARightOutputHasNone) {
  EXPECT_THAT(words_for([](auto i, const Case& c) { return right_at(c, i); }), IsEmpty());
}

TEST(Likeness, OneValueEverywhere) {
  EXPECT_EQ(words_for([](auto, const Case&) { return 0.0; }), "every wrong element is 0");
  EXPECT_EQ(words_for([](auto, const Case&) { return -0.0; }, in_tail), "every wrong element is 0");
  EXPECT_EQ(words_for([](auto, const Case&) { return 2.5; }), "every wrong element is 2.5");
  EXPECT_EQ(words_for([](auto, const Case&) { return std::nan(""); }, in_tail),
            "every wrong element is NaN");
}

TEST(Likeness, OffByOne) {
  EXPECT_THAT(words_for([](auto i, const Case& c) { return right_at(c, i + 1); }),
              HasSubstr("of the next element: an index is off by one"));
  EXPECT_THAT(words_for([](auto i, const Case& c) { return right_at(c, i - 1); }, in_tail),
              HasSubstr("of the element before"));
  EXPECT_THAT(words_for([](auto i, const Case& c) { return right_at(c, i + kLikeColumns); }),
              HasSubstr("of the next row"));
  EXPECT_THAT(words_for([](auto i, const Case& c) { return right_at(c, i - kLikeColumns); }),
              HasSubstr("of the row before"));
}

TEST(Likeness, Transposed) {
  EXPECT_EQ(words_for([](auto i, const Case& c) {
              return right_at(c, i % kLikeRows * kLikeColumns + i / kLikeRows);
            }),
            "the last two axes are transposed");
}

TEST(Likeness, FactorAndDifference) {
  EXPECT_EQ(words_for([](auto i, const Case& c) { return -right_at(c, i); }),
            "every wrong element is -1 times the right one");
  EXPECT_EQ(words_for([](auto i, const Case& c) { return 0.5 * right_at(c, i); }, in_tail),
            "every wrong element is 0.5 times the right one");
  EXPECT_EQ(words_for([](auto i, const Case& c) { return right_at(c, i) + 3; }),
            "every wrong element differs from the right one by 3");
}

TEST(Likeness, NoiseAndAFewElementsHaveNoName) {
  EXPECT_THAT(words_for([](auto i, const Case& c) {
                return right_at(c, i) + 10 * std::sin(static_cast<double>(i * i));
              }),
              IsEmpty());
  EXPECT_THAT(words_for([](auto, const Case&) { return 0.0; }, [](auto i) { return i < 2; }),
              IsEmpty());
}

// One in a hundred may be wrong in another way, one in ten not.
TEST(Likeness, AnEdgeMayDiffer) {
  const auto most = [](std::int64_t every) {
    return words_for(
        [every](auto i, const Case& c) { return i % every == 0 ? 1e3 + right_at(c, i) : 0; });
  };
  EXPECT_EQ(most(200), "every wrong element is 0");
  EXPECT_THAT(most(10), IsEmpty());
}

TEST(Likeness, IntegersAndWhatItDoesNotLookAt) {
  std::vector<std::int32_t> y, r;
  for (std::int32_t i = 0; i < 100; ++i) {
    y.push_back(i * i + 2);
    r.push_back(i * i);
  }
  CompareParameters p = close_f32(10, 10);
  p.type = kTypeI32;
  p.bitwise = 1;
  const auto got = std::as_bytes(std::span(y)), oracle = std::as_bytes(std::span(r));
  EXPECT_EQ(likeness(p, {100}, got, oracle), "every wrong element differs from the right one by 2");
  EXPECT_THAT(likeness(p, {100}, got.first(399), oracle), IsEmpty());
  EXPECT_THAT(likeness(p, {100}, got, oracle.first(399)), IsEmpty());
  p.components = 2;
  EXPECT_THAT(likeness(p, {100}, got, oracle), IsEmpty());
  p.components = 1;
  p.count = kMostLikened + 1;
  EXPECT_THAT(likeness(p, {100}, got, oracle), IsEmpty());
}

}  // namespace
}  // namespace sweep::problem
