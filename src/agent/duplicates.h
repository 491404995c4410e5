#pragma once

#include "agent/tools.h"

#include <string>
#include <string_view>
#include <vector>

namespace sweep::agent {

// What decides a judgement besides the submission.
struct JudgedUnder {
  const ToolSettings* settings = nullptr;  // `submission` says which judgement
  std::string problem_sha256;
  std::string seed_sha256;
  std::string device;   // its name and driver, not which of several
  std::string version;  // of the judge
  std::int64_t epoch = 0;
};

// Lines of the plan as its parser reads them, with single blanks and without comments; empty where
// it has none, or a block without an end.
[[nodiscard]] std::string plan_lines(std::string_view source);

// Names under which a run knows a judgement: by the text, byte for byte (blanks count in a raw
// string), and by machine code and plan where `code_sha256` (CompileResult) is known. Equal names
// mean equal judgements.
[[nodiscard]] std::vector<std::string> judged_keys(std::string_view source,
                                                   const std::string& code_sha256,
                                                   const JudgedUnder& under);

}  // namespace sweep::agent
