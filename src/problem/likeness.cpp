#include "problem/likeness.h"

#include "problem/device/compare.cuh"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace sweep::problem {
namespace {

// Of the wrong elements; the rest may be wrong in another way (an edge of the tile).
constexpr double kShare = 0.99;

// Differences up to this are rounding: relative to the value and to the tensor's size.
double rounding(unsigned type) {
  switch (type) {
    case kTypeF16:
    case kTypeBf16:
      return 2e-2;
    case kTypeE4m3:
    case kTypeE5m2:
      return 0.2;
    default:
      return is_integer_type(type) ? 0 : 1e-4;
  }
}

class Likeness {
 public:
  Likeness(const CompareParameters& p,
           const std::vector<std::int64_t>& shape,
           const CompareData& data)
      : p_(p), shape_(shape), data_(data), tolerance_(rounding(p.type)) {
    double squares = 0;
    for (std::int64_t i = 0; i < p_.count; ++i) {
      const double r = expected(i);
      squares += std::isfinite(r) ? r * r : 0;
    }
    size_ = std::sqrt(squares / static_cast<double>(std::max<std::int64_t>(1, p_.count)));
    for (std::int64_t i = 0; i < p_.count; ++i) {
      if (!close(got(i), expected(i))) {
        wrong_.push_back(i);
      }
    }
  }

  // The plainest first.
  [[nodiscard]] std::string words() const {
    constexpr std::size_t kFew = 3;  // by chance anything holds for one or two
    if (wrong_.size() < kFew) {
      return {};
    }
    for (const auto& found : {constant(), shifted(), transposed(), scaled(), offset()}) {
      if (!found.empty()) {
        return found;
      }
    }
    return {};
  }

 private:
  [[nodiscard]] double got(std::int64_t i) const { return value_at(p_, data_.got, i); }

  [[nodiscard]] double expected(std::int64_t i) const { return oracle_at(p_, data_, i); }

  [[nodiscard]] bool close(double y, double r) const {
    return y == r || std::abs(y - r) <= tolerance_ * (std::abs(r) + size_) ||
           (std::isnan(y) && std::isnan(r));
  }

  template <class Rule>
  [[nodiscard]] bool holds(const Rule& rule) const {
    const auto most = static_cast<std::size_t>((1 - kShare) * static_cast<double>(wrong_.size()));
    std::size_t broken = 0;
    for (const std::int64_t i : wrong_) {
      broken += rule(i) ? std::size_t{0} : std::size_t{1};
      if (broken > most) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] std::string constant() const {
    const double first = got(wrong_[wrong_.size() / 2]);
    const bool all = holds([&](std::int64_t i) {
      return got(i) == first || (std::isnan(first) && std::isnan(got(i)));
    });
    if (!all || std::isnan(first)) {
      return all ? "every wrong element is NaN" : "";
    }
    return fmt::format("every wrong element is {:.9g}", first == 0 ? 0 : first);
  }

  // Elements whose neighbour does not exist do not count against it.
  [[nodiscard]] bool is_shift(std::int64_t by) const {
    std::int64_t seen = 0;
    const bool all = holds([&](std::int64_t i) {
      const std::int64_t from = i + by;
      if (from < 0 || from >= p_.count) {
        return true;
      }
      ++seen;
      return close(got(i), expected(from));
    });
    return all && 2 * seen >= static_cast<std::int64_t>(wrong_.size());
  }

  [[nodiscard]] std::string shifted() const {
    const std::int64_t row = p_.columns;
    for (const auto& [by, name] : {std::pair<std::int64_t, const char*>{1, "next element"},
                                   {-1, "element before"},
                                   {row, "next row"},
                                   {-row, "row before"}}) {
      if (by != 0 && std::abs(by) < p_.count && is_shift(by)) {
        return fmt::format("each wrong element has the value of the {}: an index is off by one",
                           name);
      }
    }
    return {};
  }

  [[nodiscard]] std::string transposed() const {
    if (shape_.size() < 2) {
      return {};
    }
    const std::int64_t rows = shape_[shape_.size() - 2], columns = shape_.back();
    if (rows < 2 || columns < 2) {
      return {};
    }
    const bool all = holds([&](std::int64_t i) {
      const std::int64_t matrix = i / (rows * columns) * (rows * columns);
      const std::int64_t at = i - matrix;
      // The same bytes read as [columns, rows].
      return close(got(i), expected(matrix + at % rows * columns + at / rows));
    });
    return all ? "the last two axes are transposed" : "";
  }

  [[nodiscard]] std::string scaled() const {
    std::optional<double> factor;
    std::int64_t seen = 0;
    const bool all = holds([&](std::int64_t i) {
      const double r = expected(i);
      if (std::abs(r) <= size_ / 16) {
        return true;
      }
      ++seen;
      factor = factor ? factor : std::optional(got(i) / r);
      return std::isfinite(*factor) && close(got(i), *factor * r);
    });
    return all && 2 * seen >= static_cast<std::int64_t>(wrong_.size())
               ? fmt::format("every wrong element is {:.4g} times the right one", *factor)
               : std::string();
  }

  [[nodiscard]] std::string offset() const {
    const std::int64_t first = wrong_[wrong_.size() / 2];
    const double by = got(first) - expected(first);
    const bool all =
        std::isfinite(by) && holds([&](std::int64_t i) { return close(got(i) - by, expected(i)); });
    return all ? fmt::format("every wrong element differs from the right one by {:.4g}", by)
               : std::string();
  }

  const CompareParameters& p_;
  const std::vector<std::int64_t>& shape_;
  const CompareData& data_;
  double tolerance_;
  double size_ = 0;  // rms of the right values
  std::vector<std::int64_t> wrong_;
};

}  // namespace

std::string likeness(const CompareParameters& parameters,
                     const std::vector<std::int64_t>& shape,
                     std::span<const std::byte> got,
                     std::span<const std::byte> oracle) {
  const auto bytes = [&parameters](unsigned type) {
    return static_cast<std::size_t>(parameters.count) *
           static_cast<std::size_t>(component_bytes(type));
  };
  const bool same = parameters.seed_rule != 0 || is_integer_type(parameters.type);
  if (parameters.components != 1 || parameters.count > kMostLikened ||
      got.size() < bytes(parameters.type) ||
      oracle.size() < bytes(same ? parameters.type : unsigned{kTypeF64})) {
    return {};
  }
  CompareData data{};
  data.got = got.data();
  data.oracle = oracle.data();
  return Likeness(parameters, shape, data).words();
}

}  // namespace sweep::problem
