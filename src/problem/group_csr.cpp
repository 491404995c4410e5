#include "problem/device/group.cuh"
#include "problem/group_rules.h"
#include "problem/resolve.h"
#include "problem/stream.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>
#include <utility>

namespace sweep::problem {
namespace {

constexpr std::int64_t kRowGrain = 64;

// Columns of each row: distinct by a keyed permutation of all columns, or any.
Integers columns_of(const Integers& offsets, const GroupParameters& rule) {
  Integers out(static_cast<std::size_t>(rule.count));
  in_parallel(rule.rows, kRowGrain, 0, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::uint64_t key = row_key(rule, row);
      const auto from = out.begin() + offsets[static_cast<std::size_t>(row)];
      const auto to = out.begin() + offsets[static_cast<std::size_t>(row) + 1];
      for (auto at = from; at != to; ++at) {
        *at = column_at(rule, row, key, at - from);
      }
      if (rule.sorted != 0) {
        std::sort(from, to);
      }
    }
  });
  return out;
}

struct Pattern {
  Integers degree, col;
};

// Pattern equal to its transpose: nnz / 2 distinct pairs beside the diagonal, and one diagonal
// entry if nnz is odd.
Pattern symmetric_pattern(
    const GroupReading& read, std::int64_t n, std::int64_t nnz, double skew, const Key& key) {
  if (nnz / 2 > n * (n - 1) / 4 && nnz > 1) {
    read.fail("a symmetric pattern holds at most half of all entries here");
  }
  Stream stream(key.word(2), 3);
  std::vector<double> reach(static_cast<std::size_t>(n));
  double sum = 0;
  for (double& r : reach) {
    sum += random::exp_of(skew * stream.normal());
    r = sum;
  }
  std::unordered_set<std::uint64_t> pairs;
  while (static_cast<std::int64_t>(pairs.size()) < nnz / 2) {
    const auto at =
        std::lower_bound(reach.begin(), reach.end() - 1, stream.unit() * sum) - reach.begin();
    const auto a = static_cast<std::uint64_t>(at), b = stream.below(static_cast<std::uint64_t>(n));
    if (a != b) {
      pairs.insert(std::min(a, b) << 32 | std::max(a, b));
    }
  }
  std::vector<std::uint64_t> entries;
  for (const std::uint64_t pair : pairs) {
    entries.push_back(pair);
    entries.push_back(pair << 32 | pair >> 32);
  }
  if (nnz % 2 != 0) {
    const std::uint64_t d = stream.below(static_cast<std::uint64_t>(n));
    entries.push_back(d << 32 | d);
  }
  std::sort(entries.begin(), entries.end());
  Pattern out;
  out.degree.assign(static_cast<std::size_t>(n), 0);
  for (const std::uint64_t entry : entries) {
    ++out.degree[entry >> 32];
    out.col.push_back(static_cast<std::int32_t>(entry & 0xFFFFFFFFU));
  }
  return out;
}

double distinct_of(const Integers& col, std::int64_t cols) {
  std::vector<bool> used(static_cast<std::size_t>(cols), false);
  for (const std::int32_t c : col) {
    used[static_cast<std::size_t>(c)] = true;
  }
  return static_cast<double>(std::count(used.begin(), used.end(), true));
}

// Adds what all patterns have beside degree and col.
void add_common(GroupData& data, std::int64_t cols, std::int64_t nnz, const Key& key) {
  GroupParameters order;
  order.key = key.word(3);
  order.kind = kGroupPermutation;
  order.count = order.range = nnz;
  data.add(
      "order",
      static_cast<std::size_t>(nnz),
      [order](GroupData&) { return permutation_of(order.key, order.range); },
      order);
  data.add_statistic("distinct",
                     [cols](GroupData& d) { return distinct_of(d.integers("col"), cols); });
}

}  // namespace

GroupData make_csr(const GroupReading& read, const Key& key) {
  const std::int64_t cols = read.size("cols", 0), nnz = read.size("nnz", 0);
  const bool unique = read.real("unique", 1) != 0;
  if (cols == 0 && nnz > 0) {
    read.fail("elements need columns");
  }
  Split rule;
  rule.parts = read.size("rows", 0);
  rule.total = nnz;
  rule.skew = read.real("skew", 0);
  rule.empty = read.real("empty", 0);
  rule.max = unique ? cols : kMostItems - 1;
  GroupData out;
  add_common(out, cols, nnz, key);
  if (read.real("symmetric", 0) != 0) {
    if (rule.parts != cols) {
      read.fail("a symmetric pattern needs rows = cols");
    }
    Pattern pattern = symmetric_pattern(read, cols, nnz, rule.skew, key);
    add_rows(out, "degree", std::move(pattern.degree));
    out.add("col", std::move(pattern.col));
    return out;
  }
  add_rows(out, "degree", split(rule, key, read.where()));
  GroupParameters columns;
  columns.key = key.derive("columns").word(0);
  columns.kind = kGroupColumns;
  columns.unique = unique ? 1 : 0;
  columns.sorted = read.real("sorted", 1) != 0 ? 1 : 0;
  columns.count = nnz;
  columns.rows = rule.parts;
  columns.range = cols;
  out.add(
      "col",
      static_cast<std::size_t>(nnz),
      [columns](GroupData& d) { return columns_of(d.integers("offsets"), columns); },
      columns);
  return out;
}

}  // namespace sweep::problem
