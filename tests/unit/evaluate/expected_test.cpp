#include "evaluate/expected.h"

#include "device/device.h"
#include "problem/problem.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

namespace sweep::evaluate {
namespace {

constexpr std::size_t kPage = 4096;

class Expectations : public ::testing::Test {
 protected:
  // Holds `pages` pages; `mark` tells it from others.
  ExpectedStore::Kept kept(std::size_t pages, double seconds, double mark = 0, int uses = 1) {
    auto expected = std::make_shared<Expected>();
    store_.trim(0);  // a recycled buffer may be larger
    expected->seed["y"] = store_.take(pages * kPage);
    expected->least["y"] = mark;
    return {std::move(expected), nullptr, seconds, uses};
  }

  std::unique_ptr<device::Device> device_ = device::open({device::Kind::cpu, 0});
  Store store_{*device_};
};

TEST_F(Expectations, AreGivenAsOftenAsTheyWereKeptFor) {
  ExpectedStore kept_store(10 * kPage);
  ASSERT_TRUE(kept_store.keep("a", kept(1, 1, 7, 2)));
  EXPECT_FALSE(kept_store.take("b"));
  for (int use = 0; use < 2; ++use) {
    const auto found = kept_store.take("a");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->expected->least.at("y"), 7);
  }
  EXPECT_FALSE(kept_store.take("a"));
}

TEST_F(Expectations, StayWithinTheBudget) {
  ExpectedStore kept_store(4 * kPage);
  EXPECT_FALSE(kept_store.keep("large", kept(5, 100)));
  ASSERT_TRUE(kept_store.keep("a", kept(2, 1)));
  ASSERT_TRUE(kept_store.keep("b", kept(2, 1)));
  EXPECT_FALSE(kept_store.keep("c", kept(1, 0.5)));
  // What was used up has made room.
  ASSERT_TRUE(kept_store.take("a"));
  EXPECT_TRUE(kept_store.keep("c", kept(2, 0.5)));
  EXPECT_TRUE(kept_store.take("b"));
  kept_store.clear();
  EXPECT_FALSE(kept_store.take("c"));
  EXPECT_TRUE(kept_store.keep("d", kept(4, 0)));
}

TEST_F(Expectations, ThatTookLongForTheirSizeStay) {
  ExpectedStore kept_store(4 * kPage);
  ASSERT_TRUE(kept_store.keep("cheap", kept(2, 1)));
  ASSERT_TRUE(kept_store.keep("dear", kept(2, 8)));
  // Hardly dearer than what is there: two of a shape differ by as much.
  EXPECT_FALSE(kept_store.keep("same", kept(2, 1.2)));
  EXPECT_TRUE(kept_store.keep("dearer", kept(2, 4)));
  EXPECT_FALSE(kept_store.take("cheap"));
  // Room for it would take both, one of which is worth more.
  EXPECT_FALSE(kept_store.keep("all", kept(4, 12)));
  EXPECT_TRUE(kept_store.take("dear"));
  EXPECT_TRUE(kept_store.take("dearer"));
}

TEST_F(Expectations, OfOneNameReplaceEachOther) {
  ExpectedStore kept_store(3 * kPage);
  ASSERT_TRUE(kept_store.keep("a", kept(2, 1, 1)));
  ASSERT_TRUE(kept_store.keep("a", kept(2, 1, 2)));
  EXPECT_EQ(kept_store.take("a")->expected->least.at("y"), 2);
  EXPECT_FALSE(kept_store.take("a"));
}

TEST(ContentName, TellsWhateverDecidesTheBits) {
  const problem::Problem problem = problem::require(
      (std::filesystem::path(SWEEP_SOURCE_DIR) / "problems/level1/2_edge_softmax").string());
  const auto draw = [&](int rows, const char* shape, const char* content, std::uint64_t seed) {
    return problem::make_draw(
        problem, shape, {{"rows", rows}, {"edges", 300}}, content, problem::Key::from_seed(seed));
  };
  const std::string name = content_name(draw(9, "t", "default", 1), nullptr);
  EXPECT_EQ(content_name(draw(9, "t", "default", 1), nullptr), name);
  EXPECT_NE(content_name(draw(10, "t", "default", 1), nullptr), name);
  EXPECT_NE(content_name(draw(9, "t", "default", 2), nullptr), name);
  const Perturbation one{"logits", 1, 2}, other{"logits", 2, 1};
  const std::string changed = content_name(draw(9, "t", "default", 1), &one);
  EXPECT_NE(changed, name);
  EXPECT_NE(content_name(draw(9, "t", "default", 1), &other), changed);
}

}  // namespace
}  // namespace sweep::evaluate
