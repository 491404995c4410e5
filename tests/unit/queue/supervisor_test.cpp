#include "queue/supervisor.h"

#include "fake_worker.h"
#include "util/error.h"
#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace sweep::queue {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class SupervisorTest : public ::testing::Test {
 protected:
  SupervisorTest() : run_(dir_.path() / "runs" / "r") { run_.create(); }

  static config::WorkItem item(const std::string& problem) { return {"m", "v", "x", problem, 1}; }

  // One session of a run, as a new process would do it.
  Supervisor::End session(const std::vector<std::string>& problems,
                          int workers = 1,
                          Retry retry = Retry::none) {
    record::Ledger ledger(run_.ledger_file());
    Supervisor::Setup setup;
    for (const std::string& problem : problems) {
      Task task{item(problem), Action::run, {}};
      if (const Past past = past_of(run_, task.item); past.trajectory) {
        task.outcome = past.trajectory->outcome;
      }
      task.action = decide(task.outcome, retry);
      setup.tasks.push_back(task);
    }
    WorkerSetup worker;
    worker.toml = kToml;
    worker.file = "x.toml";
    worker.root = dir_.path().string();
    worker.run_folder = run_.folder().string();
    setup.workers.assign(static_cast<std::size_t>(workers), worker);
    setup.budget_usd = budget_;
    setup.worker_env = {"SWEEP_LOCK_DIR=" + dir_.path().string()};
    setup.program = "/proc/self/exe";
    setup.config = "s.toml";
    StopSignals signals;
    View view(true);
    Supervisor supervisor(std::move(setup), run_, ledger, signals, view);
    const Supervisor::End end = supervisor.run();
    state_ = supervisor.state();
    why_ = supervisor.stop_text();
    return end;
  }

  std::string outcome(const std::string& problem) {
    const Past past = past_of(run_, item(problem));
    return past.trajectory ? past.trajectory->outcome : "";
  }

  // Real requests of an item, as "0120": its indices in order.
  std::string asked(const std::string& problem) {
    const auto file = run_.folder() / kAsked;
    if (!std::filesystem::exists(file)) {
      return "";
    }
    std::string out;
    const std::string text = record::read_whole(file);
    const std::string start = item(problem).id() + " ";
    for (std::size_t at = text.find(start); at != std::string::npos;
         at = text.find(start, at + 1)) {
      out += text[at + start.size()];
    }
    return out;
  }

  int rows(std::string_view kind) {
    const auto found = record::verify_ledger(run_.ledger_file());
    EXPECT_TRUE(found.intact) << found.problem;
    return static_cast<int>(
        std::count_if(found.read.begin(), found.read.end(), [&](const record::Row& row) {
          return row.kind == kind;
        }));
  }

  util::TempDir dir_;
  record::RunDir run_;
  ViewState state_;
  std::string why_;
  std::optional<double> budget_;
};

TEST_F(SupervisorTest, RunsEveryItemOnce) {
  EXPECT_EQ(session({"ok", "ok2", "ok3"}, 2), Supervisor::End::done);
  for (const char* problem : {"ok", "ok2", "ok3"}) {
    EXPECT_EQ(outcome(problem), "correct");
    EXPECT_EQ(asked(problem), "012");
  }
  EXPECT_EQ(rows(record::kind::request), 9);
  EXPECT_EQ(rows(record::kind::item_end), 3);
  EXPECT_EQ(state_.outcomes.at("correct"), 3U);
  EXPECT_DOUBLE_EQ(state_.models[0].cost, 1.5);
}

TEST_F(SupervisorTest, ASecondSessionDoesNoWork) {
  (void)session({"ok"});
  const int before = rows(record::kind::item_start);
  EXPECT_EQ(session({"ok"}), Supervisor::End::done);
  EXPECT_EQ(rows(record::kind::item_start), before);
  EXPECT_EQ(asked("ok"), "012");
  EXPECT_EQ(state_.done(), 1U);
}

TEST_F(SupervisorTest, ADeadWorkersItemGoesOnWithoutAskingAgain) {
  EXPECT_EQ(session({"dies", "ok"}), Supervisor::End::done);
  EXPECT_EQ(outcome("dies"), "correct");
  EXPECT_EQ(asked("dies"), "012");
  EXPECT_EQ(outcome("ok"), "correct");
  EXPECT_EQ(past_of(run_, item("dies")).trajectory->interruptions, 1);
}

