#include "report/shown_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace sweep::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ShownText, ShowsAShortTextWhole) {
  ShownText shown;
  EXPECT_EQ(shown.block("a<b", "artifacts/x").html(), "<pre class=\"wrap\">a&lt;b</pre>");
}

TEST(ShownText, CutsALongTextAndSaysWhereItIs) {
  ShownText shown;
  const std::string html = shown.block(std::string(5U << 20U, 'x') + "end", "artifacts/ab").html();
  EXPECT_LT(html.size(), ShownText::kMostOfText + 1000);
  EXPECT_THAT(html, HasSubstr("of 5.00 MiB are shown; the whole text is in the run"));
  EXPECT_THAT(html, HasSubstr("<code>artifacts/ab</code>"));
  EXPECT_THAT(html, HasSubstr("xend</pre>"));
}

TEST(ShownText, NamesNoPlaceWhereThereIsNone) {
  ShownText shown;
  const std::string html = shown.code("id", std::string(100000, 'x'), "").html();
  EXPECT_THAT(html, HasSubstr("are shown.</p>"));
  EXPECT_THAT(html, HasSubstr("id=\"id\""));
}

TEST(ShownText, APageHoldsAFewMebibytesHoweverManyTextsThereAre) {
  ShownText shown;
  std::size_t all = 0;
  for (int i = 0; i < 1000; ++i) {
    all += shown.block(std::string(1U << 20U, '\x1b'), "").html().size();
  }
  // The last whole one may begin below the limit; a control character takes 12 bytes.
  const std::size_t longest = 12 * ShownText::kMostOfText;
  EXPECT_LT(all, ShownText::kMostOfPage + longest + 1000 * (12 * ShownText::kFewOfText + 300));
}

TEST(ShownText, FoldsAreClosedUnlessAsked) {
  EXPECT_THAT(fold("a", "t", text("x")).html(), Not(HasSubstr("open")));
  EXPECT_EQ(fold("a", "t", text("x"), true).html(),
            "<details id=\"a\" open=\"\"><summary>t</summary>x</details>");
}

}  // namespace
}  // namespace sweep::report
