#include "evaluate/expected.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace sweep::evaluate {
namespace {

// Of all plans that are kept.
constexpr std::size_t kPlanBytes = std::size_t{1} << 30U;

// A result takes the place of others only where it took clearly longer for its size: the same
// shape's times vary.
constexpr double kClearly = 1.5;

double seconds_a_byte(double seconds, std::size_t bytes) {
  return seconds / static_cast<double>(std::max(bytes, std::size_t{1}));
}

std::size_t host_bytes(const std::shared_ptr<const problem::FillPlan>& plan) {
  return plan == nullptr ? 0 : plan->host_bytes();
}

}  // namespace

std::size_t Expected::held() const {
  std::size_t sum = 0;
  for (const Tensors* tensors : {&truth.outputs, &truth.aux, &seed}) {
    for (const auto& [name, piece] : *tensors) {
      sum += piece.held();
    }
  }
  return sum;
}

std::string content_name(const problem::Draw& draw, const Perturbation* change) {
  std::string name = draw.key.hex() + '\n' + draw.shape + '\n' + draw.content;
  for (const auto& [dim, value] : draw.dims) {
    name += '\n' + dim + '=' + std::to_string(value);
  }
  // Scalars follow from the key.
  return change == nullptr ? name : name + '\n' + change->text();
}

bool ExpectedStore::make_room(std::size_t bytes, double seconds) {
  if (bytes > budget_ || held_ + bytes <= budget_) {
    return bytes <= budget_;
  }
  const double worth = seconds_a_byte(seconds, bytes);
  std::vector<Entries::iterator> order;
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    order.push_back(entry);
  }
  const auto worth_of = [](const Entries::iterator& entry) {
    return seconds_a_byte(entry->second.seconds, entry->second.expected->held());
  };
  std::ranges::sort(order, {}, worth_of);
  std::size_t freed = 0;
  std::size_t count = 0;
  while (held_ - freed + bytes > budget_) {
    if (count == order.size() || worth < kClearly * worth_of(order[count])) {
      return false;
    }
    freed += order[count++]->second.expected->held();
  }
  for (std::size_t i = 0; i < count; ++i) {
    drop(order[i]);
  }
  return true;
}

bool ExpectedStore::keep(const std::string& name, Kept kept) {
  if (const auto found = entries_.find(name); found != entries_.end()) {
    drop(found);
  }
  const std::size_t bytes = kept.expected->held();
  if (!make_room(bytes, kept.seconds)) {
    return false;
  }
  if (host_held_ + host_bytes(kept.plan) > kPlanBytes) {
    kept.plan.reset();
  }
  held_ += bytes;
  host_held_ += host_bytes(kept.plan);
  entries_.emplace(name, std::move(kept));
  return true;
}

std::optional<ExpectedStore::Kept> ExpectedStore::take(const std::string& name) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) {
    return std::nullopt;
  }
  Kept kept = found->second;
  if (--found->second.uses <= 0) {
    drop(found);
  }
  return kept;
}

void ExpectedStore::drop(Entries::iterator entry) {
  held_ -= entry->second.expected->held();
  host_held_ -= host_bytes(entry->second.plan);
  entries_.erase(entry);
}

void ExpectedStore::clear() {
  entries_.clear();
  held_ = 0;
  host_held_ = 0;
}

}  // namespace sweep::evaluate
