#include "problem/groups.h"

#include "problem/evaluate_rules.h"
#include "problem/stream.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <unordered_set>

namespace sweep::problem {
namespace {

constexpr std::int64_t kMostItems = std::int64_t{1} << 31;

using Integers = std::vector<std::int32_t>;

// Arguments of one group with their defaults and ranges.
class Reading {
 public:
  Reading(const GroupArguments& arguments, const Location& where)
      : arguments_(arguments), where_(where) {}

  [[nodiscard]] double real(std::string_view name, double otherwise) const {
    const auto found = arguments_.find(name);
    return found == arguments_.end() ? otherwise : found->second;
  }

  [[nodiscard]] std::int64_t size(std::string_view name, std::int64_t otherwise) const {
    const double value = real(name, static_cast<double>(otherwise));
    if (!(value >= 0) || value >= static_cast<double>(kMostItems)) {
      fail_at(where_, "E_GROUP", std::string(name) + " must be from 0 to 2^31");
    }
    return static_cast<std::int64_t>(value);
  }

  [[noreturn]] void fail(const std::string& what) const { fail_at(where_, "E_GROUP", what); }

  [[nodiscard]] const Location& where() const { return where_; }

 private:
  const GroupArguments& arguments_;
  const Location& where_;
};

Integers offsets_of(const Integers& lengths) {
  Integers out(lengths.size() + 1, 0);
  std::partial_sum(lengths.begin(), lengths.end(), out.begin() + 1);
  return out;
}

Integers owners_of(const Integers& lengths) {
  Integers out;
  out.reserve(
      static_cast<std::size_t>(std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0})));
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    out.insert(out.end(), static_cast<std::size_t>(lengths[i]), static_cast<std::int32_t>(i));
  }
  return out;
}

double longest_of(const Integers& lengths) {
  return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
}

double nonempty_of(const Integers& lengths) {
  return static_cast<double>(
      std::count_if(lengths.begin(), lengths.end(), [](std::int32_t n) { return n > 0; }));
}

