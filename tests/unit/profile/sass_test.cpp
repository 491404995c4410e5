#include "profile/sass.h"

#include "profile/sass_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::profile {
namespace {

using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

// Written by hand after the layout of either tool.
constexpr std::string_view kNvdisasm = R"(
	.headerflags	@"EF_CUDA_SM90"
//--------------------- .text._Z5scalePfi         --------------------------
	.section	.text._Z5scalePfi,"ax",@progbits
        .global         _Z5scalePfi
_Z5scalePfi:
.text._Z5scalePfi:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   S2R R0, SR_TID.X ;
        /*0020*/              @!P0 EXIT ;
        /*0030*/                   ULDC.64 UR4, c[0x0][0x208] ;
        /*0040*/              @UP0 UIADD3 UR6, UR6, 0x1, URZ ;
        /*0050*/                   LDG.E.128 R4, desc[UR4][R2.64] ;
        /*0060*/                   HGMMA.64x64x16.F32.BF16 R24, gdesc[UR8], R24, gsb0 ;
        /*0070*/                   UTMALDG.2D [UR8], [UR4] ;
        /*0080*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], R0 ;
        /*0090*/                   FFMA R4, R5, R6, R4 ;
.L_x_0:
        /*00a0*/                   BRA `(.L_x_0);
        /*00b0*/                   NOP;
)";

constexpr std::string_view kCuobjdump = R"(
	code for sm_80
		Function : first
	.headerflags	@"EF_CUDA_SM80"
        /*0000*/                   MOV R1, c[0x0][0x28] ;              /* 0x00000a0000017a02 */
                                                                       /* 0x003fde0000000f00 */
        /*0010*/                   LDGSTS.E.BYPASS.128 [R3], [R4.64] ; /* 0x0000000004037fae */
		..........
		Function : second(int)
        /*0000*/               @P1 RED.E.ADD.STRONG.GPU [R2.64], R5 ;  /* 0x000000050200798e */
)";

TEST(Sass, ReadsNvdisasm) {
  const SassListing listing = parse_sass(kNvdisasm);
  EXPECT_TRUE(listing.complete);
  ASSERT_EQ(listing.functions.size(), 1U);
  const SassFunction& scale = listing.functions.front();
  EXPECT_EQ(scale.symbol, "_Z5scalePfi");
  EXPECT_EQ(scale.instructions, 11);
  EXPECT_THAT(scale.mix,
              UnorderedElementsAre(Pair(SassClass::constant, 2),
                                   Pair(SassClass::move, 1),
                                   Pair(SassClass::control, 2),
                                   Pair(SassClass::integer, 1),
                                   Pair(SassClass::global, 1),
                                   Pair(SassClass::wgmma, 1),
                                   Pair(SassClass::tma, 1),
                                   Pair(SassClass::barrier, 1),
                                   Pair(SassClass::fp32, 1)));
  EXPECT_EQ(scale.opcodes.at("UTMALDG"), 1);
  EXPECT_EQ(scale.opcodes.count("NOP"), 0U);
}

TEST(Sass, ReadsCuobjdump) {
  const SassListing listing = parse_sass(kCuobjdump);
  ASSERT_EQ(listing.functions.size(), 2U);
  EXPECT_EQ(listing.functions[0].symbol, "first");
  EXPECT_THAT(listing.functions[0].mix,
              UnorderedElementsAre(Pair(SassClass::move, 1), Pair(SassClass::async_copy, 1)));
  EXPECT_EQ(listing.functions[1].symbol, "second(int)");
  EXPECT_THAT(listing.functions[1].mix, UnorderedElementsAre(Pair(SassClass::atomic, 1)));
}

TEST(Sass, KnowsTheClassesOfOpcodes) {
  const std::vector<std::pair<const char*, SassClass>> expected = {
      {"HGMMA.64x128x16.F32", SassClass::wgmma},
      {"IGMMA", SassClass::wgmma},
      {"HMMA.16816.F32", SassClass::mma},
      {"IMMA.16832.S8.S8", SassClass::mma},
      {"DMMA.884", SassClass::mma},
      {"UTCHMMA", SassClass::tcgen05},
      {"UTMASTG.2D", SassClass::tma},
      {"UTMAREDG", SassClass::tma},
      {"UBLKCP.S.G", SassClass::tma},
      {"LDGSTS.E", SassClass::async_copy},
      {"LDSM.16.M88.4", SassClass::matrix_shared},
      {"SYNCS.ARRIVE.TRANS64", SassClass::barrier},
      {"BAR.SYNC.DEFER_BLOCKING", SassClass::barrier},
      {"WARPGROUP.ARRIVE", SassClass::barrier},
      {"ATOMG.E.ADD", SassClass::atomic},
      {"ATOMS.CAS", SassClass::atomic},
      {"RED.E.ADD", SassClass::atomic},
      {"REDUX.SUM", SassClass::integer},
      {"STG.E", SassClass::global},
      {"LDS.128", SassClass::shared},
      {"STL", SassClass::local},
      {"LD.E", SassClass::generic},
      {"FMUL.FTZ", SassClass::fp32},
      {"MUFU.EX2", SassClass::special},
      {"DFMA", SassClass::fp64},
      {"HFMA2.BF16_V2", SassClass::fp16},
      {"IMAD.WIDE", SassClass::integer},
      {"ULOP3.LUT", SassClass::integer},
      {"F2FP.BF16.F32.PACK_AB", SassClass::conversion},
      {"BSSY", SassClass::control},
      {"UMOV", SassClass::move},
      {"SHFL.BFLY", SassClass::move},
      {"TOTALLYNEW.X", SassClass::other},
      {"", SassClass::other},
  };
  for (const auto& [opcode, kind] : expected) {
    EXPECT_EQ(classify(opcode), kind) << opcode << " is " << name(classify(opcode));
  }
}

TEST(Sass, EveryClassHasAName) {
  for (int kind = 0; kind <= static_cast<int>(SassClass::other); ++kind) {
    EXPECT_FALSE(name(static_cast<SassClass>(kind)).empty()) << kind;
  }
  EXPECT_EQ(name(SassClass::wgmma), "wgmma");
  EXPECT_EQ(name(SassClass::other), "other");
}

TEST(Sass, SkipsWhatIsNoInstruction) {
  EXPECT_THAT(parse_sass("").functions, IsEmpty());
  const SassListing listing = parse_sass(
      "\t\tFunction : f\n"
      "  /*0000*/ \n /*zz*/ MOV R1 ;\n /* comment */ MOV R1 ;\n /*0010*/ mov r1 ;\n"
      "  /*0020*/ MOV R1\n  /*0030*/ @P0\n /*0040*/ .word 0x1 ;\n");
  ASSERT_EQ(listing.functions.size(), 1U);
  EXPECT_EQ(listing.functions[0].instructions, 0);
}

TEST(Sass, BoundsFunctionsAndOpcodes) {
  std::string many;
  for (std::size_t i = 0; i <= kMostSassFunctions; ++i) {
    many += "\t\tFunction : f" + std::to_string(i) + "\n /*0000*/ EXIT ;\n";
  }
  const SassListing functions = parse_sass(many);
  EXPECT_EQ(functions.functions.size(), kMostSassFunctions);
  EXPECT_FALSE(functions.complete);
  std::string words = "\t\tFunction : f\n";
  for (std::size_t i = 0; i <= kMostSassOpcodes; ++i) {
    words += " /*0000*/ X" + std::to_string(i) + " R0 ;\n";
  }
  const SassListing opcodes = parse_sass(words);
  EXPECT_EQ(opcodes.functions[0].opcodes.size(), kMostSassOpcodes);
  EXPECT_EQ(opcodes.functions[0].instructions, std::int64_t{kMostSassOpcodes} + 1);
  EXPECT_FALSE(opcodes.complete);
}

TEST(Sass, JoinsKernelsWithTheirCode) {
  const std::vector<compile::CompiledKernel> kernels = {
      {"scale<4>", "second(int)", {}, 12, 0, 1024, 16}, {"gone", "_Zgone", {}, 8, 0, 0, 0}};
  const SassReport report = join(kernels, parse_sass(kCuobjdump));
  ASSERT_EQ(report.kernels.size(), 2U);
  EXPECT_EQ(report.kernels[0].name, "scale<4>");
  EXPECT_EQ(report.kernels[0].registers, 12);
  EXPECT_EQ(report.kernels[0].code.instructions, 1);
  EXPECT_EQ(report.kernels[1].code.instructions, 0);
  ASSERT_EQ(report.others.size(), 1U);
  EXPECT_EQ(report.others[0].symbol, "first");
}

}  // namespace
}  // namespace sweep::profile
