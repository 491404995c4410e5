#include "evaluate/defence.h"

#include "util/error.h"

#include <algorithm>
#include <array>

namespace sweep::evaluate {
namespace {

using D = Defence;

constexpr bool kFixed = false;

constexpr std::array kRows = {
    DefenceInfo{D::plan_rules,
                "plan-rules",
                "the plan expands for every shape, within its limits and buffers",
                kFixed},
    DefenceInfo{D::compiler_limits,
                "compiler-limits",
                "the compiler accepts the text, in a sandbox with bounded time and memory",
                kFixed},
    DefenceInfo{D::build_time,
                "build-time",
                "a text that differs at every compilation (__TIME__) is refused",
                kFixed},
    DefenceInfo{D::forbidden_symbols,
                "forbidden-symbols",
                "code that calls what it does not define is refused (device malloc, fork)",
                kFixed},
    DefenceInfo{D::load_code,
                "load-code",
                "code that would run while the module is loaded is refused",
                kFixed},
    DefenceInfo{
        D::module_state, "module-state", "a module variable that kernels can write is refused"},
    DefenceInfo{D::processes,
                "processes",
                "seed, candidate and judge are processes of their own and share no context",
                kFixed},
    DefenceInfo{D::sandbox,
                "sandbox",
                "Landlock, seccomp and namespaces around compiler, judge and runners",
                kFixed},
    DefenceInfo{
        D::guard_pages, "guard-pages", "unmapped memory before and behind every buffer", kFixed},
    DefenceInfo{D::device_faults,
                "device-faults",
                "a launch that the device refuses or that crashes is the kernel's error",
                kFixed},
    DefenceInfo{D::time_limit, "time-limit", "a call ends within the problem's limit", kFixed},
    DefenceInfo{D::memory_limit,
                "memory-limit",
                "scratch and code fit the memory that the problem allows",
                kFixed},
    DefenceInfo{D::poison,
                "poison",
                "outputs hold a keyed pattern before every call, and no element may keep it"},
    DefenceInfo{
        D::scratch_poison,
        "scratch-poison",
        "scratch holds a keyed pattern before every call, with all that is reachable beside"},
    DefenceInfo{
        D::wash, "wash", "shared memory, registers and local memory are overwritten between calls"},
    DefenceInfo{D::persisting_reset,
                "persisting-reset",
                "persisting L2 lines of the runner's context are reset between calls"},
    DefenceInfo{D::flush, "flush", "caches are cold before a timed call"},
    DefenceInfo{D::fresh_content,
                "fresh-content",
                "no content comes twice in check, and none in the life of a timed module"},
    DefenceInfo{
        D::contents, "contents", "contents other than the default one: large, tied, sorted, empty"},
    DefenceInfo{D::read_only_inputs,
                "read-only-inputs",
                "inputs are mapped read-only where the candidate runs"},
    DefenceInfo{D::input_intact,
                "input-intact",
                "every input is compared with the judge's own copy after each call"},
    DefenceInfo{D::slack_watch,
                "slack-watch",
                "the bytes behind an output, up to the guard page, keep their pattern"},
    DefenceInfo{
        D::front_watch, "front-watch", "the bytes before an output in its page keep their pattern"},
    DefenceInfo{D::oracle,
                "oracle",
                "every element is compared with a double-precision reference, beside the seed's "
                "error"},
    DefenceInfo{
        D::rms_rule, "rms-rule", "the root mean square error of a row is bounded by the seed's"},
    DefenceInfo{D::finite_masks,
                "finite-masks",
                "NaN and infinity stand only where the reference has them and the problem allows "
                "it"},
    DefenceInfo{D::timed_compare,
                "timed-compare",
                "every timed call's output is compared, with the seed's or the reference"},
    DefenceInfo{D::late_store, "late-store", "outputs are read again after everything has drained"},
    DefenceInfo{
        D::floor, "floor", "no call is faster than its bytes beyond L2 and its operations take"},
    DefenceInfo{D::timing_rules,
                "timing-rules",
                "interleaved pairs, mean beside median, drift and margin decide who is faster",
                kFixed},
    DefenceInfo{
        D::stale, "stale", "a wrong output that is right for the call before is told as such"},
    DefenceInfo{
        D::state,
        "state",
        "a wrong output that fresh processes get right and others with the same history do not"},
    DefenceInfo{D::perturb_one,
                "perturb-one",
                "contents that differ from the one before in a single element"},
    DefenceInfo{D::determinism,
                "determinism",
                "a fresh process repeats a call bit for bit where the problem demands it"},
    DefenceInfo{D::stress, "stress", "random and edge shapes that were not shown"},
    DefenceInfo{D::heldout, "held-out", "secret shapes and contents, after the search"},
};

const DefenceInfo& row(Defence defence) {
  return kRows.at(static_cast<std::size_t>(defence));
}

}  // namespace

std::span<const DefenceInfo> defences() {
  return kRows;
}

std::string_view name(Defence defence) {
  return row(defence).name;
}

std::optional<Defence> parse_defence(std::string_view text) {
  const auto* found = std::ranges::find(kRows, text, &DefenceInfo::name);
  return found == kRows.end() ? std::nullopt : std::optional(found->defence);
}

std::vector<std::string> names(const DefenceSet& set) {
  std::vector<std::string> all;
  for (const Defence defence : set) {
    all.emplace_back(name(defence));
  }
  return all;
}

DefenceSet defences_from(const std::vector<std::string>& names) {
  DefenceSet set;
  for (const std::string& text : names) {
    const auto defence = parse_defence(text);
    if (!defence || !row(*defence).can_be_off) {
      throw util::UsageError({"defence '" + text + "'",
                              defence ? "cannot be switched off" : "there is none of this name",
                              "docs/selftest.md lists them"},
                             "E_DEFENCE");
    }
    set.insert(*defence);
  }
  return set;
}

}  // namespace sweep::evaluate
