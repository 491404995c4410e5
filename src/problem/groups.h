#pragma once

#include "problem/draw.h"
#include "problem/problem.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

// Inside of the module: tensors that must agree, made whole on the host from one key.
namespace sweep::problem {

struct GroupData {
  std::map<std::string, std::vector<std::int32_t>, std::less<>> integers;  // by part
  std::map<std::string, std::vector<double>, std::less<>> reals;  // sparse24: values, dense
  std::map<std::string, double, std::less<>> statistics;

  [[nodiscard]] std::size_t bytes() const;
};

// What the group's call says, evaluated. Arguments that were left out are absent.
using GroupArguments = std::map<std::string, double, std::less<>>;

// `table_width`: last extent of a two-axis tensor that takes the part `table`, or 0. Throws
// util::UsageError at `where`.
[[nodiscard]] GroupData make_group(std::string_view function,
                                   const GroupArguments& arguments,
                                   std::int64_t table_width,
                                   const Key& key,
                                   const Location& where);

// Non-negative integers with the given sum, roughly proportional to exp(skew * normal). About a
// share `empty` of them is 0; the others are multiples of `align` in min .. max. Throws
// util::UsageError if impossible.
struct Split {
  std::int64_t parts = 0, total = 0, min = 0, max = 0, align = 1;
  double skew = 0, empty = 0;
};

[[nodiscard]] std::vector<std::int32_t> split(const Split& rule,
                                              const Key& key,
                                              const Location& where);

}  // namespace sweep::problem
