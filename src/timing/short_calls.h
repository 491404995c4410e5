#pragma once

#include "timing/statistics.h"

#include <cstddef>
#include <span>
#include <string>

// Kernels whose call is mostly launch: beside the time of a call on its own, which decides, what a
// call takes in a graph of many on buffers of their own.
namespace sweep::timing {

// How many calls a graph has, or why none is made.
struct GraphSize {
  int calls = 0;
  std::string reason{};  // empty where calls > 0
};

// From a call of each arm in seconds and the bytes that a call's buffers take. The shorter call is
// below 20 us, or there is nothing that a graph would show; the longer below 100 us, or the graph
// takes long; half a millisecond of the shorter, 256 calls and 1 GiB at most; below 8 calls the
// graph's own start and end would show.
[[nodiscard]] GraphSize graph_size(double seed_seconds,
                                   double candidate_seconds,
                                   std::size_t bytes);

inline constexpr std::size_t kMostGraphBytes = std::size_t{1} << 30U;
inline constexpr std::size_t kMostGraphCalls = 256;
inline constexpr int kLeastGraphCalls = 8;

// Seconds that a call takes in a graph, and how much faster the candidate's is.
struct Throughput {
  double seed_seconds = 0, candidate_seconds = 0;  // medians over the graphs, for each call
  Estimate ratio;                                  // as ShapeResult::ratio, of whole graphs
};

// `graphs`: as the calls of one shape in blocks of four, each with the seconds of a graph of
// `calls` calls. At least one whole block in each replicate that appears, else util::InfraError
// "E_TIMING_SAMPLES". No time is subtracted: with 8 calls or more the graph's start and end, 3 us
// of an empty one, are left in.
[[nodiscard]] Throughput throughput(std::span<const Call> graphs, int calls);

}  // namespace sweep::timing