TEST_F(SupervisorTest, AnItemWhoseWorkerDiesTwiceIsAnInfraError) {
  EXPECT_EQ(session({"dies_always", "ok"}, 2), Supervisor::End::done);
  EXPECT_EQ(outcome("dies_always"), "infra_error");
  EXPECT_EQ(past_of(run_, item("dies_always")).trajectory->error_code, "E_WORKER_LOST");
  EXPECT_EQ(outcome("ok"), "correct");
  EXPECT_EQ(state_.outcomes.at("infra_error"), 1U);
}

TEST_F(SupervisorTest, ARunnerThatThrowsIsAnInfraErrorAndItsWorkerGoesOn) {
  EXPECT_EQ(session({"throws", "ok"}), Supervisor::End::done);
  EXPECT_EQ(outcome("throws"), "infra_error");
  EXPECT_EQ(past_of(run_, item("throws")).trajectory->error_code, "E_TEST");
  EXPECT_EQ(outcome("ok"), "correct");
}

TEST_F(SupervisorTest, AFolderThatTakesNoMoreStopsTheRunAtOnce) {
  try {
    (void)session({"full", "ok"});
    FAIL() << "the run went on";
  } catch (const util::InfraError& error) {
    EXPECT_EQ(error.code(), "E_RUN_WRITE");
    EXPECT_STREQ(error.what(), "runs/r/x: write: No space left on device; free space");
  }
  EXPECT_EQ(rows(record::kind::item_start), 1) << "tried in another worker";
  EXPECT_EQ(asked("full"), "0");
  EXPECT_EQ(asked("ok"), "");
  EXPECT_EQ(session({"ok"}), Supervisor::End::done);
}

TEST_F(SupervisorTest, AWorkerThatTalksNonsenseIsReplaced) {
  EXPECT_EQ(session({"garbage"}), Supervisor::End::done);
  EXPECT_EQ(outcome("garbage"), "correct");
  EXPECT_EQ(asked("garbage"), "012");
}

TEST_F(SupervisorTest, AnInterruptLeavesTheItemInProgressAndTheNextSessionEndsIt) {
  EXPECT_EQ(session({"interrupts", "ok"}), Supervisor::End::interrupted);
  EXPECT_EQ(outcome("interrupts"), "in_progress");
  EXPECT_EQ(outcome("ok"), "");
  EXPECT_EQ(session({"interrupts", "ok"}), Supervisor::End::done);
  EXPECT_EQ(outcome("interrupts"), "correct");
  EXPECT_EQ(asked("interrupts"), "012");
  EXPECT_EQ(outcome("ok"), "correct");
}

TEST_F(SupervisorTest, AWorkerThatDoesNotStopIsKilled) {
  EXPECT_EQ(session({"deaf"}), Supervisor::End::interrupted);
  EXPECT_EQ(outcome("deaf"), "in_progress");
  EXPECT_LT(state_.seconds, 30);
  EXPECT_EQ(session({"deaf"}), Supervisor::End::done);
  EXPECT_EQ(asked("deaf"), "012");
}

TEST_F(SupervisorTest, ASecondInterruptKillsAtOnce) {
  EXPECT_EQ(session({"impatient"}), Supervisor::End::interrupted);
  EXPECT_EQ(outcome("impatient"), "in_progress");
}

TEST_F(SupervisorTest, RetryBeginsAnewOnceAndCountsIt) {
  record::Trajectory t = named(item("dies"), "r");
  t.outcome = "error";
  t.finished_at = "2026-01-01T00:00:00.000Z";
  run_.save(name_of(item("dies")), t);
  EXPECT_EQ(session({"dies"}), Supervisor::End::done);
  EXPECT_EQ(outcome("dies"), "error");
  EXPECT_EQ(session({"dies"}, 1, Retry::errors), Supervisor::End::done);
  EXPECT_EQ(outcome("dies"), "correct");
  // Its worker died once in between: set back once, and nothing asked twice.
  EXPECT_EQ(rows(record::kind::retry), 1);
  EXPECT_EQ(asked("dies"), "012");
  EXPECT_EQ(past_of(run_, item("dies")).trajectory->times_retried, 1);
}

