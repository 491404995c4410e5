#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::config {

// What a model is told of a version that it handed in and that is not yet the last.
enum class Feedback {
  sanitised,  // its class alone: a format error, a compiler error, or "incorrect"
  check,      // where and how far results on the visible shapes are off
  timing,     // the same, and times on the visible shapes
};

// What ends a conversation before its turns are used up, and what submit_kernel does.
enum class Stop {
  submitted,      // submit_kernel hands in; the judge's verdict on that version counts
  first_correct,  // submit_kernel tries a version on the visible shapes; the first correct one is
                  // handed in
  turns,          // submit_kernel tries as well; at the end the fastest correct one is handed in
};

// How conversations are led. A new one is a row of builtin_harnesses(), or a [harness.NAME] table.
struct Harness {
  std::string name;  // as in TOML
  std::string base;  // the built-in one that it began as; its own name for those
  std::vector<std::string>
      tools;  // in the order in which models are shown them; submit_kernel last
  std::int64_t max_turns = 10;
  std::int64_t max_tool_calls = 30;
  Stop stop = Stop::submitted;
  Feedback feedback = Feedback::check;  // means nothing with Stop::submitted
  bool show_seed = false;               // the first message holds the seed kernel
  std::int64_t samples = 1;             // attempts a problem where [run] says nothing
  std::int64_t warn_turns_remaining = 2;

  // Whether submit_kernel tries versions. Each answer is then one version, by call or in a fence.
  [[nodiscard]] bool tries() const { return stop != Stop::submitted; }

  // Whether no table of the configuration defines it.
  [[nodiscard]] bool builtin() const { return name == base; }
};

// single_turn, default, all, repair, optimize, one_shot.
[[nodiscard]] std::span<const Harness> builtin_harnesses();

// One of those; InfraError E_HARNESS for any other name.
[[nodiscard]] const Harness& builtin_harness(std::string_view name);

// Text forms as written in TOML: "sanitised", "check", "timing"; "submitted", "first_correct",
// "turns".
[[nodiscard]] std::string_view name(Feedback feedback);
[[nodiscard]] std::string_view name(Stop stop);

// All that decides results besides tools and budgets, in one line for people: "submit_kernel hands
// in", "versions are tried (feedback: timing) until ...".
[[nodiscard]] std::string rules_text(const Harness& harness);

// Tool names in the order in which models are shown them.
[[nodiscard]] std::vector<std::string> all_tools();

}  // namespace sweep::config
