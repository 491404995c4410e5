#pragma once

#include "cli/requirement.h"
#include "cli/scan.h"
#include "cli/style.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace sweep::cli {

// What `sweep eval --scan` found.
struct ScanReport {
  std::string file;
  std::vector<ScanParameter> parameters;
  std::optional<std::vector<std::int64_t>> in_file;  // values of the text as it stands
  std::size_t planned = 0;                           // combinations
  std::vector<ScanVariant> variants;                 // ranked; fewer than planned where it stopped
  std::optional<evaluate::Evaluation> confirmation;  // of the first; none: no variant was eligible
  std::vector<RequirementResult> requirements;       // held against the confirmation
};

// "ROWS=4: PASS_FASTER 1.310x [1.290, 1.330]", one line as a variant ends.
[[nodiscard]] std::string variant_line(const ScanReport& report, const ScanVariant& variant);

// The table, the winner judged again, what that means. Text from the submission is made printable.
[[nodiscard]] std::string scan_text(const ScanReport& report,
                                    const Style& style,
                                    std::size_t width);

// Under --quiet: the winner's values and its verdict line.
[[nodiscard]] std::string scan_line(const ScanReport& report, const Style& style);

[[nodiscard]] nlohmann::json to_json(const ScanReport& report);

// kInfra where the harness failed on some variant or the confirmation, kNotCorrect where no variant
// was eligible, else that of the confirmation.
[[nodiscard]] int scan_exit_code(const ScanReport& report);

}  // namespace sweep::cli
