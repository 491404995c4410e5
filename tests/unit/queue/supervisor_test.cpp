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

// Has its answer at once.
class FakeProbe final : public LaneProbe {
 public:
  explicit FakeProbe(std::string problem)
      : problem_(std::move(problem)), file_(util::make_memfd("probe")) {}

  [[nodiscard]] int fd() const override { return file_.get(); }

  [[nodiscard]] std::string problem() override { return problem_; }

 private:
  std::string problem_;
  util::Fd file_;
};

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
    for (std::size_t i = 0; i < devices_.size() && i < setup.workers.size(); ++i) {
      setup.workers[i].surroundings.device = {device::Kind::cuda, devices_[i]};
    }
    setup.item_timeout = item_timeout_;
    setup.grace = 0.5;
    setup.probe = [this](const device::Id& device) {
      probed_.push_back(device.index);
      return std::make_unique<FakeProbe>(device.index == broken_ ? "it is gone" : "");
    };
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
  std::vector<int> devices_;  // cuda:N of each worker; none: the cpu device
  int broken_ = -1;           // the device that no probe finds usable
  std::vector<int> probed_;
  double item_timeout_ = 0;
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

TEST_F(SupervisorTest, AnItemWhoseDeviceFailsIsTriedOnceMoreOnAnother) {
  devices_ = {0, 9};
  broken_ = 0;
  EXPECT_EQ(session({"faulty"}, 2), Supervisor::End::done);
  EXPECT_EQ(outcome("faulty"), "correct");
  EXPECT_EQ(asked("faulty"), "012") << "nothing is asked twice";
  EXPECT_EQ(rows(record::kind::item_end), 1);
  EXPECT_THAT(probed_, ElementsAre(0));
  EXPECT_THAT(state_.events,
              ::testing::IsSupersetOf({HasSubstr("cuda:0: failed (cuda: no answer); it is probed"),
                                       HasSubstr("cuda:0 is taken out of this session: it is gone"),
                                       HasSubstr("the item is tried once more")}));
}

TEST_F(SupervisorTest, ADeviceThatAnswersTheProbeGoesOn) {
  devices_ = {0};
  EXPECT_EQ(session({"faulty", "ok"}), Supervisor::End::done);
  EXPECT_EQ(outcome("faulty"), "infra_error") << "twice";
  EXPECT_EQ(outcome("ok"), "correct");
  EXPECT_EQ(probed_.size(), 2U);
}

TEST_F(SupervisorTest, ADeviceThatFailsAgainAndAgainIsTakenOutAndItsItemsAreLeft) {
  devices_ = {0};
  EXPECT_EQ(session({"faulty", "faulty2", "faulty3", "ok"}), Supervisor::End::devices);
  EXPECT_THAT(why_,
              HasSubstr("cuda:0 is taken out of this session: 3 faults in a row, and no other "
                        "device is left"));
  EXPECT_EQ(outcome("ok"), "") << "not begun";
  EXPECT_EQ(probed_.size(), 3U);
  devices_ = {9};
  EXPECT_EQ(session({"faulty", "faulty2", "faulty3", "ok"}), Supervisor::End::done);
  for (const char* problem : {"faulty", "faulty2", "faulty3", "ok"}) {
    EXPECT_EQ(outcome(problem), "correct");
    EXPECT_EQ(asked(problem), "012");
  }
}

TEST_F(SupervisorTest, AWaitForADeviceIsNoTimeOfTheItem) {
  item_timeout_ = 1.5;
  EXPECT_EQ(session({"held"}), Supervisor::End::done);
  EXPECT_EQ(outcome("held"), "correct");
  EXPECT_EQ(past_of(run_, item("held")).trajectory->interruptions, 0);
}

TEST_F(SupervisorTest, AnItemThatDoesNotEndIsKilledAndGoesOnOnce) {
  item_timeout_ = 1.5;
  EXPECT_EQ(session({"sleeps"}), Supervisor::End::done);
  EXPECT_EQ(outcome("sleeps"), "correct");
  EXPECT_EQ(asked("sleeps"), "012");
  EXPECT_EQ(past_of(run_, item("sleeps")).trajectory->interruptions, 1);
  EXPECT_THAT(state_.events.front(), HasSubstr("no end within 2 s"));
}

TEST_F(SupervisorTest, AllRowsAreOnTheDiskWhenTheirWorkersGoOn) {
  std::vector<std::string> problems;
  for (int i = 0; i < 12; ++i) {
    problems.push_back("ok" + std::to_string(i));
  }
  EXPECT_EQ(session(problems, 12), Supervisor::End::done);
  EXPECT_EQ(rows(record::kind::request), 36);
  for (const std::string& problem : problems) {
    EXPECT_EQ(asked(problem), "012");
  }
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
