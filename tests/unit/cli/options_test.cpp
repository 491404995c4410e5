#include "cli/options.h"

#include "util/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::cli {
namespace {

using ::testing::HasSubstr;

TEST(Options, AMalformedDefineIsNamedAsADefine) {
  EXPECT_EQ(parse_define("TILE=64"), (Assignments{{"TILE", 64}}));
  EXPECT_EQ(parse_define("A=1,B=-2"), (Assignments{{"A", 1}, {"B", -2}}));
  for (const char* text :
       {"TILE", "TILE=", "=4", "TILE=4x", "", "A=1,", "A=1,A=2", "A=99999999999999999999"}) {
    try {
      (void)parse_define(text);
      FAIL() << text;
    } catch (const util::UsageError& error) {
      EXPECT_EQ(error.code(), "E_CLI_DEFINE");
      EXPECT_EQ(error.message().where, "-D");
      EXPECT_THAT(error.what(), HasSubstr("write e.g. -D TILE=64"));
    }
  }
}

TEST(Options, AMalformedShapeIsNamedAsAShape) {
  try {
    (void)parse_shape("rows=x");
    FAIL();
  } catch (const util::UsageError& error) {
    EXPECT_EQ(error.code(), "E_CLI_SHAPE");
    EXPECT_EQ(error.message().where, "--shape");
  }
}

TEST(Options, AnOptionInARangeIsAFiniteNumber) {
  double seconds = 5;
  CLI::App app{"", "sweep test"};
  app.add_option("--seconds", seconds)->check(CLI::Range(1.0, 9.0));
  parse(app, {"--seconds", "2.5"});
  EXPECT_EQ(seconds, 2.5);
  for (const char* text : {"nan", "NaN", "-nan", "inf", "1e999"}) {
    EXPECT_THROW(parse(app, {"--seconds", text}), util::UsageError) << text;
  }
}

}  // namespace
}  // namespace sweep::cli
