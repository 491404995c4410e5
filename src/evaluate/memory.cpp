#include "evaluate/memory.h"

#include "evaluate/throughput.h"
#include "evaluate/timed_shape.h"

#include <algorithm>

namespace sweep::evaluate {
namespace {

// A process with a context and a small module on an H200, driver 580: nvidia-smi shows 522 MiB.
constexpr double kContextBytes = double{522U << 20U};
// Judge, seed's and candidate's runner.
constexpr int kProcesses = 3;
// Plans may ask how many blocks fit a multiprocessor; scratch grows with it, so the most that the
// judge believes (arm.cpp) stands for the answer.
constexpr std::int64_t kMostBlocks = 64;

double context_bytes(const Session& session) {
  return evaluate::context_bytes(session.options().arm.device.kind);
}

// Workspace of a vendor library (cuBLAS: 32 MiB), handle and those of its kernels that it loads.
constexpr double kLibraryBytes = double{512U << 20U};

double scratch_bytes(Session& session, const Code& code, const problem::Draw& draw) {
  if (code.library) {
    return kLibraryBytes;
  }
  const problem::Problem& problem = session.problem();
  const auto expanded = expand_for(
      code.submission,
      code.signature,
      draw,
      session.device().info().sm_count,
      [](const std::string&, std::int64_t, std::int64_t) { return kMostBlocks; },
      problem.limits.launches,
      false);
  const auto* expansion = std::get_if<submission::Expansion>(&expanded);
  return expansion != nullptr ? static_cast<double>(expansion->scratch_bytes) : 0;
}

// Of one seed's and one candidate's runner, once there is one.
double pair_scratch(Session& session, const problem::Draw& draw) {
  const Code* candidate = session.candidate().code;
  return scratch_bytes(session, *session.seed().code, draw) +
         (candidate != nullptr ? scratch_bytes(session, *candidate, draw) : 0);
}

}  // namespace

double context_bytes(device::Kind kind) {
  return kind == device::Kind::cuda ? kContextBytes : 0;
}

double judged_bytes(Session& session, const std::vector<problem::Draw>& draws) {
  double most = 0;
  for (const problem::Draw& draw : draws) {
    const problem::Sizes sizes = problem::sizes_of(session.problem(), draw);
    // Inputs are there twice; outputs also as seed and candidate wrote them and as the seed did for
    // the draw before, whose truth is kept, too.
    most = std::max(most,
                    2 * sizes.input_bytes + 4 * sizes.output_bytes + 2 * sizes.oracle_bytes +
                        sizes.reference_scratch + pair_scratch(session, draw));
  }
  const int versus = session.versus() != nullptr ? 1 : 0;
  return most + (kProcesses + versus) * context_bytes(session);
}

double timed_bytes(Session& session, const std::vector<problem::Draw>& draws, int pairs) {
  double sum = 0;
  for (const problem::Draw& draw : draws) {
    const problem::Sizes sizes = problem::sizes_of(session.problem(), draw);
    const double more = address_sets(sizes.input_bytes + sizes.output_bytes, kAddressSets) - 1;
    sum += 2 * sizes.input_bytes + 3 * sizes.output_bytes + sizes.reference_scratch;
    sum += more * (2 * sizes.input_bytes + sizes.output_bytes);
    sum += graph_bytes(sizes);
    sum += std::min(static_cast<double>(kPoolBytes),
                    kPoolDraws * (sizes.oracle_bytes + sizes.output_bytes));
    sum += pairs * pair_scratch(session, draw);
  }
  // Runners flush as well, for the judge's own clock.
  constexpr double kFlush = 2.5;
  const double flush = session.options().arm.device.kind == device::Kind::cuda
                           ? kFlush * static_cast<double>(session.device().info().l2_bytes)
                           : 0;
  return sum + (kProcesses + 2 * pairs) * (context_bytes(session) + flush);
}

}  // namespace sweep::evaluate
