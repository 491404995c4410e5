#include "timing/schedule.h"

#include "util/sha256.h"

#include <algorithm>
#include <numeric>

namespace sweep::timing {
namespace {

constexpr std::array<Arm, 4> kAbba = {Arm::seed, Arm::candidate, Arm::candidate, Arm::seed};
constexpr std::array<Arm, 4> kBaab = {Arm::candidate, Arm::seed, Arm::seed, Arm::candidate};
// Changes whenever the meaning of a schedule does.
constexpr std::string_view kProtocol = "sweep timing 2";

// Numbers of a keyed stream: the k-th is a hash of the key and k.
class Stream {
 public:
  Stream(const ScheduleKey& key, int replicate) {
    std::string text(kProtocol);
    for (const auto* part : {&key.problem, &key.candidate, &key.session}) {
      text += '\n' + std::to_string(part->size()) + ':' + *part;
    }
    root_ = text + '\n' + std::to_string(replicate);
  }

  // Uniform in [0, bound); the bias of `%` is below bound / 2^64.
  std::size_t below(std::size_t bound) {
    const auto digest = util::hmac_sha256(root_, std::to_string(next_++));
    return static_cast<std::size_t>(util::leading_u64(digest) % bound);
  }

  // Fisher-Yates.
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) {
      std::swap(items[i - 1], items[below(i)]);
    }
  }

 private:
  std::string root_;
  std::uint64_t next_ = 0;
};

}  // namespace

Arm first_arm(const ScheduleKey& key, int replicate) {
  constexpr int kCoin = -1;  // no replicate
  const std::size_t coin = Stream(key, kCoin).below(2);
  return (coin + static_cast<std::size_t>(replicate)) % 2 == 0 ? Arm::seed : Arm::candidate;
}

std::vector<Block> schedule(const ScheduleKey& key, int replicate, std::span<const int> blocks) {
  Stream stream(key, replicate);
  std::vector<int> shapes;
  std::vector<std::vector<char>> seed_first(blocks.size());
  for (std::size_t s = 0; s < blocks.size(); ++s) {
    const auto count = static_cast<std::size_t>(std::max(blocks[s], 0));
    shapes.insert(shapes.end(), count, static_cast<int>(s));
    const std::size_t extra = count % 2 == 1 ? stream.below(2) : 0;
    seed_first[s].assign(count, 0);
    std::fill_n(seed_first[s].begin(), count / 2 + extra, char{1});
    stream.shuffle(seed_first[s]);
  }
  stream.shuffle(shapes);
  std::vector<int> used(blocks.size(), 0);
  std::vector<Block> result;
  result.reserve(shapes.size());
  for (const int shape : shapes) {
    const auto s = static_cast<std::size_t>(shape);
    const int number = used[s]++;
    result.push_back(
        {shape, number, seed_first[s][static_cast<std::size_t>(number)] != 0 ? kAbba : kBaab});
  }
  return result;
}

Predecessors predecessors(std::span<const Block> blocks) {
  Predecessors counts{};
  const Arm* before = nullptr;
  for (const Block& block : blocks) {
    for (const Arm& arm : block.order) {
      if (before != nullptr) {
        ++counts.at(static_cast<std::size_t>(*before)).at(static_cast<std::size_t>(arm));
      }
      before = &arm;
    }
  }
  return counts;
}

}  // namespace sweep::timing
