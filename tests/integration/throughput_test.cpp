// Short calls in graphs of many. The cpu device has no short calls: the event times that decide are
// given.
#include "evaluate/throughput.h"

#include "judge_state.h"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

namespace sweep::evaluate {
namespace {

class ShortCallsTest : public JudgeState {
 protected:
  // A warmed pair of the candidate, whose call is said to take 15 us.
  void begin(const std::string& source) {
    open(source);
    shapes_.push_back(
        make_timed_shape(*session_,
                         visible_places(session_->problem(), device::Kind::cpu, true).front(),
                         key_,
                         false,
                         2,
                         [] {}));
    shapes_[0].seed_event = shapes_[0].candidate_event = 15e-6;
    graphs_.emplace(*session_, key_, timing::ScheduleKey{"test/affine", "mine", "one"});
  }

  Pair pair(int replicate) {
    Pair made = start_pair(*session_, timing::Arm::seed, replicate);
    made.seed.arm->ready();
    made.candidate.arm->ready();
    return made;
  }

  [[nodiscard]] std::optional<Failure> ready(Pair& pair) {
    return graphs_->get_ready(pair, shapes_[0], 0);
  }

  [[nodiscard]] std::optional<Failure> measure(Pair& pair) {
    return graphs_->measure(pair, shapes_, samples_);
  }

  [[nodiscard]] int passed();

  const problem::Key key_ = problem::Key::from_seed(1);
  std::deque<TimedShape> shapes_;
  std::optional<ShortCalls> graphs_;
  std::vector<Sample> samples_;
};

std::string honest() {
  return std::string(kPlan) + std::string(kHead) + std::string(kRow) + "}\n";
}

// 500 us of 15 us: 34 calls. The plan's scalar differs between contents.
TEST_F(ShortCallsTest, EachReplicateHasTwoBlocksOfGraphs) {
  begin(honest());
  for (int replicate = 0; replicate < 2; ++replicate) {
    Pair one = pair(replicate);
    EXPECT_FALSE(ready(one));
    EXPECT_EQ(shapes_[0].throughput.calls, 34);
    const auto warmed = one.candidate.calls;
    EXPECT_GE(warmed, 34 + 1) << "once as a whole, once cut";
    EXPECT_LT(warmed, 34 + 34);
    EXPECT_FALSE(measure(one));
    EXPECT_EQ(one.candidate.calls - warmed, 34 * 4);
  }
  ASSERT_EQ(samples_.size(), 16U);
  int candidates = 0;
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    EXPECT_EQ(samples_[i].replicate, static_cast<int>(i / 8));
    EXPECT_EQ(samples_[i].block, static_cast<int>(i / 4 % 2));
    EXPECT_EQ(samples_[i].position, static_cast<int>(i % 4));
    EXPECT_EQ(samples_[i].candidate, samples_[i / 4 * 4 + 3 - i % 4].candidate) << "ABBA or BAAB";
    EXPECT_GT(samples_[i].device_seconds, 0);
    candidates += samples_[i].candidate ? 1 : 0;
  }
  EXPECT_EQ(candidates, 8);
}

TEST_F(ShortCallsTest, LongCallsHaveNoGraph) {
  begin(honest());
  shapes_[0].candidate_event = shapes_[0].seed_event = 21e-6;
  Pair one = pair(0);
  EXPECT_FALSE(ready(one));
  EXPECT_EQ(shapes_[0].throughput.reason, "a call takes 20 us or more");
  EXPECT_FALSE(measure(one));
  EXPECT_TRUE(samples_.empty());
}

TEST_F(ShortCallsTest, EveryCallOfTheFirstGraphIsJudged) {
  begin(turncoat(33));
  Pair one = pair(0);
  const auto failure = ready(one);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->verdict, Verdict::incorrect_value) << failure->text;
  EXPECT_EQ(failure->tensor, "y");
}

TEST_F(ShortCallsTest, AKernelThatIsWrongInLaterGraphsIsCaught) {
  begin(turncoat(34 + 33));
  Pair one = pair(0);
  EXPECT_FALSE(ready(one));
  const auto failure = measure(one);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->verdict, Verdict::incorrect_value) << failure->text;
}

