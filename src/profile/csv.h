#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::profile {

struct CsvLimits {
  std::size_t rows = 4096;
  std::size_t columns = 16384;
  std::size_t cell = 4096;                    // bytes; longer ones are cut
  std::size_t cells = std::size_t{1} << 20U;  // in all
};

struct Csv {
  std::vector<std::vector<std::string>> rows;
  bool complete = true;  // false: a limit was met, or a quote was never closed
};

// RFC 4180: fields between commas, quotes doubled inside quotes, line breaks allowed there. Takes
// any text, also with bare quotes inside fields. Empty lines give no row.
[[nodiscard]] Csv parse_csv(std::string_view text, const CsvLimits& limits = {});

}  // namespace sweep::profile
