#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::evaluate {

// Everything that stands between a wrong or cheating kernel and a PASS. A closed list, like
// Verdict: a detector that is added to the code gets a row here, a hook where it acts, and a kernel
// in tests/exploits that it catches. The rows are in defence.cpp.
enum class Defence {
  // At compile time
  plan_rules,
  compiler_limits,
  build_time,
  forbidden_symbols,
  load_code,
  module_state,
  // Structure: no single line of code to leave out
  processes,
  sandbox,
  guard_pages,
  device_faults,
  time_limit,
  memory_limit,
  // What a call starts from
  poison,
  scratch_poison,
  wash,
  persisting_reset,
  flush,
  fresh_content,
  contents,
  // What a call may touch
  read_only_inputs,
  input_intact,
  slack_watch,
  front_watch,
  // What a call must have made
  oracle,
  rms_rule,
  finite_masks,
  timed_compare,
  late_store,
  floor,
  timing_rules,
  stale,
  state,
  perturb_one,
  determinism,
  // Calls that were not shown
  stress,
  heldout,
};

// Those that are switched off, for `sweep selftest` and tests only.
using DefenceSet = std::set<Defence>;

struct DefenceInfo {
  Defence defence{};
  std::string_view name;  // "input-intact"
  std::string_view what;  // one line for a reader
  // Whether a DefenceSet can leave it out. False: it protects the machine as well, or is how
  // processes and memory are laid out; naming it in a set is an error of the caller.
  bool can_be_off = true;
};

[[nodiscard]] std::span<const DefenceInfo> defences();  // all, in the order of the enum
[[nodiscard]] std::string_view name(Defence defence);
[[nodiscard]] std::optional<Defence> parse_defence(std::string_view text);  // of name(Defence)

// Names in the order of the enum, for JSON.
[[nodiscard]] std::vector<std::string> names(const DefenceSet& set);
// Throws util::UsageError E_DEFENCE for a name that is unknown or cannot be off.
[[nodiscard]] DefenceSet defences_from(const std::vector<std::string>& names);

}  // namespace sweep::evaluate
