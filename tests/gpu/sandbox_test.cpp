#include "child.h"
#include "fixture.h"
#include "util/process.h"

#include <gmock/gmock.h>

#include <cstdio>

namespace sweep::gpu {
namespace {

using ::testing::Each;

// The way a runner is started: other user, Landlock, seccomp, own namespaces, a clean environment.
class Sandboxed : public OnDevice {
 protected:
  [[nodiscard]] util::Captured child(const std::string& name, int image, int buffer) {
    util::SpawnSpec spec;
    spec.argv = {"gpu_tests", "__child", name};
    spec.env = util::basic_environment();
    for (const std::string& variable : device::role_environment({device::Kind::cuda, 0})) {
      spec.env.push_back(variable);
    }
    spec.fds = {{image, kChildFd}, {buffer, kChildFd + 1}};
    util::SandboxPolicy policy = util::system_libraries();
    policy += util::nvidia_driver();
    spec.sandbox = policy;
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

}  // namespace
}  // namespace sweep::gpu
