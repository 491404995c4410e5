#pragma once

#include "problem/compare.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sweep::problem {

// Outputs with more elements are not looked at.
inline constexpr std::int64_t kMostLikened = std::int64_t{1} << 22U;

// What the wrong values of an output look like beside the right ones, in words for a reader: "every
// wrong element is 0", "the values of the next row: an index is off by one", "transposed". One rule
// must hold for all wrong elements but 1%; empty where none does, for complex types and above
// kMostLikened. `got` and `oracle` are those of compare(). A help for finding the mistake; it
// decides nothing.
[[nodiscard]] std::string likeness(const CompareParameters& parameters,
                                   const std::vector<std::int64_t>& shape,
                                   std::span<const std::byte> got,
                                   std::span<const std::byte> oracle);

}  // namespace sweep::problem
