// Kernels that use up something: each ends in a verdict, and an honest kernel judged next is right.
// All on the cpu device, where a kernel's host code can really try. What needs a GPU (a stack of
// 500 KB a thread at full residency, a static array larger than its memory) is in tests/gpu.
#include "evaluate/evaluation.h"
#include "hostile_fixture.h"

#include <gmock/gmock.h>

#include <csignal>

#include <sys/wait.h>

namespace sweep::evaluate {
namespace {

using test::line_of;
using ::testing::HasSubstr;

class ResourceFault : public Hostile {
 protected:
  void TearDown() override {
    if (IsSkipped()) {
      return;
    }
    const Ran next = judge(honest_, {});
    EXPECT_FALSE(next.check.failure) << "after it an honest kernel fails: " << why(next);
    EXPECT_GE(next.check.calls.size(), 4U);  // probes come on top
  }

  // Some kernels are built without 32-bit calls: there they are a fault of memory.
  static bool has_another_table() {
    const pid_t child = ::fork();
    if (child == 0) {
      ::signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would end it otherwise
      long result = 20;            // getpid
      __asm__ volatile("int $0x80" : "+a"(result) : : "memory");
      ::_exit(0);
    }
    int status = 0;
    return ::waitpid(child, &status, 0) == child && WIFEXITED(status);
  }

  static void expect(const Ran& ran, Verdict verdict) {
    ASSERT_TRUE(ran.check.failure) << why(ran);
    EXPECT_EQ(ran.check.failure->verdict, verdict) << why(ran);
  }

