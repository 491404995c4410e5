#include "queue/join.h"

#include "record/claim_files.h"
#include "record/claims.h"
#include "util/error.h"
#include "util/fake_clock.h"
#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

namespace sweep::queue {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Join : public ::testing::Test {
 protected:
  Join() { run_.create(); }

  // A sign of life of a task that died, so many hours from now.
  void sign(const std::string& task, int hours) const {
    record::make_run_folder(run_.claims_folder());
    const fs::path file = run_.claims_folder() / record::sign_name(task);
    std::ofstream(file) << record::sign_text({task, "host\n", 7, 60, 0, 0});
    fs::last_write_time(file, fs::file_time_type::clock::now() + std::chrono::hours(hours));
  }

  util::TempDir dir_;
  record::RunDir run_{dir_.path() / "run"};
  util::FakeClock clock_;
};

TEST_F(Join, WithoutClaimsNobodyIsWaitedFor) {
  EXPECT_THAT(wait_for_tasks(run_, 100, clock_), IsEmpty());
  EXPECT_THAT(clock_.slept(), IsEmpty());
  EXPECT_FALSE(fs::exists(run_.claims_folder()));
  require_no_tasks(run_);
}

TEST_F(Join, ADeadTaskIsWaitedForNoLongerThanItsLeaseWhateverItsSignsTime) {
  sign("old", -1);
  sign("future", 9000);
  EXPECT_THAT(tasks_at_work(run_), ElementsAre("task future on host\n"));
  EXPECT_THROW(require_no_tasks(run_), util::UsageError);
  EXPECT_THAT(wait_for_tasks(run_, 59, clock_), ElementsAre("task future on host\n"));
  const double before = clock_.monotonic();
  EXPECT_THAT(wait_for_tasks(run_, 1000, clock_), IsEmpty());
  EXPECT_NEAR(clock_.monotonic() - before, 60, 1);
}

}  // namespace
}  // namespace sweep::queue
