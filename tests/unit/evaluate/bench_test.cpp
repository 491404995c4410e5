#include "evaluate/bench.h"

#include "evaluate/engine.h"
#include "problem/draw.h"
#include "problem/problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace sweep::evaluate {
namespace {

constexpr const char* kProblem = R"toml(
schema = 1
id = "level1/1"
title = "t"
domain = "d"
statement = "s"
[dims]
n = "free(1, 4000000)"
[inputs]
x = "f32[n] = normal()"
[outputs]
y = "f32[n]"
[shapes]
tiny = { n = 7, use = ["cpu", "golden"] }
full = { n = 50 }
[stress]
n = "uniform(1, 9)"
[edges]
list = []
[work]
flops = "n"
reference_ops = "n"
)toml";

class Benches : public ::testing::Test {
 protected:
  [[nodiscard]] problem::Draw draw(std::int64_t n) const {
    return problem::make_draw(problem_,
                              "t",
                              {{"n", n}},
                              "default",
                              problem::Key::from_seed(static_cast<std::uint64_t>(n)));
  }

  void poke(device::Address at, std::uint32_t value) {
    device_->upload(at, std::as_bytes(std::span(&value, 1)));
  }

  [[nodiscard]] std::uint32_t peek(device::Address at) {
    std::uint32_t value = 0;
    device_->download(std::as_writable_bytes(std::span(&value, 1)), at);
    return value;
  }

  problem::Problem problem_ =
      std::move(problem::parse(kProblem, {{"reference.cu", "//"}}).problem.value());
  std::unique_ptr<device::Device> device_ = device::open({device::Kind::cpu, 0});
  std::unique_ptr<Engine> engine_ = make_host_engine(*device_);
};

TEST_F(Benches, KeepTheirBuffersForOtherDims) {
  Bench bench(*device_, *engine_, problem_, draw(1000));
  const device::Buffer* const whole = &bench.slots()[1].shared[0].buffer();
  const device::Address end = bench.slots()[1].shared[0].address() + 4096;
  for (const std::int64_t n : {3, 1000, 64, 65}) {
    ASSERT_TRUE(bench.reshape(draw(n)));
    bench.fill(draw(n));
    bench.before_call(0x7e7e7e7eU);
    const Bench::Slot& y = bench.slot("y");
    const auto span = static_cast<device::Address>((4 * n + 255) / 256 * 256);
    EXPECT_EQ(&y.shared[0].buffer(), whole);
    EXPECT_EQ(y.shared[0].address(), end - span) << n;
    EXPECT_EQ(y.tensor.count, n);
    EXPECT_EQ(bench.damage().input + bench.damage().slack + bench.damage().front, "") << n;
  }
  EXPECT_EQ(bench.version(), 4);
}

TEST_F(Benches, WatchAllThatIsReachableAfterAnotherDims) {
  Bench bench(*device_, *engine_, problem_, draw(1000));
  ASSERT_TRUE(bench.reshape(draw(3)));
  bench.fill(draw(3));
  const Window& y = bench.slot("y").shared[0];
  for (const device::Address at : {y.begin(), y.address() - 4}) {
    bench.before_call(0x7e7e7e7eU);
    poke(at, 5);
    EXPECT_EQ(bench.damage().front, "y") << at - y.begin();
  }
  for (const device::Address at : {y.address() + 12, y.address() + 252}) {
    bench.before_call(0x7e7e7e7eU);
    poke(at, 5);
    EXPECT_EQ(bench.damage().slack, "y") << at - y.address();
  }
  bench.before_call(0x7e7e7e7eU);
  poke(bench.slot("x").shared[0].address(), 5);
  EXPECT_EQ(bench.damage().input, "x");
}

