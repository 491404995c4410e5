#include "record/ledger.h"

#include "record/artifacts.h"
#include "record/json.h"
#include "record/run_dir.h"
#include "support.h"
#include "util/error.h"
#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::record {
namespace {

using ::testing::HasSubstr;

// Made by an independent program (Python's json and hashlib); docs/run_format.md shows it.
constexpr const char* kVector =
    R"({"data":{"identity_sha256":"abababababababababababababababababababababababababababababababab","policy":"evaluation-only/do-not-train"},"hash":"c74601c32c7ca31ce242f163e379e87e92449c2629fc641ca6b04be5c5953c9c","item":"","kind":"run_start","prev":"0000000000000000000000000000000000000000000000000000000000000000","seq":0,"time":"2026-01-31T12:00:00.000Z"}
{"data":{"try":1},"hash":"4a04e1046b6b601d13b02393ba2aa099e2c9e6c0e3a1b6d7cb24cd3a6e0a3e33","item":"popcorn2/gpt-5.5/level1/3","kind":"item_start","prev":"c74601c32c7ca31ce242f163e379e87e92449c2629fc641ca6b04be5c5953c9c","seq":1,"time":"2026-01-31T12:00:01.250Z"}
{"data":{"cost_usd":0.0125,"text":"größer \"x\"\n","usage":{"input_tokens":1200,"output_tokens":80}},"hash":"32d951701273a149546e357b8b2e97dd657b7ace04146f8bd9f56af7de1b0712","item":"popcorn2/gpt-5.5/level1/3","kind":"request","prev":"4a04e1046b6b601d13b02393ba2aa099e2c9e6c0e3a1b6d7cb24cd3a6e0a3e33","seq":2,"time":"2026-01-31T12:00:09.500Z"}
)";

std::filesystem::path three_rows(const util::TempDir& dir) {
  const auto file = dir.path() / "ledger.jsonl";
  Ledger ledger(file);
  ledger.append(kind::run_start, "", {{"identity_sha256", std::string(64, 'a')}});
  ledger.append(kind::item_start, "v/m/level1/3", {{"try", 1}});
  ledger.append(kind::request, "v/m/level1/3", {{"cost_usd", 0.1}, {"text", "\xff\n"}});
  return file;
}

TEST(Ledger, AgreesWithTheTestVector) {
  const Verification found = verify_ledger_text(kVector, "vector");
  EXPECT_TRUE(found.intact) << found.problem;
  EXPECT_EQ(found.rows, 3U);
  EXPECT_EQ(found.head, "32d951701273a149546e357b8b2e97dd657b7ace04146f8bd9f56af7de1b0712");
}

// The line of a row with this spelling of its data.
std::string line_of(const Row& row, const std::string& data) {
  return R"({"data":)" + data + R"(,"hash":")" + row.hash + R"(","item":)" + canonical(row.item) +
         R"(,"kind":"config","prev":")" + row.prev + R"(","seq":0,"time":"t"})";
}

// Data that looks like the end of a row: the hash is taken from its own place.
TEST(Ledger, ProvesRowsWhoseTextsLookLikeRows) {
  const std::string mark = R"(,"hash":"x","item":"y","kind":"k")";
  Row row{0, "t", "config", "a," + mark + "\\", {{"hash", mark}}, std::string(64, '0'), ""};
  row.data["z"] = {{"a", 1}, {"hash", "x"}, {"item", "y"}};
  row.hash = hash_of(row);
  const std::string data = canonical(row.data);
  EXPECT_TRUE(verify_ledger_text(line_of(row, data) + "\n", "x").intact);
  Row changed = row;
  changed.item += ",";
  EXPECT_THAT(verify_ledger_text(line_of(changed, data) + "\n", "x").problem,
              HasSubstr("its hash does not match its content"));
  changed = row;
  changed.hash[5] = changed.hash[5] == '0' ? '1' : '0';
  EXPECT_THAT(verify_ledger_text(line_of(changed, data) + "\n", "x").problem,
              HasSubstr("its hash does not match its content"));
}

// Bytes that parse to a row's content, but are not how it is written.
TEST(Ledger, RefusesOtherSpellingsOfARow) {
  Row row{0, "t", "config", "i", {{"a", 1}, {"b", 2.5}}, std::string(64, '0'), ""};
  row.hash = hash_of(row);
  ASSERT_TRUE(verify_ledger_text(line_of(row, canonical(row.data)) + "\n", "x").intact);
  for (const char* data : {R"({"b":2.5,"a":1})",
                           R"({"a":0,"a":1,"b":2.5})",
                           R"({"a":1, "b":2.5})",
                           R"({"a":1,"b":2.50})",
                           R"({"\u0061":1,"b":2.5})"}) {
    EXPECT_THAT(verify_ledger_text(line_of(row, data) + "\n", "x").problem,
                HasSubstr("not written in canonical form"))
        << data;
  }
  // A second hash before or behind: the last key counts, and the line is not canonical.
  std::string twice = line_of(row, canonical(row.data));
  twice.insert(1, R"("hash":"x",)");
  EXPECT_THAT(verify_ledger_text(twice + "\n", "x").problem,
              HasSubstr("not written in canonical form"));
}

