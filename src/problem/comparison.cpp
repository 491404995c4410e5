#include "problem/compare.h"

#include <algorithm>

#include <fmt/format.h>

namespace sweep::problem {
namespace {

std::vector<std::int64_t> multi_index(const std::vector<std::int64_t>& shape, std::int64_t at) {
  std::vector<std::int64_t> out(shape.size(), 0);
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const std::int64_t extent = std::max<std::int64_t>(1, shape[axis]);
    out[axis] = at % extent;
    at /= extent;
  }
  return out;
}

// "columns 96..127 (tail)"
std::string range(const char* what, long long low, long long high, long long size) {
  const char* tail = high == size - 1 && low > 0 ? " (tail)" : "";
  return low == high ? fmt::format("{} {}{}", what, low, tail)
                     : fmt::format("{} {}..{}{}", what, low, high, tail);
}

std::string pattern_of(const CompareParameters& p, const CompareResult& r) {
  if (r.bad == 0) {
    return {};
  }
  if (r.bad == p.count) {
    return "all";
  }
  const long long parts = p.components;
  const long long columns = p.columns / parts, rows = p.columns > 0 ? p.count / p.columns : 0;
  const long long low = r.column_min / parts, high = r.column_max / parts;
  if (r.rows_hit > 0 && rows > 1) {
    const bool whole_rows = r.bad == r.rows_hit * p.columns;
    const bool solid_rows = r.rows_hit == r.row_max - r.row_min + 1;
    const bool solid_columns = r.columns_hit == r.column_max - r.column_min + 1;
    if (whole_rows) {
      return solid_rows ? range("rows", r.row_min, r.row_max, rows)
                        : fmt::format("{} whole rows", r.rows_hit);
    }
    if (r.bad == r.columns_hit * rows) {
      return solid_columns ? range("columns", low, high, columns)
                           : fmt::format("{} whole columns", r.columns_hit / parts);
    }
    if (solid_rows && solid_columns && r.bad == r.rows_hit * r.columns_hit) {
      return fmt::format("tile {} x {} at ({}, {})", r.rows_hit, high - low + 1, r.row_min, low);
    }
    if (r.column_max == p.columns - 1 && 4 * r.column_min >= 3 * p.columns) {
      return "within " + range("columns", low, high, columns);
    }
    if (r.row_max == rows - 1 && 4 * r.row_min >= 3 * rows) {
      return "within " + range("rows", r.row_min, r.row_max, rows);
    }
  }
  if (r.bad == r.last_bad - r.first_bad + 1) {
    return range("elements", r.first_bad / parts, r.last_bad / parts, p.count / parts);
  }
  return "scattered";
}

}  // namespace

Comparison to_comparison(const CompareParameters& p,
                         const std::vector<std::int64_t>& shape,
                         const CompareResult& r) {
  Comparison out;
  const auto parts = static_cast<std::int64_t>(p.components);
  out.count = p.count / parts;
  out.bad = r.bad;
  out.bad_rows = r.bad_rows;
  out.tensor_rms_bad = r.tensor_rms_bad != 0;
  out.nan = r.nan;
  out.unwritten = r.unwritten;
  out.ambiguous = r.ambiguous;
  // One element of `unless` may always differ: small shapes have fewer than 1 / share of them.
  const double limit =
      std::max(static_cast<double>(p.prefix), p.ambiguous * static_cast<double>(p.count));
  out.too_ambiguous = static_cast<double>(r.ambiguous) > limit;
  out.expected = r.expected;
  out.got = r.got;
  out.allowed = r.allowed;
  out.worst = r.worst;
  out.worst_rms = r.worst_rms;
  out.e_max = r.e_max;
  out.e_rms = r.e_rms;
  if (r.first_bad >= 0) {
    out.first_bad = multi_index(shape, r.first_bad / parts);
  }
  out.pattern = pattern_of(p, r);
  out.pass = r.bad == 0 && r.bad_rows == 0 && !out.tensor_rms_bad && !out.too_ambiguous;
  return out;
}

std::string Comparison::text(std::string_view output) const {
  if (pass) {
    return fmt::format("{}: right, {} elements, worst {:.2g} of what is allowed",
                       output,
                       count,
                       std::max(worst, worst_rms));
  }
  if (bad > 0) {
    std::string at;
    for (const std::int64_t k : first_bad) {
      at += (at.empty() ? "" : ", ") + std::to_string(k);
    }
    std::string out = fmt::format("{}[{}]: expected {:.9g}, got {:.9g}", output, at, expected, got);
    out += allowed > 0 ? fmt::format(" (allowed difference {:.3g})", allowed) : "";
    out += fmt::format("; {} of {} elements wrong", bad, count);
    out += nan > 0 ? fmt::format(", {} NaN or infinite", nan) : "";
    out += unwritten > 0 ? fmt::format(", {} never written", unwritten) : "";
    return out + (pattern.empty() ? "" : "; pattern: " + pattern);
  }
  if (too_ambiguous) {
    return fmt::format(
        "{}: {} of {} elements took the other branch, more than may", output, ambiguous, count);
  }
  return fmt::format(
      "{}: every element is close, but the error as a whole is {:.3g} times what is allowed ({} "
      "rows)",
      output,
      worst_rms,
      bad_rows);
}

}  // namespace sweep::problem
