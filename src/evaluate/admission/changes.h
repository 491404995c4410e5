#pragma once

#include "evaluate/admission/values.h"
#include "problem/draw.h"
#include "problem/fill.h"
#include "problem/problem.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Calls that differ from a draw's in one respect. Indices, masks and parts of groups are only ever
// replaced as a whole, by those of another draw: the reference never sees one out of range.
namespace sweep::evaluate::admission {

// Inputs and inout tensors that only make sense together: the parts of a group, a tensor and its
// copies or prefixes. Alone: a unit of one.
struct Unit {
  std::string name;                  // of the first, or of the group
  std::vector<std::string> tensors;  // in order of the file
};

[[nodiscard]] std::vector<Unit> units(const problem::Problem& problem);

// Contents of `unit` under another key, with the draw's own dims and scalars. A unit that no key
// changes (formulas, constants) gets its floats times 1.0625; nothing where that changes nothing
// either. Throws util::UsageError for fills that cannot be made.
[[nodiscard]] std::optional<HostTensors> replaced(const problem::Problem& problem,
                                                  const problem::Draw& draw,
                                                  const Unit& unit,
                                                  const HostTensors& inputs);

// A matrix with its last two axes exchanged. Nothing unless they are equal and longer than 1, and
// the elements floats.
[[nodiscard]] std::optional<Bytes> transposed(const problem::ConcreteTensor& tensor,
                                              const Bytes& values);

// Whether a tensor's values follow from a key. Formulas and constants do not: they are tables that
// every kernel has exactly.
[[nodiscard]] bool is_drawn(const problem::Tensor& tensor);

// Every float multiplied by 1 + d or 1 - d, by turns that `key` decides; d = 2^-20, for types of
// fewer bits their epsilon. Integers are returned unchanged.
struct Nudged {
  Bytes values;
  double size = 0;  // d; 0: nothing changed
};

[[nodiscard]] Nudged nudged(expr::DType type, const Bytes& values, const problem::Key& key);

// A draw with another value of one scalar argument, and how it is called.
struct OtherDraw {
  std::string name;
  problem::Draw draw;
};

// For each scalar argument: a value that another draw has (a float without one: times 1.0625).
// For each free dim that is in no tensor's shape (a number of steps): half of it.
[[nodiscard]] std::vector<OtherDraw> other_parameters(const problem::Problem& problem,
                                                      const problem::Draw& draw);

}  // namespace sweep::evaluate::admission
