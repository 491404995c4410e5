#include "compile/refuse.h"

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

TEST(WrittenVariables, TablesAreOnlyRead) {
  EXPECT_THAT(written_variables(kHead + "mov.u64 %rd13, tab;\n"
                                        "add.s64 %rd14, %rd13, %rd12;\n"
                                        "ld.global.nc.f32 %f2, [%rd14];\n"
                                        "ld.global.u32 %r1, [cinit];\n}\n"),
              IsEmpty());
}

TEST(WrittenVariables, StoresAndAtomicsWrite) {
  EXPECT_THAT(written_variables(kHead + "st.global.u32 [cinit], %r14;\n}\n"), ElementsAre("cinit"));
  EXPECT_THAT(
      written_variables(kHead + "mov.u64 %rd1, cinit;\natom.global.add.u32 %r1, [%rd1], 1;\n}\n"),
      ElementsAre("cinit"));
  EXPECT_THAT(
      written_variables(
          kHead +
          "mov.u64 %rd1, tab;\nadd.s64 %rd2, %rd1, 4;\n@%p1 st.global.f32 [%rd2+4], %f1;\n}\n"),
      ElementsAre("tab"));
}

TEST(WrittenVariables, AnEscapedAddressCounts) {
  EXPECT_THAT(
      written_variables(kHead + "mov.u64 %rd1, cinit;\nst.param.b64 [param0+0], %rd1;\n}\n"),
      ElementsAre("cinit"));
}

TEST(WrittenVariables, LoopsAreFollowed) {
  EXPECT_THAT(written_variables(kHead + "st.global.f32 [%rd2], %f1;\nmov.u64 %rd2, tab;\n}\n"),
              ElementsAre("tab"));
}

TEST(WrittenVariables, RegistersBelongToOneFunction) {
  EXPECT_THAT(
      written_variables(
          kHead +
          "mov.u64 %rd2, tab;\n}\n.visible .entry q(\n)\n{\nst.global.f32 [%rd2], %f1;\n}\n"),
      IsEmpty());
}

}  // namespace
}  // namespace sweep::compile
