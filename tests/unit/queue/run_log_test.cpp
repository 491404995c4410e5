#include "queue/run_log.h"

#include "util/fake_clock.h"
#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace sweep::queue {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(RunLog, ALineIsOneLineWhateverTheText) {
  EXPECT_EQ(log_line(0, "a\nb\t\x1b[31mc\r\x7f"),
            "1970-01-01T00:00:00.000Z a\\nb\\x09\\x1b[31mc\\x0d\\x7f\n");
  EXPECT_THAT(log_line(0, std::string("\xff\xfe", 2)), EndsWith("\xef\xbf\xbd\n"));
  const std::string cut = log_line(0, std::string(100000, 'x'));
  EXPECT_LT(cut.size(), 5000U);
  EXPECT_THAT(cut, EndsWith(" [cut]\n"));
}

TEST(RunLog, IsBoundedAndKeepsTheNewest) {
  const util::TempDir dir;
  util::FakeClock clock;
  RunLog log(dir.path() / "log", "sweep", clock, 1000);
  for (int i = 0; i < 1000; ++i) {
    log.write("line " + std::to_string(i));
  }
  std::uintmax_t bytes = 0;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir.path() / "log")) {
    bytes += entry.file_size();
    ++files;
  }
  EXPECT_EQ(files, RunLog::kMostFiles);
  EXPECT_LE(bytes, 4000U);
  EXPECT_THAT(util::read_file(dir.path() / "log/sweep.log", 10000), HasSubstr("line 999\n"));
  EXPECT_THAT(util::read_file(dir.path() / "log/sweep.3.log", 10000), HasSubstr(" line "));
}

// What a full disk or a kill left of a line is no beginning of the next.
TEST(RunLog, ALineThatWasCutEndsBeforeTheNext) {
  const util::TempDir dir;
  util::FakeClock clock;
  RunLog log(dir.path() / "log", "sweep", clock);
  std::ofstream(dir.path() / "log/sweep.log") << "1970-01-01T00:0";
  log.write("next");
  log.write("last");
  const std::string text = util::read_file(dir.path() / "log/sweep.log", 1000);
  EXPECT_THAT(text, StartsWith("1970-01-01T00:0\n"));
  EXPECT_THAT(text, EndsWith("Z next\n" + log_line(clock.wall(), "last")));
}

TEST(RunLog, WritesThroughNoLinkAndFailsSilently) {
  const util::TempDir dir;
  util::FakeClock clock;
  std::ofstream(dir.path() / "victim") << "kept";
  std::filesystem::create_directory(dir.path() / "log");
  std::filesystem::create_symlink(dir.path() / "victim", dir.path() / "log/sweep.log");
  RunLog log(dir.path() / "log", "sweep", clock);
  log.write("x");
  EXPECT_EQ(util::read_file(dir.path() / "victim", 100), "kept");
  std::ofstream(dir.path() / "file");
  RunLog nowhere(dir.path() / "file", "sweep", clock);
  nowhere.write("x");
}

}  // namespace
}  // namespace sweep::queue
