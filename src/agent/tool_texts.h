#pragma once

#include "evaluate/feedback.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::agent {

// The longest answer of a tool; a conversation may cut it further ([agent]
// tool_output_context_max_chars).
inline constexpr std::size_t kMostToolText = 12'288;

// "compile_kernel FAILED: " before a summary, the details below: the first line of every answer.
[[nodiscard]] std::string tool_text(std::string_view tool,
                                    bool success,
                                    std::string_view summary,
                                    std::string_view details = {});

// The answer of a tool that judges: verdict and place, visible facts, the next sensible step.
// `source` is the submission's text, `tools` are the conversation's, `warnings` stand before the
// step.
[[nodiscard]] std::string judged_text(std::string_view tool,
                                      bool success,
                                      const evaluate::VisibleFeedback& feedback,
                                      std::string_view source,
                                      const std::vector<std::string>& tools,
                                      const std::vector<std::string>& warnings = {});

// What to do after such a result of `tool`; one sentence that names no tool but submit_kernel and
// `tools`, those of the conversation.
[[nodiscard]] std::string next_step(std::string_view tool,
                                    const evaluate::VisibleFeedback& feedback,
                                    const std::vector<std::string>& tools);

// `text` with each part "{TOOL:WORDS}" turned into WORDS where TOOL is one of `tools`, else left
// out. For texts of this program: braces have no other use in them.
[[nodiscard]] std::string for_tools(std::string_view text, const std::vector<std::string>& tools);

// Things that cannot work here and that models bring along from other harnesses; one sentence each.
// Quick and by the text alone: a hint, never a verdict.
[[nodiscard]] std::vector<std::string> lint(std::string_view kernel);

}  // namespace sweep::agent
