#include "problem/groups.h"

#include "problem/device/group.cuh"
#include "problem/group_rules.h"
#include "problem/resolve.h"
#include "problem/stream.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace sweep::problem {
namespace {

constexpr std::int64_t kGroupGrain = 1 << 14;

GroupData ragged(const GroupReading& read, const Key& key) {
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
  add_rows(out, "lengths", split(rule, key, read.where()));
  return out;
}

// Inverses of permutations of n each, one behind the other.
Integers inverses_of(const Integers& forward, std::int64_t n) {
  Integers out(forward.size());
  in_parallel(static_cast<std::int64_t>(forward.size()),
              kGroupGrain,
              0,
              [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t i = begin; i < end; ++i) {
                  const std::int64_t row = i / n * n;
                  out[static_cast<std::size_t>(row + forward[static_cast<std::size_t>(i)])] =
                      static_cast<std::int32_t>(i - row);
                }
              });
  return out;
}

GroupData shuffle(const GroupReading& read, const Key& key) {
  const std::int64_t n = read.size("n", 0), batch = read.size("batch", 1);
  if (n * batch >= kMostItems) {
    read.fail("n * batch must be less than 2^31");
  }
  GroupParameters forward;
  forward.key = key.word(0);
  forward.kind = kGroupShuffle;
  forward.count = n * batch;
  forward.range = n;
  GroupParameters inverse = forward;
  inverse.kind = kGroupInverse;
  const auto size = static_cast<std::size_t>(n * batch);
  GroupData out;
  out.add(
      "forward",
      size,
      [forward](GroupData&) {
        Integers made(static_cast<std::size_t>(forward.count));
        in_parallel(forward.count, kGroupGrain, 0, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) {
            write_group_element(forward, nullptr, i, made.data());
          }
        });
        return made;
      },
      forward);
  out.add(
      "inverse",
      size,
      [n](GroupData& data) { return inverses_of(data.integers("forward"), n); },
      inverse);
  return out;
}

GroupData paged(const GroupReading& read, std::int64_t width, const Key& key) {
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
  Integers lengths = split(rule, key, read.where());
  Integers used;
  for (const std::int32_t length : lengths) {
    used.push_back(static_cast<std::int32_t>((length + page - 1) / page));
  }
  Integers offsets = offsets_of(used);
  const std::int32_t needed = offsets.back();
  if (needed > pages) {
    read.fail(std::to_string(needed) + " pages are needed, pages = " + std::to_string(pages) +
              "; ceildiv(total, page) + seqs is always enough");
  }
  GroupData out;
  const std::uint64_t order_key = key.word(2);
  const std::int64_t rows = rule.parts;
  out.add(
      "table", static_cast<std::size_t>(width == 0 ? pages : rows * width), [=](GroupData& data) {
        Integers order = permutation_of(order_key, pages);
        if (width == 0) {
          return order;
        }
        const Integers& from = data.integers("offsets");
        Integers table(static_cast<std::size_t>(rows * width), 0);
        for (std::size_t s = 0; s + 1 < from.size(); ++s) {
          std::copy(order.begin() + from[s],
                    order.begin() + from[s + 1],
                    table.begin() + static_cast<std::ptrdiff_t>(s) * width);
        }
        return table;
      });
  out.add("lengths", std::move(lengths));
  out.add("offsets", std::move(offsets));
  out.add_statistic("used", [needed](GroupData&) { return static_cast<double>(needed); });
  return out;
}

// The two places that are kept of four neighbours, ascending.
std::array<std::size_t, 2> kept_places(std::uint64_t key, std::int64_t four) {
  const random::Words x = random::philox(key, static_cast<std::uint64_t>(four), 1);
  const std::uint64_t first = random::scaled(random::first(x), 4);
  const std::uint64_t other = (first + 1 + random::scaled(random::second(x), 3)) % 4;
  return {static_cast<std::size_t>(std::min(first, other)),
          static_cast<std::size_t>(std::max(first, other))};
}

