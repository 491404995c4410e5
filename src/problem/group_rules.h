#pragma once

#include "problem/evaluate_rules.h"
#include "problem/groups.h"

#include <cstdint>
#include <string>
#include <string_view>

// Inside of the module: what the functions of groups share.
namespace sweep::problem {

inline constexpr std::int64_t kMostItems = std::int64_t{1} << 31;

// Arguments of one group with their defaults and ranges.
class GroupReading {
 public:
  GroupReading(const GroupArguments& arguments, const Location& where)
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

[[nodiscard]] Integers offsets_of(const Integers& lengths);
[[nodiscard]] double longest_of(const Integers& lengths);
[[nodiscard]] double nonempty_of(const Integers& lengths);

// The keyed permutation of 0 .. n-1 (random::permuted).
[[nodiscard]] Integers permutation_of(std::uint64_t key, std::int64_t n);

// Adds `lengths` under `name` and what follows from them: offsets, owner, longest, nonempty.
void add_rows(GroupData& data, const std::string& name, Integers lengths);

[[nodiscard]] GroupData make_csr(const GroupReading& read, const Key& key);
[[nodiscard]] GroupData make_routing(const GroupReading& read, const Key& key);

}  // namespace sweep::problem