// The content of the larger shape is nowhere where a kernel for the smaller one could read it.
TEST_F(Benches, LeaveNothingOfTheDimsBefore) {
  Bench bench(*device_, *engine_, problem_, draw(1000));
  bench.fill(draw(1000));
  ASSERT_TRUE(bench.reshape(draw(1)));
  const Window& x = bench.slot("x").shared[0];
  for (device::Address at = x.begin(); at < x.address() + x.span(); at += 4) {
    ASSERT_EQ(peek(at), peek(x.begin())) << at - x.begin();
  }
}

TEST_F(Benches, AreLeftAsTheyAreByDimsThatDoNotFit) {
  Bench bench(*device_, *engine_, problem_, draw(1000));
  EXPECT_FALSE(bench.reshape(draw(1025)));
  EXPECT_EQ(bench.slot("y").tensor.count, 1000);
  EXPECT_EQ(bench.version(), 0);
  // Too much would lie before the contents.
  Bench large(*device_, *engine_, problem_, draw(1 << 20));
  EXPECT_FALSE(large.reshape(draw((1 << 19) - 64)));
  EXPECT_TRUE(large.reshape(draw((1 << 19) + 64)));
}

constexpr const char* kRanked = R"toml(
schema = 1
id = "level1/1"
title = "t"
domain = "d"
statement = "s"
[dims]
ranks = "ranks(2, 3)"
n = "free(1, 1000)"
[inputs]
x = "f16[n] per rank = normal()"
w = "f32[n] = normal()"
[outputs]
y = "f16[n] per rank"
[shapes]
tiny = { ranks = 3, n = 7, use = ["cpu", "golden"] }
full = { ranks = 2, n = 50 }
[stress]
n = "uniform(1, 9)"
[edges]
list = []
[work]
flops = "n"
reference_ops = "n"
)toml";

class RankedBenches : public ::testing::Test {
 protected:
  [[nodiscard]] problem::Draw draw(std::int64_t ranks, std::int64_t n) const {
    return problem::make_draw(
        problem_, "t", {{"ranks", ranks}, {"n", n}}, "default", problem::Key::from_seed(1));
  }

  [[nodiscard]] std::vector<std::byte> read(device::Address at, std::size_t bytes) {
    return download(*device_, at, bytes);
  }

  void poke(device::Address at, std::uint16_t value) {
    device_->upload(at, std::as_bytes(std::span(&value, 1)));
  }

  problem::Problem problem_ =
      std::move(problem::parse(kRanked, {{"reference.cu", "//"}}).problem.value());
  std::unique_ptr<device::Device> device_ = device::open({device::Kind::cpu, 0});
  std::unique_ptr<Engine> engine_ = make_host_engine(*device_);
};

TEST_F(RankedBenches, GiveEachRankABufferOfItsOwn) {
  Bench bench(*device_, *engine_, problem_, draw(3, 7));
  bench.fill(draw(3, 7));
  const Bench::Slot& x = bench.slot("x");
  ASSERT_EQ(x.shared.size(), 3U);
  EXPECT_EQ(bench.slot("w").shared.size(), 1U);
  EXPECT_EQ(x.part(), 14U);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(x.shared[rank].address() % 256, 0U);
    EXPECT_EQ(read(x.shared[rank].address(), 14), read(x.pristine.address() + rank * 14, 14));
  }
  EXPECT_NE(read(x.shared[0].address(), 14), read(x.shared[1].address(), 14));
}

TEST_F(RankedBenches, CollectTheOutputsOfAllRanksInOrder) {
  Bench bench(*device_, *engine_, problem_, draw(3, 7));
  Store store(*device_);
  bench.fill(draw(3, 7));
  bench.before_call(0x7e7e7e7eU);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    for (std::size_t i = 0; i < 7; ++i) {
      poke(bench.slot("y").shared[rank].address() + 2 * i,
           static_cast<std::uint16_t>(10 * rank + i));
    }
  }
  const Tensors outputs = bench.outputs(store);
  ASSERT_EQ(outputs.at("y").bytes(), 42U);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    for (std::size_t i = 0; i < 7; ++i) {
      std::uint16_t value = 0;
      device_->download(std::as_writable_bytes(std::span(&value, 1)),
                        outputs.at("y").address() + 2 * (7 * rank + i));
      EXPECT_EQ(value, 10 * rank + i);
    }
  }
  EXPECT_TRUE(bench.outputs_equal(outputs));
  EXPECT_EQ(bench.damage().slack + bench.damage().front + bench.damage().input, "");
  poke(bench.slot("y").shared[2].address() + 12, 1);
  EXPECT_FALSE(bench.outputs_equal(outputs));
}

