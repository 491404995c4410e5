#pragma once

#include "record/json_element.h"
#include "record/ledger.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace sweep::record {

// What the first row has for the hash of the row before it.
[[nodiscard]] const std::string& first_prev();

// A row as it is hashed, and as it stands in the file (without the newline).
struct Spelled {
  std::string body, line;
};

[[nodiscard]] Spelled spell(const Row& row);

// The row before the next one.
struct Last {
  std::int64_t seq = -1;
  std::string hash = first_prev();
  std::string time = {};
};

// Reads rows of a ledger one after the other. Rows of kinds that are not `wanted` are proven as
// all others, but get no data.
class RowReader {
 public:
  explicit RowReader(bool (*wanted)(std::string_view kind));

  // Why a line is not the next row, or empty; `row` is filled then. `torn` when the line is no JSON
  // at all.
  [[nodiscard]] std::string read(std::string_view line, const Last& before, Row& row, bool& torn);

 private:
  [[nodiscard]] bool read_canonical(std::string_view line, const Last& before, Row& row);

  bool (*wanted_)(std::string_view kind);
  ElementParser parser_;
  std::string spelling_;  // of the row at hand
};

}  // namespace sweep::record
