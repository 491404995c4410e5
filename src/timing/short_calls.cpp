#include "timing/short_calls.h"

#include "util/error.h"

#include <algorithm>
#include <cmath>

namespace sweep::timing {
namespace {

constexpr double kShort = 20e-6;
constexpr double kLong = 100e-6;
constexpr double kGraphSeconds = 500e-6;

}  // namespace

GraphSize graph_size(double seed_seconds, double candidate_seconds, std::size_t bytes) {
  const double shorter = std::min(seed_seconds, candidate_seconds);
  const double longer = std::max(seed_seconds, candidate_seconds);
  if (!(shorter > 0) || !(shorter < kShort)) {
    return {0, "a call takes 20 us or more"};
  }
  if (longer >= kLong) {
    return {0, "the slower arm's call takes 100 us or more"};
  }
  const auto wanted = static_cast<std::size_t>(std::ceil(kGraphSeconds / std::max(shorter, 1e-6)));
  const std::size_t fitting = kMostGraphBytes / std::max(bytes, std::size_t{1});
  const std::size_t calls = std::min({wanted, fitting, kMostGraphCalls});
  if (calls < std::size_t{kLeastGraphCalls}) {
    return {0, "buffers of 8 calls take more than 1 GiB"};
  }
  return {static_cast<int>(calls), ""};
}

Throughput throughput(std::span<const Call> graphs, int calls) {
  if (calls < 1) {
    throw util::InfraError({"timing", "a graph of no calls", "run it again"}, "E_TIMING_SAMPLES");
  }
  const Result found = analyse(graphs, 1, 0);
  const ShapeResult& shape = found.shapes.front();
  return {shape.seed_seconds / calls, shape.candidate_seconds / calls, shape.ratio};
}

}  // namespace sweep::timing
