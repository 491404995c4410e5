#pragma once

#include "profile/unavailable.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::profile {

// One figure of a kernel. Times in seconds, sizes in bytes, rates in bytes/s, shares in percent.
struct Metric {
  std::string key;                              // "dram_percent"
  std::optional<double> value;                  // nothing where ncu gives none ...
  std::string reason;                           // ... with the reason
  std::optional<double> before = std::nullopt;  // in the previous profile of the same file
};

struct Share {
  std::string name;
  double percent = 0;
};

struct KernelProfile {
  std::string kernel;
  std::string grid, block;      // "(132, 1, 1)"
  std::vector<Metric> metrics;  // all of metric_keys(), in that order
  std::vector<Share> stalls;    // of the stalled warps' cycles, the most frequent first, at most 8
  std::vector<Share> pipes;     // use of execution pipes in percent of the peak, likewise
  std::vector<std::string> limits;  // what bounds the resident blocks: "registers"

  [[nodiscard]] const Metric* metric(std::string_view key) const;
};

[[nodiscard]] std::vector<std::string> metric_keys();

// Reads `ncu --import F --csv --page raw`: a row of metric names, a row of units, a row for each
// kernel. A metric that this version or this GPU does not have is a value without a number. A text
// without such a table is Unavailable, with ncu's own first error where it has one.
[[nodiscard]] Result<std::vector<KernelProfile>> parse_ncu_page(std::string_view text);

// The first "==ERROR==" of ncu's output as a reason with its cure; nothing if there is none.
[[nodiscard]] std::optional<Unavailable> ncu_error(std::string_view text);

// A number as ncu prints it: "1,234.50", "12 (3; 4; 5)"; nothing for "n/a" and the like.
[[nodiscard]] std::optional<double> ncu_number(std::string_view text);

// Factor to seconds, bytes or bytes/s of a unit as ncu names it ("nsecond", "us", "Kbyte",
// "Gbyte/second"); 1 for any other.
[[nodiscard]] double ncu_unit(std::string_view unit);

}  // namespace sweep::profile
