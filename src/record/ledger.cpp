#include "record/ledger.h"

#include "record/artifacts.h"
#include "record/json.h"
#include "record/ledger_row.h"
#include "record/run_dir.h"
#include "util/error.h"
#include "util/fd.h"
#include "util/file.h"
#include "util/sha256.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <optional>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sweep::record {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxLedger = std::size_t{1} << 30;

// Reads on from `at`, behind the row `last`; adds the rows of kinds that are `wanted` to `rows`.
// Both are then those of the last good row.
Verification read_rows(std::string_view text,
                       const std::string& where,
                       std::size_t& at,
                       Last& last,
                       bool (*wanted)(std::string_view kind),
                       std::vector<Row>& rows) {
  RowReader reader(wanted);
  Verification result;
  while (at < text.size()) {
    const std::size_t end = text.find('\n', at);
    const bool is_last = end == std::string_view::npos || end + 1 == text.size();
    if (end == std::string_view::npos) {
      result.torn_bytes = text.size() - at;
      break;
    }
    Row row;
    bool torn = false;
    const std::string problem = reader.read(text.substr(at, end - at), last, row, torn);
    if (torn && is_last) {
      result.torn_bytes = text.size() - at;
      break;
    }
    if (!problem.empty()) {
      result.problem = where + ":" + std::to_string(last.seq + 2) + ": " + problem;
      break;
    }
    last = {row.seq, row.hash, row.time};
    if (wanted(row.kind)) {
      rows.push_back(std::move(row));
    }
    at = end + 1;
  }
  result.head = last.hash;
  result.rows = static_cast<std::size_t>(last.seq + 1);
  result.intact = result.problem.empty() && result.torn_bytes == 0;
  return result;
}

// What a ledger has behind the bytes that a digest is of.
struct Rest {
  std::string text;
  util::Sha256 before;  // of those bytes, to go on with
};

// The rest of the file, where it still begins with the bytes that `known` is of; these are hashed
// in parts, so that only the rest is in memory.
std::optional<Rest> read_on(const fs::path& file, const LedgerDigest& known) {
  const util::Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));

  struct stat found {};

  if (known.bytes <= 0 || !fd || ::fstat(fd.get(), &found) != 0 || !S_ISREG(found.st_mode) ||
      found.st_size < known.bytes || static_cast<std::size_t>(found.st_size) > kMaxLedger) {
    return std::nullopt;
  }
  const bool more = found.st_size > known.bytes;
  Rest rest;
  util::Sha256 hash;
  std::string part(std::size_t{1} << 20U, '\0');
  for (auto left = static_cast<std::size_t>(known.bytes); left > 0;) {
    const std::size_t size =
        util::read_all(fd.get(), part.data(), std::min(left, part.size()), file.string());
    if (size == 0) {
      return std::nullopt;
    }
    hash.update(part.data(), size);
    if (more) {
      rest.before.update(part.data(), size);
    }
    left -= size;
  }
  if (util::to_hex(hash.finish()) != known.sha256) {
    return std::nullopt;
  }
  rest.text.resize(static_cast<std::size_t>(found.st_size - known.bytes));
  rest.text.resize(util::read_all(fd.get(), rest.text.data(), rest.text.size(), file.string()));
  return rest;
}

bool is_any(std::string_view /*kind*/) {
  return true;
}

bool is_of_the_run(std::string_view kind) {
  return kind == kind::run_start || kind == kind::run_resume || kind == kind::config ||
         kind == kind::run_end;
}

}  // namespace

std::string hash_of(const Row& row) {
  return util::sha256_hex(spell(row).body);
}

Verification verify_ledger_text(std::string_view text, const std::string& where) {
  std::vector<Row> rows;
  std::size_t at = 0;
  Last last;
  Verification result = read_rows(text, where, at, last, is_any, rows);
  result.read = std::move(rows);
  return result;
}

Verification verify_ledger(const fs::path& file) {
  return verify_ledger_text(read_whole(file, kMaxLedger), file.string());
}

