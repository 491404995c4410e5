#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sweep::timing {

enum class Arm : std::uint8_t { seed, candidate };

// What decides the order of calls; known to the judge only until the verdict.
struct ScheduleKey {
  std::string problem;
  std::string candidate;  // digest of the candidate's image and plan
  std::string session;    // differs between evaluations unless they shall be repeated exactly
};

// Four calls on two contents: ABBA or BAAB (A = seed). Calls 0 and 1 use the first content, calls 2
// and 3 the second, so that each arm meets each content once.
struct Block {
  int shape = 0;   // index into the shapes of the phase
  int number = 0;  // of this shape in this replicate, from 0
  std::array<Arm, 4> order{};
};

[[nodiscard]] constexpr int content_of_position(int position) {
  return position / 2;
}

// The blocks of one replicate: blocks[s] of shape s, all shapes shuffled into one list. Within each
// shape half of the blocks start with the seed (one more or less if the number is odd), by a keyed
// hash; the orders over the whole list differ by at most one for each shape with an odd number.
[[nodiscard]] std::vector<Block> schedule(const ScheduleKey& key,
                                          int replicate,
                                          std::span<const int> blocks);

// The arm whose process is started and warmed first in this replicate: it alternates, from a keyed
// coin, so that what being first changes is no advantage of one arm.
[[nodiscard]] Arm first_arm(const ScheduleKey& key, int replicate);

// How often each arm follows each arm in the list of calls: [before][after].
using Predecessors = std::array<std::array<int, 2>, 2>;
[[nodiscard]] Predecessors predecessors(std::span<const Block> blocks);

}  // namespace sweep::timing
