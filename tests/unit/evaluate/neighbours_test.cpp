#include "evaluate/neighbours.h"

#include "device/info_json.h"
#include "evaluate/time_summary.h"
#include "util/file.h"
#include "util/lock.h"
#include "wire/channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <map>

#include <unistd.h>

namespace sweep::evaluate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Our sweep (10) with judge (11, number 1 of its namespace) and runner (12); another sweep that
// announced itself (20) with its judge (21); one in a container (30, there 5) with its judge (31);
// a notebook (40) and a stranger's tool (41) started by a shell (39).
const std::map<int, ProcessFacts> kMachine = {{2, {1, {2}, "bash"}},
                                              {10, {2, {10}, "sweep"}},
                                              {11, {10, {11, 1}, "sweep"}},
                                              {12, {11, {12, 2}, "sweep"}},
                                              {20, {1, {20}, "sweep"}},
                                              {21, {20, {21, 1}, "sweep"}},
                                              {30, {2, {30, 5}, "sweep"}},
                                              {31, {30, {31, 6, 1}, "sweep"}},
                                              {39, {2, {39}, "bash"}},
                                              {40, {39, {40}, "python"}},
                                              {41, {39, {41}, "a.out"}},
                                              {50, {1, {50}, "nvidia-cuda-mps"}}};

std::optional<ProcessFacts> on_machine(int pid) {
  const auto found = kMachine.find(pid);
  return found == kMachine.end() ? std::nullopt : std::optional(found->second);
}

std::vector<int> pids_of(const std::vector<device::Neighbour>& found) {
  std::vector<int> pids;
  for (const device::Neighbour& one : found) {
    pids.push_back(one.pid);
  }
  return pids;
}

TEST(Neighbours, AreThoseThatNobodyWhoSharesTheLocksHasStarted) {
  const std::array<unsigned, 8> computing{11, 12, 21, 31, 40, 41, 50, 777};
  const std::array<unsigned, 2> busy{12, 41};
  const auto found = neighbours_of(computing, busy, {10, 20, 5}, on_machine);
  EXPECT_THAT(pids_of(found), ElementsAre(40, 41)) << "777 cannot be seen, 50 is MPS";
  EXPECT_EQ(found[0].name, "python");
  EXPECT_FALSE(found[0].busy);
  EXPECT_TRUE(found[1].busy);
}

// A sweep in a container may be number 1 there; whom number 1 here has started is everybody.
TEST(Neighbours, ANumberOfAnotherNamespaceHidesNobodyElse) {
  const std::array<unsigned, 3> computing{12, 21, 40};
  EXPECT_THAT(pids_of(neighbours_of(computing, {}, {10, 1}, on_machine)), ElementsAre(40));
  EXPECT_THAT(pids_of(neighbours_of(computing, {}, {10}, on_machine)), ElementsAre(21, 40));
  EXPECT_THAT(pids_of(neighbours_of(computing, {}, {}, [](int) { return std::nullopt; })),
              IsEmpty());
}

TEST(Neighbours, ACircleOfParentsEnds) {
  const auto circle = [](int pid) {
    return std::optional(ProcessFacts{pid == 7 ? 8 : 7, {pid}, "odd"});
  };
  const std::array<unsigned, 1> computing{7};
  EXPECT_THAT(pids_of(neighbours_of(computing, {}, {9}, circle)), ElementsAre(7));
}

TEST(Neighbours, FactsAreReadFromProc) {
  const auto facts = facts_from_status(
      "Name:\tpython3\nUmask:\t0022\nState:\tS "
      "(sleeping)\nPid:\t4242\nPPid:\t39\nNSpid:\t4242\t7\n");
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->name, "python3");
  EXPECT_EQ(facts->parent, 39);
  EXPECT_THAT(facts->numbers, ElementsAre(4242, 4242, 7));
  for (const char* wrong :
       {"", "Pid:\t5\n", "PPid:\t5\n", "Pid:\tx\nPPid:\t1\n", "Pid: -1\nPPid: 1"}) {
    EXPECT_FALSE(facts_from_status(wrong)) << wrong;
  }
  const auto own = facts_from_status(util::read_file("/proc/self/status", 65536));
  ASSERT_TRUE(own);
  EXPECT_EQ(own->numbers.front(), ::getpid());
  EXPECT_EQ(own->parent, ::getppid());
}

TEST(Neighbours, WithoutNvmlThereAreNone) {
  const util::TempDir folder;
  Neighbours none({device::Kind::cpu, 0}, {}, folder.path());
  none.begin();
  EXPECT_THAT(none.look(), IsEmpty());
}

TEST(Neighbours, TravelInTheConditionsAndOlderOnesLackThem) {
  device::Conditions made;
  device::add_neighbours(made.neighbours, std::array{device::Neighbour{40, "python", false}});
  EXPECT_FALSE(made.disturbed());
  device::add_neighbours(
      made.neighbours,
      std::array{device::Neighbour{40, "python", true}, device::Neighbour{41, "a.out", false}});
  ASSERT_EQ(made.neighbours.size(), 2U);
  EXPECT_TRUE(made.disturbed());
  nlohmann::json body = device::to_json(made);
  EXPECT_EQ(device::to_json(device::conditions_from_json(body)), body);
  nlohmann::json broken = body;
  broken["neighbours"][0]["pid"] = -1;
  EXPECT_THROW((void)device::conditions_from_json(broken), wire::WireError);
  body.erase("neighbours");
  EXPECT_THAT(device::conditions_from_json(body).neighbours, IsEmpty());
}

// A neighbour that only has the device open decides nothing; one that computed makes the session
// UNSTABLE on a GPU, whatever the samples say.
TEST(Neighbours, OneThatComputedMakesASessionUnstable) {
  TimeResult time;
  time.clock = "cuda events";
  time.shapes.resize(1);
  for (int replicate = 0; replicate < 3; ++replicate) {
    for (int position = 0; position < 4; ++position) {
      time.samples.push_back(
          {replicate, 0, 0, position, position == 1 || position == 2, 1e-4, 2e-4, 1});
    }
  }
  time.conditions.neighbours = {{40, "python", false}};
  compute_statistics(time, true);
  EXPECT_EQ(time.decision, Verdict::pass_equivalent);
  time.conditions.neighbours[0].busy = true;
  compute_statistics(time, true);
  EXPECT_EQ(time.decision, Verdict::unstable);
  time.clock = "monotonic clock";
  compute_statistics(time, true);
  EXPECT_EQ(time.decision, Verdict::pass_equivalent) << "the cpu device is nobody's alone";
}

}  // namespace
}  // namespace sweep::evaluate
