#include "compile/wrapper.h"

#include <gmock/gmock.h>

#include <limits>

namespace sweep::compile {
namespace {

using testing::HasSubstr;

TEST(Defines, AreMacroLines) {
  EXPECT_EQ(define_lines({{"TM", 64}, {"NEG", -3}}).value(), "#define TM (64)\n#define NEG (-3)\n");
}

TEST(Defines, KeepEveryInteger) {
  const auto text =
      define_lines({{"A", std::numeric_limits<std::int64_t>::min()}, {"B", 1LL << 40}}).value();
  EXPECT_THAT(text, HasSubstr("#define A (-9223372036854775807LL - 1)\n"));
  EXPECT_THAT(text, HasSubstr("#define B (1099511627776LL)\n"));
}

TEST(Defines, RefuseAnythingButAnIdentifier) {
  for (const std::string name : {"",
                                 "1a",
                                 "a b",
                                 "a\n#include <x>",
                                 "a(b)",
                                 "defined",
                                 "__x",
                                 "a=1",
                                 "$(x)",
                                 "`x`",
                                 "\xc3\xa4"}) {
    EXPECT_FALSE(define_lines({{name, 1}})) << name;
  }
}

TEST(NameExpression, AcceptsInstances) {
  for (const std::string name : {"k", "ns::k<3, float>", "k<(1 < 2)>", "k<sizeof(int) * 2>"}) {
    EXPECT_TRUE(is_name_expression(name)) << name;
  }
}

TEST(NameExpression, RefusesInjection) {
  for (const std::string name :
       {"", "k; int x", "k\"", "k}", "#define", "k\n", "k//", "k/*", "k'a'", "3", "k[0]", "k\\"}) {
    EXPECT_FALSE(is_name_expression(name)) << name;
  }
}

TEST(SafeFileName, KeepsPlainNamesOnly) {
  EXPECT_EQ(safe_file_name("a/b/mine-2.cu"), "mine-2.cu");
  const std::string too_long = std::string(100, 'a') + ".cu";
  for (const char* name : {"x.cpp", "../a b.cu", ".cu", "\".cu", "a\n.cu", "", too_long.c_str()}) {
    EXPECT_EQ(safe_file_name(name), "submission.cu") << name;
  }
}

TEST(BuildTime, IsFoundInCodeOnly) {
  EXPECT_TRUE(uses_build_time("const char* a = __DATE__;"));
  EXPECT_TRUE(uses_build_time("x\n__TIME__"));
  EXPECT_TRUE(uses_build_time("f(\"a\\\"\", __TIMESTAMP__)"));
  EXPECT_FALSE(uses_build_time("// __DATE__\n/* __TIME__ */ \"__TIME__\" my__DATE__x"));
  EXPECT_TRUE(uses_build_time("char q = '\"'; f(__TIME__); // \""));
  EXPECT_TRUE(uses_build_time("f(__TI\\\nME__)"));
  EXPECT_TRUE(uses_build_time("f(__TI\\\r\nME__)"));
  EXPECT_TRUE(uses_build_time("int n = 1'000'000; f(__TIME__); // '"));
  EXPECT_TRUE(uses_build_time("auto t = R\"x(\")x\"; f(__TIME__); // \""));
  EXPECT_FALSE(uses_build_time("auto t = R\"x(\" __TIME__ \")x\";"));
  EXPECT_FALSE(uses_build_time("// a \\\n __TIME__\n"));
  EXPECT_FALSE(uses_build_time(""));
  EXPECT_FALSE(uses_build_time("/* open __TIME__"));
}

TEST(CpuUnit, HoldsOneRowAKernel) {
  const std::string unit = cpu_unit("a.cu", "#define N (1)\n", {"k<1>", "q"}, false);
  EXPECT_THAT(unit, HasSubstr("SWEEP_SIMT_ENTRY(\"k<1>\", k<1>),\nSWEEP_SIMT_ENTRY(\"q\", q),\n"));
  EXPECT_LT(unit.find("#define N"), unit.find("a.cu"));
}

}  // namespace
}  // namespace sweep::compile
