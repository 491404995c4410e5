#pragma once

#include "endpoint/conversation.h"

#include <string>

namespace sweep::agent {

// Kernel text out of an answer without a tool call: of its fenced blocks that hold a kernel
// (`__global__`, or `.entry` of PTX) the last one with a plan, else the last one; empty: none. A
// block that the answer's end leaves open counts as well, unless the answer was cut there (`cut`):
// half a kernel is no version.
[[nodiscard]] std::string kernel_in_text(const std::string& text, bool cut = false);

// Without a surrounding Markdown fence, whose end may be missing.
[[nodiscard]] std::string unfenced(const std::string& kernel);

// The argument kernel_code of a call whose arguments are an object.
struct KernelArgument {
  std::string text;     // unfenced
  std::string problem;  // why there is none, for the model: what was expected and what came
};

[[nodiscard]] KernelArgument kernel_argument(const endpoint::ToolCall& call);

// Whether a call was refused for nothing but its length.
[[nodiscard]] bool too_long(const endpoint::ToolCall& call);

}  // namespace sweep::agent
