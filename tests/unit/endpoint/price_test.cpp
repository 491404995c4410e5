#include "endpoint/price.h"

#include "endpoint/protocol.h"

#include <gtest/gtest.h>

#include <limits>

namespace sweep::endpoint {
namespace {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

config::Price price() {
  config::Price out;
  out.rates = {2'500'000, 250'000, 3'125'000, 10'000'000};
  return out;
}

Usage used(std::int64_t input,
           std::int64_t cached,
           std::int64_t output,
           std::int64_t written = -1) {
  Usage usage;
  usage.input = input;
  usage.cached = cached;
  usage.output = output;
  usage.cache_write = written;
  return usage;
}

TEST(Price, EveryPartOfThePromptIsChargedOnce) {
  EXPECT_EQ(cost_nano_usd(used(10, 6, 4), price()), 4 * 2500 + 6 * 250 + 4 * 10000);
  EXPECT_EQ(cost_nano_usd(used(10, 6, 4, 3), price()), 2500 + 6 * 250 + 3 * 3125 + 4 * 10000);
}

TEST(Price, CountsThatContradictEachOtherAreClamped) {
  // More cached than there is, and more written than is left.
  EXPECT_EQ(cost_nano_usd(used(10, 60, 0), price()), 10 * 250);
  EXPECT_EQ(cost_nano_usd(used(10, 6, 0, 60), price()), 6 * 250 + 4 * 3125);
  EXPECT_EQ(cost_nano_usd(used(-1, -1, -1), price()), 0);
  EXPECT_EQ(cost_nano_usd(used(10, -5, -7, -9), price()), 10 * 2500);
}

TEST(Price, PartsOfANanoDollarAreRoundedOnceAtTheEnd) {
  config::Price cheap;
  cheap.rates = {18'750, 18'750, 18'750, 18'750};  // 0.01875 dollars a million: 18.75 nano
  EXPECT_EQ(cost_nano_usd(used(1, 0, 0), cheap), 19);
  EXPECT_EQ(cost_nano_usd(used(1, 0, 1), cheap), 38);  // 37.5
  EXPECT_EQ(cost_nano_usd(used(1000, 0, 0), cheap), 18'750);
}

TEST(Price, ALongPromptChangesTheRatesOfTheWholeRequest) {
  config::Price tiered = price();
  tiered.tiers = {{100, {5'000'000, 500'000, 0, 20'000'000}}, {200, {1'000'000, 0, 0, 1'000'000}}};
  EXPECT_EQ(cost_nano_usd(used(100, 0, 1), tiered), 100 * 2500 + 10000);
  EXPECT_EQ(cost_nano_usd(used(101, 0, 1), tiered), 101 * 5000 + 20000);
  EXPECT_EQ(cost_nano_usd(used(200, 0, 1), tiered), 200 * 5000 + 20000);
  EXPECT_EQ(cost_nano_usd(used(201, 0, 1), tiered), 201 * 1000 + 1000);
}

TEST(Price, ARequestMayCostSomethingByItself) {
  config::Price flat;
  flat.per_request = 7;
  EXPECT_EQ(cost_nano_usd(used(-1, -1, -1), flat), 7);
}

TEST(Price, NonsenseCountsSaturate) {
  config::Price dear = price();
  dear.rates = {1'000'000'000'000, 1'000'000'000'000, 1'000'000'000'000, 1'000'000'000'000};
  EXPECT_EQ(cost_nano_usd(used(kHuge, kHuge, kHuge, kHuge), dear), kHuge);
  dear.per_request = kHuge;
  EXPECT_EQ(cost_nano_usd(used(1, 0, 0), dear), kHuge);
  EXPECT_EQ(add_saturated(kHuge, 1), kHuge);
  EXPECT_EQ(add_saturated(-kHuge, -kHuge), std::numeric_limits<std::int64_t>::min());
}

TEST(ProviderCost, IsReadInBothFormsAndOnlyWhereItIsSensible) {
  const auto of = [](const char* text) { return provider_nano_usd(Json::parse(text)); };
  EXPECT_EQ(of(R"({"cost":0.00014})"), 140'000);
  EXPECT_EQ(of(R"({"cost":0})"), 0);
  EXPECT_EQ(of(R"({"cost_in_usd_ticks":37756000})"), 3'775'600);
  EXPECT_EQ(of(R"({"cost_in_usd_ticks":25,"cost":1})"), 3);
  for (const char* nonsense : {R"({})",
                               R"({"cost":"0.1"})",
                               R"({"cost":-1})",
                               R"({"cost":1e300})",
                               R"({"cost":null})",
                               R"({"cost_in_usd_ticks":-4})"})
    EXPECT_FALSE(of(nonsense)) << nonsense;
}

TEST(ProviderCost, StandsBesideTheCountsAndSurvivesTheRecord) {
  const Json json = Json::parse(
      R"({"prompt_tokens":10,"completion_tokens":2,"total_tokens":12,"cost":0.5,
          "prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":3}})");
  std::vector<std::string> flags;
  const Usage usage = usage_of(&json, flags);
  EXPECT_TRUE(flags.empty());
  EXPECT_EQ(usage.provider_nano_usd, 500'000'000);
  EXPECT_EQ(usage.cache_write, 3);
  const Usage back = usage_from_json(to_json(usage));
  EXPECT_EQ(back.provider_nano_usd, usage.provider_nano_usd);
  EXPECT_EQ(back.cache_write, 3);
  EXPECT_FALSE(usage_from_json(to_json(used(1, 0, 1))).provider_nano_usd);
}

}  // namespace
}  // namespace sweep::endpoint
