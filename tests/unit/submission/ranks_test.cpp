#include "submission/ranks.h"

#include "plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace sweep::submission {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kRanks = 3;

Tensor rank_tensor(const std::string& name, Role role, bool per_rank) {
  return {name, expr::DType::f32, role, {std::get<expr::Expr>(expr::parse("n"))}, per_rank};
}

// x and y are there for each rank, w once.
Signature ranked() {
  Signature out;
  out.problem = "level2/2";
  out.dims = {"ranks", "n"};
  out.tensors = {rank_tensor("x", Role::input, true),
                 rank_tensor("w", Role::input, false),
                 rank_tensor("y", Role::output, true)};
  out.ranked = true;
  return out;
}

std::variant<Expansion, PlanError> run_ranked(const std::string& plan,
                                              const Signature& signature = ranked(),
                                              std::uint64_t order = 0) {
  Binding binding;
  binding.dims = {{"ranks", kRanks}, {"n", 4}};
  binding.rank_order = order;
  return expand(parsed(plan), signature, binding);
}

Expansion right_ranked(const std::string& plan, std::uint64_t order = 0) {
  auto made = run_ranked(plan, ranked(), order);
  if (auto* error = std::get_if<PlanError>(&made)) {
    ADD_FAILURE() << error->code << ": " << error->what;
    return {};
  }
  return std::get<Expansion>(std::move(made));
}

PlanError wrong_ranked(const std::string& plan, const Signature& signature = ranked()) {
  auto made = run_ranked(plan, signature);
  if (std::holds_alternative<Expansion>(made)) {
    ADD_FAILURE() << plan << " expands";
    return {};
  }
  return std::get<PlanError>(std::move(made));
}

// "a0 a1 b0": kernels with the rank that their last argument says.
std::string steps_of(const Expansion& expansion) {
  std::string text;
  for (const Step& step : expansion.steps) {
    const auto& launch = std::get<Launch>(step);
    text += (text.empty() ? "" : " ") + launch.kernel +
            std::to_string(std::get<std::int64_t>(launch.arguments.back()));
  }
  return text;
}

std::size_t buffer_at(const Expansion& expansion, std::size_t step, std::size_t argument) {
  const auto& launch = std::get<Launch>(expansion.steps.at(step));
  return std::get<BufferRef>(launch.arguments.at(argument)).buffer;
}

constexpr const char* kTwoSteps =
    "//@ scratch f32 t[n]\n"
    "//@ a<<<1, 32>>>(x, w, t, rank)\n"
    "//@ b<<<1, 32>>>(peers(t), y, n, ranks, rank)\n";

TEST(Ranks, TakeEachStepTogether) {
  const Expansion all = right_ranked(kTwoSteps);
  EXPECT_EQ(all.ranks, kRanks);
  EXPECT_EQ(steps_of(all), "a0 a1 a2 b0 b1 b2");
  EXPECT_THAT(all.step_ranks, ElementsAre(0, 1, 2, 0, 1, 2));
  // x of three ranks, w, y of three ranks; then scratch.
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(buffer_at(all, rank, 0), rank);
    EXPECT_EQ(buffer_at(all, rank, 1), 3U);
    EXPECT_EQ(buffer_at(all, rank, 2), 7 + rank);
    EXPECT_EQ(buffer_at(all, 3 + rank, 1), 4 + rank);
  }
  ASSERT_EQ(all.scratch.size(), 3U);
  EXPECT_EQ(all.scratch[1].name, "t of rank 1");
  EXPECT_EQ(all.scratch_bytes, 3 * 16);
  ASSERT_EQ(all.peers.size(), 1U);
  EXPECT_THAT(all.peers[0].buffers, ElementsAre(7, 8, 9));
  EXPECT_TRUE(all.peers[0].writable);
}

TEST(Ranks, NameTheirTensors) {
  const Signature wide = widened(ranked(), kRanks);
  std::vector<std::string> names;
  for (const Tensor& one : wide.tensors) {
    names.push_back(one.name);
  }
  EXPECT_THAT(names,
              ElementsAre("x of rank 0",
                          "x of rank 1",
                          "x of rank 2",
                          "w",
                          "y of rank 0",
                          "y of rank 1",
                          "y of rank 2"));
  EXPECT_EQ(widened(ranked(), 0).tensors.size(), 3U);
}

