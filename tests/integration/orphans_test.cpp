// What stays of an evaluation whose processes are killed: no judge, runner or compiler, and no
// folder after the next one.
#include "processes.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/process.h"
#include "util/text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

namespace sweep::test {
namespace {

namespace fs = std::filesystem;

const fs::path kProblem = fs::path(SWEEP_SOURCE_DIR) / "tests/data/problems/test/affine";

class Orphans : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("SWEEP_TEST_UNSANDBOXED") != nullptr) {
      GTEST_SKIP() << "the sandbox is switched off";
    }
    ::chmod(folder_.path().c_str(), 0755);
    fs::create_directory(temporary());
    ::chmod(temporary().c_str(), 0755);
    fs::copy(kProblem, problem());
    // A call that may take longer than this test.
    std::string toml = util::read_file(problem() / "problem.toml", 1 << 16);
    toml.replace(toml.find("seconds = 2"), 11, "seconds = 600");
    util::write_file_atomic(problem() / "problem.toml", toml);
    honest_ = util::read_file(kProblem / "seed.cu", 1 << 16);
  }

  [[nodiscard]] fs::path temporary() const { return folder_.path() / "tmp"; }

  [[nodiscard]] fs::path problem() const { return folder_.path() / "affine"; }

  [[nodiscard]] util::Process start(const std::string& text) const {
    const fs::path file = folder_.path() / "mine.cu";
    util::write_file_atomic(file, text);
    util::SpawnSpec spec;
    spec.argv = {"sweep",
                 "eval",
                 file.string(),
                 "--problem",
                 problem().string(),
                 "--device",
                 "cpu",
                 "--only",
                 "check"};
    spec.env = util::basic_environment(temporary());
    spec.env.push_back("SWEEP_LOCK_DIR=" + (folder_.path() / "locks").string());
    spec.env.push_back(
        "SWEEP_CACHE_DIR=" +
        (fs::temp_directory_path() / ("sweep-test-cache-" + std::to_string(::getuid()))).string());
    spec.deadline = 240;
    return util::Process::start_program(SWEEP_BINARY, spec);
  }

  // Waits for a descendant whose command line has `part`; all of them then.
  static std::vector<Running> wait_for(const util::Process& process, const std::string& part) {
    util::RealClock clock;
    while (process.time_left() > 0) {
      std::vector<Running> list = descendants(process.pid());
      if (std::ranges::any_of(list, [&](const Running& one) {
            return one.command.find(part) != std::string::npos;
          })) {
        return list;
      }
      clock.sleep(0.02);
    }
    ADD_FAILURE() << "no process '" << part << "' was started";
    return {};
  }

  // Waits until a runner computes: only then the judge has the candidate. One that dies before is
  // replaced.
  static std::vector<Running> wait_for_work(const util::Process& process) {
    util::RealClock clock;
    constexpr long kTicks = 20;
    while (process.time_left() > 0) {
      std::vector<Running> list = wait_for(process, "__run");
      if (std::ranges::any_of(list, [](const Running& one) {
            return one.command.find("__run") != std::string::npos && ticks_of(one.pid) >= kTicks;
          })) {
        return list;
      }
      clock.sleep(0.02);
    }
    ADD_FAILURE() << "no runner computes";
    return {};
  }

  // Time of a process in user mode, in ticks; 0 where it has gone.
  static long ticks_of(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text{std::istreambuf_iterator<char>(file), {}};
    std::istringstream fields(text.substr(std::min(text.rfind(')') + 1, text.size())));
    std::string skipped;
    for (int i = 0; i < 11; ++i) {
      fields >> skipped;
    }
    long ticks = 0;
    fields >> ticks;
    return ticks;
  }

  // The kernel ends them on its own time; nobody waits for them.
  static void expect_gone(const std::vector<Running>& list) {
    util::RealClock clock;
    std::vector<Running> left = list;
    for (int i = 0; i < 1000 && !left.empty(); ++i) {
      const std::vector<Running> now = processes();
      std::erase_if(left, [&now](const Running& one) { return !std::ranges::count(now, one); });
      clock.sleep(0.02);
    }
    for (const Running& one : left) {
      ADD_FAILURE() << "still running: " << one.pid << ' ' << one.command;
    }
  }

  [[nodiscard]] std::string endless() const {
    std::string text = honest_;
    return text.insert(text.find("  float sum"), "  for (volatile int i = 0;; i = i + 1) { }\n");
  }

  // 2^depth templates.
  static std::string long_to_compile(int depth) {
    return "template <int N, int M> struct Tree {\n"
           "  static constexpr int v = Tree<N - 1, 2 * M>::v + Tree<N - 1, 2 * M + 1>::v;\n"
           "};\n"
           "template <int M> struct Tree<0, M> { static constexpr int v = M; };\n"
           "__device__ const int bomb = Tree<" +
           std::to_string(depth) + ", 1>::v;\n";
  }

  util::TempDir folder_;
  std::string honest_;
};

// Who killed it is not told: it may have been the machine for want of memory.
TEST_F(Orphans, ACompilerThatIsKilledThreeTimesIsStartedAgain) {
  // Another text each time, so that no cache has it.
  util::Process process =
      start(long_to_compile(14) + "// " + folder_.path().string() + "\n" + honest_);
  constexpr std::size_t kKills = 3;
  std::set<pid_t> killed;
  while (killed.size() < kKills && process.time_left() > 0) {
    for (const Running& one : wait_for(process, "cc1plus")) {
      if (one.command.find("cc1plus") != std::string::npos && killed.size() < kKills &&
          !killed.contains(one.pid) && ::kill(one.pid, SIGKILL) == 0) {
        killed.insert(one.pid);
      }
    }
  }
  EXPECT_EQ(killed.size(), kKills);
  EXPECT_EQ(process.wait().code, 0);
}

TEST_F(Orphans, AKilledEvaluationLeavesNoProcessAndTheNextCleansUp) {
  util::Process process = start(endless());
  const std::vector<Running> below = wait_for(process, "__run");
  EXPECT_GE(below.size(), 2U);  // a judge and a runner
  process.send_signal(SIGKILL);
  (void)process.wait();
  expect_gone(below);
  EXPECT_FALSE(fs::is_empty(temporary()));
  util::Process next = start(honest_);
  EXPECT_EQ(next.wait().code, 0);
  EXPECT_TRUE(fs::is_empty(temporary()));
}

TEST_F(Orphans, AKilledJudgeIsSaidAndLeavesNothing) {
  util::Process process = start(endless());
  const std::vector<Running> below = wait_for_work(process);
  for (const Running& one : below) {
    if (one.command.find("__judge") != std::string::npos) {
      ::kill(one.pid, SIGKILL);
    }
  }
  EXPECT_EQ(process.wait().code, 3);  // infra
  expect_gone(below);
  EXPECT_TRUE(fs::is_empty(temporary()));
}

TEST_F(Orphans, AKilledEvaluationLeavesNoCompiler) {
  util::Process process =
      start(long_to_compile(22) + "// " + folder_.path().string() + "\n" + honest_);
  const std::vector<Running> below = wait_for(process, "cc1plus");
  process.send_signal(SIGKILL);
  (void)process.wait();
  expect_gone(below);
}

}  // namespace
}  // namespace sweep::test