Verification verify_on(const fs::path& file, LedgerDigest& known) {
  std::optional<Rest> rest = read_on(file, known);
  if (!rest) {
    known = {};
    rest.emplace().text = read_whole(file, kMaxLedger);
  }
  std::size_t at = 0;
  Last last;
  if (known.rows > 0) {
    last = {known.rows - 1, known.head, known.last_time};
  }
  Verification result =
      read_rows(rest->text, file.string(), at, last, is_of_the_run, known.run_rows);
  if (at > 0) {
    known.bytes += static_cast<std::int64_t>(at);
    rest->before.update(std::string_view(rest->text).substr(0, at));
    known.sha256 = util::to_hex(rest->before.finish());
    known.rows = last.seq + 1;
    known.head = last.hash;
    known.last_time = last.time;
  }
  result.read = known.run_rows;
  return result;
}

Ledger::Ledger(fs::path file) : file_(std::move(file)) {
  std::string text;
  std::error_code error;
  if (fs::exists(file_, error)) {
    text = read_whole(file_, kMaxLedger);
  }
  Verification found = verify_ledger_text(text, file_.string());
  if (!found.problem.empty()) {
    throw util::InfraError({found.problem,
                            "the chain is broken; nothing was changed",
                            "restore the file from a copy, or start anew with --run-name"},
                           "E_LEDGER_BROKEN");
  }
  fd_ = util::Fd(::open(file_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  if (!fd_) {
    throw_write("open", file_);
  }
  rows_ = std::move(found.read);
  if (found.torn_bytes == 0) {
    return;
  }
  const std::size_t good = text.size() - found.torn_bytes;
  if (::ftruncate(fd_.get(), static_cast<off_t>(good)) != 0 || ::fsync(fd_.get()) != 0) {
    throw_write("ftruncate", file_);
  }
  if (!rows_.empty()) {
    const std::string torn = text.substr(good);
    append(kind::repair, "", {{"bytes", torn.size()}, {"sha256", util::sha256_hex(torn)}});
  }
}

void Ledger::require_sound() const {
  if (failed_) {
    throw util::InfraError({file_.string(),
                            "an earlier row could not be written",
                            "free space or fix the permissions, then run the same command again"},
                           "E_RUN_WRITE");
  }
}

Row Ledger::append(std::string_view kind, const std::string& item, const nlohmann::json& data) {
  Row row = stage(kind, item, data);
  commit();
  return row;
}

Row Ledger::stage(std::string_view kind, const std::string& item, const nlohmann::json& data) {
  require_sound();
  Row row;
  row.seq = static_cast<std::int64_t>(rows_.size() + staged_.size());
  row.time = utc_now();
  row.kind = kind;
  row.item = item;
  // Through text once, so that the row in memory is exactly what a reader will see.
  row.data = data.is_null() ? nlohmann::json::object() : nlohmann::json::parse(canonical(data));
  row.prev = staged_.empty() ? head() : staged_.back().hash;
  row.hash = hash_of(row);
  unwritten_ += spell(row).line + "\n";
  staged_.push_back(row);
  return row;
}

void Ledger::commit() {
  if (staged_.empty()) {
    return;
  }
  require_sound();
  failed_ = true;
  std::string_view rest = unwritten_;
  while (!rest.empty()) {
    const ssize_t n = ::write(fd_.get(), rest.data(), rest.size());
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      throw_write("write", file_);
    }
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  if (::fdatasync(fd_.get()) != 0 && errno != EINVAL) {
    throw_write("fdatasync", file_);
  }
  if (rows_.empty()) {
    util::sync_folder(file_.parent_path());
  }
  failed_ = false;
  std::ranges::move(staged_, std::back_inserter(rows_));
  staged_.clear();
  unwritten_.clear();
}

std::string Ledger::head() const {
  return rows_.empty() ? first_prev() : rows_.back().hash;
}

}  // namespace sweep::record
