#include "record/json_parser.h"

#include "record/json.h"
#include "record/json_element.h"
#include "util/error.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sweep::record {
namespace {

using nlohmann::json;

// nlohmann's own parser is the measure: what it takes must be taken as the same, or refused.
void expect_as_nlohmann(const std::string& text) {
  const json expected = json::parse(text, nullptr, false);
  json found;
  if (parse_fast(text, 100, found)) {
    EXPECT_FALSE(expected.is_discarded()) << text;
    EXPECT_EQ(found, expected) << text;
    EXPECT_EQ(found.dump(), expected.dump()) << text;  // also the kinds of numbers
  }
  ElementParser parser(100);
  std::string spelling;
  if (const auto root = parser.parse(text); root && append_canonical(*root, spelling)) {
    EXPECT_EQ(spelling, canonical(expected)) << text;
  }
}

TEST(ParseFast, TakesWhatJsonIs) {
  const std::string text =
      " {\"b\": [1, -2, 0, -0, 1.5, 1e3, 2E-2, 18446744073709551615,"
      " -9223372036854775808],\n\"a\": {\"\": \"\\u00e9\\ud83d\\ude00\\n\\\"\\\\\\/ \xc3\xa9 long "
      "enough for eight\", \"t\": true, \"f\": false, \"n\": null, \"e\": [], \"o\": {}},"
      "\"a2\": 1, \"a2\": 2}\r\n\t";
  json found;
  ASSERT_TRUE(parse_fast(text, 100, found));
  EXPECT_EQ(found, json::parse(text));
  EXPECT_EQ(found.dump(), json::parse(text).dump());
}

TEST(AppendCanonical, SpellsAsTheTreeIsSpelled) {
  std::string every = "\\u0000";
  for (int c = 1; c < 0x80; ++c) {
    every += canonical(std::string(1, static_cast<char>(c))).substr(1);
    every.pop_back();
  }
  const std::string text =
      "{\"\": [], \"a\": [1, -2, 0, -0, -0.0, 1.5, 1e3, 2E-2, 1e300, 5e-324, "
      "18446744073709551615, -9223372036854775808, [[1], {}]], \"b\": {\"c\": null, \"d\": true, "
      "\"e\": false, \"\u00e9\": \"\\ud83d\\ude00\\u007f\\/" +
      every + "\"}}";
  ElementParser parser(100);
  const auto root = parser.parse(text);
  ASSERT_TRUE(root);
  std::string spelling = "before ";
  ASSERT_TRUE(append_canonical(*root, spelling));
  EXPECT_EQ(spelling, "before " + canonical(json::parse(text)));
}

TEST(AppendCanonical, LeavesKeysInAnotherOrderToTheTree) {
  ElementParser parser(100);
  std::string spelling;
  for (const char* text : {R"({"b":1,"a":2})", R"([{"a":1,"a":1}])", R"({"a":{"b":1,"B":1}})"}) {
    const auto root = parser.parse(text);
    ASSERT_TRUE(root);
    EXPECT_FALSE(append_canonical(*root, spelling)) << text;
  }
}

TEST(ParseFast, RefusesWhatIsNone) {
  json found;
  for (const char* text : {"",
                           " ",
                           "{",
                           "[1",
                           "[1,]",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{a:1}",
                           "01",
                           "-",
                           "1.",
                           ".5",
                           "1e",
                           "+1",
                           "tru",
                           "nul",
                           "\"",
                           "\"\\x\"",
                           "\"\\u12\"",
                           "\"\\ud800\"",
                           "\"\\udc00\"",
                           "\"\\ud800\\u0041\"",
                           "\"\n\"",
                           "\"\xff\"",
                           "\"12345678\xff\"",
                           "\"\xed\xa0\x80\"",
                           "[1] 2",
                           "[1]]",
                           "1e999",
                           "\"abc\x01 efghijk\"",
                           "NaN",
                           "-Infinity",
                           "\"\\",
                           "\"\\u",
                           "{\"a\":1,}",
                           "'a'"}) {
    EXPECT_FALSE(parse_fast(text, 100, found)) << text;
  }
}

// A number that no 64 bits hold is left to the slower parser.
TEST(ParseBounded, TakesLargeNumbersAsReals) {
  EXPECT_EQ(parse_bounded("[18446744073709551616]", "x"), json::parse("[18446744073709551616]"));
}

TEST(ParseFast, GoesNoDeeperThanItMay) {
  json found;
  EXPECT_TRUE(parse_fast(std::string(100, '[') + std::string(100, ']'), 100, found));
  EXPECT_FALSE(parse_fast(std::string(101, '[') + std::string(101, ']'), 100, found));
  EXPECT_FALSE(parse_fast(std::string(101, '[') + "1" + std::string(101, ']'), 100, found));
  EXPECT_FALSE(parse_fast(std::string(1 << 20, '['), 100, found));
  EXPECT_NO_THROW(
      (void)parse_bounded(std::string(100, '[') + "1" + std::string(100, ']'), "x", 1000, 100));
}

// Every single change of a byte, and every prefix.
TEST(ParseFast, AgreesOnDamagedTexts) {
  const std::string good =
      R"({"k": [1.25e-3, -17, "a\u00e9\"b", true], "long text here": "0123456789abcdefghij", "x": {}})";
  for (std::size_t i = 0; i < good.size(); ++i) {
    expect_as_nlohmann(good.substr(0, i));
    for (int byte = 0; byte < 256; ++byte) {
      std::string bad = good;
      bad[i] = static_cast<char>(byte);
      expect_as_nlohmann(bad);
    }
  }
}

TEST(ParseBounded, SaysWhereItIsNoJson) {
  EXPECT_EQ(parse_bounded("[1, 2]", "x"), json::parse("[1, 2]"));
  try {
    (void)parse_bounded("[1, }", "file.json");
    FAIL();
  } catch (const util::InfraError& error) {
    EXPECT_EQ(error.message().where, "file.json");
    EXPECT_NE(error.message().what.find("at byte 5"), std::string::npos) << error.message().what;
  }
  EXPECT_THROW((void)parse_bounded("1e999", "x"), util::InfraError);
  EXPECT_THROW((void)parse_bounded(std::string(500, '['), "x"), util::InfraError);
}

}  // namespace
}  // namespace sweep::record
