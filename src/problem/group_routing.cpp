#include "problem/group_rules.h"
#include "problem/stream.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sweep::problem {
namespace {

struct Rule {
  std::int64_t tokens = 0, experts = 1, k = 1;
  double skew = 0, empty = 0;
  std::uint64_t key = 0;
};

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

std::vector<double> expert_reach(const Rule& rule, Stream& stream) {
  std::vector<double> weight(static_cast<std::size_t>(rule.experts));
  std::int64_t alive = 0;
  for (double& w : weight) {
    const bool empty = stream.unit() < rule.empty;
    w = empty ? 0 : random::exp_of(rule.skew * stream.normal());
    alive += empty ? 0 : 1;
  }
  for (std::size_t e = 0; alive < rule.k; ++e) {
    alive += weight[e] == 0 ? 1 : 0;
    weight[e] = weight[e] == 0 ? 1 : weight[e];
  }
  std::partial_sum(weight.begin(), weight.end(), weight.begin());
  return weight;
}

Integers experts_of(const Rule& rule) {
  Stream stream(rule.key, 1);
  const std::vector<double> reach = expert_reach(rule, stream);
  Integers expert;
  for (std::int64_t t = 0; t < rule.tokens; ++t) {
    choose_experts(reach, rule.k, stream, expert);
  }
  return expert;
}

Integers load_of(const Integers& expert, std::int64_t experts) {
  Integers load(static_cast<std::size_t>(experts), 0);
  for (const std::int32_t e : expert) {
    ++load[static_cast<std::size_t>(e)];
  }
  return load;
}

}  // namespace

GroupData make_routing(const GroupReading& read, const Key& key) {
  Rule rule;
  rule.tokens = read.size("tokens", 0);
  rule.experts = read.size("experts", 1);
  rule.k = read.size("k", 1);
  rule.skew = read.real("skew", 0);
  rule.empty = read.real("empty", 0);
  rule.key = key.word(0);
  if (rule.k > rule.experts || rule.tokens * rule.k >= kMostItems) {
    read.fail("k = " + std::to_string(rule.k) + " experts for each token are more than there are");
  }
  const auto size = static_cast<std::size_t>(rule.tokens * rule.k);
  const std::int64_t experts = rule.experts;
  GroupData out;
  out.add("expert", size, [rule](GroupData&) { return experts_of(rule); });
  out.add("offsets", static_cast<std::size_t>(experts) + 1, [experts](GroupData& d) {
    return offsets_of(load_of(d.integers("expert"), experts));
  });
  out.add("slot", size, [](GroupData& d) {
    Integers next = d.integers("offsets");
    Integers slot;
    for (const std::int32_t e : d.integers("expert")) {
      slot.push_back(next[static_cast<std::size_t>(e)]++);
    }
    return slot;
  });
  out.add("inverse", size, [](GroupData& d) {
    const Integers& slot = d.integers("slot");
    Integers inverse(slot.size());
    for (std::size_t i = 0; i < slot.size(); ++i) {
      inverse[static_cast<std::size_t>(slot[i])] = static_cast<std::int32_t>(i);
    }
    return inverse;
  });
  out.add_statistic("largest", [experts](GroupData& d) {
    return longest_of(load_of(d.integers("expert"), experts));
  });
  out.add_statistic("nonempty", [experts](GroupData& d) {
    return nonempty_of(load_of(d.integers("expert"), experts));
  });
  return out;
}

}  // namespace sweep::problem
