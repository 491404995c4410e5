#pragma once

#include "evaluate/evaluation.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sweep::cli {

// A plan constant and the values that --scan tries, each once, in the order given.
struct ScanParameter {
  std::string name;
  std::vector<std::int64_t> values;
};

inline constexpr std::size_t kMaxVariants = 256;  // of one scan

// "TILE=32,64" or "STAGES=2..4" (both ends included), or a mix: "N=1,4..6". Throws util::UsageError
// "E_EVAL_SCAN" for anything else, a value or name given twice, and more than kMaxVariants
// combinations.
[[nodiscard]] std::vector<ScanParameter> parse_scan(const std::vector<std::string>& texts);

// Every combination, the last parameter's values changing fastest; each has one value a parameter.
[[nodiscard]] std::vector<std::vector<std::int64_t>> combinations(
    const std::vector<ScanParameter>& parameters);

using Constants = std::map<std::string, std::int64_t>;

// The constants of a combination by name.
[[nodiscard]] Constants constants_of(const std::vector<ScanParameter>& parameters,
                                     const std::vector<std::int64_t>& values);

// "TILE=64 STAGES=2", in the order of the parameters.
[[nodiscard]] std::string values_text(const std::vector<ScanParameter>& parameters,
                                      const std::vector<std::int64_t>& values);

// The values that the text itself gives to the parameters; none where its plan cannot be read.
// Throws util::UsageError "E_EVAL_SCAN" where it declares no such constant; `defines` are those of
// -D.
[[nodiscard]] std::optional<std::vector<std::int64_t>> values_in_file(
    const std::vector<ScanParameter>& parameters,
    const evaluate::Source& source,
    const Constants& defines);

struct ScanVariant {
  std::vector<std::int64_t> values;
  evaluate::Evaluation evaluation;
};

// Fastest first: timed ones by their estimate, then UNSTABLE ones by theirs, correct ones without a
// time, failures, and last what the harness failed on. Equals keep their order.
void rank(std::vector<ScanVariant>& variants);

// Whether a variant may be chosen: correct and timed.
[[nodiscard]] bool eligible(const ScanVariant& variant);

// Of ranked variants: how many others the first one's interval does not lie wholly above.
[[nodiscard]] std::size_t not_told_apart(const std::vector<ScanVariant>& variants);

}  // namespace sweep::cli
