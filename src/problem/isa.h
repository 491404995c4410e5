#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

// Families of instructions that a problem may ask for, and what it does about a kernel without
// them.
namespace sweep::problem {

// off: nothing is looked at; warn: noted in the result; gate: a result without them is not correct.
enum class IsaPolicy { off, warn, gate };

[[nodiscard]] std::string_view name(IsaPolicy policy);  // "warn"
[[nodiscard]] std::optional<IsaPolicy> parse_isa_policy(std::string_view text);

struct IsaFamily {
  std::string_view name;                // "wgmma"
  std::string_view meaning;             // one line for a reader
  std::array<std::string_view, 4> ptx;  // beginnings of PTX instructions; empty ones do not count
  std::array<std::string_view, 6> opcodes;  // first parts of SASS opcodes, likewise

  [[nodiscard]] bool has_opcode(std::string_view opcode) const;
};

[[nodiscard]] std::span<const IsaFamily> isa_families();

// The family of that name, or that an opcode belongs to ("HGMMA"); null: none.
[[nodiscard]] const IsaFamily* isa_family(std::string_view name_or_opcode);

}  // namespace sweep::problem
