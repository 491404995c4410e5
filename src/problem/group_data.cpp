#include "problem/groups.h"

#include <stdexcept>
#include <utility>

namespace sweep::problem {

void GroupData::add(std::string part,
                    std::size_t size,
                    MakeIntegers make,
                    std::optional<GroupParameters> on_device) {
  Part& added = parts_[std::move(part)];
  added.size = size;
  added.make_integers = std::move(make);
  added.on_device = on_device;
}

void GroupData::add(std::string part, Integers made) {
  Part& added = parts_[std::move(part)];
  added.size = made.size();
  added.integers = std::move(made);
}

void GroupData::add_reals(std::string part, std::size_t size, MakeReals make) {
  Part& added = parts_[std::move(part)];
  added.size = size;
  added.make_reals = std::move(make);
}

void GroupData::add_statistic(std::string name, MakeStatistic make) {
  statistics_[std::move(name)] = std::move(make);
}

const GroupData::Part& GroupData::part(std::string_view name) const {
  const auto found = parts_.find(name);
  if (found == parts_.end()) {
    throw std::out_of_range("no part '" + std::string(name) + "' in this group");
  }
  return found->second;
}

GroupData::Part& GroupData::part(std::string_view name) {
  return const_cast<Part&>(std::as_const(*this).part(name));
}

std::size_t GroupData::size(std::string_view name) const {
  return part(name).size;
}

bool GroupData::is_real(std::string_view name) const {
  return static_cast<bool>(part(name).make_reals);
}

std::optional<GroupParameters> GroupData::on_device(std::string_view name) const {
  return part(name).on_device;
}

const Integers& GroupData::integers(std::string_view name) {
  Part& found = part(name);
  if (!found.integers) {
    if (!found.make_integers) {
      throw std::out_of_range("part '" + std::string(name) + "' has no integers");
    }
    found.integers = found.make_integers(*this);
  }
  return *found.integers;
}

const Reals& GroupData::reals(std::string_view name) {
  Part& found = part(name);
  if (!found.reals) {
    if (!found.make_reals) {
      throw std::out_of_range("part '" + std::string(name) + "' has no reals");
    }
    found.reals = found.make_reals(*this);
  }
  return *found.reals;
}

std::vector<std::string> GroupData::parts() const {
  std::vector<std::string> out;
  for (const auto& [name, part] : parts_) {
    out.push_back(name);
  }
  return out;
}

std::map<std::string, double, std::less<>> GroupData::statistics() {
  std::map<std::string, double, std::less<>> out;
  for (const auto& [name, make] : statistics_) {
    out[name] = make(*this);
  }
  return out;
}

std::size_t GroupData::bytes() const {
  std::size_t sum = 0;
  for (const auto& [name, part] : parts_) {
    sum += part.integers ? part.integers->size() * sizeof(std::int32_t) : 0;
    sum += part.reals ? part.reals->size() * sizeof(double) : 0;
  }
  return sum;
}

}  // namespace sweep::problem
