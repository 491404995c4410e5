#include "child.h"
#include "fixture.h"
#include "util/file.h"
#include "util/process.h"

#include <gmock/gmock.h>

#include <cstdio>

namespace sweep::gpu {
namespace {

using ::testing::Each;
using ::testing::EndsWith;

// The way a runner is started: other user, Landlock, seccomp, own namespaces, a clean environment.
class Sandboxed : public OnDevice {
 protected:
  [[nodiscard]] util::Captured child(const std::string& name, int image, int buffer) {
    util::SpawnSpec spec = sandboxed(name);
    spec.fds = {{image, kChildFd}, {buffer, kChildFd + 1}};
    return start(spec);
  }

  [[nodiscard]] static util::Captured start(const util::SpawnSpec& spec) {
    util::Captured result = util::run_self(util::Self::open(), spec);
    for (const util::Protection& protection : result.protections) {
      std::printf("figure sandbox %s: %s %s\n",
                  protection.name.c_str(),
                  protection.active ? "on" : "off",
                  protection.detail.c_str());
    }
    return result;
  }
};

TEST_F(Sandboxed, RunnerOpensTheDeviceWashesAndWritesToTheJudgesBuffer) {
  constexpr std::size_t kBytes = 4096;
  const auto buffer = on().allocate(kBytes);
  on().fill_words(buffer->address(), kBytes, 1);
  on().synchronize();
  const util::Fd image = util::make_memfd("own code");
  write_image(image.get(), on().own_code());
  const util::Fd memory = buffer->export_fd();
  const util::Captured result = child("runner", image.get(), memory.get());
  EXPECT_TRUE(result.status.ok()) << result.status.text() << '\n' << result.out << result.err;
  std::printf("figure sandboxed_runner_life %.3f s\n", result.status.seconds);
  EXPECT_EQ(result.out, "ok\n") << result.err;
  EXPECT_THAT(download<std::uint32_t>(buffer->address(), kBytes / 4), Each(0x2a2a2a2aU));
}

// The way a judge is started, and what it must be able to do there.
TEST_F(Sandboxed, JudgeOpensTheDeviceAndStartsASandboxedRunner) {
  const util::TempDir folder;
  util::SpawnSpec spec = sandboxed("judge");
  spec.env.push_back("TMPDIR=" + folder.path().string());
  spec.work_folder = folder.path();
  const util::Fd image = util::make_memfd("own code");
  write_image(image.get(), on().own_code());
  spec.fds = {{image.get(), kChildFd}};
  spec.sandbox->start_sandboxed = true;
  spec.sandbox->max_processes = 4096;
  const util::Captured result = start(spec);
  EXPECT_TRUE(result.status.ok()) << result.status.text() << '\n' << result.out << result.err;
  EXPECT_TRUE(util::sealed(result.protections));
  EXPECT_THAT(result.out, EndsWith("ok\nwrote\n")) << result.err;
  std::printf("%s", result.out.c_str());
}

}  // namespace
}  // namespace sweep::gpu
