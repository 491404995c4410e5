#pragma once

#include "problem/device/compare_parameters.h"
#include "problem/draw.h"
#include "problem/fill.h"
#include "problem/problem.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::problem {

// What one output of one call looks like beside the oracle.
struct Comparison {
  bool pass = false;
  std::int64_t count = 0;       // elements compared
  std::int64_t bad = 0;         // elements that break a rule for elements
  std::int64_t bad_rows = 0;    // rows that break the rms rule
  bool tensor_rms_bad = false;  // whole tensor breaks the rms rule
  std::int64_t nan = 0;         // NaN or infinity where policy forbids it
  std::int64_t unwritten = 0;   // bad elements that still hold the poison
  std::int64_t ambiguous = 0;   // elements that differ where `unless` holds
  bool too_ambiguous = false;   // more of them than limits.ambiguous allows

  std::vector<std::int64_t> first_bad;  // multi-index; empty if none
  double expected = 0, got = 0;         // at first_bad (complex: the worse component)
  double allowed = 0;                   // |got - expected| allowed there
  double worst = 0;      // largest |y - r| / allowed over elements; > 1 fails (infinite for a NaN)
  double worst_rms = 0;  // the same for rms of rows and tensor
  double e_max = 0, e_rms = 0;  // the seed's own errors, after the clamps
  std::string pattern;  // "all", "rows 3..7", "columns 96..127 (tail)", "tile 32 x 32 at (64, 0)",
                        // "scattered", ""

  // One line for feedback on visible data.
  [[nodiscard]] std::string text(std::string_view output) const;
};

// Tensors on the host for one output; all spans have `count` elements unless said otherwise.
struct CompareInputs {
  std::span<const std::byte> got;     // y, in the output's type
  std::span<const std::byte> oracle;  // r, in oracle_type(type); see also seed_rule
  std::span<const std::byte> seed;    // s, in the output's type; may be empty: E = its floor
  std::span<const std::byte> base;    // [tolerance] base, in the output's type; empty if none
  std::span<const double> scale;      // aux scale; empty if none
  std::span<const std::uint8_t>
      unless;  // 1 = ambiguous; count = product of a prefix of the shape; empty if none
  std::span<const double> otherwise;    // else tensor; empty if none
  std::optional<std::uint32_t> poison;  // word that the buffer was filled with before the call
};

// Sizes in bytes of the tensors of a comparison; 0 where the problem has none.
struct CompareBytes {
  std::size_t got = 0, oracle = 0, seed = 0, base = 0, scale = 0, unless = 0, otherwise = 0;
};

// Components for one mark of `unless` (1 without). Throws util::UsageError E_COMPARE_SIZE where a
// size does not fit the parameters.
[[nodiscard]] std::int64_t checked_prefix(const CompareParameters& parameters,
                                          const CompareBytes& bytes);

// Constants of the comparison of one output in one draw (also what the device passes take).
[[nodiscard]] CompareParameters compare_parameters(const Problem& problem,
                                                   const ConcreteTensor& output);

// Whether the output is so small (under 16 elements) that its elements are measured each by itself
// although the problem asks for the size of a row or of the tensor: CompareParameters::least_scale
// should then be the rms of the oracle's values over contents of the same kind. A sum that happens
// to cancel is no more accurate than one that does not.
[[nodiscard]] bool needs_least_scale(const Problem& problem, const ConcreteTensor& output);

// The rule of docs/problem_format.md section "Comparison", on the host. Uses `threads` threads (0 =
// all cores).
[[nodiscard]] Comparison compare(const CompareParameters& parameters,
                                 const std::vector<std::int64_t>& shape,
                                 const CompareInputs& inputs,
                                 int threads = 0);

// Evaluates `unless` of a tolerance over aux tensors (f64 each, equal counts): 1 where it holds.
[[nodiscard]] std::vector<std::uint8_t> evaluate_unless(
    const Located& unless,
    const Problem& problem,
    const Draw& draw,
    const std::map<std::string, std::span<const double>>& aux);

// error(NAME) of a check.cu: passes if every value is <= 1.
[[nodiscard]] Comparison compare_errors(const std::vector<std::int64_t>& shape,
                                        std::span<const double> errors);

// The rule of calls without an oracle (timed ones): |y - s| <= max(2*ulps*u, (c_max + 1) * e_max *
// scale(s)) for each element, no rms rule; bitwise outputs must be equal. `e_max` is the largest of
// the shape's oracle draws. In a comparison with these parameters `oracle` is the seed's output, in
// the output's type, and `seed` is empty.
[[nodiscard]] CompareParameters seed_rule(CompareParameters parameters, double e_max);

// Device code for the same rule: one self-contained source for NVRTC. Kernels, their order and the
// types of their arguments (CompareParameters, CompareData, workspace) are in device/compare.cuh.
[[nodiscard]] std::string compare_device_source();

// One launch of a comparison on the device: blocks of 256 threads, arguments (CompareParameters,
// CompareData, workspace, pass).
struct ComparePass {
  const char* kernel = nullptr;
  std::int64_t warps = 8;  // that have work; 8 (one block) where the kernel takes one block only
  int pass = 0;
};

// What to launch, in order.
[[nodiscard]] std::vector<ComparePass> compare_passes(const CompareParameters& parameters);

// Bytes of device workspace for one comparison; must be zero before the first pass. CompareResult
// lies at its start.
[[nodiscard]] std::size_t compare_workspace_bytes(const CompareParameters& parameters);

// Turns what the device passes left (CompareResult) into a Comparison.
[[nodiscard]] Comparison to_comparison(const CompareParameters& parameters,
                                       const std::vector<std::int64_t>& shape,
                                       const CompareResult& result);

}  // namespace sweep::problem