TEST(Ledger, AnEnormousFileIsRefusedUnread) {
  const util::TempDir dir;
  const auto file = three_rows(dir);
  std::filesystem::resize_file(file, (std::uintmax_t{1} << 30) + 1);  // sparse
  EXPECT_THROW((void)verify_ledger(file), util::InfraError);
}

TEST(LedgerDigest, ReadsOnWhereItEnded) {
  const util::TempDir dir;
  const auto file = three_rows(dir);
  LedgerDigest digest;
  const Verification first = verify_on(file, digest);
  EXPECT_TRUE(first.intact);
  EXPECT_EQ(first.rows, 3U);
  ASSERT_EQ(first.read.size(), 1U);  // rows of the run alone
  EXPECT_EQ(digest.bytes, static_cast<std::int64_t>(std::filesystem::file_size(file)));
  Ledger(file).append(kind::run_end, "", {{"interrupted", false}});
  const Verification second = verify_on(file, digest);
  EXPECT_TRUE(second.intact) << second.problem;
  EXPECT_EQ(second.rows, 4U);
  EXPECT_EQ(second.read.size(), 2U);
  EXPECT_EQ(second.head, verify_ledger(file).head);
  EXPECT_EQ(digest.last_time, second.read.back().time);
}

TEST(LedgerDigest, OfAnotherFileIsMadeAnew) {
  const util::TempDir dir;
  const auto file = three_rows(dir);
  LedgerDigest digest;
  (void)verify_on(file, digest);
  std::filesystem::remove(file);
  Ledger(file).append(kind::run_start, "", {{"another", true}});
  const Verification found = verify_on(file, digest);
  EXPECT_TRUE(found.intact);
  EXPECT_EQ(found.rows, 1U);
  EXPECT_EQ(found.read.size(), 1U);
  LedgerDigest odd{-5, "", 7, "x", "", {}};
  EXPECT_EQ(verify_on(file, odd).rows, 1U);
}

TEST(LedgerDigest, SeesWhatIsWrongWithTheRest) {
  const util::TempDir dir;
  const auto file = three_rows(dir);
  LedgerDigest digest;
  (void)verify_on(file, digest);
  util::append_durable(file, "{\"data\":{}}\n{\"more\":1}\n");
  const Verification broken = verify_on(file, digest);
  EXPECT_FALSE(broken.intact);
  EXPECT_THAT(broken.problem, HasSubstr(":4: not a ledger row"));
  EXPECT_EQ(broken.problem, verify_ledger(file).problem);
  EXPECT_EQ(digest.rows, 3);
}

TEST(Ledger, StartsFromZerosAndContinues) {
  const util::TempDir dir;
  const auto file = three_rows(dir);
  Ledger again(file);
  ASSERT_EQ(again.rows().size(), 3U);
  EXPECT_EQ(again.rows()[0].prev, std::string(64, '0'));
  const Row row = again.append(kind::item_end, "v/m/level1/3", {{"outcome", "correct"}});
  EXPECT_EQ(row.seq, 3);
  EXPECT_EQ(row.prev, again.rows()[2].hash);
  const Verification found = verify_ledger(file);
  EXPECT_TRUE(found.intact) << found.problem;
  EXPECT_EQ(found.head, again.head());
}

TEST(Ledger, CutsATornLastLineAndSaysSo) {
  const util::TempDir dir;
  const auto file = three_rows(dir);
  const std::string whole = read_whole(file);
  const std::size_t last = whole.rfind('\n', whole.size() - 2) + 1;
  for (std::size_t size = last; size < whole.size(); ++size) {
    write_whole(file, whole.substr(0, size));
    EXPECT_EQ(verify_ledger(file).torn_bytes, size - last);
    Ledger ledger(file);
    ASSERT_EQ(ledger.rows().size(), size == last ? 2U : 3U) << size;
    if (size > last) {
      EXPECT_EQ(ledger.rows().back().kind, kind::repair);
      EXPECT_EQ(ledger.rows().back().data["bytes"], size - last);
    }
    EXPECT_TRUE(verify_ledger(file).intact);
  }
}

TEST(Ledger, CutsABlockOfZerosLeftByAPowerCut) {
  const util::TempDir dir;
  const auto file = three_rows(dir);
  write_whole(file, read_whole(file) + std::string(300, '\0'));
  Ledger ledger(file);
  EXPECT_EQ(ledger.rows().size(), 4U);
  EXPECT_EQ(ledger.rows().back().data["bytes"], 300);
}

