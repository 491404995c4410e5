#pragma once

#include "config/config.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sweep::agent {

// How a conversation is led: a value made from the configuration.
struct Harness {
  config::Harness kind = config::Harness::default_tools;
  std::vector<std::string> tools;  // in schema order; submit_kernel is always the last
  std::int64_t max_turns = 10;
  std::int64_t max_tool_calls = 30;
  std::int64_t warn_turns_remaining = 2;
  bool tool_required = false;  // one turn: the model has to call a tool
  std::int64_t tool_output_max =
      0;  // bytes of a tool's answer in the conversation; 0: the tool's own bound
  std::int64_t reasoning_log_max = 0;  // bytes of reasoning kept in the trajectory; 0: all
  std::int64_t tail_messages = 0;      // sliding window over the conversation; 0: none

  [[nodiscard]] bool has(const std::string& tool) const;
};

// Empty when this program can run the configured harness, else why not (`all`, `repair`, `optimize`
// and `one_shot` are read, and come with a later version).
[[nodiscard]] std::string unsupported(const config::Agent& agent);

// single_turn has one turn, one call and submit_kernel only, whatever the budgets say.
[[nodiscard]] Harness make_harness(const config::Agent& agent);

}  // namespace sweep::agent
