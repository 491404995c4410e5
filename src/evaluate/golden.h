#pragma once

#include "compile/compiler.h"
#include "device/device.h"
#include "evaluate/oracle.h"
#include "problem/problem.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace sweep::evaluate {

// Outcome of a reference against vectors that an independent program made.
struct GoldenReport {
  int cases = 0;
  std::int64_t values = 0;
  double worst = 0;                   // largest share of what is allowed; > 1 fails
  std::vector<std::string> failures;  // "case 2: y[17] = 0.5, expected 0.25"; empty: all hold

  [[nodiscard]] bool pass() const { return cases > 0 && failures.empty(); }
};

// reference.cu on inputs given as host bytes by name.
using RunReference = std::function<Truth(
    const std::map<std::string, std::vector<std::byte>, std::less<>>&, const problem::Draw&)>;

// Runs reference.cu on the inputs of a golden file (JSON: schema 1, problem, relative_tolerance,
// cases of dims, scalars, inputs, expected; lists are flat, row major) and compares. A value passes
// if it differs by at most relative_tolerance times the larger of its own magnitude and the
// tensor's rms; integers must be equal. Throws util::UsageError "E_GOLDEN" for a malformed file and
// what `run` throws.
[[nodiscard]] GoldenReport check_golden(const problem::Problem& problem,
                                        const std::string& golden_json,
                                        const RunReference& run,
                                        device::Device& device);

// The same with a device that is opened in this process, for tools and tests. Throws
// util::InfraError if the reference fails.
[[nodiscard]] GoldenReport check_golden(const problem::Problem& problem,
                                        const std::string& golden_json,
                                        compile::Compiler& compiler,
                                        device::Id id);

}  // namespace sweep::evaluate