// What a rank reads of another in the same step must not be there by chance.
TEST(Ranks, TakeAStepInAnOrderThatTheNumberSays) {
  std::set<std::string> seen;
  for (std::uint64_t order = 1; order < 40; ++order) {
    const std::string text = steps_of(right_ranked(kTwoSteps, order));
    EXPECT_EQ(text, steps_of(right_ranked(kTwoSteps, order)));
    std::string first = text.substr(0, 8), second = text.substr(9);
    EXPECT_THAT(first, Not(HasSubstr("b")));
    EXPECT_THAT(second, Not(HasSubstr("a")));
    seen.insert(first);
    std::sort(first.begin(), first.end());
    EXPECT_EQ(first, "  012aaa");
  }
  EXPECT_EQ(seen.size(), 6U);
}

TEST(Ranks, CountALaunchWithoutBlocksAsAStep) {
  const Expansion all = right_ranked(
      "//@ a<<<rank == 1 ? 1 : 0, 32>>>(x, y, rank)\n"
      "//@ b<<<rank == 0 ? 0 : 1, 32>>>(x, y, rank)\n"
      "//@ c<<<1, 32>>>(x, y, rank)\n");
  EXPECT_EQ(steps_of(all), "a1 b1 b2 c0 c1 c2");
  EXPECT_EQ(all.skipped_launches, 3);
}

TEST(Ranks, TakeTheSameNumberOfSteps) {
  const PlanError error =
      wrong_ranked("//@ if (rank == 0) a<<<1, 32>>>(x, y)\n//@ b<<<1, 32>>>(x, y)\n");
  EXPECT_EQ(error.code, "E_PLAN_RANKS");
  EXPECT_THAT(error.what, HasSubstr("rank 0 takes 2 steps, rank 1 takes 1 at ranks=3 n=4"));
  EXPECT_THAT(error.next, HasSubstr("empty grid"));
}

TEST(Ranks, HaveTheSameScratch) {
  EXPECT_EQ(wrong_ranked("//@ scratch f32 t[rank + 1]\n//@ a<<<1, 32>>>(x, t)\n").code,
            "E_PLAN_RANKS");
}

TEST(Ranks, SayOnWhichRankAPlanFails) {
  EXPECT_THAT(wrong_ranked("//@ a<<<1, 1000*(rank + 1)>>>(x, y)\n").what, HasSubstr("on rank 1"));
}

TEST(Ranks, HavePeersOfTheirOwnBuffersOnly) {
  EXPECT_EQ(wrong_ranked("//@ a<<<1, 32>>>(peers(w), y)\n").code, "E_PLAN_RANKS");
  EXPECT_EQ(wrong_ranked("//@ a<<<1, 32>>>(peers(offset(x, 1)), y)\n").code, "E_PLAN_TYPE");
  EXPECT_EQ(wrong_ranked("//@ a<<<1, 32>>>(offset(peers(x), 1), y)\n").code, "E_PLAN_TYPE");
  EXPECT_EQ(wrong_ranked("//@ a<<<peers(x), 32>>>(x, y)\n").code, "E_PLAN_TYPE");
  EXPECT_EQ(wrong_ranked("//@ a<<<1, 32>>>(peers(x, y), y)\n").code, "E_PLAN_FUNCTION");
  EXPECT_EQ(wrong_ranked("//@ zero(peers(y))\n").code, "E_PLAN_TYPE");
  const Expansion all = right_ranked("//@ let p = peers(x)\n//@ a<<<1, 32>>>(p, peers(y), y)\n");
  ASSERT_EQ(all.peers.size(), 2U);
  EXPECT_THAT(all.peers[0].buffers, ElementsAre(0, 1, 2));
  EXPECT_FALSE(all.peers[0].writable);
  EXPECT_FALSE(all.peers[1].writable);
}

TEST(Ranks, AreUnknownWhereTheProblemHasNone) {
  Signature plain = ranked();
  plain.ranked = false;
  for (Tensor& one : plain.tensors) {
    one.per_rank = false;
  }
  EXPECT_EQ(wrong_ranked("//@ a<<<rank, 32>>>(x, y)\n", plain).code, "E_PLAN_UNKNOWN_NAME");
  EXPECT_EQ(wrong_ranked("//@ a<<<1, 32>>>(peers(x), y)\n", plain).code, "E_PLAN_RANKS");
  EXPECT_EQ(std::get<Expansion>(run_ranked("//@ a<<<1, 32>>>(x, y)\n", plain)).ranks, 0);
}

