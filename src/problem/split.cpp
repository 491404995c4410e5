#include "problem/evaluate_rules.h"
#include "problem/groups.h"
#include "problem/resolve.h"
#include "problem/stream.h"

#include <algorithm>
#include <numeric>

namespace sweep::problem {
namespace {

constexpr std::int64_t kSplitGrain = 1 << 13;
// Words of the lengths are those of Stream(key, kLane).
constexpr std::uint64_t kLane = 1;

// For each block of two words, bits 0 and 1: that word, deciding about a part, leaves it empty.
std::vector<std::uint8_t> empty_words(std::uint64_t key, double empty, std::int64_t blocks) {
  std::vector<std::uint8_t> out(static_cast<std::size_t>(blocks));
  in_parallel(blocks, kSplitGrain, 0, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; b < end; ++b) {
      const random::Words x = random::philox(key, static_cast<std::uint64_t>(b), kLane);
      const bool first = random::unit(random::first(x)) < empty;
      const bool second = random::unit(random::second(x)) < empty;
      out[static_cast<std::size_t>(b)] =
          static_cast<std::uint8_t>((first ? 1U : 0U) | (second ? 2U : 0U));
    }
  });
  return out;
}

// What the stream's words decide in order: each part takes one word that may leave it empty, and
// if it does not, the next whole block for its normal.
struct Decisions {
  std::vector<std::uint32_t> blocks;  // of each part's normal; 0: the part is empty
  std::uint64_t words = 0;            // taken in all
  std::int64_t alive = 0;
};

Decisions decide(const Split& rule, std::uint64_t key) {
  Decisions out;
  out.blocks.resize(static_cast<std::size_t>(rule.parts));
  // A part takes at most two blocks.
  const std::vector<std::uint8_t> empty = empty_words(key, rule.empty, 2 * rule.parts);
  std::uint64_t next = 0;
  for (std::uint32_t& block : out.blocks) {
    const bool leave = (static_cast<unsigned>(empty[next >> 1]) >> (next & 1U) & 1U) != 0;
    ++next;
    block = 0;
    if (!leave) {
      next += next & 1U;
      block = static_cast<std::uint32_t>(next >> 1);
      next += 2;
      ++out.alive;
    }
  }
  out.words = next;
  return out;
}

// Weight of each part; 0 marks an empty one. As many parts stay non-empty as the total needs.
// `stream` is left behind the words that were taken.
std::vector<double> weights(
    const Split& rule, std::int64_t units, std::int64_t most, std::uint64_t key, Stream& stream) {
  const Decisions decisions = decide(rule, key);
  std::vector<double> out(decisions.blocks.size());
  in_parallel(rule.parts, kSplitGrain, 0, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const std::uint32_t block = decisions.blocks[i];
      out[i] = block == 0
                   ? 0.0
                   : random::exp_of(rule.skew * random::normal(random::philox(key, block, kLane)));
    }
  });
  stream = Stream(key, kLane, decisions.words);
  std::int64_t alive = decisions.alive;
  const std::int64_t needed = most > 0 ? (units + most - 1) / most : 0;
  for (std::int64_t k = 0; alive < needed && k < rule.parts; ++k) {
    const auto at = random::permuted(
        stream.word() | 1U, static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(rule.parts));
    if (out[at] == 0) {
      out[at] = 1.0;
      ++alive;
    }
  }
  for (std::size_t k = 0; alive < needed; ++k) {
    alive += out[k] == 0 ? 1 : 0;
    out[k] = out[k] == 0 ? 1.0 : out[k];
  }
  return out;
}