// Two of every four neighbours are kept. `meta`: one nibble (first | second << 2) for each four, in
// order.
GroupData sparse24(const GroupReading& read, const Key& key) {
  const std::int64_t rows = read.size("rows", 0), cols = read.size("cols", 0);
  if (cols % 4 != 0 || rows * cols >= kMostItems) {
    read.fail("cols must be a multiple of 4");
  }
  const std::int64_t fours = rows * cols / 4;
  const std::uint64_t places = key.word(0), numbers = key.word(1);
  GroupData out;
  out.add_reals("values", static_cast<std::size_t>(2 * fours), [=](GroupData&) {
    Reals made(static_cast<std::size_t>(2 * fours));
    in_parallel(2 * fours, kGroupGrain, 0, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        made[static_cast<std::size_t>(i)] =
            random::normal(random::philox(numbers, static_cast<std::uint64_t>(i), 2));
      }
    });
    return made;
  });
  out.add_reals("dense", static_cast<std::size_t>(4 * fours), [=](GroupData& data) {
    const Reals& kept = data.reals("values");
    Reals made(static_cast<std::size_t>(4 * fours), 0.0);
    for (std::int64_t four = 0; four < fours; ++four) {
      const auto at = static_cast<std::size_t>(four);
      const std::array<std::size_t, 2> place = kept_places(places, four);
      made[4 * at + place[0]] = kept[2 * at];
      made[4 * at + place[1]] = kept[2 * at + 1];
    }
    return made;
  });
  out.add("meta", static_cast<std::size_t>(fours), [=](GroupData&) {
    Integers made;
    for (std::int64_t four = 0; four < fours; ++four) {
      const std::array<std::size_t, 2> place = kept_places(places, four);
      made.push_back(static_cast<std::int32_t>(place[0] | place[1] << 2));
    }
    return made;
  });
  return out;
}

}  // namespace

Integers offsets_of(const Integers& lengths) {
  Integers out(lengths.size() + 1, 0);
  std::partial_sum(lengths.begin(), lengths.end(), out.begin() + 1);
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
  in_parallel(n, kGroupGrain, 0, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      out[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(
          random::permuted(key, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(n)));
    }
  });
  return out;
}

void add_rows(GroupData& data, const std::string& name, Integers lengths) {
  GroupParameters owner;
  owner.kind = kGroupOwner;
  owner.rows = static_cast<long long>(lengths.size());
  owner.count = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  data.add(
      "offsets", lengths.size() + 1, [name](GroupData& d) { return offsets_of(d.integers(name)); });
  data.add(
      "owner",
      static_cast<std::size_t>(owner.count),
      [owner](GroupData& d) {
        const Integers& offsets = d.integers("offsets");
        Integers made(static_cast<std::size_t>(owner.count));
        in_parallel(owner.rows, kGroupGrain, 0, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t row = begin; row < end; ++row) {
            const auto at = static_cast<std::size_t>(row);
            std::fill(made.begin() + offsets[at],
                      made.begin() + offsets[at + 1],
                      static_cast<std::int32_t>(row));
          }
        });
        return made;
      },
      owner);
  data.add_statistic("longest", [name](GroupData& d) { return longest_of(d.integers(name)); });
  data.add_statistic("nonempty", [name](GroupData& d) { return nonempty_of(d.integers(name)); });
  data.add(name, std::move(lengths));
}

GroupData make_group(std::string_view function,
                     const GroupArguments& arguments,
                     std::int64_t table_width,
                     const Key& key,
                     const Location& where) {
  const GroupReading read(arguments, where);
  if (function == "ragged") {
    return ragged(read, key);
  }
  if (function == "csr") {
    return make_csr(read, key);
  }
  if (function == "shuffle") {
    return shuffle(read, key);
  }
  if (function == "routing") {
    return make_routing(read, key);
  }
  return function == "paged" ? paged(read, table_width, key) : sparse24(read, key);
}

}  // namespace sweep::problem
