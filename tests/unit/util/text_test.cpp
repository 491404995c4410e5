#include "util/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>

namespace sweep::util {
namespace {

TEST(Text, EditDistance) {
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("wiht", "with"), 1U);  // neighbours swapped
  EXPECT_EQ(edit_distance("ABC", "abc"), 0U);
}

TEST(Text, Closest) {
  const std::array<std::string, 4> names = {"temperature", "max_tokens", "timeout", "n"};
  EXPECT_EQ(closest("temprature", names), "temperature");
  EXPECT_EQ(closest("max_token", names), "max_tokens");
  EXPECT_EQ(closest("m", names), "n");
  EXPECT_EQ(closest("something_else", names), std::nullopt);
  EXPECT_EQ(closest(std::string(1 << 20, 'x'), names), std::nullopt);
}

TEST(Text, Utf8) {
  for (const char* good : {"",
                           "a",
                           "\xC3\xA4",
                           "\xE2\x82\xAC",
                           "\xF0\x9F\x98\x80",
                           "\xED\x9F\xBF",
                           "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(valid_utf8(good)) << good;
    EXPECT_EQ(to_valid_utf8(good), good);
  }
  for (const char* bad : {"\x80",
                          "\xC0\x80",
                          "\xC1\xBF",
                          "\xE0\x80\x80",
                          "\xED\xA0\x80",
                          "\xF0\x80\x80\x80",
                          "\xF4\x90\x80\x80",
                          "\xF5\x80\x80\x80",
                          "\xE2\x82",
                          "\xC3",
                          "\xFF"}) {
    EXPECT_FALSE(valid_utf8(bad));
    EXPECT_TRUE(valid_utf8(to_valid_utf8(bad)));
  }
  // Unicode 15, table 3-11: maximal parts become one mark each.
  EXPECT_EQ(to_valid_utf8("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"),
            "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"
            "A");
}

TEST(Text, PathPartsAreSafeAndReversible) {
  EXPECT_EQ(encode_path_part("GPT-4.1_x"), "GPT-4.1_x");
  EXPECT_EQ(encode_path_part("a/b c"), "a%2Fb%20c");
  EXPECT_EQ(encode_path_part(".."), "%2E.");
  EXPECT_EQ(encode_path_part(""), "%");
  EXPECT_EQ(decode_path_part("a%2fb"), std::nullopt);
  EXPECT_EQ(decode_path_part("%41"), std::nullopt);  // a second spelling of A
  EXPECT_EQ(decode_path_part("%4"), std::nullopt);
  EXPECT_EQ(decode_path_part("a/b"), std::nullopt);
}

TEST(Text, RandomBytesSurvive) {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string text(random() % 12, '\0');
    for (char& c : text) {
      c = random() % 2 == 0 ? static_cast<char>(random()) : "./%a"[random() % 4];
    }
    const std::string part = encode_path_part(text);
    EXPECT_EQ(decode_path_part(part), text);
    EXPECT_EQ(part.find('/'), std::string::npos);
    EXPECT_NE(part.front(), '.');
    const std::string mended = to_valid_utf8(text);
    EXPECT_TRUE(valid_utf8(mended));
    EXPECT_EQ(mended == text, valid_utf8(text));
    EXPECT_TRUE(valid_utf8(printable(text)));
    (void)head_and_tail(text, random() % 8);
  }
}

TEST(Text, HeadAndTail) {
  EXPECT_EQ(head_and_tail("short", 5), "short");
  EXPECT_EQ(head_and_tail("abcdefghijkl", 6), "abcd\n... 6 bytes left out ...\nkl");
  // Cuts move off the middle of characters.
  std::string umlauts;
  for (int i = 0; i < 50; ++i) {
    umlauts += "\xC3\xA4";
  }
  for (std::size_t room = 1; room < 40; ++room) {
    EXPECT_TRUE(valid_utf8(head_and_tail(umlauts, room))) << room;
  }
}

TEST(Text, HumanSeconds) {
  EXPECT_EQ(human_seconds(0), "0 s");
  EXPECT_EQ(human_seconds(812e-9), "812 ns");
  EXPECT_EQ(human_seconds(999.9e-9), "1.00 us");
  EXPECT_EQ(human_seconds(45.6e-3), "45.6 ms");
  EXPECT_EQ(human_seconds(7.891), "7.89 s");
  EXPECT_EQ(human_seconds(200), "3 min 20 s");
  EXPECT_EQ(human_seconds(7500), "2 h 5 min");
  EXPECT_EQ(human_seconds(-1), "-1.00 s");
  EXPECT_EQ(human_seconds(std::nan("")), "unknown");
  EXPECT_EQ(human_seconds(std::numeric_limits<double>::infinity()), "for ever");
}

TEST(Text, HumanSizes) {
  EXPECT_EQ(human_bytes(1023), "1023 B");
  EXPECT_EQ(human_bytes(1536), "1.50 KiB");
  EXPECT_EQ(human_bytes(80ULL << 30U), "80.0 GiB");
  EXPECT_EQ(human_bytes(std::numeric_limits<std::uint64_t>::max()), "16.0 EiB");
  EXPECT_EQ(human_count(999), "999");
  EXPECT_EQ(human_count(1234), "1.23k");
  EXPECT_EQ(human_count(999999), "1.00M");
  EXPECT_EQ(human_count(std::numeric_limits<std::uint64_t>::max()), "18.4E");
}

TEST(Text, RatiosHaveThreeSignificantDigits) {
  EXPECT_EQ(human_ratio(0.014789), "0.0148x");
  EXPECT_EQ(human_ratio(0.6649), "0.665x");
  EXPECT_EQ(human_ratio(2.7999), "2.80x");
  EXPECT_EQ(human_ratio(9.996), "10.0x");
  EXPECT_EQ(human_ratio(0.99951), "1.00x");
  EXPECT_EQ(human_ratio(1234.4), "1234x");
  EXPECT_EQ(human_ratio(0), "0.00x");
  EXPECT_EQ(human_ratio(1e-300), "0.000000000000000x");
  EXPECT_EQ(human_ratio(std::numeric_limits<double>::infinity()), "infx");
  EXPECT_EQ(human_bounds(1.2, 1.3), std::pair(std::string("1.20"), std::string("1.30")));
  EXPECT_EQ(human_bounds(1.0021, 1.0043), std::pair(std::string("1.002"), std::string("1.004")));
  EXPECT_EQ(human_bounds(1, 1), std::pair(std::string("1.00000"), std::string("1.00000")));
}

TEST(Text, SplitAndTrim) {
  EXPECT_THAT(split("a,,b", ','), testing::ElementsAre("a", "", "b"));
  EXPECT_THAT(split("", ','), testing::ElementsAre(""));
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
}

TEST(Text, Printable) {
  EXPECT_EQ(printable("a\x1b[0m\n\t\x7f\xff"), "a\\x1b[0m\n\t\\x7f\xEF\xBF\xBD");
}

}  // namespace
}  // namespace sweep::util
