#include "profile/ncu_source.h"

#include "profile/csv.h"
#include "profile/ncu_page.h"
#include "util/text.h"

#include <algorithm>
#include <cctype>

namespace sweep::profile {
namespace {

constexpr std::size_t kMostOpcodes = 2048;
constexpr std::size_t kMostOpcode = 32;
constexpr CsvLimits kLimits{
    .rows = std::size_t{1} << 18U, .columns = 512, .cell = 4096, .cells = std::size_t{1} << 24U};

// "@!P0 HGMMA.64x128x16.F32.BF16 R24, ..." -> "HGMMA"; empty: no instruction.
std::string source_opcode(std::string_view line) {
  line = util::trim(line);
  if (line.starts_with('@')) {
    const std::size_t blank = line.find(' ');
    line = blank == std::string_view::npos ? std::string_view() : util::trim(line.substr(blank));
  }
  std::size_t end = 0;
  while (end < line.size() && end < kMostOpcode &&
         (std::isupper(static_cast<unsigned char>(line[end])) != 0 ||
          std::isdigit(static_cast<unsigned char>(line[end])) != 0 || line[end] == '_')) {
    ++end;
  }
  return std::string(line.substr(0, end));
}

// Places of the two columns in a row of names; -1: not there.
struct Columns {
  std::ptrdiff_t source = -1, count = -1;

  explicit Columns(const std::vector<std::string>& row) {
    const auto place = [&](std::string_view name) {
      const auto found = std::ranges::find(row, name);
      return found == row.end() ? -1 : found - row.begin();
    };
    source = place("Source");
    count = place("Predicated-On Thread Instructions Executed");
  }

  [[nodiscard]] bool found() const { return source >= 0 && count >= 0; }
};

}  // namespace

Result<ExecutedOpcodes> parse_ncu_source(std::string_view text) {
  const Csv csv = parse_csv(text, kLimits);
  ExecutedOpcodes out;
  Columns columns({});
  bool any = false;
  for (const std::vector<std::string>& row : csv.rows) {
    if (const Columns names(row); names.found()) {
      columns = names;
      any = true;
      continue;
    }
    const auto size = static_cast<std::ptrdiff_t>(row.size());
    if (!columns.found() || columns.source >= size || columns.count >= size) {
      continue;
    }
    const std::string opcode = source_opcode(row[static_cast<std::size_t>(columns.source)]);
    const auto count = ncu_number(row[static_cast<std::size_t>(columns.count)]);
    if (!opcode.empty() && count && *count >= 0 &&
        (out.contains(opcode) || out.size() < kMostOpcodes)) {
      out[opcode] += *count;
    }
  }
  if (!any || out.empty()) {
    return Unavailable{"ncu's source page has no counts of executed instructions",
                       "another version of Nsight Compute may have them"};
  }
  if (!csv.complete) {
    return Unavailable{"ncu's source page is longer than is read", "profile fewer launches"};
  }
  return out;
}

}  // namespace sweep::profile
