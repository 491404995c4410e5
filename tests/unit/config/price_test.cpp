#include "support.h"
#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace sweep::config::testing {
namespace {

using ::testing::HasSubstr;

// A configuration with one remote model and what `rest` says of it.
std::string priced(const std::string& price, const std::string& run = "") {
  return "[run]\nname=\"r\"\nslate=\"demo\"\n" + run +
         "[[models]]\nname=\"shown\"\ndeployment_name=\"m\"\nbase_url=\"https://host/v1\"\n"
         "api_key_env=\"K\"\n" +
         price;
}

std::optional<Price> price_of(const std::string& text) {
  return read(text).config.models.at(0).price;
}

class PriceFile : public ::testing::Test {
 protected:
  std::optional<Price> price(const std::string& table) {
    std::ofstream(dir_.path() / "prices.toml") << table;
    return parse(priced("", "prices = \"prices.toml\"\n"), "x.toml", dir_.path())
        .config.models.at(0)
        .price;
  }

  std::string error(const std::string& table) {
    try {
      (void)price(table);
    } catch (const util::UsageError& error) {
      return error.what();
    }
    return "ok";
  }

  util::TempDir dir_;
};

TEST(Prices, AreExactWholeNumbers) {
  const auto price =
      price_of(priced("price = { input = 1.25, output = 10, cached_input = "
                      "0.01875, per_request = 0.005 }"));
  ASSERT_TRUE(price);
  EXPECT_EQ(price->rates, (Rates{1'250'000, 18'750, 1'250'000, 10'000'000}));
  EXPECT_EQ(price->per_request, 5'000'000);
  EXPECT_FALSE(price->free);
}

TEST(Prices, UnknownIsNotFree) {
  EXPECT_FALSE(price_of(priced("")));
  const auto free = price_of(priced("price = { free = true }"));
  ASSERT_TRUE(free);
  EXPECT_TRUE(free->free);
  EXPECT_EQ(free->rates, Rates{});
}

TEST(Prices, TiersTakeWhatTheyDoNotSayFromThePrice) {
  const auto price = price_of(
      priced("price = { input = 1, output = 8, cached_input = 0.1, tiers = [{ above_prompt_tokens "
             "= 200000, input = 2 }, { above_prompt_tokens = 400000, output = 9 }] }"));
  ASSERT_TRUE(price);
  EXPECT_EQ(rates_at(*price, 200'000).input, 1'000'000);
  EXPECT_EQ(rates_at(*price, 200'001), (Rates{2'000'000, 2'000'000, 2'000'000, 8'000'000}));
  EXPECT_EQ(rates_at(*price, 500'000), (Rates{1'000'000, 100'000, 1'000'000, 9'000'000}));
  EXPECT_EQ(largest_rates(*price), (Rates{2'000'000, 2'000'000, 2'000'000, 9'000'000}));
}

TEST(Prices, MistakesAreNamed) {
  const auto error = [](const std::string& price) { return errors_of(priced(price)); };
  EXPECT_THAT(error("price = { input = 1 }"), HasSubstr("[models.price] needs input and output"));
  EXPECT_THAT(error("price = { input = 1, output = 1, currency = \"EUR\" }"),
              HasSubstr("currency 'EUR' cannot be counted"));
  EXPECT_THAT(
      error("price = { input = 0.12345678, output = 1 }"),
      HasSubstr("input has more decimals than are counted; at most 6 decimals of dollars per "
                "MILLION tokens"));
  EXPECT_THAT(error("price = { input = 0.00000125, output = 1 }"), HasSubstr("did you mean 1.25?"));
  EXPECT_THAT(error("price = { input = 0, output = 0 }"), HasSubstr("free = true"));
  EXPECT_THAT(error("price = { free = true, output = 1 }"), HasSubstr("output beside free = true"));
  EXPECT_THAT(error("price = { input = 1, output = 1, effective_from = \"soon\" }"),
              HasSubstr("effective_from 'soon' is no date"));
  EXPECT_THAT(error("price = { input = 1, output = 1, tiers = [{ input = 2 }] }"),
              HasSubstr("a tier without above_prompt_tokens"));
  EXPECT_THAT(error("price = { input = 1, output = 1, tiers = [{ above_prompt_tokens = 5 }, { "
                    "above_prompt_tokens = 5 }] }"),
              HasSubstr("tiers do not ascend"));
  EXPECT_THAT(error("price = { input = -1, output = 1 }"), HasSubstr("input"));
}

TEST(Prices, FiguresInAnotherUnitAreWarnedAbout) {
  const auto warnings = [](const std::string& price) {
    std::string all;
    for (const Diagnostic& warning : read(priced(price)).warnings) {
      all += warning.text() + "\n";
    }
    return all;
  };
  EXPECT_EQ(warnings("price = { input = 0.001, output = 1000, cached_input = 0 }"), "");
  EXPECT_EQ(warnings("price = { free = true }"), "");
  EXPECT_EQ(
      warnings("price = { input = 0.000001, output = 1 }"),
      "x.toml:9:11: input = 0.000001 is no usual price; prices are dollars per MILLION tokens; did "
      "you mean 1?\n");
  EXPECT_THAT(warnings("price = { input = 1, output = 0.00001 }"), HasSubstr("did you mean 10?"));
  EXPECT_THAT(warnings("price = { input = 1, output = 0 }"), HasSubstr("output = 0 is no usual"));
  EXPECT_THAT(warnings("price = { input = 1250, output = 10 }"), HasSubstr("input = 1250 is no"));
}

TEST_F(PriceFile, FiguresInAnotherUnitAreWarnedAboutWithTheirFile) {
  std::ofstream(dir_.path() / "prices.toml")
      << "[[prices]]\nmodel = \"m\"\ninput = 0.000002\noutput = 1\n";
  const auto loaded = parse(priced("", "prices = \"prices.toml\"\n"), "x.toml", dir_.path());
  ASSERT_EQ(loaded.warnings.size(), 1U);
  EXPECT_THAT(loaded.warnings[0].text(),
              ::testing::AllOf(HasSubstr("prices.toml:3:1"), HasSubstr("did you mean 2?")));
}

TEST(Prices, TheHashTellsEveryDifference) {
  Price a;
  a.rates.input = 1;
  Price b = a;
  EXPECT_EQ(price_sha256(a), price_sha256(b));
  b.effective_from = "2026-01-01";
  EXPECT_NE(price_sha256(a), price_sha256(b));
  b = a;
  b.tiers = {{5, {}}};
  EXPECT_NE(price_sha256(a), price_sha256(b));
}

TEST_F(PriceFile, IsFoundByIdHostAndDate) {
  const auto found = price(R"(
[[prices]]
model = "m"
input = 1
output = 1
[[prices]]
model = "m"
effective_from = 1990-01-01
source = "https://host/prices"
input = 2
output = 2
[[prices]]
model = "m"
effective_from = 2990-01-01
input = 3
output = 3
[[prices]]
model = "m"
host = "elsewhere"
input = 4
output = 4
)");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rates.input, 2'000'000);
  EXPECT_EQ(found->effective_from, "1990-01-01");
  EXPECT_EQ(found->source, "https://host/prices");
  EXPECT_EQ(found->table_sha256.size(), 64U);
  EXPECT_EQ(price("[[prices]]\nmodel = \"m\"\nhost = \"host\"\ninput = 5\noutput = 5\n"
                  "[[prices]]\nmodel = \"m\"\neffective_from = 1990-01-01\ninput = 6\noutput = 6\n")
                ->rates.input,
            5'000'000);
  EXPECT_FALSE(price("[[prices]]\nmodel = \"other\"\ninput = 1\noutput = 1\n"));
}

TEST_F(PriceFile, GivesWayToTheModelsOwnPrice) {
  std::ofstream(dir_.path() / "prices.toml") << "[[prices]]\nmodel = \"m\"\nfree = true\n";
  const auto text = priced("price = { input = 7, output = 7 }", "prices = \"prices.toml\"\n");
  EXPECT_EQ(parse(text, "x.toml", dir_.path()).config.models.at(0).price->rates.input, 7'000'000);
}

TEST_F(PriceFile, MistakesAreNamedWithTheirFile) {
  EXPECT_THAT(error("[[prices]]\ninput = 1\noutput = 1\n"),
              HasSubstr("prices.toml:1:1: a price without a model"));
  EXPECT_THAT(error("[[prices]]\nmodel = \"m\"\ninputt = 1\noutput = 1\n"),
              HasSubstr("did you mean 'input'?"));
  EXPECT_THAT(error("[[prices]]\nmodel = \"m\"\nfree = true\n[[prices]]\nmodel = \"m\"\nfree = "
                    "true\n"),
              HasSubstr("'m' is there twice"));
  EXPECT_THAT(error("x = 1\n"), HasSubstr("holds something else than [[prices]]"));
  EXPECT_THAT(error("[[prices"), HasSubstr("x.toml:4:1: prices: "));
  EXPECT_THAT(errors_of(priced("", "prices = \"absent.toml\"\n")), HasSubstr("absent.toml"));
}

}  // namespace
}  // namespace sweep::config::testing
