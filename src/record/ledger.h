#pragma once

#include "util/fd.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::record {

// One row of ledger.jsonl. On disk: the canonical JSON of {data, hash, item, kind, prev, seq, time}
// and a newline, where hash = SHA-256 of the canonical JSON of the row without `hash`, and prev is
// the row before's hash (64 zeros for seq 0).
struct Row {
  std::int64_t seq = 0;
  std::string time;
  std::string kind;  // docs/run_format.md lists them
  std::string item;  // WorkItem::id(), or empty
  nlohmann::json data = nlohmann::json::object();
  std::string prev;
  std::string hash;
};

namespace kind {
inline constexpr std::string_view run_start =
    "run_start";  // data: identity_sha256, sweep_version, policy
inline constexpr std::string_view run_resume = "run_resume";  // a later process took over
inline constexpr std::string_view run_end = "run_end";        // data: counts
inline constexpr std::string_view config = "config";          // an accepted change of configuration
inline constexpr std::string_view item_start = "item_start";
inline constexpr std::string_view item_end = "item_end";      // data: outcome, trajectory_sha256
inline constexpr std::string_view request = "request";        // terminal row of one model request
inline constexpr std::string_view tool = "tool";              // result of one tool call
inline constexpr std::string_view retry = "retry";            // an item was set back by --retry
inline constexpr std::string_view repair = "repair";          // a torn last line was cut off
inline constexpr std::string_view correction = "correction";  // data: seq of the corrected row
}  // namespace kind

[[nodiscard]] std::string hash_of(const Row& row);

// The one writer of a chain. Opening verifies what is there. An unfinished last line (no newline at
// its end, or no JSON) was never acknowledged: it is cut off and a `repair` row with its length and
// hash follows. Any other break is InfraError E_LEDGER_BROKEN and leaves the file as it is.
class Ledger {
 public:
  explicit Ledger(std::filesystem::path file);

  // Writes and fsyncs the row, with those staged before it, before returning it. No data: {}.
  // InfraError E_RUN_WRITE; the ledger then takes no more rows.
  Row append(std::string_view kind, const std::string& item, const nlohmann::json& data);

  // The next row, which is in no file yet: nobody may be told of it before commit().
  Row stage(std::string_view kind, const std::string& item, const nlohmann::json& data);

  // Writes the staged rows and fsyncs once for all of them; nothing to do without any. InfraError
  // E_RUN_WRITE; the ledger then takes no more rows.
  void commit();

  // Those that are on the disk.
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }

  [[nodiscard]] std::string head() const;  // hash of the last of rows(); 64 zeros when empty

 private:
  void require_sound() const;

  std::filesystem::path file_;
  util::Fd fd_;
  bool failed_ = false;
  std::vector<Row> rows_;
  std::vector<Row> staged_;
  std::string unwritten_;  // lines of staged_
};

struct Verification {
  bool intact = false;
  std::size_t rows = 0;
  std::string head;
  std::size_t torn_bytes = 0;  // of an unfinished last line; the chain before it is intact
  std::string problem;         // "ledger.jsonl:17: ..."; empty: none
  std::vector<Row> read;       // rows up to the first problem
};

// Reads a ledger without changing it.
[[nodiscard]] Verification verify_ledger(const std::filesystem::path& file);
[[nodiscard]] Verification verify_ledger_text(std::string_view text, const std::string& where);

// What a reader keeps of a ledger that it reads again and again: its rows about the run itself
// (run_start, run_resume, config, run_end) and where it ended.
struct LedgerDigest {
  std::int64_t bytes = 0;  // of whole, verified rows from the begin of the file
  std::string sha256;      // of these bytes
  std::int64_t rows = 0;
  std::string head;  // hash of the last row; empty: none
  std::string last_time;
  std::vector<Row> run_rows;
};

// As verify_ledger() says, but with run rows only in `read`; verifies only what follows the bytes
// that `known` is of, where the file still begins with them, and brings `known` up to what is
// there. What `known` says is taken where its hash is that of the bytes.
[[nodiscard]] Verification verify_on(const std::filesystem::path& file, LedgerDigest& known);

}  // namespace sweep::record