// An item asks three times, for 20, 20 and 10 cents.
TEST_F(SupervisorTest, TheBudgetIsCheckedBeforeEachRequest) {
  budget_ = 0.7;
  EXPECT_EQ(session({"ok", "ok2", "ok3"}), Supervisor::End::budget);
  EXPECT_EQ(outcome("ok"), "correct");
  EXPECT_EQ(asked("ok2"), "0");
  EXPECT_EQ(outcome("ok2"), "in_progress");
  EXPECT_EQ(asked("ok3"), "");
}

TEST_F(SupervisorTest, ARequestThatWouldExceedTheBudgetIsNotMade) {
  budget_ = 0.65;  // 50 cents for the first item, then 20 would be too many
  EXPECT_EQ(session({"ok", "ok2"}), Supervisor::End::budget);
  EXPECT_EQ(outcome("ok"), "correct");
  EXPECT_EQ(asked("ok2"), "");
  EXPECT_EQ(outcome("ok2"), "in_progress");
  EXPECT_THAT(why_, HasSubstr("would be exceeded ($0.5 spent, the next request may cost $0.2)"));
  budget_ = 1.1;
  EXPECT_EQ(session({"ok", "ok2"}), Supervisor::End::done);
  EXPECT_EQ(asked("ok2"), "012");
}

// Two items at once, a dollar in all: whoever comes second waits for what the first leaves.
TEST_F(SupervisorTest, RequestsUnderWayAreCountedInTheBudget) {
  budget_ = 1.05;
  EXPECT_EQ(session({"ok", "ok2"}, 2), Supervisor::End::done);
  EXPECT_EQ(outcome("ok"), "correct");
  EXPECT_EQ(outcome("ok2"), "correct");
}

TEST_F(SupervisorTest, AModelThatRefusesItsFirstRequestsStopsAlone) {
  EXPECT_EQ(session({"refused", "refused2", "ok"}, 2), Supervisor::End::refused);
  EXPECT_EQ(outcome("refused"), "in_progress");
  EXPECT_EQ(outcome("refused2"), "in_progress");
  EXPECT_EQ(outcome("ok"), "") << "of the same model: not begun";
  EXPECT_THAT(why_, HasSubstr("the first 3 requests to m were all refused (authentication: wrong"));
}

TEST_F(SupervisorTest, SaysOnceWhyRequestsPauseAndThatTheyGoOn) {
  EXPECT_EQ(session({"down"}), Supervisor::End::done);
  EXPECT_THAT(state_.events,
              ElementsAre("m: cannot reach h:1 (connection refused); it is tried again; "
                          "`sweep probe s.toml` asks it now",
                          "m: answers again",
                          HasSubstr("correct")));
}

TEST_F(SupervisorTest, AFailureOfTheEndpointIsSaidWhenItPausesRequests) {
  EXPECT_EQ(session({"down500"}), Supervisor::End::done);
  EXPECT_THAT(state_.events,
              ElementsAre(AllOf(HasSubstr("m: HTTP 500 from h:1 (busy); next try in "),
                                HasSubstr("`sweep probe s.toml` asks it now")),
                          "m: answers again",
                          HasSubstr("correct")));
  EXPECT_EQ(state_.models[0].state, "ok");
  EXPECT_FALSE(state_.models[0].next_try);
}

TEST_F(SupervisorTest, ARaisedBudgetGoesOnWithoutAskingAgain) {
  budget_ = 0.7;
  (void)session({"ok", "ok2"});
  // The same budget again: what earlier sessions spent counts, so nothing starts.
  const int before = rows(record::kind::item_start);
  EXPECT_EQ(session({"ok", "ok2"}), Supervisor::End::budget);
  EXPECT_EQ(rows(record::kind::item_start), before);
  budget_ = 5;
  EXPECT_EQ(session({"ok", "ok2"}), Supervisor::End::done);
  EXPECT_EQ(asked("ok2"), "012");
  EXPECT_EQ(outcome("ok2"), "correct");
}

TEST_F(SupervisorTest, EveryRequestRowCarriesTheMarker) {
  (void)session({"ok"});
  for (const record::Row& row : record::verify_ledger(run_.ledger_file()).read) {
    if (row.kind == record::kind::request) {
      EXPECT_EQ(row.data["policy"], "evaluation-only/do-not-train");
    }
  }
}

}  // namespace
}  // namespace sweep::queue
