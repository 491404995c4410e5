#pragma once

#include "config/config.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace sweep::agent {

// How a conversation is led: the configured harness with the bounds of what is sent and kept.
struct Harness : config::Harness {
  bool tool_required = false;  // the model has to call a tool: there is one, or one turn
  std::int64_t tool_output_max =
      0;  // bytes of a tool's answer in the conversation; 0: the tool's own bound
  std::int64_t reasoning_log_max = 0;  // bytes of reasoning kept in the trajectory; 0: all
  std::int64_t tail_messages = 0;      // sliding window over the conversation; 0: none

  [[nodiscard]] bool has(std::string_view tool) const;
};

[[nodiscard]] Harness make_harness(const config::Agent& agent);

}  // namespace sweep::agent
