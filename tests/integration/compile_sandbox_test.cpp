// What a compiler that a submission has taken over could do: the program compile_probe stands in
// its place, in the same sandbox, and tries.

#include "compile_fixture.h"

#include <gmock/gmock.h>

#include <unistd.h>

namespace sweep::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class CompileSandbox : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    if (const std::string why = missing(GetParam()); !why.empty()) {
      GTEST_SKIP() << why;
    }
  }

  // What the probe found, for the sandbox of this way.
  [[nodiscard]] std::string found(const std::string& wishes) const {
    const util::TempDir cache("sweep-probe-cache");
    compile::Options options;
    options.cache = cache.path();
    options.use_cache = false;
    options.program = SWEEP_COMPILE_PROBE;
    options.deadline_seconds = 60;
    const compile::Result result =
        compile::Compiler(options).compile(request_for(GetParam(), wishes));
    EXPECT_EQ(result.status, compile::Result::Status::ok);
    return result.log;
  }
};

TEST_P(CompileSandbox, ReachesNothingOutside) {
  const PlantedFile file;
  const util::TempDir open_folder("sweep-open");
  chmod(open_folder.path().c_str(), 0777);
  const std::string written = (open_folder.path() / "new").native();
  setenv("SWEEP_TEST_API_KEY", kSecret, 1);
  const std::string log = found(
      "read " + file.path() + "\nread /etc/passwd\nread /etc/hostname\n" +
      "list /\nlist /tmp\nlist /home\nlist /opt\nlist /proc\nlist /sys\n" + "write " + written +
      "\nwrite " + file.path() + "\nwrite /tmp/sweep-new\nwrite /usr/include/sweep-new\n" +
      "write ./new\nprocess " + std::to_string(getpid()) + "\n");
  unsetenv("SWEEP_TEST_API_KEY");
  for (const std::string what : {"socket tcp",
                                 "socket udp",
                                 "socket tcp6",
                                 "socket unix",
                                 "socket netlink",
                                 "signal",
                                 "trace",
                                 "memory",
                                 "list /",
                                 "list /tmp",
                                 "list /home",
                                 "list /opt",
                                 "list /proc",
                                 "list /sys",
                                 "read /etc/passwd",
                                 "read /etc/hostname",
                                 "write /tmp/sweep-new",
                                 "write /usr/include/sweep-new",
                                 "file of 1 GiB",
                                 "64 GiB of memory",
                                 "300 processes"}) {
    EXPECT_THAT(log, HasSubstr("\n" + what + ": no (")) << log;
  }
  EXPECT_THAT(log, HasSubstr("read " + file.path() + ": no ("));
  EXPECT_THAT(log, HasSubstr("write " + file.path() + ": no ("));
  EXPECT_THAT(log, HasSubstr("write " + written + ": no ("));
  const std::string own = "/proc/" + std::to_string(getpid());
  EXPECT_THAT(log, HasSubstr("read " + own + "/environ: no ("));
  EXPECT_THAT(log, HasSubstr("read " + own + "/mem: no ("));
  // The test can fail: the probe does run and its own folder is its own.
  EXPECT_THAT(log, HasSubstr("write ./new: yes"));
}

TEST_P(CompileSandbox, SeesNoneOfOurEnvironment) {
  setenv("SWEEP_TEST_API_KEY", kSecret, 1);
  const std::string log = found("");
  unsetenv("SWEEP_TEST_API_KEY");
  EXPECT_THAT(log, HasSubstr("environment: PATH LANG HOME TMPDIR\n"));
}

// Where the compiler is a library nothing is executed; elsewhere a shell gains nothing, since
// everything above binds it too.
TEST_P(CompileSandbox, ExecutesWhatTheCompilerNeeds) {
  const bool programs = GetParam() == Way::gxx || GetParam() == Way::nvcc;
  EXPECT_THAT(found(""), HasSubstr(programs ? "execute /bin/sh: yes" : "execute /bin/sh: no ("));
}

INSTANTIATE_TEST_SUITE_P(Ways,
                         CompileSandbox,
                         testing::Values(Way::gxx, Way::nvrtc, Way::nvcc, Way::ptxas),
                         [](const auto& way) { return std::string(name(way.param)); });

}  // namespace
}  // namespace sweep::test
