#include "submission/ranks.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace sweep::submission {
namespace {

std::string of_rank(const std::string& name, std::size_t rank) {
  return name + " of rank " + std::to_string(rank);
}

// SplitMix64's finaliser (Steele, Lea, Flood 2014).
std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

// The ranks in the order in which they take step `turn`.
std::vector<std::size_t> order_of(std::size_t ranks, std::uint64_t order, std::int64_t turn) {
  std::vector<std::size_t> list(ranks);
  std::iota(list.begin(), list.end(), std::size_t{0});
  if (order == 0) {
    return list;
  }
  std::uint64_t state = order + static_cast<std::uint64_t>(turn) * 0xd1342543de82ef95U;
  for (std::size_t i = ranks; i > 1; --i) {
    state += 0x9e3779b97f4a7c15U;
    std::swap(list[i - 1], list[mixed(state) % i]);
  }
  return list;
}

// Where the buffers of a rank's run are in the merged expansion.
class Places {
 public:
  Places(const Signature& signature, std::size_t ranks) : ranks_(ranks) {
    for (const Tensor& tensor : signature.tensors) {
      first_.push_back(count_);
      step_.push_back(tensor.per_rank ? 1 : 0);
      count_ += tensor.per_rank ? ranks : 1;
    }
  }

  [[nodiscard]] std::size_t operator()(std::size_t buffer, std::size_t rank) const {
    return buffer < first_.size() ? first_[buffer] + step_[buffer] * rank
                                  : count_ + (buffer - first_.size()) * ranks_ + rank;
  }

 private:
  std::size_t ranks_;
  std::vector<std::size_t> first_, step_;
  std::size_t count_ = 0;
};

PlanError differ(const std::string& what, const std::string& next) {
  return {"E_PLAN_RANKS", "", 0, 0, what, next};
}

std::optional<PlanError> difference(const std::vector<RankRun>& runs) {
  for (std::size_t rank = 1; rank < runs.size(); ++rank) {
    const std::int64_t steps = runs[rank].turns.back();
    if (steps != runs[0].turns.back()) {
      return differ("rank 0 takes " + std::to_string(runs[0].turns.back()) + " steps, rank " +
                        std::to_string(rank) + " takes " + std::to_string(steps),
                    "give a rank that has nothing to do an empty grid, which counts as a step: "
                    "k<<<rank == 0 ? blocks : 0, 256>>>(..)");
    }
    const auto same = [](const ScratchBuffer& a, const ScratchBuffer& b) {
      return a.name == b.name && a.type == b.type && a.bytes == b.bytes;
    };
    if (!std::ranges::equal(runs[0].expansion.scratch, runs[rank].expansion.scratch, same)) {
      return differ("rank 0 and rank " + std::to_string(rank) + " have other scratch buffers",
                    "declare the same scratch of the same size on every rank");
    }
  }
  return std::nullopt;
}

class Merger {
 public:
  Merger(const Signature& signature, std::vector<RankRun> runs)
      : runs_(std::move(runs)), places_(signature, runs_.size()), next_(runs_.size()) {
    out_.ranks = static_cast<std::int64_t>(runs_.size());
  }

  Expansion run(std::uint64_t order) {
    for (std::size_t i = 0; i < runs_[0].expansion.scratch.size(); ++i) {
      for (std::size_t rank = 0; rank < runs_.size(); ++rank) {
        ScratchBuffer buffer = runs_[rank].expansion.scratch[i];
        buffer.name = of_rank(buffer.name, rank);
        out_.scratch.push_back(std::move(buffer));
      }
    }
    for (std::size_t rank = 0; rank < runs_.size(); ++rank) {
      take(rank);
    }
    const std::int64_t turns = runs_[0].turns.back();
    for (std::int64_t turn = 0; turn < turns; ++turn) {
      for (const std::size_t rank : order_of(runs_.size(), order, turn)) {
        step(rank, turn);
      }
    }
    return std::move(out_);
  }

