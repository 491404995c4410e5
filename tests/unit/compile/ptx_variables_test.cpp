#include "compile/ptx_variables.h"

#include <gmock/gmock.h>

namespace sweep::compile {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// As NVRTC 13 writes it, shortened.
const std::string kHead =
    ".version 9.0\n.target sm_90a\n.address_size 64\n"
    ".global .align 4 .u32 cinit = 5;\n"
    ".global .align 4 .b8 tab[16] = {0, 0, 128, 63};\n"
    ".visible .entry k(\n.param .u64 k_param_0\n)\n{\n";

std::vector<std::string> written(const std::string& code) {
  return ptx_variables(kHead + code, false).written;
}

TEST(PtxVariables, TablesAreOnlyRead) {
  const PtxVariables found = ptx_variables(kHead +
                                               "mov.u64 %rd13, tab;\n"
                                               "add.s64 %rd14, %rd13, %rd12;\n"
                                               "ld.global.nc.f32 %f2, [%rd14];\n"
                                               "cp.async.ca.shared.global [%r9], [%rd14], 16;\n"
                                               "ld.global.u32 %r1, [cinit];\n}\n",
                                           false);
  EXPECT_THAT(found.written, IsEmpty());
  EXPECT_THAT(found.only_read, ElementsAre("cinit", "tab"));
}

TEST(PtxVariables, StoresAndAtomicsWrite) {
  EXPECT_THAT(written("st.global.u32 [cinit], %r14;\n}\n"), ElementsAre("cinit"));
  EXPECT_THAT(written("mov.u64 %rd1, cinit;\natom.global.add.u32 %r1, [%rd1], 1;\n}\n"),
              ElementsAre("cinit"));
  EXPECT_THAT(
      written("mov.u64 %rd1, tab;\nadd.s64 %rd2, %rd1, 4;\n@%p1 st.global.f32 [%rd2+4], %f1;\n}\n"),
      ElementsAre("tab"));
  EXPECT_THAT(written("cp.async.bulk.global.shared::cta.bulk_group [tab], [%r1], 16;\n}\n"),
              ElementsAre("tab"));
  EXPECT_THAT(written("discard.global.L2 [tab], 128;\n}\n"), ElementsAre("tab"));
}

// Inline assembly may put any number of statements and blocks on a line.
TEST(PtxVariables, LinesMeanNothing) {
  for (const std::string code : {
           "ld.global.u32 %r1, [cinit]; st.global.u32 [cinit], %r1;\n}\n",
           "{ .reg .u64 t; mov.u64 t, cinit; st.global.u32 [t], 1; }\n}\n",
           "{.reg .u64 t;mov.u64 t,cinit;st.global.u32 [t],1;}}",
           "st.global.u32\n[\ncinit\n]\n,\n1\n;\n}\n",
           "lab: st.global.u32 [cinit], 1;\n}\n",
           "lab:st.global.u32 [cinit], 1;\n}\n",
           "/* ld.global */ st.global.u32 [cinit], 1; // ld.global\n}\n",
           "ld/**/.global.u32 %r1, [%rd1]; st.global.u32 [cinit], 1;\n}\n",
           ".loc 1 2 3 st.global.u32 [cinit], 1;\n}\n",
           ".loc 1 2 3, function_name $L, inlined_at 1 2 3 st.global.u32 [cinit], 1;\n}\n",
           ".loc 1 2 3 { .reg .u64 t; mov.u64 t, cinit; st.u32 [t], 1; }\n}\n",
           "@%p1 bra x; { { mov.u64 %rd1, cinit; } } x: red.global.add.u32 [%rd1], 1;\n}\n",
           "@!%p1 st.global.u32 [cinit], 1;\n}\n",
       }) {
    EXPECT_THAT(written(code), ElementsAre("cinit")) << code;
  }
}

TEST(PtxVariables, AnEscapedAddressCounts) {
  for (const std::string code : {
           "mov.u64 %rd1, cinit;\nst.param.b64 [param0+0], %rd1;\n}\n",
           "mov.u64 %rd1, cinit;\nst.local.u64 [%rd2], %rd1;\n}\n",
           "mov.b64 {%r1, %r2}, cinit;\nmov.b64 %rd1, {%r1, %r2};\nst.global.u32 [%rd1], 1;\n}\n",
           "mov.u64 %rd1, cinit;\nshfl.sync.idx.b32 %r1|%p1, %rd1, 0, 31, -1;\nst.u32 [%r1], "
           "1;\n}\n",
           "mov.u64 %rd1, cinit;\nunknown.op %rd2, %rd1;\n}\n",
           "mov.u64 %rd1, cinit;\nxor.b64 %rd2, %rd1, %rd9;\nst.global.u32 [%rd2], 1;\n}\n",
       }) {
    EXPECT_THAT(written(code), ElementsAre("cinit")) << code;
  }
}

TEST(PtxVariables, ChainsAndLoopsAreFollowed) {
  EXPECT_THAT(written("st.global.f32 [%rd2], %f1;\nmov.u64 %rd2, tab;\n}\n"), ElementsAre("tab"));
  std::string chain = "st.global.f32 [%rd9], %f1;\n";
  for (int i = 8; i >= 1; --i) {
    chain += "mov.u64 %rd" + std::to_string(i + 1) + ", %rd" + std::to_string(i) + ";\n";
  }
  EXPECT_THAT(written(chain + "mov.u64 %rd1, tab;\n}\n"), ElementsAre("tab"));
}

TEST(PtxVariables, AnOverwrittenRegisterIsForgotten) {
  EXPECT_THAT(written("mov.u32 %r2, tab;\npopc.b32 %r2, %r7;\n}\n"), IsEmpty());
}

TEST(PtxVariables, RegistersBelongToOneFunction) {
  EXPECT_THAT(written("mov.u64 %rd2, tab;\n}\n.visible .entry q(\n)\n{\nst.global.f32 [%rd2], "
                      "%f1;\n}\n"),
              IsEmpty());
}

TEST(PtxVariables, AnAddressInAnInitialiserGetsAway) {
  EXPECT_THAT(ptx_variables(".global .u32 a = 1, b = 2;\n.global .u64 p = generic(b);\n"
                            ".visible .entry k()\n{\nld.global.u64 %rd1, [p];\n"
                            "st.global.u32 [%rd1], 1;\n}\n",
                            false)
                  .written,
              ElementsAre("b"));
}

TEST(PtxVariables, ConstantsAreVariablesToo) {
  EXPECT_THAT(ptx_variables(".const .u32 c = 5;\n.visible .entry k()\n{\nmov.u64 %rd1, c;\n"
                            "cvta.const.u64 %rd2, %rd1;\nst.u32 [%rd2], 3;\n}\n",
                            false)
                  .written,
              ElementsAre("c"));
}

TEST(PtxVariables, BlocksMayDeclareThem) {
  EXPECT_THAT(written("{.global .u32 hid;atom.global.add.u32 %r1, [hid], 1;}\n}\n"),
              ElementsAre("hid"));
}

TEST(PtxVariables, TextsOfPrintfMayBePassed) {
  const std::string text =
      ".global .align 1 .b8 $str[4] = {37, 100, 10, 0};\n.visible .entry k()\n{\n"
      "mov.u64 %rd1, $str;\ncvta.global.u64 %rd2, %rd1;\nst.param.b64 [param0], %rd2;\n";
  EXPECT_THAT(ptx_variables(text + "}\n", true).written, IsEmpty());
  EXPECT_THAT(ptx_variables(text + "}\n", false).written, ElementsAre("$str"));
  EXPECT_THAT(ptx_variables(text + "st.u32 [%rd2], 1;\n}\n", true).written, ElementsAre("$str"));
}

TEST(PtxVariables, ForbiddenDeclarations) {
  const auto forbidden = [](const std::string& line) {
    return ptx_variables(line + "\n.visible .entry k()\n{\nret;\n}\n", false).forbidden;
  };
  EXPECT_EQ(forbidden(".global .texref t;"), "texture or surface reference");
  EXPECT_EQ(forbidden(".global .surfref t;"), "texture or surface reference");
  EXPECT_EQ(forbidden(".global .attribute(.managed) .u32 m;"), "managed variable");
  EXPECT_EQ(forbidden(".extern .global .u32 e;"), "extern variable");
  EXPECT_EQ(forbidden(".extern .shared .align 16 .b8 dynamic[];"), "");
  EXPECT_EQ(forbidden(".global .u32 g;"), "");
}

}  // namespace
}  // namespace sweep::compile
