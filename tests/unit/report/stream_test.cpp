#include "report/stream.h"

#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Stream, ReadsBackWhatItWrote) {
  const util::TempDir folder;
  const auto file = folder.path() / "a_stream.json";
  write_stream(file, {2, "so\xff", "<b>", 10, 3});
  const auto read = read_stream(file);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->turn, 2);
  EXPECT_EQ(read->reasoning, "so\xef\xbf\xbd");
  EXPECT_EQ(read->text_bytes, 3);
}

TEST(Stream, AnythingElseIsNone) {
  const util::TempDir folder;
  const auto file = folder.path() / "a_stream.json";
  EXPECT_FALSE(read_stream(file).has_value());
  for (const char* bad : {"",
                          "[]",
                          "{\"turn\": 1}",
                          "nul",
                          "{\"turn\":\"1\",\"reasoning\":\"\",\"text\":\"\",\"reasoning_bytes\":0,"
                          "\"text_bytes\":0}"}) {
    util::write_file_atomic(file, bad);
    EXPECT_FALSE(read_stream(file).has_value()) << bad;
  }
  util::write_file_atomic(file, std::string(2 << 20, ' '));
  EXPECT_FALSE(read_stream(file).has_value());
}

TEST(Stream, IsShownAsText) {
  const std::string html = stream_section({1, "<script>", "", 8, 0}).html();
  EXPECT_THAT(html, HasSubstr("Turn 2, under way"));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(html, HasSubstr("reasoning so far, 8 bytes<"));
  EXPECT_THAT(html, Not(HasSubstr("streaming-text")));
  EXPECT_THAT(stream_section({1, "end", "", 80, 0}).html(), HasSubstr("its end is shown"));
}

}  // namespace
}  // namespace sweep::report
