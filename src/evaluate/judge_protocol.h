#pragma once

#include "evaluate/code.h"
#include "evaluate/evaluation.h"
#include "evaluate/judge_stages.h"
#include "problem/problem.h"
#include "util/error.h"
#include "util/sandbox.h"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <vector>

// What evaluate() and its judge tell each other.
namespace sweep::evaluate {

// Descriptors that the judge is started with besides its socket: this program, to start runners,
// and the folder of locks. Their paths may be closed to the judge's user.
inline constexpr int kJudgeProgramFd = 4;
inline constexpr int kJudgeLocksFd = 5;

inline constexpr std::size_t kJudgeMessageBytes = std::size_t{64} << 20U;

// The texts of a problem; parsed again on the other side, so the judge needs no files.
[[nodiscard]] nlohmann::json problem_to_json(const problem::Problem& problem);
[[nodiscard]] problem::Problem problem_from_json(const nlohmann::json& body);

[[nodiscard]] nlohmann::json options_to_json(const StageOptions& options);
[[nodiscard]] StageOptions options_from_json(const nlohmann::json& body);

// How a process was started.
[[nodiscard]] nlohmann::json guards_to_json(const std::vector<util::Protection>& list);
[[nodiscard]] std::vector<util::Protection> guards_from_json(const nlohmann::json& list);

[[nodiscard]] nlohmann::json error_to_json(const std::exception& error);
// Throws the error that the other side wrote.
[[noreturn]] void throw_error(const nlohmann::json& body);

}  // namespace sweep::evaluate