 private:
  // All of a run but its steps.
  void take(std::size_t rank) {
    Expansion& one = runs_[rank].expansion;
    first_map_.push_back(out_.maps.size());
    first_site_.push_back(out_.sites.size());
    for (TensorMap& map : one.maps) {
      map.base.buffer = places_(map.base.buffer, rank);
      out_.maps.push_back(std::move(map));
    }
    std::ranges::move(one.sites, std::back_inserter(out_.sites));
    std::vector<std::size_t>& tables = tables_.emplace_back();
    for (const PeerTable& table : one.peers) {
      tables.push_back(table_of(table));
    }
    out_.skipped_launches += one.skipped_launches;
    out_.scratch_bytes += one.scratch_bytes;
  }

  std::size_t table_of(const PeerTable& one) {
    PeerTable all = one;
    all.buffers.clear();
    for (std::size_t rank = 0; rank < runs_.size(); ++rank) {
      all.buffers.push_back(places_(one.buffers.front(), rank));
    }
    const auto found = std::ranges::find(out_.peers, all.buffers, &PeerTable::buffers);
    if (found != out_.peers.end()) {
      return static_cast<std::size_t>(found - out_.peers.begin());
    }
    out_.peers.push_back(std::move(all));
    return out_.peers.size() - 1;
  }

  void step(std::size_t rank, std::int64_t turn) {
    RankRun& run = runs_[rank];
    const std::size_t at = next_[rank];
    if (at >= run.expansion.steps.size() || run.turns[at] != turn) {
      return;  // a launch that was left out
    }
    ++next_[rank];
    Step& step = run.expansion.steps[at];
    if (auto* launch = std::get_if<Launch>(&step)) {
      move(*launch, rank);
    } else if (auto* zero = std::get_if<Zero>(&step)) {
      zero->buffer = places_(zero->buffer, rank);
    } else {
      auto& copy = std::get<Copy>(step);
      copy.to = places_(copy.to, rank);
      copy.from = places_(copy.from, rank);
    }
    out_.steps.push_back(std::move(step));
    out_.step_ranks.push_back(rank);
  }

  void move(Launch& launch, std::size_t rank) const {
    launch.pdl = launch.pdl && runs_.size() == 1;
    launch.site += first_site_[rank];
    for (Argument& argument : launch.arguments) {
      if (auto* ref = std::get_if<BufferRef>(&argument)) {
        ref->buffer = places_(ref->buffer, rank);
      } else if (auto* map = std::get_if<MapRef>(&argument)) {
        map->map += first_map_[rank];
      } else if (auto* peers = std::get_if<PeersRef>(&argument)) {
        peers->table = tables_[rank][peers->table];
      }
    }
  }

  std::vector<RankRun> runs_;
  Places places_;
  std::vector<std::size_t> next_;  // step of each rank
  std::vector<std::size_t> first_map_, first_site_;
  std::vector<std::vector<std::size_t>> tables_;
  Expansion out_;
};

}  // namespace

Signature widened(const Signature& signature, std::int64_t ranks) {
  if (ranks == 0) {
    return signature;
  }
  Signature out = signature;
  out.tensors.clear();
  for (const Tensor& tensor : signature.tensors) {
    for (std::int64_t rank = 0; rank < (tensor.per_rank ? ranks : 1); ++rank) {
      Tensor one = tensor;
      one.name =
          tensor.per_rank ? of_rank(tensor.name, static_cast<std::size_t>(rank)) : tensor.name;
      out.tensors.push_back(std::move(one));
    }
  }
  return out;
}

std::variant<Expansion, PlanError> merged(const Signature& signature,
                                          std::vector<RankRun> runs,
                                          std::uint64_t order) {
  if (auto error = difference(runs)) {
    return std::move(*error);
  }
  return Merger(signature, std::move(runs)).run(order);
}

}  // namespace sweep::submission
