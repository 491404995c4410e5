// One candidate, one process: what a runner leaves behind is not there for the next.
#include "evaluate/image_wire.h"
#include "hostile_fixture.h"
#include "util/process.h"
#include "wire/channel.h"

#include <gmock/gmock.h>

#include <array>

namespace sweep::evaluate {
namespace {

using test::line_of;
using ::testing::HasSubstr;

// Reads the marks that a process can carry, then leaves them.
constexpr std::string_view kMarks = R"(
static long mark;
static void look() {
  char here[64] = {};
  call(79, at(here), 64);
  say("mark", mark);
  say("umask", call(95, 0111));
  say("elsewhere", here[1] != 0);
  say("descriptor", call(72, 90, 1));
  say("name", call(157, 16, at(here)) == 0 && here[0] == 'x');
  mark = 1;
  call(80, at("/usr"));
  call(33, 3, 90);
  call(157, 15, at("x"));
}
)";

class RunnerState : public Hostile {
 protected:
  // Each process that spoke found nothing.
  static void expect_fresh(const std::string& said, std::size_t least) {
    const auto count = [&said](const std::string& line) {
      std::size_t found = 0;
      for (std::size_t at = said.find(line); at != std::string::npos;
           at = said.find(line, at + 1)) {
        ++found;
      }
      return found;
    };
    const std::size_t processes = count("probe mark: ");
    EXPECT_GE(processes, least) << said;
    EXPECT_EQ(count(line_of("mark", 0)), processes) << said;
    EXPECT_EQ(count(line_of("elsewhere", 0)), processes) << said;
    EXPECT_EQ(count(line_of("descriptor", -9)), processes) << said;
    EXPECT_EQ(count(line_of("name", 0)), processes) << said;
    const mode_t mask = ::umask(0);
    ::umask(mask);
    EXPECT_EQ(count(line_of("umask", mask)), processes) << said;
  }
};

TEST_F(RunnerState, SparesOfATimeStageAreFresh) {
  const Ran ran = judge(kernel(std::string(kMarks), "look();"), {.timed = 3});
  EXPECT_FALSE(ran.check.failure) << why(ran);
  ASSERT_TRUE(ran.time);
  EXPECT_FALSE(ran.time->failure) << ran.time->failure->text;
  // One of check, then one for each replicate.
  expect_fresh(ran.said, 4);
}

TEST_F(RunnerState, AnotherEvaluationFindsNothing) {
  const std::string source = kernel(std::string(kMarks), "look();");
  expect_fresh(judge(source, {}).said, 1);
  expect_fresh(judge(source + "// another one\n", {}).said, 1);
}

// A judge that has worked ahead holds references, and seed's outputs of other draws, by the time
// that a runner gets the candidate; in what the runner maps stands the pattern of its own call.
TEST_F(RunnerState, WhatWasComputedAheadIsNotMapped) {
  const std::string source = honest_;
  const std::size_t plan = source.find("//@ affine<<<");
  const std::size_t kernel = source.find("__global__");
  ASSERT_NE(plan, std::string::npos);
  ASSERT_NE(kernel, std::string::npos);
  const std::string look = std::string(test::kProbeCode) +
                           R"(
static int calls;
// Words of an output, and of what lies before it in its first page, that are not its first word.
static long others(const float* from, long count) {
  const unsigned* words = (const unsigned*)from;
  const long before = ((unsigned long)from & 4095) / 4;
  long found = 0;
  for (long i = -before; i < count; ++i) found += words[i] != words[0];
  return found;
}
__global__ void look(const float* y, const float* total, int rows, int cols) {
  if (calls++ == 0) say("others", others(y, (long)rows * cols) + others(total, rows));
}
)";
  const std::string looking = "static const int say_to = 1;\n" + look;
  std::string text = source.substr(0, plan) + "//@ look<<<1, 1>>>(y, total, rows, cols)\n" +
                     source.substr(plan, kernel - plan) + looking + source.substr(kernel);
  const Ran ran = judge(text, {.ahead = 2});
  EXPECT_FALSE(ran.check.failure) << why(ran);
  EXPECT_GT(ran.check.costs.ready, 0);
  EXPECT_THAT(ran.said, HasSubstr(line_of("others", 0)));
}

TEST_F(RunnerState, ARunnerTakesNoSecondModule) {
  auto [ours, theirs] = wire::Channel::make_pair();
  util::SpawnSpec spec;
  spec.argv = {"sweep", "__run"};
  spec.env = util::basic_environment();
  spec.fds = {{theirs.get(), wire::Channel::kRoleFd}};
  spec.sandbox = util::system_libraries();
  util::Process runner =
      util::Process::start_self(util::Self::open(std::filesystem::path(SWEEP_BINARY)), spec);
  theirs.reset();
  wire::Channel channel(std::move(ours), "runner");
  const device::Image& image = reference_image();
  const util::Fd own = image_fd({}, "own");
  const util::Fd code = image_fd(image, "code");
  const std::array fds = {own.get(), code.get()};
  const nlohmann::json load = {
      {"do", "load"}, {"own", kernels_to_json({})}, {"kernels", kernels_to_json(image)}};
  channel.send({{"do", "device"}, {"device", "cpu"}, {"off", nlohmann::json::array()}});
  EXPECT_TRUE(channel.receive(60).body.contains("sm_count"));
  channel.send(load, fds);
  EXPECT_TRUE(channel.receive(60).body.contains("facts"));
  try {
    channel.send(load, fds);
    ADD_FAILURE() << channel.receive(60).body.dump();
  } catch (const wire::WireError& error) {
    EXPECT_EQ(error.code(), "E_WIRE_CLOSED");
  }
  EXPECT_EQ(runner.wait().code, 1);
}

}  // namespace
}  // namespace sweep::evaluate
