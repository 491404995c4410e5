#pragma once

#include "device/library.h"
#include "evaluate/code.h"
#include "problem/draw.h"
#include "problem/problem.h"

#include <nlohmann/json_fwd.hpp>

#include <span>
#include <string>
#include <variant>

// A problem's `[[baseline]]` that names a call of a vendor library.
namespace sweep::evaluate {

// A buffer of the problem where a call is made.
struct NamedBuffer {
  std::string name;
  device::Address address = 0;
};

// What keeps the baseline from being called, with the place in the problem: an unknown call or
// parameter, a parameter that is missing or is not a tensor, a tensor that is none of the problem.
// Empty: nothing.
[[nodiscard]] std::string library_mistake(const problem::Problem& problem,
                                          const problem::Baseline& baseline);

// The call for one draw. Numbers are integer expressions over dims, division exact. Matrix products
// use TF32 only where the problem's precision is tf32.
[[nodiscard]] std::variant<device::Launch, submission::PlanError> bind_library(
    const LibraryUse& use,
    const problem::Problem& problem,
    const problem::Draw& draw,
    std::span<const NamedBuffer> buffers);

// "TF32", "f32 without TF32", "f16, sums in fp32": how the call computes.
[[nodiscard]] std::string math_of(const LibraryUse& use, const problem::Problem& problem);

[[nodiscard]] Code library_code(LibraryUse use);

[[nodiscard]] nlohmann::json to_json(const LibraryUse& use);
// Throws wire::WireError for anything but what to_json() made.
[[nodiscard]] LibraryUse library_use_from_json(const nlohmann::json& body);

}  // namespace sweep::evaluate