  // A submission through the whole evaluation, with what the compiler refuses.
  [[nodiscard]] Evaluation submit(const std::string& text) const {
    Services services;
    services.problems = problem_->folder.parent_path().parent_path();
    services.seeds = problem_->folder;  // unused: the seed is beside the problem
    services.cache =
        std::filesystem::temp_directory_path() / ("sweep-test-cache-" + std::to_string(::getuid()));
    services.locks = folder_.path() / "locks";
    services.program = SWEEP_BINARY;
    EvaluationRequest request;
    request.submission = {"mine.cu", text};
    request.device = {device::Kind::cpu, 0};
    request.only = Stage::check;
    request.deadline_seconds = 240;
    return evaluate(request, services);
  }
};

TEST_F(ResourceFault, ForkBomb) {
  const Ran ran = run("", R"(
    long made = 0;
    for (int i = 0; i < 10000; ++i) made += call(57) > 0;
    say("forked", made);)");
  EXPECT_FALSE(ran.check.failure) << why(ran);
  EXPECT_THAT(ran.said, HasSubstr(line_of("forked", 0)));
}

// int 0x80 is of the table of 32-bit calls, which ends a process whatever the call.
TEST_F(ResourceFault, ACallOfAnotherTable) {
  const Ran ran = run("", R"(
    long result = 20;
    __asm__ volatile("int $0x80" : "+a"(result) : : "memory");)");
  expect(ran, has_another_table() ? Verdict::rejected_escape : Verdict::runtime_fault);
  EXPECT_EQ(ran.check.failure->defence == Defence::sandbox, has_another_table());
}

TEST_F(ResourceFault, EndlessLoop) {
  expect(run("", "for (volatile int i = 0;; i = i + 1) { }"), Verdict::timeout);
}

TEST_F(ResourceFault, StopsItself) {
  // As the first process of its namespace it ignores the signal, and waits instead.
  expect(run("", "call(62, call(39), 19); for (;;) call(34);"), Verdict::timeout);
}

TEST_F(ResourceFault, GigabyteOfOutputToNowhere) {
  const Ran ran = judge(kernel("static char text[1 << 20];\n",
                               "for (int i = 0; i < 1024; ++i) call(1, 1, at(text), 1 << 20);"),
                        {.printing = false});
  EXPECT_FALSE(ran.check.failure) << why(ran);
  EXPECT_EQ(ran.said, "");
}

TEST_F(ResourceFault, OutputIsCutAndDroppedBeyond) {
  // 64 MiB in each of four calls; a call of this problem may take two seconds.
  const Ran ran = run("static char text[1 << 20];\n",
                      "for (char& c : text) c = 'a';\n"
                      "text[0] = 27;\n"
                      "for (int i = 0; i < 64; ++i) call(1, 1, at(text), 1 << 20);");
  EXPECT_FALSE(ran.check.failure) << why(ran);
  EXPECT_THAT(ran.said, HasSubstr("[more output of the kernel is not shown]"));
  EXPECT_THAT(ran.said, ::testing::StartsWith("\\x1baaaa"));
  EXPECT_LT(ran.said.size(), 66'000U);
  EXPECT_GT(ran.said.size(), 65'000U);
}

// Every way to memory but the one that the limit counts is closed.
TEST_F(ResourceFault, MemoryHog) {
  const Ran ran = run("", R"(
    say("shared", call(9, 0, 1 << 30, 3, 0x21, -1));
    say("growing", call(9, 0, 1 << 30, 3, 0x122, -1));
    say("file", call(319, at("x")));
    say("secret", call(447));
    say("system v", call(29, 0, 1 << 20, 01600));
    say("queue", call(68, 0, 01600));
    say("zero", get("/dev/zero"));
    say("locked", call(151, 1));
    long got = 0;
    while (call(9, 0, 1L << 30, 3, 0x4022, -1) > 0) ++got;
    say("bounded", got < 4096);
    volatile char* memory = (volatile char*)call(9, 0, 1L << 30, 3, 0x22, -1);
    memory[0] = 1;)");
  expect(ran, Verdict::runtime_fault);
  for (const char* name : {"shared", "growing", "file", "secret", "system v", "queue"}) {
    EXPECT_THAT(ran.said, HasSubstr(line_of(name, -1)));
  }
  EXPECT_THAT(ran.said, HasSubstr(line_of("zero", -13)));
  EXPECT_THAT(ran.said, ::testing::Not(HasSubstr(line_of("locked", 0))));
  EXPECT_THAT(ran.said, HasSubstr(line_of("bounded", 1)));
}

TEST_F(ResourceFault, StaticArrayOf64GiBDoesNotLoad) {
  expect(run("static char big[1L << 36];\n", "big[calls] = 1; say(\"big\", big[5]);"),
         Verdict::launch_error);
}

TEST_F(ResourceFault, StaticArrayOf64GiBInASubmission) {
  for (const char* memory : {"__device__", "__constant__", "static"}) {
    std::string text = honest_;
    text.insert(text.find("__global__"), std::string(memory) + " volatile char big[1L << 36];\n");
    text.insert(text.rfind("  total[r]"), "  sum += big[cols] * 0.0f;\n");
    const Evaluation e = submit(text);
    EXPECT_TRUE(e.outcome() == Outcome::compile_fail || e.outcome() == Outcome::rejected ||
                e.outcome() == Outcome::error)
        << memory << ' ' << name(e.verdict) << ' ' << e.headline << e.infra;
  }
}

TEST_F(ResourceFault, SharedArrayOf64GiBInASubmission) {
  std::string text = honest_;
  text.insert(text.find("  if (r >= rows)"), "  __shared__ volatile char big[1L << 36];\n");
  text.insert(text.rfind("  total[r]"),
              "  big[(long)r << 20] = 0;\n  sum += big[(long)r << 20] * 0.0f;\n");
  const Evaluation e = submit(text);
  EXPECT_TRUE(e.outcome() == Outcome::compile_fail || e.outcome() == Outcome::error)
      << name(e.verdict) << ' ' << e.headline << e.infra;
}

TEST_F(ResourceFault, StackOf500KiloBytesAThread) {
  std::string text = honest_;
  text.insert(text.rfind("  total[r]"),
              "  volatile char deep[500000];\n"
              "  for (int i = 0; i < 500000; ++i) deep[i] = (char)i;\n"
              "  sum += deep[cols] * 0.0f;\n");
  const Evaluation e = submit(text);
  EXPECT_EQ(e.verdict, Verdict::runtime_fault) << name(e.verdict) << ' ' << e.headline << e.infra;
  EXPECT_THAT(e.headline, HasSubstr("stack"));
}

// A header that announces more than a message may hold; as a signed number -1 and the most.
TEST_F(ResourceFault, HugeMessageFromARunner) {
  for (const char* size : {"\\377\\377\\377\\377", "\\377\\377\\377\\177"}) {
    const Ran ran = run("", std::string("call(1, 3, at(\"") + size + "\"), 4);");
    expect(ran, Verdict::runtime_fault);
    EXPECT_THAT(ran.check.failure->text, HasSubstr("broke its protocol")) << why(ran);
  }
}

TEST_F(ResourceFault, GarbageFromARunner) {
  for (const char* message :
       {"\\2\\0\\0\\0[]", "\\5\\0\\0\\0\\0\\0\\0\\0\\0", "\\4\\0\\0\\0{\\\"\\\":"}) {
    const Ran ran = run("",
                        std::string("static const char bytes[] = \"") + message +
                            "\";\n call(1, 3, at(bytes), sizeof bytes - 1);");
    expect(ran, Verdict::runtime_fault);
    EXPECT_THAT(ran.check.failure->text, HasSubstr("broke its protocol")) << why(ran);
  }
}

TEST_F(ResourceFault, HalfAMessageFromARunner) {
  expect(run("", "call(1, 3, at(\"\\100\\0\\0\\0{\"), 5); for (;;) call(34);"), Verdict::timeout);
}

TEST_F(ResourceFault, ClosesItsChannelAndLives) {
  const Ran ran = run("", "call(3, 3); for (;;) call(34);");
  expect(ran, Verdict::runtime_fault);
  EXPECT_THAT(ran.check.failure->text, HasSubstr("broke its protocol")) << why(ran);
}

TEST_F(ResourceFault, EndsItself) {
  const Ran ran = run("", "call(231, 0);");
  expect(ran, Verdict::runtime_fault);
  EXPECT_THAT(ran.check.failure->text, HasSubstr("ended: exit code 0")) << why(ran);
}

}  // namespace
}  // namespace sweep::evaluate
