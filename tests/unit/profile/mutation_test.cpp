#include "profile/csv.h"
#include "profile/ncu_page.h"
#include "profile/sanitizer_log.h"
#include "profile/sass.h"
#include "util/text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

// What tools print is not trusted: whatever bytes come, parsers return, within their bounds.
namespace sweep::profile {
namespace {

constexpr int kRounds = 3000;

const std::vector<std::string>& samples() {
  static const std::vector<std::string> texts = {
      "\t\tFunction : _Z5scalePfi\n        /*0010*/   @!P0 LDG.E.128 R4, [R2.64] ;\n"
      ".text.other:\n        /*00a0*/  { HGMMA.64x64x16.F32 R24, gdesc[UR8] ; }\n",
      "========= Invalid __global__ write of size 4 bytes\n=========     at k(float *)+0x90\n"
      "=========     by thread (1,0,0) in block (2,0,0)\n"
      "=========     Address 0x7f03ba000180 is out of bounds [12 hazards]\n"
      "========= ERROR SUMMARY: 99999999999999999999 errors\n",
      "==ERROR== no\n\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\","
      "\"launch__occupancy_limit_warps\"\n\"\",\"\",\"nsecond\",\"block\"\n"
      "\"0\",\"k(float*)\",\"1,234\",\"8\"\n",
  };
  return texts;
}

std::string mutated(std::mt19937& random) {
  std::string text = samples()[random() % samples().size()];
  const std::string pieces = "\"=,\n\r\t /*:@;.()[]+0x";
  for (unsigned edits = 1 + random() % 8; edits > 0 && !text.empty(); --edits) {
    const std::size_t at = random() % text.size();
    switch (random() % 5) {
      case 0:
        text[at] = static_cast<char>(random() % 256);
        break;
      case 1:
        text.erase(at, 1 + random() % 20);
        break;
      case 2:
        text.insert(at, 1, pieces[random() % pieces.size()]);
        break;
      case 3:
        text.insert(at, text.substr(random() % text.size(), random() % 60));
        break;
      default:
        text.resize(at);
        break;
    }
  }
  return text;
}

TEST(Mutation, SassStaysWithinItsBounds) {
  std::mt19937 random(1);
  for (int round = 0; round < kRounds; ++round) {
    const SassListing listing = parse_sass(mutated(random));
    for (const SassFunction& function : listing.functions) {
      std::int64_t sum = 0;
      for (const auto& [kind, count] : function.mix) {
        EXPECT_FALSE(name(kind).empty());
        sum += count;
      }
      ASSERT_EQ(sum, function.instructions);
    }
  }
}

TEST(Mutation, SanitizerLogStaysWithinItsBounds) {
  std::mt19937 random(2);
  for (int round = 0; round < kRounds; ++round) {
    const SanitizerLog log = parse_sanitizer(mutated(random));
    ASSERT_LE(log.findings.size(), kMostFindings);
    ASSERT_LE(log.notes.size(), kMostNotes);
    for (const Finding& finding : log.findings) {
      ASSERT_GE(finding.count, 1);
      ASSERT_TRUE(util::valid_utf8(finding.kind + finding.kernel + finding.detail));
    }
  }
}

TEST(Mutation, NcuPageIsKernelsOrAReason) {
  std::mt19937 random(3);
  for (int round = 0; round < kRounds; ++round) {
    const auto result = parse_ncu_page(mutated(random));
    if (const auto* missing = std::get_if<Unavailable>(&result)) {
      ASSERT_FALSE(missing->what.empty());
      continue;
    }
    for (const KernelProfile& kernel : std::get<0>(result)) {
      ASSERT_EQ(kernel.metrics.size(), metric_keys().size());
      for (const Metric& metric : kernel.metrics) {
        ASSERT_NE(metric.value.has_value(), !metric.reason.empty()) << metric.key;
      }
    }
  }
}

TEST(Mutation, CsvStaysWithinItsLimits) {
  std::mt19937 random(4);
  const CsvLimits limits{4, 3, 10, 8};
  for (int round = 0; round < kRounds; ++round) {
    const Csv csv = parse_csv(mutated(random), limits);
    ASSERT_LE(csv.rows.size(), limits.rows);
    std::size_t cells = 0;
    for (const auto& row : csv.rows) {
      ASSERT_LE(row.size(), limits.columns);
      cells += row.size();
      for (const std::string& cell : row) {
        ASSERT_LE(cell.size(), limits.cell);
      }
    }
    ASSERT_LE(cells, limits.cells);
  }
}

}  // namespace
}  // namespace sweep::profile
