#include "cli/corpus.h"

#include "util/error.h"
#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace sweep::cli {
namespace {

using evaluate::Defence;
using evaluate::Stage;
using evaluate::Verdict;
using ::testing::ElementsAre;

constexpr device::Kind kCpu = device::Kind::cpu;
constexpr device::Kind kCuda = device::Kind::cuda;

Specimen specimen(const std::string& head,
                  device::Kind kind = device::Kind::cpu,
                  bool exploit = true) {
  return parse_specimen({"folder/name.cu", head + "\nint code;\n"}, exploit, kind);
}

TEST(Corpus, ReadsTheHeadOfAKernel) {
  const Specimen read = specimen(
      "// Takes what it can get.\n"
      "// It goes on.\n"
      "// expect stress: INCORRECT_GENERALISATION INCORRECT_VALUE\n"
      "// defence: stress oracle\n"
      "// source: rigor C10");
  EXPECT_EQ(read.name, "name");
  EXPECT_EQ(read.what, "Takes what it can get.");
  EXPECT_EQ(read.last, Stage::stress);
  EXPECT_THAT(read.expected,
              ElementsAre(Verdict::incorrect_generalisation, Verdict::incorrect_value));
  EXPECT_THAT(read.defences, ElementsAre(Defence::stress, Defence::oracle));
  EXPECT_EQ(read.origin, "rigor C10");
  EXPECT_TRUE(read.runs);
}

TEST(Corpus, LinesOfADeviceReplaceTheGeneralOnes) {
  const std::string head =
      "// expect check: INCORRECT_INPUT_MUTATED\n"
      "// defence: read-only-inputs\n"
      "// cuda expect check: RUNTIME_FAULT\n"
      "// cuda defence: device-faults";
  EXPECT_THAT(specimen(head, kCpu).expected, ElementsAre(Verdict::incorrect_input_mutated));
  EXPECT_THAT(specimen(head, kCuda).expected, ElementsAre(Verdict::runtime_fault));
  EXPECT_THAT(specimen(head, kCuda).defences, ElementsAre(Defence::device_faults));
}

TEST(Corpus, KnowsWhereAKernelRuns) {
  const std::string head = "// expect check: TIMEOUT\n// defence: time-limit\n// device: cuda";
  EXPECT_FALSE(specimen(head, kCpu).runs);
  EXPECT_TRUE(specimen(head, kCuda).runs);
}

TEST(Corpus, RefusesHeadsThatSayTooLittleOrNonsense) {
  const auto code = [](const std::string& head, bool exploit) -> std::string {
    try {
      (void)specimen(head, kCpu, exploit);
    } catch (const util::UsageError& error) {
      return error.code() + ' ' + error.message().what;
    }
    return "";
  };
  EXPECT_THAT(code("// nothing", true), ::testing::HasSubstr("no line `// expect"));
  EXPECT_THAT(code("// expect check: TIMEOUT", true), ::testing::HasSubstr("no line `// defence"));
  EXPECT_THAT(code("// expect check: TIMEOUT", false), "");
  EXPECT_THAT(code("// expect check: TIMEOUTS", false), ::testing::HasSubstr("no verdict"));
  EXPECT_THAT(code("// expect compile: TIMEOUT", false), ::testing::HasSubstr("no stage"));
  EXPECT_THAT(code("// expect check: TIMEOUT\n// defence: luck", true),
              ::testing::HasSubstr("'luck'"));
  EXPECT_THAT(code("// expect check: TIMEOUT\n// device: gpu", false),
              ::testing::HasSubstr("cpu, cuda or any"));
}

TEST(Corpus, ListsBothFoldersAndMarksKnownGaps) {
  const util::TempDir folder;
  const auto write = [&](const std::string& file, const std::string& text) {
    util::make_folders((folder.path() / file).parent_path());
    util::write_file_atomic(folder.path() / file, text);
  };
  const std::string head = "// expect check: TIMEOUT\n// defence: time-limit\n";
  write("exploits/b.cu", head);
  write("exploits/a.cu", head);
  write("exploits/KNOWN_GAPS", "# why\nb  # soon\n");
  write("honest/c.cu", "// expect check: PASS_INCONCLUSIVE\n");
  const std::vector<Specimen> corpus = load_corpus(folder.path(), kCpu);
  ASSERT_EQ(corpus.size(), 3U);
  EXPECT_EQ(corpus[0].name, "a");
  EXPECT_FALSE(corpus[0].known_gap);
  EXPECT_TRUE(corpus[1].known_gap);
  EXPECT_FALSE(corpus[2].exploit);
  EXPECT_THROW((void)load_corpus(folder.path() / "nowhere", kCpu), util::UsageError);
}

// The size that docs/selftest.md promises, and every defence that can be off at work somewhere.
TEST(Corpus, OfThisProjectIsLargeAndNamesItsDefences) {
  const std::vector<Specimen> corpus =
      load_corpus(std::filesystem::path(SWEEP_SOURCE_DIR) / "tests", kCuda);
  const auto exploits = std::ranges::count(corpus, true, &Specimen::exploit);
  EXPECT_GE(exploits, 70);
  EXPECT_GE(static_cast<std::ptrdiff_t>(corpus.size()) - exploits, 30);
}

}  // namespace
}  // namespace sweep::cli