// Of calls whose bits differ from graph to graph a few are held against the seed's.
TEST_F(ShortCallsTest, OtherBitsAreNoFaultWhereTheValuesAreRight) {
  begin(std::string(kPlan) + "static int calls;\n" + std::string(kHead) + std::string(kRow) +
        "  if (r == 0 && ++calls % 7 == 0) total[0] = nextafterf(total[0], 1e30f);\n}\n");
  Pair one = pair(0);
  EXPECT_FALSE(ready(one));
  EXPECT_FALSE(measure(one));
  EXPECT_EQ(samples_.size(), 8U);
}

// Behind the last element of an output lies the pattern, as it does alone.
TEST_F(ShortCallsTest, AStoreBetweenTheOutputsIsSeen) {
  begin(std::string(kPlan) + std::string(kHead) + std::string(kRow) +
        "  if (r == rows - 1) total[rows] = 1;\n}\n");
  Pair one = pair(0);
  const auto failure = ready(one);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->verdict, Verdict::incorrect_out_of_bounds) << failure->text;
  EXPECT_EQ(failure->tensor, "total");
}

// Does its work one call late, or early: where `graph`, which its address shows, and not in the
// last few calls, as it cannot know how many there are. Scratch is poisoned between graphs only.
std::string shifted(const std::string& in_graph) {
  return "//@ problem test/affine\n//@ scratch i64 q[64]\n"
         "//@ k<<<1, 32>>>(x, shift, y, total, rows, cols, alpha, q)\n"
         "__device__ void work(const float* x, const float* shift, float* y, float* total,\n"
         "                     int rows, int cols, float alpha) {\n"
         "  for (int r = 0; r < rows; ++r) {\n" +
         std::string(kRow) +
         "  }\n}\n"
         "__global__ void k(const float* x, const float* shift, float* y, float* total, int rows,\n"
         "                  int cols, float alpha, long long* q) {\n"
         "  if (threadIdx.x != 0) return;\n"
         "  if (q[0] == q[1]) { q[0] = -1; q[1] = 0; q[2] = 0; }\n"
         "  ++q[1];\n"
         "  long long bytes = (rows * (long long)cols * 4 + 255) / 256 * 256;\n"
         "  bool graph = ((long long)y + bytes) % 4096 != 0;\n" +
         in_graph + "  work(x, shift, y, total, rows, cols, alpha);\n}\n";
}

// Through how many of five replicates a kernel gets.
int ShortCallsTest::passed() {
  int count = 0;
  for (int replicate = 0; replicate < 5; ++replicate) {
    Pair one = pair(replicate);
    const auto failure = ready(one);
    count += failure ? 0 : 1;
    if (failure) {
      EXPECT_TRUE(failure->verdict == Verdict::incorrect_unwritten ||
                  failure->verdict == Verdict::incorrect_value ||
                  failure->verdict == Verdict::incorrect_out_of_bounds)
          << name(failure->verdict) << ' ' << failure->text;
    }
  }
  return count;
}

// Every other call leaves its arguments to the next, which does both: a graph that is cut behind
// such a call lacks its outputs, and one of two cuts is.
TEST_F(ShortCallsTest, WorkThatIsLeftToALaterCallIsSeen) {
  begin(
      shifted("  if (graph && q[2] == 0 && q[1] < 30) {\n"
              "    q[2] = 1; q[8] = (long long)x; q[9] = (long long)shift;\n"
              "    q[10] = (long long)y; q[11] = (long long)total; ((float*)q)[24] = alpha;\n"
              "    return;\n  }\n"
              "  if (q[2] == 1) {\n"
              "    work((const float*)q[8], (const float*)q[9], (float*)q[10], (float*)q[11],\n"
              "         rows, cols, ((float*)q)[24]);\n"
              "    q[2] = 0;\n  }\n"));
  EXPECT_LT(passed(), 5);
}

// Every call writes to the outputs of the next, which writes them anew.
TEST_F(ShortCallsTest, WorkThatIsDoneForALaterCallIsSeen) {
  begin(shifted("  if (graph && q[1] < 34) y[bytes / 4] = alpha;\n"));
  EXPECT_EQ(passed(), 0);
}

}  // namespace
}  // namespace sweep::evaluate
