#include "report/page_plan.h"

#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class PutPages : public ::testing::Test {
 protected:
  // Writes a page with this body; whether the body was made.
  bool put(const std::string& body) {
    const int before = made_;
    const PagesPut put = put_pages(folder_.path(),
                                   context_,
                                   {{"m/a.html",
                                     "A",
                                     {},
                                     from_,
                                     [&] {
                                       ++made_;
                                       return text(body);
                                     }}},
                                   2,
                                   cache_);
    changed_ = put.cache_changed;
    written_ = put.written;
    return made_ > before;
  }

  [[nodiscard]] std::string page() const {
    return util::read_file(folder_.path() / "m/a.html", 1 << 20);
  }

  util::TempDir folder_;
  Context context_;
  std::string from_ = "rows";
  PageCache cache_;
  std::size_t written_ = 0;
  bool changed_ = false;

 private:
  int made_ = 0;
};

TEST_F(PutPages, MakesABodyOnce) {
  EXPECT_TRUE(put("first"));
  EXPECT_TRUE(changed_);
  EXPECT_FALSE(put("second"));
  EXPECT_FALSE(changed_);
  EXPECT_EQ(written_, 0U);
  EXPECT_THAT(page(), HasSubstr("<main id=\"main\">first</main>"));
}

TEST_F(PutPages, KeepsTheBodyWhereOnlyTheRunGoesOn) {
  context_.progress = "1 of 2";
  (void)put("first </main> <main id=\"main\">");
  context_.progress = "2 of 2";
  EXPECT_FALSE(put("second"));
  EXPECT_EQ(written_, 1U);
  const std::string kept = page();
  EXPECT_THAT(kept, AllOf(HasSubstr("2 of 2"), Not(HasSubstr("1 of 2")), HasSubstr(">first &lt;")));
  // As if it had been made anew.
  cache_.clear();
  EXPECT_TRUE(put("first </main> <main id=\"main\">"));
  EXPECT_EQ(page(), kept);
}

TEST_F(PutPages, MakesItAnewWhereSomethingElseIsThere) {
  (void)put("first");
  from_ = "other rows";
  EXPECT_TRUE(put("second"));
  util::write_file_atomic(folder_.path() / "m/a.html", "<main id=\"main\">forged</main>");
  EXPECT_TRUE(put("second"));
  std::filesystem::remove(folder_.path() / "m/a.html");
  EXPECT_TRUE(put("second"));
  EXPECT_THAT(page(), HasSubstr(">second</main>"));
}

TEST_F(PutPages, MakesItEveryTimeWhereItsOriginIsNotKnown) {
  from_.clear();
  EXPECT_TRUE(put("first"));
  EXPECT_TRUE(put("second"));
  EXPECT_THAT(page(), HasSubstr(">second</main>"));
}

TEST(MadeFrom, IsOfTheRowsInTheirOrder) {
  Row a, b;
  a.digest = "a";
  b.digest = "b";
  EXPECT_NE(made_from({&a, &b}, ""), made_from({&b, &a}, ""));
  EXPECT_NE(made_from({&a}, ""), made_from({&a}, "more"));
  EXPECT_EQ(made_from({&a, &b}, "x"), made_from({&a, &b}, "x"));
  b.digest.clear();
  EXPECT_EQ(made_from({&a, &b}, ""), "");
}

}  // namespace
}  // namespace sweep::report
