#pragma once

#include "evaluate/defence.h"
#include "evaluate/verdict.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sweep::evaluate {

// What was wrong with a call or a plan.
struct Failure {
  Verdict verdict{};
  std::string text;    // one paragraph, for a reader
  std::string hint;    // may be empty
  std::string tensor;  // where the values differ
  std::vector<std::int64_t> index;
  double got = 0, expected = 0, allowed = 0;
  std::int64_t wrong = 0, total = 0;
  std::string pattern;             // "all in column 76, the last one"
  std::optional<Defence> defence;  // that caught it
};

}  // namespace sweep::evaluate
