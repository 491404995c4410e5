#pragma once

#include "problem/device/group_parameters.h"
#include "problem/draw.h"
#include "problem/problem.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Inside of the module: tensors that must agree, all from one key.
namespace sweep::problem {

using Integers = std::vector<std::int32_t>;
using Reals = std::vector<double>;

// The parts of one group and its statistics. Each is made when first asked for, and kept; makers
// may ask for other parts. Not thread-safe; references stay valid as long as the object.
class GroupData {
 public:
  using MakeIntegers = std::function<Integers(GroupData&)>;
  using MakeReals = std::function<Reals(GroupData&)>;
  using MakeStatistic = std::function<double(GroupData&)>;

  // `on_device` describes the part for the device; it may need the part `offsets`.
  void add(std::string part,
           std::size_t size,
           MakeIntegers make,
           std::optional<GroupParameters> on_device = std::nullopt);
  void add(std::string part, Integers made);
  void add_reals(std::string part, std::size_t size, MakeReals make);
  void add_statistic(std::string name, MakeStatistic make);

  // Of a part that need not be made for that. All throw std::out_of_range for an unknown part.
  [[nodiscard]] std::size_t size(std::string_view name) const;
  [[nodiscard]] bool is_real(std::string_view name) const;
  [[nodiscard]] std::optional<GroupParameters> on_device(std::string_view name) const;

  [[nodiscard]] const Integers& integers(std::string_view name);
  [[nodiscard]] const Reals& reals(std::string_view name);
  [[nodiscard]] std::vector<std::string> parts() const;
  [[nodiscard]] std::map<std::string, double, std::less<>> statistics();

  // Of the parts made so far.
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Part {
    std::size_t size = 0;
    MakeIntegers make_integers;
    MakeReals make_reals;
    std::optional<GroupParameters> on_device;
    std::optional<Integers> integers;
    std::optional<Reals> reals;
  };

  [[nodiscard]] const Part& part(std::string_view name) const;
  [[nodiscard]] Part& part(std::string_view name);

  std::map<std::string, Part, std::less<>> parts_;
  std::map<std::string, MakeStatistic, std::less<>> statistics_;
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

[[nodiscard]] Integers split(const Split& rule, const Key& key, const Location& where);

}  // namespace sweep::problem
