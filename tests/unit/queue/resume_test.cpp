#include "queue/resume.h"

#include "util/error.h"
#include "util/file.h"
#include "wire/channel.h"

#include <gtest/gtest.h>

namespace sweep::queue {
namespace {

TEST(Decide, FollowsThePolicyForEveryOutcome) {
  struct Case {
    const char* outcome;
    Action none, errors, timeouts, all;
  };

  const Action keep = Action::finished;
  for (const Case& c :
       {Case{"", Action::run, Action::run, Action::run, Action::run},
        Case{"in_progress", Action::go_on, Action::go_on, Action::go_on, Action::go_on},
        Case{"infra_error", Action::go_on, Action::go_on, Action::go_on, Action::go_on},
        Case{"error", keep, Action::again, keep, Action::again},
        Case{"timeout", keep, keep, Action::again, Action::again},
        Case{"correct", keep, keep, keep, keep},
        Case{"incorrect", keep, keep, keep, keep},
        Case{"compile_fail", keep, keep, keep, keep},
        Case{"rejected", keep, keep, keep, keep},
        Case{"skipped", keep, keep, keep, keep}}) {
    EXPECT_EQ(decide(c.outcome, Retry::none), c.none) << c.outcome;
    EXPECT_EQ(decide(c.outcome, Retry::errors), c.errors) << c.outcome;
    EXPECT_EQ(decide(c.outcome, Retry::timeouts), c.timeouts) << c.outcome;
    EXPECT_EQ(decide(c.outcome, Retry::all), c.all) << c.outcome;
  }
}

record::Row row(std::string_view kind,
                const std::string& item,
                std::int64_t index = 0,
                const std::string& key = "k") {
  record::Row r;
  r.kind = kind;
  r.item = item;
  if (kind == record::kind::request || kind == record::kind::tool) {
    record::Finished f;
    f.index = index;
    f.key_sha256 = key;
    r.data = to_json(f);
  }
  return r;
}

TEST(Replay, KeepsTheLastRowOfEachIndexInOrder) {
  const Replay replay = replay_of({row(record::kind::item_start, "x"),
                                   row(record::kind::request, "x", 0, "a"),
                                   row(record::kind::request, "y", 0, "other"),
                                   row(record::kind::tool, "x", 0, "t"),
                                   row(record::kind::request, "x", 1, "failed"),
                                   row(record::kind::item_start, "x"),
                                   row(record::kind::request, "x", 1, "b")},
                                  "x");
  ASSERT_EQ(replay.requests.size(), 2U);
  EXPECT_EQ(replay.requests[0].key_sha256, "a");
  EXPECT_EQ(replay.requests[1].key_sha256, "b");
  ASSERT_EQ(replay.tools.size(), 1U);
  EXPECT_EQ(replay.interrupted, 1);
  EXPECT_EQ(replay.retried, 0);
}

TEST(Replay, ARetryForgetsWhatWentBefore) {
  const Replay replay = replay_of({row(record::kind::item_start, "x"),
                                   row(record::kind::request, "x", 0, "a"),
                                   row(record::kind::item_end, "x"),
                                   row(record::kind::retry, "x"),
                                   row(record::kind::item_start, "x"),
                                   row(record::kind::tool, "x", 0, "t")},
                                  "x");
  EXPECT_TRUE(replay.requests.empty());
  EXPECT_EQ(replay.tools.size(), 1U);
  EXPECT_EQ(replay.retried, 1);
  EXPECT_EQ(replay.interrupted, 0);
}

TEST(Identity, TheLastAcceptedOneCounts) {
  record::Row start;
  start.kind = record::kind::run_start;
  start.data = {{"identity_sha256", "1"}};
  record::Row change;
  change.kind = record::kind::config;
  change.data = {{"identity_sha256", "2"}};
  EXPECT_EQ(identity_of({}), std::nullopt);
  EXPECT_EQ(identity_of({start}), "1");
  EXPECT_EQ(identity_of({start, change, row(record::kind::item_start, "x")}), "2");
}

TEST(Messages, SurviveTheRoundTripAndRefuseTheRest) {
  record::Finished f{3, "k", "i", "o", {{"status", 200}}};
  const record::Finished back = finished_from_json(to_json(f));
  EXPECT_EQ(back.index, 3);
  EXPECT_EQ(back.output_sha256, "o");
  EXPECT_EQ(back.facts["status"], 200);
  const config::WorkItem item{"m/1", "v", "sci", "heat2d", 4};
  EXPECT_EQ(item_from_json(to_json(item)).id(), item.id());
  EXPECT_THROW(static_cast<void>(item_from_json({{"model", 3}})), wire::WireError);
  EXPECT_THROW(static_cast<void>(finished_from_json(nlohmann::json::object())), wire::WireError);
}

TEST(Past, AnUnreadableFileIsToldApartFromNone) {
  const util::TempDir dir;
  const record::RunDir run(dir.path());
  const config::WorkItem item{"m", "v", "1", "3", 1};
  EXPECT_FALSE(past_of(run, item).trajectory);
  run.save(name_of(item), named(item, "r"));
  EXPECT_EQ(past_of(run, item).trajectory->item_id, "v/m/level1/3");
  record::write_whole(run.trajectory_file(name_of(item)), "{\"turns\":");
  const Past past = past_of(run, item);
  EXPECT_FALSE(past.trajectory);
  EXPECT_FALSE(past.unreadable.empty());
}

}  // namespace
}  // namespace sweep::queue
