#pragma once

#include "compile/compile.h"
#include "device/device.h"
#include "problem/draw.h"
#include "submission/plan.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace sweep::evaluate {

// A call of a vendor library in the place of a compiled text: a problem's baseline.
struct LibraryUse {
  std::string baseline;                                   // its name in the problem
  std::string function;                                   // of device::library_functions()
  std::string path;                                       // of the library
  std::vector<std::pair<std::string, std::string>> args;  // parameter -> tensor or expression
};

// A text that has been parsed and compiled: candidate, seed or reference.
struct Code {
  submission::Submission submission;
  std::map<std::string, std::int64_t> overrides;
  submission::Signature signature;
  std::vector<compile::CompiledKernel> kernels;
  device::Image image;
  std::optional<LibraryUse> library;  // then nothing but this and `digest` means anything
  std::string digest;                 // SHA-256 of image and source: names it in schedules
};

[[nodiscard]] Code make_code(submission::Submission submission,
                             std::map<std::string, std::int64_t> overrides,
                             submission::Signature signature,
                             const compile::Result& compiled);

// Blocks of a kernel that fit on one SM: (kernel, threads, dynamic shared bytes).
using Occupancy = std::function<std::int64_t(const std::string&, std::int64_t, std::int64_t)>;

// The plan for one draw. `launch_limit` from the problem's limits; not `exact`: sm_count or
// occupancy are no device's own, and cooperative grids are not held against them. `rank_order` as
// in submission::Binding.
[[nodiscard]] std::variant<submission::Expansion, submission::PlanError> expand_for(
    const submission::Submission& submission,
    const submission::Signature& signature,
    const problem::Draw& draw,
    std::int64_t sm_count,
    const Occupancy& occupancy,
    std::int64_t launch_limit,
    bool exact = true,
    std::uint64_t rank_order = 0);

// Facts of kernels as the driver states them, by name expression.
using Facts = std::map<std::string, device::FunctionFacts, std::less<>>;

// Steps with every argument as bytes. buffers[b] is the address of buffer b of the expansion
// (tensors, then scratch, then the tables of peers).
[[nodiscard]] std::variant<std::vector<device::Step>, submission::PlanError> bind_steps(
    const Code& code,
    const submission::Expansion& expansion,
    const Facts& facts,
    const std::vector<device::Address>& buffers);

// Everything but the image's bytes, which travel as a descriptor. from_json parses the source
// again: the text is the truth.
[[nodiscard]] nlohmann::json code_to_json(const Code& code);
[[nodiscard]] Code code_from_json(const nlohmann::json& body,
                                  submission::Signature signature,
                                  device::Image image);

}  // namespace sweep::evaluate
