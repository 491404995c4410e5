// The corpus of `sweep selftest` on the cpu device: every exploit must be caught with the verdict
// and by a defence that its head names, every honest kernel must be found right. Fewer draws than
// there: a kernel must not need luck to be caught.
#include "cli/selftest.h"
#include "util/file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <ostream>

#include <unistd.h>

namespace sweep::cli {

// GoogleTest prints parameters of tests that fail.
void PrintTo(const Specimen& specimen, std::ostream* out);

void PrintTo(const Specimen& specimen, std::ostream* out) {
  *out << specimen.source.file;
}

namespace {

const std::filesystem::path kSource = SWEEP_SOURCE_DIR;

std::filesystem::path test_cache() {
  const char* cache = std::getenv("SWEEP_TEST_CACHE");
  return cache != nullptr ? std::filesystem::path(cache)
                          : std::filesystem::temp_directory_path() /
                                ("sweep-test-cache-" + std::to_string(::getuid()));
}

bool unsandboxed() {
  return std::getenv("SWEEP_TEST_UNSANDBOXED") != nullptr;
}

std::vector<Specimen> corpus_for(device::Kind kind) {
  std::vector<Specimen> corpus = load_corpus(kSource / "tests", kind);
  std::erase_if(corpus, [](const Specimen& specimen) { return !specimen.runs; });
  return corpus;
}

std::string name_of(const ::testing::TestParamInfo<Specimen>& info) {
  return (info.param.exploit ? "exploits_" : "honest_") + info.param.name;
}

std::string text_of(const Finding& finding) {
  std::string text = std::string(name(finding.fate)) + ": ";
  text += finding.verdict ? evaluate::name(*finding.verdict) : "no verdict";
  for (const evaluate::Defence defence : finding.caught_by) {
    text += ", by " + std::string(evaluate::name(defence));
  }
  return text + "; " + finding.text;
}

// Where the corpus is judged.
class Place {
 public:
  SelftestBench bench() {
    SelftestBench made;
    made.device = {device::Kind::cpu, 0};
    made.services.problems = kSource / "tests/data/problems";
    made.services.seeds = kSource / "tests/data/seeds";
    made.services.cache = test_cache();
    made.services.locks = folder_.path() / "locks";
    std::filesystem::create_directories(made.services.locks);
    made.services.salt = folder_.path() / "state/salt";
    made.services.program = SWEEP_BINARY;
    made.effort = {3, 4, 2, 240};
    made.allow_unsandboxed = unsandboxed();
    return made;
  }

 private:
  util::TempDir folder_;
};

class Kernels : public ::testing::TestWithParam<Specimen> {
 protected:
  Place place_;
};

TEST_P(Kernels, GetTheirVerdict) {
  const Finding found = examine(GetParam(), place_.bench());
  if (!GetParam().exploit) {
    EXPECT_EQ(found.fate, Fate::right) << text_of(found);
    return;
  }
  // Once a gap is closed the list must shrink: closed_gap fails here.
  EXPECT_TRUE(found.fate == Fate::caught || found.fate == Fate::harmless || found.fate == Fate::gap)
      << text_of(found);
}

INSTANTIATE_TEST_SUITE_P(Corpus,
                         Kernels,
                         ::testing::ValuesIn(corpus_for(device::Kind::cpu)),
                         name_of);

// Without the defence that catches a kernel it comes through, or something else sees it: each
// switch is real.
TEST(KernelsWithoutADefence, ComeThroughOrAreSeenByAnother) {
  Place place;
  using evaluate::Defence;

  struct Case {
    const char* kernel;
    evaluate::DefenceSet off;
    Fate fate;
    std::optional<evaluate::Verdict> verdict = std::nullopt;
  };

  const std::vector<Case> cases = {
      {"passthrough", {Defence::oracle, Defence::rms_rule}, Fate::passed},
      {"every_other_row", {Defence::poison}, Fate::passed},
      {"nan_everywhere", {Defence::finite_masks}, Fate::passed},
      {"zero_inputs", {Defence::read_only_inputs}, Fate::otherwise},
      {"oob_near_write", {Defence::slack_watch}, Fate::passed},
      {"oob_before_write", {Defence::front_watch}, Fate::passed},
      {"random_order", {Defence::determinism}, Fate::passed},
      {"vector_tail", {Defence::stress}, Fate::passed},
      // Two verdicts that no kernel gets while all defences are on.
      {"memo_scratch",
       {Defence::scratch_poison},
       Fate::otherwise,
       evaluate::Verdict::rejected_stale},
      {"memo_counter", {Defence::module_state}, Fate::otherwise, evaluate::Verdict::rejected_state},
  };
  for (const Case& item : cases) {
    const std::string file = (kSource / "tests/exploits" / item.kernel).string() + ".cu";
    const Specimen specimen =
        parse_specimen({file, util::read_file(file, 1 << 16)}, true, device::Kind::cpu);
    const Finding found = examine(specimen, place.bench(), item.off);
    EXPECT_EQ(found.fate, item.fate) << item.kernel << ": " << text_of(found);
    EXPECT_TRUE(!item.verdict || found.verdict == item.verdict)
        << item.kernel << ": " << text_of(found);
  }
}

}  // namespace

}  // namespace sweep::cli