TEST_F(RankedBenches, TellWhoseOutputsChanged) {
  Bench bench(*device_, *engine_, problem_, draw(3, 7));
  Store store(*device_);
  bench.fill(draw(3, 7));
  bench.before_call(0x7e7e7e7eU);
  const Tensors before = bench.outputs(store);
  EXPECT_EQ(bench.changed_beside(0, before), "");
  poke(bench.slot("y").shared[1].address() + 12, 1);
  EXPECT_EQ(bench.changed_beside(1, before), "");
  EXPECT_EQ(bench.changed_beside(0, before), "y");
  EXPECT_EQ(bench.changed_beside(2, before), "y");
}

TEST_F(RankedBenches, WatchTheEdgesOfEveryRank) {
  Bench bench(*device_, *engine_, problem_, draw(3, 7));
  bench.fill(draw(3, 7));
  for (std::size_t rank = 0; rank < 3; ++rank) {
    const Window& y = bench.slot("y").shared[rank];
    bench.before_call(0x7e7e7e7eU);
    poke(y.address() + 16, 5);
    EXPECT_EQ(bench.damage().slack, "y") << rank;
    bench.before_call(0x7e7e7e7eU);
    poke(y.address() - 2, 5);
    EXPECT_EQ(bench.damage().front, "y") << rank;
    bench.before_call(0x7e7e7e7eU);
    EXPECT_EQ(bench.damage().input, "");
    poke(bench.slot("x").shared[rank].address() + 12, 5);
    EXPECT_EQ(bench.damage().input, "x") << rank;
    bench.fill(draw(3, 7));
  }
}

TEST_F(RankedBenches, ChangeOneElementOfOneRank) {
  Bench bench(*device_, *engine_, problem_, draw(3, 7));
  bench.fill(draw(3, 7));
  const Bench::Slot& x = bench.slot("x");
  const auto before = read(x.shared[1].address(), 14);
  bench.perturb({"x", 17, 0});
  EXPECT_EQ(read(x.shared[0].address(), 14), read(x.pristine.address(), 14));
  EXPECT_EQ(read(x.shared[1].address(), 14), before);
  EXPECT_EQ(read(x.shared[2].address(), 14), read(x.pristine.address() + 28, 14));
  EXPECT_EQ(read(x.shared[2].address() + 6, 2), read(x.shared[0].address(), 2));
}

TEST_F(RankedBenches, AreMadeAnewForAnotherNumberOfRanks) {
  Bench bench(*device_, *engine_, problem_, draw(3, 7));
  EXPECT_FALSE(bench.reshape(draw(2, 7)));
  EXPECT_TRUE(bench.reshape(draw(3, 9)));
  EXPECT_EQ(bench.slot("x").part(), 18U);
}

TEST(Store, LendsABufferForContentsOfOtherSizes) {
  const auto device = device::open({device::Kind::cpu, 0});
  Store store(*device);
  device::Address first = 0;
  {
    const Store::Piece piece = store.take(4096);
    first = piece.address();
  }
  {
    const Store::Piece piece = store.take(300);
    EXPECT_EQ(piece.address(), first + 4096 - 512);
    EXPECT_EQ(piece.bytes(), 300U);
    EXPECT_NE(store.take(300).address(), piece.address());
  }
  store.trim(1 << 20);
  const Store::Piece one = store.take(4000);
  const Store::Piece other = store.take(4000);
  EXPECT_TRUE(one.address() == first || other.address() == first);
}

}  // namespace
}  // namespace sweep::evaluate
