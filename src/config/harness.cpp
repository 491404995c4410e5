#include "config/harness.h"

#include "util/error.h"

#include <algorithm>
#include <array>

namespace sweep::config {
namespace {

constexpr std::array<std::string_view, 3> kFeedback = {"sanitised", "check", "timing"};
constexpr std::array<std::string_view, 3> kStop = {"submitted", "first_correct", "turns"};

const std::vector<std::string>& default_tools() {
  static const std::vector<std::string> tools = {
      "compile_kernel", "run_correctness", "get_gpu_specs", "static_check", "submit_kernel"};
  return tools;
}

Harness row(const char* name,
            std::vector<std::string> tools,
            std::int64_t max_turns,
            std::int64_t max_tool_calls) {
  Harness out;
  out.name = name;
  out.base = name;
  out.tools = std::move(tools);
  out.max_turns = max_turns;
  out.max_tool_calls = max_tool_calls;
  return out;
}

std::array<Harness, 6> make_builtin() {
  const std::vector<std::string> submit = {"submit_kernel"};
  std::array<Harness, 6> out = {row("single_turn", submit, 1, 1),
                                row("default", default_tools(), 10, 30),
                                row("all", all_tools(), 10, 30),
                                row("repair", submit, 5, 5),
                                row("optimize", submit, 10, 10),
                                row("one_shot", submit, 1, 1)};
  out[3].stop = Stop::first_correct;
  out[3].feedback = Feedback::sanitised;
  out[4].stop = Stop::turns;
  out[4].feedback = Feedback::timing;
  out[4].show_seed = true;
  out[5].samples = 5;
  return out;
}

}  // namespace

std::span<const Harness> builtin_harnesses() {
  static const std::array<Harness, 6> all = make_builtin();
  return all;
}

const Harness& builtin_harness(std::string_view name) {
  const auto all = builtin_harnesses();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Harness& one) { return one.name == name; });
  if (found == all.end()) {
    throw util::InfraError(
        {"harness", "no built-in harness '" + std::string(name) + "'", "this is a defect"},
        "E_HARNESS");
  }
  return *found;
}

std::string_view name(Feedback feedback) {
  return kFeedback.at(static_cast<std::size_t>(feedback));
}

std::string_view name(Stop stop) {
  return kStop.at(static_cast<std::size_t>(stop));
}

std::string rules_text(const Harness& harness) {
  std::string out;
  switch (harness.stop) {
    case Stop::submitted:
      out = "submit_kernel hands in";
      break;
    case Stop::first_correct:
      out = "each answer is tried until one is correct";
      break;
    case Stop::turns:
      out = "each answer is tried until the turns are used up";
      break;
  }
  if (harness.tries()) {
    out += ", feedback " + std::string(name(harness.feedback));
  }
  return out + (harness.show_seed ? ", the seed is shown" : "");
}

std::vector<std::string> all_tools() {
  return {"compile_kernel",
          "run_correctness",
          "get_gpu_specs",
          "static_check",
          "profile_kernel",
          "disassemble_kernel",
          "ert_roofline",
          "sanitize_kernel",
          "submit_kernel"};
}

}  // namespace sweep::config
