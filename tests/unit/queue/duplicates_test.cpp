#include "queue/duplicates.h"

#include <gtest/gtest.h>

namespace sweep::queue {
namespace {

record::Row row_of(const nlohmann::json& keys, const char* output = "out", const char* item = "a") {
  record::Row row;
  row.kind = record::kind::tool;
  row.item = item;
  row.data = {{"output", output}, {"facts", {{"keys", keys}}}};
  return row;
}

TEST(Duplicates, AnswersByAnyKeyOnceARowIsThere) {
  Duplicates all;
  EXPECT_FALSE(all.ask(1, {"k"}).known);
  all.note(row_of({"k", "c"}));
  all.note(row_of({"k"}, "later", "b"));
  const auto answer = all.ask(2, {"other", "c"});
  ASSERT_TRUE(answer.known);
  EXPECT_EQ(answer.known->output_sha256, "out");
  EXPECT_EQ(answer.known->item, "a");
  EXPECT_EQ(all.ask(2, {"k"}).known->output_sha256, "out");  // the first counts
}

TEST(Duplicates, TheSecondWorkerWaitsForTheFirst) {
  Duplicates all;
  EXPECT_FALSE(all.ask(1, {"k"}).wait);
  EXPECT_FALSE(all.ask(1, {"k"}).wait);
  EXPECT_TRUE(all.ask(2, {"k", "own"}).wait);
  EXPECT_FALSE(all.ask(3, {"own"}).wait);  // who waits claims nothing
  all.note(row_of({"k"}));
  EXPECT_TRUE(all.ask(2, {"k", "own"}).known);
}

TEST(Duplicates, AClaimEndsWithItsWorkersItem) {
  Duplicates all;
  (void)all.ask(1, {"k"});
  all.release(1);
  const auto answer = all.ask(2, {"k"});
  EXPECT_FALSE(answer.wait);
  EXPECT_FALSE(answer.known);
}

TEST(Duplicates, AnItemThatIsBegunAnewIsJudgedAnew) {
  Duplicates all;
  all.note(row_of({"k"}));
  all.note(row_of({"other"}, "out", "b"));
  record::Row retry;
  retry.kind = record::kind::retry;
  retry.item = "a";
  all.note(retry);
  EXPECT_FALSE(all.ask(1, {"k"}).known);
  EXPECT_TRUE(all.ask(1, {"other"}).known);
}

TEST(Duplicates, RowsThatAreNoneAreLetThrough) {
  Duplicates all;
  record::Row request = row_of({"k"});
  request.kind = record::kind::request;
  all.note(request);
  all.note(row_of(nullptr));
  all.note(row_of({{"k", 1}}));
  record::Row bare;
  bare.kind = record::kind::tool;
  bare.data = 7;
  all.note(bare);
  record::Row failed = row_of({"k"});
  failed.data["output"] = nullptr;
  all.note(failed);
  EXPECT_FALSE(all.ask(1, {"k", ""}).known);
}

}  // namespace
}  // namespace sweep::queue
