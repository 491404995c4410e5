#include "profile/isa.h"

#include "profile/ncu_source.h"

#include <gmock/gmock.h>

namespace sweep::profile {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const problem::IsaFamily& family(const char* name) {
  return *problem::isa_family(name);
}

TEST(Isa, NamesAndOpcodesOfFamilies) {
  EXPECT_EQ(problem::isa_family("HGMMA"), problem::isa_family("wgmma"));
  EXPECT_EQ(problem::isa_family("UTMALDG"), problem::isa_family("tma"));
  EXPECT_EQ(problem::isa_family("FFMA"), nullptr);
  EXPECT_EQ(problem::isa_family(""), nullptr);
}

TEST(Isa, PtxCountsOutsideCommentsOnly) {
  const std::string instruction = "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1}, 1;\n";
  EXPECT_TRUE(in_ptx("{\n" + instruction, family("wgmma")));
  EXPECT_FALSE(in_ptx("// " + instruction + "ret;", family("wgmma")));
  EXPECT_FALSE(in_ptx("/* " + instruction + " */ ret;", family("wgmma")));
  EXPECT_FALSE(in_ptx("/* " + instruction, family("wgmma")));
  EXPECT_TRUE(in_ptx("/* a */ " + instruction, family("wgmma")));
  EXPECT_FALSE(in_ptx(instruction, family("mma")));
  EXPECT_FALSE(in_ptx("cp.async.bulk.tensor.2d.shared::cluster", family("cp_async")));
  EXPECT_FALSE(in_ptx("cp.async.bulk.tensor.2d.shared::cluster", family("bulk")));
  EXPECT_TRUE(in_ptx("cp.async.bulk.tensor.2d.shared::cluster", family("tma")));
}

TEST(Isa, OnlyKernelsThatAreLaunchedCount) {
  SassReport sass;
  for (const auto& [name, opcode] : {std::pair("used", "HMMA"), std::pair("dead", "HGMMA")}) {
    KernelSass kernel;
    kernel.name = name;
    kernel.code.opcodes[opcode] = 3;
    sass.kernels.push_back(kernel);
  }
  SassFunction other;
  other.opcodes["HGMMA"] = 5;
  sass.others.push_back(other);
  EXPECT_EQ(compiled_count(sass, {"used"}, family("wgmma")), 0);
  EXPECT_EQ(compiled_count(sass, {"used"}, family("mma")), 3);
  EXPECT_EQ(compiled_count(sass, {"used", "dead"}, family("wgmma")), 3);
  EXPECT_EQ(compiled_count(sass, {}, family("wgmma")), 3);
}

TEST(Isa, LaunchedKernelsAreThoseOfThePlansSteps) {
  EXPECT_THAT(
      launched_kernels(
          R"({"schema":1,"shapes":[{"shape":"s","plan":{"steps":[{"launch":"a<4>"},{"zero":"t"},{"launch":"b"}]}},)"
          R"({"shape":"t","plan":{"steps":[{"launch":"b"}]}}]})"),
      ElementsAre("a<4>", "b"));
  EXPECT_THAT(launched_kernels(""), IsEmpty());
}

constexpr const char* kPage =
    "==PROF== Disconnected\n"
    "\"Kernel Name\",\"gemm(CUtensorMap, float *)\"\n"
    "\"#\",\"Address\",\"Source\",\"# Samples\",\"Instructions Executed\",\"Predicated-On Thread "
    "Instructions Executed\"\n"
    "\"0\",\"0x10\",\"      @!P0 HGMMA.64x128x16.F32.BF16 R24, gdesc[UR8], R24, "
    "!UPT\",\"3\",\"8\",\"1,024\"\n"
    "\"1\",\"0x20\",\"      UTMALDG.2D [UR8], [UR4]\",\"0\",\"4\",\"4\"\n"
    "\"2\",\"0x30\",\"      LDGSTS.E.128 [R2], [R4.64]\",\"0\",\"0\",\"0\"\n"
    "\"Kernel Name\",\"other()\"\n"
    "\"#\",\"Address\",\"Source\",\"# Samples\",\"Instructions Executed\",\"Predicated-On Thread "
    "Instructions Executed\"\n"
    "\"0\",\"0x10\",\"  HGMMA.64x8x16.F32.BF16 R24, gdesc[UR8], R24\",\"3\",\"8\",\"256\"\n";

TEST(NcuSource, CountsThreadsOfEachOpcode) {
  const auto made = parse_ncu_source(kPage);
  const auto& opcodes = std::get<ExecutedOpcodes>(made);
  EXPECT_DOUBLE_EQ(opcodes.at("HGMMA"), 1280);
  EXPECT_DOUBLE_EQ(opcodes.at("UTMALDG"), 4);
  EXPECT_DOUBLE_EQ(opcodes.at("LDGSTS"), 0);
}

TEST(NcuSource, AnythingElseIsNoCount) {
  for (const char* text :
       {"", "==ERROR== no", "\"Source\",\"Instructions Executed\"\n\"HGMMA\",\"5\"\n"}) {
    EXPECT_TRUE(std::holds_alternative<Unavailable>(parse_ncu_source(text))) << text;
  }
  for (std::size_t cut = 0; cut < std::string(kPage).size(); cut += 7) {
    (void)parse_ncu_source(std::string(kPage).substr(0, cut));
  }
}

TEST(Isa, ExecutedIsWhatTheProfileCounted) {
  evaluate::Evaluation e;
  e.isa = evaluate::IsaResult{};
  e.isa->families = {{"wgmma", true, 4, {}}, {"cp_async", true, 1, {}}};
  Report report;
  add_executed(report, e);
  EXPECT_FALSE(e.isa->families[0].executed);
  report.profile = Unavailable{"ncu was not found", ""};
  add_executed(report, e);
  EXPECT_THAT(e.isa->not_executed, HasSubstr("ncu was not found"));
  NcuReport profile;
  profile.executed = parse_ncu_source(kPage);
  report.profile = profile;
  add_executed(report, e);
  EXPECT_EQ(e.isa->families[0].level(), evaluate::IsaLevel::executed);
  EXPECT_EQ(e.isa->families[1].level(), evaluate::IsaLevel::compiled);  // there, never run
}

}  // namespace
}  // namespace sweep::profile