// Elements [first, first + count) of the keyed permutation of 0 .. n-1.
void permuted_places(std::uint64_t key,
                     std::uint64_t first,
                     std::uint64_t n,
                     std::vector<std::uint32_t>& out) {
  in_parallel(static_cast<std::int64_t>(out.size()), kSplitGrain, 0, [&](auto begin, auto end) {
    for (std::int64_t i = begin; i < end; ++i) {
      out[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(
          random::permuted(key, first + static_cast<std::uint64_t>(i), n));
    }
  });
}

// Hands out `left` units one by one, round after round in a new order, to parts that have room.
void spread(Integers& room, std::int64_t left, Stream& stream) {
  const auto n = static_cast<std::int64_t>(room.size());
  std::vector<std::uint32_t> places;
  while (left > 0) {
    const std::uint64_t order = stream.word();
    const std::int64_t before = left;
    for (std::int64_t k = 0; k < n && left > 0; k += static_cast<std::int64_t>(places.size())) {
      // So many places are needed at least.
      places.resize(static_cast<std::size_t>(std::min(n - k, std::max<std::int64_t>(left, 256))));
      permuted_places(order, static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(n), places);
      for (std::size_t i = 0; i < places.size() && left > 0; ++i) {
        const std::int32_t taken = room[places[i]] > 0 ? 1 : 0;
        room[places[i]] -= taken;
        left -= taken;
      }
    }
    if (left == before) {
      return;
    }
  }
}

// Hands each part its share of `left` units by weight, rounded down; returns what is left.
std::int64_t hand_out(const std::vector<double>& weight, Integers& room, std::int64_t left) {
  const double sum = std::accumulate(weight.begin(), weight.end(), 0.0);
  if (!(sum > 0)) {
    return left;
  }
  Integers share(weight.size());
  const auto shared = static_cast<double>(left);
  in_parallel(static_cast<std::int64_t>(share.size()), kSplitGrain, 0, [&](auto begin, auto end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      share[i] = static_cast<std::int32_t>(shared * (weight[i] / sum));
    }
  });
  for (std::size_t i = 0; i < room.size(); ++i) {
    const std::int64_t given =
        std::clamp<std::int64_t>(std::min<std::int64_t>(share[i], left), 0, std::max(room[i], 0));
    room[i] -= static_cast<std::int32_t>(given);
    left -= given;
  }
  return left;
}

}  // namespace

Integers split(const Split& rule, const Key& key, const Location& where) {
  const auto fail = [&](const std::string& what) { fail_at(where, "E_GROUP", what); };
  if (rule.align < 1 || rule.total % rule.align != 0 || rule.parts < 0 || rule.total < 0) {
    fail("a total of " + std::to_string(rule.total) + " is no multiple of align " +
         std::to_string(rule.align));
  }
  const std::int64_t total = rule.total / rule.align;
  const std::int64_t least = (rule.min + rule.align - 1) / rule.align;
  const std::int64_t most = std::min(rule.max / rule.align, total);
  if (total > 0 && (rule.parts == 0 || most * rule.parts < total)) {
    fail("a total of " + std::to_string(rule.total) + " does not fit " +
         std::to_string(rule.parts) + " parts");
  }
  Stream stream(key.word(0), kLane);
  const std::vector<double> weight = weights(rule, total, most, key.word(0), stream);
  // What each part may still take; nothing if it is empty.
  Integers room(weight.size(), 0);
  std::int64_t left = total;
  for (std::size_t i = 0; i < room.size(); ++i) {
    if (weight[i] > 0) {
      room[i] = static_cast<std::int32_t>(most - least);
      left -= least;
    }
  }
  if (left < 0) {
    fail("min " + std::to_string(rule.min) + " for each part needs more than the total " +
         std::to_string(rule.total));
  }
  if (least > most && left < total) {
    fail("min " + std::to_string(rule.min) + " is above max " + std::to_string(rule.max));
  }
  spread(room, hand_out(weight, room, left), stream);
  for (std::size_t i = 0; i < room.size(); ++i) {
    const std::int64_t units = weight[i] > 0 ? most - room[i] : 0;
    room[i] = static_cast<std::int32_t>(units * rule.align);
  }
  return room;
}

}  // namespace sweep::problem
