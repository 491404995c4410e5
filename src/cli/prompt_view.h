#pragma once

#include "evaluate/evaluation.h"

#include <string>

namespace sweep::cli {

struct PromptOptions {
  bool wanted = false;
  std::string harness = "default";
  std::string config;          // a sweep's TOML: its [agent] and [run] in place of `harness`
  std::string device = "cpu";  // whose facts are told
};

// What a model is sent first about the problem: the system prompt, a ruled line, the first message;
// or the same as one JSON document. What options.config asks for and the device makes void is said
// on stderr. Throws util::UsageError for an unknown harness or device, and
// as config::load does.
[[nodiscard]] std::string prompt_text(const evaluate::Services& services,
                                      const std::string& problem,
                                      const PromptOptions& options,
                                      bool json);

}  // namespace sweep::cli