TEST(Ranks, ShareTheLimitsOfAPlan) {
  EXPECT_EQ(wrong_ranked("//@ for (i = 0; i < 30000; ++i) a<<<1, 32>>>(x, y)\n").code,
            "E_PLAN_TOO_MANY_LAUNCHES");
  EXPECT_EQ(wrong_ranked("//@ for (i = 0; i < 3000000; ++i) { }\n//@ a<<<1, 32>>>(x, y)\n").code,
            "E_PLAN_TOO_LONG");
}

TEST(Ranks, NeverLetALaunchBeginEarly) {
  for (const Step& step : right_ranked("//@ a<<<1, 32, pdl>>>(x, y)\n").steps) {
    EXPECT_FALSE(std::get<Launch>(step).pdl);
  }
}

TEST(Ranks, MoveTensorMapsToTheirBuffers) {
  const Expansion all =
      right_ranked("//@ tensormap m = tile(x, box(4))\n//@ a<<<1, 32>>>(m, y, rank)\n");
  ASSERT_EQ(all.maps.size(), 3U);
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    const auto& launch = std::get<Launch>(all.steps.at(rank));
    EXPECT_EQ(all.maps.at(std::get<MapRef>(launch.arguments[0]).map).base.buffer, rank);
  }
}

Parameter pointer_to(const std::string& pointee, bool to_const) {
  Parameter out;
  out.kind = Parameter::Kind::pointer;
  out.pointee = pointee;
  out.points_to_const = to_const;
  out.text = pointee + (to_const ? " const*" : "*");
  return out;
}

// The code of what binding peers(T) says; empty: it fits.
std::string peers_bound(const std::string& of, const Parameter& parameter) {
  const Expansion all =
      right_ranked("//@ scratch f32 t[n]\n//@ a<<<1, 32>>>(peers(" + of + "), y)\n");
  const auto& launch = std::get<Launch>(all.steps.front());
  const std::size_t wanted = 7 + 3;  // after tensors and scratch
  auto made = bind_arguments(launch,
                             {parameter, pointer_to("float", false)},
                             widened(ranked(), all.ranks),
                             all,
                             [](const BufferRef& ref) { return 1000 * ref.buffer; });
  if (const auto* error = std::get_if<PlanError>(&made)) {
    EXPECT_THAT(error->what, HasSubstr("'peers(" + of + ")'"));
    return error->code;
  }
  std::uint64_t address = 0;
  std::memcpy(&address, std::get<0>(made).front().data(), sizeof address);
  EXPECT_EQ(address, 1000 * wanted);
  return {};
}

TEST(Ranks, PassPeersToArraysOfPointers) {
  EXPECT_EQ(peers_bound("x", pointer_to("float const*", true)), "");
  EXPECT_EQ(peers_bound("x", pointer_to("float4 const*", true)), "");
  EXPECT_EQ(peers_bound("t", pointer_to("float*", true)), "");
  EXPECT_EQ(peers_bound("t", pointer_to("float const*", true)), "");
  EXPECT_EQ(peers_bound("x", pointer_to("float*", true)), "E_PLAN_ARGUMENT_CONST");
  EXPECT_EQ(peers_bound("y", pointer_to("float*", true)), "E_PLAN_ARGUMENT_CONST");
  EXPECT_EQ(peers_bound("x", pointer_to("float const*", false)), "E_PLAN_ARGUMENT_CONST");
  EXPECT_EQ(peers_bound("x", pointer_to("double const*", true)), "E_PLAN_ARGUMENT_TYPE");
  EXPECT_EQ(peers_bound("x", pointer_to("float", true)), "E_PLAN_ARGUMENT_TYPE");
}

TEST(Ranks, ReadArraysOfPointersFromSymbols) {
  const auto parameters = parameters_of("_Z1aPKPKfPKPf");
  ASSERT_TRUE(parameters.has_value());
  ASSERT_EQ(parameters->size(), 2U);
  EXPECT_EQ((*parameters)[0].pointee, "float const*");
  EXPECT_TRUE((*parameters)[0].points_to_const);
  EXPECT_EQ((*parameters)[0].text, "float const* const*");
  EXPECT_EQ((*parameters)[1].pointee, "float*");
}

}  // namespace
}  // namespace sweep::submission