TEST(Ledger, ATornFirstLineLeavesAnEmptyLedger) {
  const util::TempDir dir;
  const auto file = dir.path() / "ledger.jsonl";
  write_whole(file, "{\"data\":");
  Ledger ledger(file);
  EXPECT_TRUE(ledger.rows().empty());
  EXPECT_EQ(ledger.head(), std::string(64, '0'));
}

TEST(Ledger, RefusesAChainThatIsBrokenAndChangesNothing) {
  const util::TempDir dir;
  const auto file = three_rows(dir);
  std::string text = read_whole(file);
  text.replace(text.find("\"try\":1"), 7, "\"try\":2");
  write_whole(file, text);
  const Verification found = verify_ledger(file);
  EXPECT_FALSE(found.intact);
  EXPECT_THAT(found.problem, HasSubstr("ledger.jsonl:2: its hash"));
  EXPECT_EQ(found.rows, 1U);
  try {
    const Ledger ledger(file);
    FAIL() << "no error";
  } catch (const util::InfraError& error) {
    EXPECT_EQ(error.code(), "E_LEDGER_BROKEN");
  }
  EXPECT_EQ(read_whole(file), text);
}

TEST(Ledger, EveryLostSwappedOrDoubledRowIsFound) {
  std::vector<std::string> lines;
  const std::string text = kVector;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at) + 1;
    lines.push_back(text.substr(at, end - at));
    at = end;
  }
  EXPECT_FALSE(verify_ledger_text(lines[1] + lines[2], "x").intact);
  EXPECT_FALSE(verify_ledger_text(lines[0] + lines[2], "x").intact);
  EXPECT_FALSE(verify_ledger_text(lines[1] + lines[0] + lines[2], "x").intact);
  EXPECT_FALSE(verify_ledger_text(lines[0] + lines[1] + lines[1], "x").intact);
}

TEST(Ledger, NoSingleEditGoesUnnoticed) {
  const std::string text = kVector;
  std::mt19937 random(7);
  for (int i = 0; i < 4000; ++i) {
    const std::string changed = testing::mutate(text, random);
    if (changed == text) {
      continue;
    }
    const Verification found = verify_ledger_text(changed, "x");
    // Only whole rows lost at the end keep a shorter chain valid; a reader compares the head for
    // that.
    EXPECT_TRUE(!found.intact || text.starts_with(changed)) << i;
  }
}

// One fsync for many rows: none of them counts before it.
TEST(Ledger, StagedRowsAreNowhereUntilTheyAreCommitted) {
  const util::TempDir dir;
  const auto file = three_rows(dir);
  const std::string before = read_whole(file);
  Ledger ledger(file);
  const Row first = ledger.stage(kind::request, "a", {{"n", 1}});
  const Row second = ledger.stage(kind::tool, "b", {{"n", 2}});
  EXPECT_EQ(second.prev, first.hash);
  EXPECT_EQ(second.seq, 4);
  EXPECT_EQ(read_whole(file), before);
  EXPECT_EQ(ledger.rows().size(), 3U);
  EXPECT_EQ(ledger.head(), first.prev);
  const Row third = ledger.append(kind::item_end, "b", {});
  EXPECT_EQ(third.prev, second.hash);
  EXPECT_EQ(ledger.rows().size(), 6U);
  ledger.commit();
  const Verification found = verify_ledger(file);
  EXPECT_TRUE(found.intact) << found.problem;
  EXPECT_EQ(found.head, third.hash);
}

TEST(Ledger, NoStagedRowCountsAfterAFullDisk) {
  const util::TempDir dir;
  const auto file = three_rows(dir);
  const std::string before = read_whole(file);
  Ledger ledger(file);
  (void)ledger.stage(kind::request, "a", {{"text", std::string(4000, 'x')}});
  {
    const testing::SmallDisk small(before.size() + 100);
    EXPECT_THROW(ledger.commit(), util::InfraError);
  }
  EXPECT_EQ(ledger.rows().size(), 3U);
  EXPECT_THROW(ledger.commit(), util::InfraError);
  EXPECT_THROW((void)ledger.stage(kind::request, "a", {}), util::InfraError);
}

TEST(Ledger, TakesNoMoreRowsAfterAFullDiskAndResumes) {
  const util::TempDir dir;
  const auto file = three_rows(dir);
  const std::string before = read_whole(file);
  {
    Ledger ledger(file);
    {
      const testing::SmallDisk small(before.size() + 100);
      EXPECT_THROW(ledger.append(kind::request, "x", {{"text", std::string(4000, 'x')}}),
                   util::InfraError);
    }
    EXPECT_THROW(ledger.append(kind::request, "x", {}), util::InfraError);
    EXPECT_EQ(ledger.rows().size(), 3U);
  }
  Ledger again(file);
  EXPECT_EQ(again.rows().size(), 4U);
  EXPECT_EQ(again.rows()[3].kind, kind::repair);
  EXPECT_TRUE(read_whole(file).starts_with(before));
}

}  // namespace
}  // namespace sweep::record