Integers permutation_of(std::uint64_t key, std::int64_t n) {
  Integers out(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    out[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(
        random::permuted(key, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(n)));
  }
  return out;
}

GroupData ragged(const Reading& read, const Key& key) {
  Split rule;
  rule.parts = read.size("parts", 0);
  rule.total = read.size("total", 0);
  rule.skew = read.real("skew", 0);
  rule.empty = read.real("empty", 0);
  rule.min = read.size("min", 0);
  rule.max =
      static_cast<std::int64_t>(std::clamp(read.real("max", 2147483647.0), 0.0, 2147483647.0));
  rule.align = read.size("align", 1);
  GroupData out;
  const Integers lengths = split(rule, key, read.where());
  out.integers["offsets"] = offsets_of(lengths);
  out.integers["owner"] = owners_of(lengths);
  out.integers["lengths"] = lengths;
  out.statistics = {{"longest", longest_of(lengths)}, {"nonempty", nonempty_of(lengths)}};
  return out;
}

// Columns of each row: distinct by a keyed permutation of all columns, or any.
Integers columns_of(
    const Integers& degree, std::int64_t cols, bool unique, bool sorted, const Key& key) {
  Integers out;
  const Key columns = key.derive("columns");
  for (std::size_t row = 0; row < degree.size(); ++row) {
    Stream stream(columns.word(0), row + 1);
    const std::uint64_t order = stream.word();
    const auto begin = static_cast<std::ptrdiff_t>(out.size());
    for (std::int32_t k = 0; k < degree[row]; ++k) {
      const auto n = static_cast<std::uint64_t>(cols);
      std::uint64_t column = 0;
      if (unique) {
        column = random::permuted(order, static_cast<random::U64>(k), n);
      } else {
        column = stream.below(n);
      }
      out.push_back(static_cast<std::int32_t>(column));
    }
    if (sorted) {
      std::sort(out.begin() + begin, out.end());
    }
  }
  return out;
}

// Pattern equal to its transpose: nnz / 2 distinct pairs beside the diagonal, and one diagonal
// entry if nnz is odd.
void symmetric_pattern(const Reading& read,
                       std::int64_t n,
                       std::int64_t nnz,
                       double skew,
                       const Key& key,
                       Integers& degree,
                       Integers& col) {
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
  degree.assign(static_cast<std::size_t>(n), 0);
  col.clear();
  for (const std::uint64_t entry : entries) {
    ++degree[entry >> 32];
    col.push_back(static_cast<std::int32_t>(entry & 0xFFFFFFFFU));
  }
}

GroupData csr(const Reading& read, const Key& key) {
  const std::int64_t cols = read.size("cols", 0), nnz = read.size("nnz", 0);
  const bool unique = read.real("unique", 1) != 0;
  Split rule;
  rule.parts = read.size("rows", 0);
  rule.total = nnz;
  rule.skew = read.real("skew", 0);
  rule.empty = read.real("empty", 0);
  rule.max = unique ? cols : kMostItems - 1;
  GroupData out;
  Integers degree, col;
  if (read.real("symmetric", 0) != 0) {
    if (rule.parts != cols) {
      read.fail("a symmetric pattern needs rows = cols");
    }
    symmetric_pattern(read, cols, nnz, rule.skew, key, degree, col);
  } else {
    degree = split(rule, key, read.where());
    col = columns_of(degree, cols, unique, read.real("sorted", 1) != 0, key);
  }
  std::vector<bool> used(static_cast<std::size_t>(cols), false);
  for (const std::int32_t c : col) {
    used[static_cast<std::size_t>(c)] = true;
  }
  out.statistics = {{"longest", longest_of(degree)},
                    {"nonempty", nonempty_of(degree)},
                    {"distinct", static_cast<double>(std::count(used.begin(), used.end(), true))}};
  out.integers["offsets"] = offsets_of(degree);
  out.integers["owner"] = owners_of(degree);
  out.integers["order"] = permutation_of(key.word(3), nnz);
  out.integers["degree"] = std::move(degree);
  out.integers["col"] = std::move(col);
  return out;
}

GroupData shuffle(const Reading& read, const Key& key) {
  const std::int64_t n = read.size("n", 0), batch = read.size("batch", 1);
  GroupData out;
  Integers& forward = out.integers["forward"];
  for (std::int64_t b = 0; b < batch; ++b) {
    const Integers one =
        permutation_of(Stream(key.word(0), static_cast<std::uint64_t>(b) + 1).word(), n);
    forward.insert(forward.end(), one.begin(), one.end());
  }
  Integers inverse(forward.size());
  for (std::size_t i = 0; i < forward.size(); ++i) {
    const std::size_t row = i / static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    inverse[row + static_cast<std::size_t>(forward[i])] = static_cast<std::int32_t>(i - row);
  }
  out.integers["inverse"] = std::move(inverse);
  return out;
}

// k distinct experts of one token, by rejection; after many misses the next free one.
void choose_experts(const std::vector<double>& reach,
                    std::int64_t k,
                    Stream& stream,
                    Integers& expert) {
  const auto begin = static_cast<std::ptrdiff_t>(expert.size());
  const auto taken = [&](std::int32_t e) {
    return std::find(expert.begin() + begin, expert.end(), e) != expert.end();
  };
  const auto weight = [&](std::size_t e) { return reach[e] - (e == 0 ? 0.0 : reach[e - 1]); };
  for (std::int64_t j = 0; j < k; ++j) {
    std::size_t pick = 0;
    for (int attempt = 0; attempt < 64; ++attempt) {
      const auto found =
          std::upper_bound(reach.begin(), reach.end() - 1, stream.unit() * reach.back());
      pick = static_cast<std::size_t>(found - reach.begin());
      if (!taken(static_cast<std::int32_t>(pick)) && weight(pick) > 0) {
        break;
      }
    }
    while (taken(static_cast<std::int32_t>(pick)) || !(weight(pick) > 0)) {
      pick = (pick + 1) % reach.size();
    }
    expert.push_back(static_cast<std::int32_t>(pick));
  }
}

std::vector<double> expert_reach(const Reading& read,
                                 std::int64_t experts,
                                 std::int64_t k,
                                 Stream& stream) {
  std::vector<double> weight(static_cast<std::size_t>(experts));
  std::int64_t alive = 0;
  for (double& w : weight) {
    const bool empty = stream.unit() < read.real("empty", 0);
    w = empty ? 0 : random::exp_of(read.real("skew", 0) * stream.normal());
    alive += empty ? 0 : 1;
  }
  for (std::size_t e = 0; alive < k; ++e) {
    alive += weight[e] == 0 ? 1 : 0;
    weight[e] = weight[e] == 0 ? 1 : weight[e];
  }
  std::partial_sum(weight.begin(), weight.end(), weight.begin());
  return weight;
}

GroupData routing(const Reading& read, const Key& key) {
  const std::int64_t tokens = read.size("tokens", 0), experts = read.size("experts", 1),
                     k = read.size("k", 1);
  if (k > experts || tokens * k >= kMostItems) {
    read.fail("k = " + std::to_string(k) + " experts for each token are more than there are");
  }
  Stream stream(key.word(0), 1);
  GroupData out;
  Integers& expert = out.integers["expert"];
  const std::vector<double> reach = expert_reach(read, experts, k, stream);
  for (std::int64_t t = 0; t < tokens; ++t) {
    choose_experts(reach, k, stream, expert);
  }
  Integers load(static_cast<std::size_t>(experts), 0);
  for (const std::int32_t e : expert) {
    ++load[static_cast<std::size_t>(e)];
  }
  Integers next = offsets_of(load);
  out.integers["offsets"] = next;
  Integers& slot = out.integers["slot"];
  Integers& inverse = out.integers["inverse"];
  slot.resize(expert.size());
  inverse.resize(expert.size());
  for (std::size_t i = 0; i < expert.size(); ++i) {
    slot[i] = next[static_cast<std::size_t>(expert[i])]++;
    inverse[static_cast<std::size_t>(slot[i])] = static_cast<std::int32_t>(i);
  }
  out.statistics = {{"largest", longest_of(load)}, {"nonempty", nonempty_of(load)}};
  return out;
}

GroupData paged(const Reading& read, std::int64_t width, const Key& key) {
  const std::int64_t page = read.size("page", 1), pages = read.size("pages", 0);
  Split rule;
  rule.parts = read.size("seqs", 0);
  rule.total = read.size("total", 0);
  rule.skew = read.real("skew", 0);
  rule.min = rule.total >= rule.parts ? 1 : 0;
  rule.max = width > 0 ? width * page : kMostItems - 1;
  if (page < 1) {
    read.fail("page must be at least 1");
  }
  GroupData out;
  const Integers lengths = split(rule, key, read.where());
  Integers used;
  for (const std::int32_t length : lengths) {
    used.push_back(static_cast<std::int32_t>((length + page - 1) / page));
  }
  const Integers offsets = offsets_of(used);
  if (offsets.back() > pages) {
    read.fail(std::to_string(offsets.back()) + " pages are needed, pages = " +
              std::to_string(pages) + "; ceildiv(total, page) + seqs is always enough");
  }
  const Integers order = permutation_of(key.word(2), pages);
  Integers& table = out.integers["table"];
  if (width == 0) {
    table = order;
  } else {
    table.assign(static_cast<std::size_t>(rule.parts * width), 0);
    for (std::size_t s = 0; s < lengths.size(); ++s) {
      std::copy(order.begin() + offsets[s],
                order.begin() + offsets[s + 1],
                table.begin() + static_cast<std::ptrdiff_t>(s) * width);
    }
  }
  out.statistics = {{"used", static_cast<double>(offsets.back())}};
  out.integers["lengths"] = lengths;
  out.integers["offsets"] = offsets;
  return out;
}

// Two of every four neighbours are kept. `meta`: one nibble (first | second << 2) for each four, in
// order.
GroupData sparse24(const Reading& read, const Key& key) {
  const std::int64_t rows = read.size("rows", 0), cols = read.size("cols", 0);
  if (cols % 4 != 0 || rows * cols >= kMostItems) {
    read.fail("cols must be a multiple of 4");
  }
  GroupData out;
  Stream places(key.word(0), 1), values(key.word(1), 2);
  std::vector<double>& kept = out.reals["values"];
  std::vector<double>& dense = out.reals["dense"];
  Integers& meta = out.integers["meta"];
  dense.assign(static_cast<std::size_t>(rows * cols), 0.0);
  for (std::size_t at = 0; at < dense.size(); at += 4) {
    const auto first = static_cast<std::size_t>(places.below(4));
    const std::size_t other = (first + 1 + static_cast<std::size_t>(places.below(3))) % 4;
    const std::size_t low = std::min(first, other), high = std::max(first, other);
    for (const std::size_t place : {low, high}) {
      kept.push_back(values.normal());
      dense[at + place] = kept.back();
    }
    meta.push_back(static_cast<std::int32_t>(low | high << 2));
  }
  return out;
}

}  // namespace

std::size_t GroupData::bytes() const {
  std::size_t sum = 0;
  for (const auto& [name, values] : integers) {
    sum += values.size() * sizeof(std::int32_t);
  }
  for (const auto& [name, values] : reals) {
    sum += values.size() * sizeof(double);
  }
  return sum;
}

GroupData make_group(std::string_view function,
                     const GroupArguments& arguments,
                     std::int64_t table_width,
                     const Key& key,
                     const Location& where) {
  const Reading read(arguments, where);
  if (function == "ragged") {
    return ragged(read, key);
  }
  if (function == "csr") {
    return csr(read, key);
  }
  if (function == "shuffle") {
    return shuffle(read, key);
  }
  if (function == "routing") {
    return routing(read, key);
  }
  return function == "paged" ? paged(read, table_width, key) : sparse24(read, key);
}

}  // namespace sweep::problem
