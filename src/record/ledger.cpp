#include "record/ledger.h"

#include "record/artifacts.h"
#include "record/json.h"
#include "record/run_dir.h"
#include "util/error.h"
#include "util/file.h"
#include "util/sha256.h"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace sweep::record {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxRow = std::size_t{16} << 20;
constexpr std::size_t kMaxLedger = std::size_t{1} << 30;
constexpr int kMaxDepth = 40;

const std::string& zeros() {
  static const std::string text(64, '0');
  return text;
}

nlohmann::json body_of(const Row& row) {
  return {{"data", row.data},
          {"item", row.item},
          {"kind", row.kind},
          {"prev", row.prev},
          {"seq", row.seq},
          {"time", row.time}};
}

std::string line_of(const Row& row) {
  nlohmann::json json = body_of(row);
  json["hash"] = row.hash;
  return canonical(json) + "\n";
}

// Why a line is not the next row, or empty; `row` is filled. `torn` when the line is no JSON at
// all.
std::string read_row(std::string_view line, const Row* before, Row& row, bool& torn) {
  nlohmann::json json;
  try {
    json = parse_bounded(line, "row", kMaxRow, kMaxDepth);
  } catch (const util::Error&) {
    torn = true;
    return "not JSON";
  }
  const auto is_text = [&](const char* key) { return json.contains(key) && json[key].is_string(); };
  if (!json.is_object() || json.size() != 7 || !json.contains("data") ||
      !json["data"].is_object() || !is_text("item") || !is_text("kind") || !is_text("prev") ||
      !is_text("time") || !is_text("hash") || !json.contains("seq") ||
      !json["seq"].is_number_integer()) {
    return "not a ledger row (data, hash, item, kind, prev, seq, time)";
  }
  row = Row{json["seq"].get<std::int64_t>(),
            json["time"],
            json["kind"],
            json["item"],
            std::move(json["data"]),
            json["prev"],
            json["hash"]};
  if (row.seq != (before == nullptr ? 0 : before->seq + 1)) {
    return "sequence number " + std::to_string(row.seq) + " is out of order";
  }
  if (row.prev != (before == nullptr ? zeros() : before->hash)) {
    return "does not follow the row before it";
  }
  if (hash_of(row) != row.hash) {
    return "its hash does not match its content";
  }
  if (line_of(row) != std::string(line) + "\n") {
    return "not written in canonical form";
  }
  return {};
}

}  // namespace

std::string hash_of(const Row& row) {
  return util::sha256_hex(canonical(body_of(row)));
}

Verification verify_ledger_text(std::string_view text, const std::string& where) {
  Verification result;
  result.head = zeros();
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = text.find('\n', at);
    const bool last = end == std::string_view::npos || end + 1 == text.size();
    if (end == std::string_view::npos) {
      result.torn_bytes = text.size() - at;
      break;
    }
    Row row;
    bool torn = false;
    const Row* before = result.read.empty() ? nullptr : &result.read.back();
    const std::string problem = read_row(text.substr(at, end - at), before, row, torn);
    if (torn && last) {
      result.torn_bytes = text.size() - at;
      break;
    }
    if (!problem.empty()) {
      result.problem = where;
      result.problem.append(":")
          .append(std::to_string(result.read.size() + 1))
          .append(": ")
          .append(problem);
      break;
    }
    result.head = row.hash;
    result.read.push_back(std::move(row));
    at = end + 1;
  }
  result.rows = result.read.size();
  result.intact = result.problem.empty() && result.torn_bytes == 0;
  return result;
}

Verification verify_ledger(const fs::path& file) {
  return verify_ledger_text(read_whole(file, kMaxLedger), file.string());
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

Row Ledger::append(std::string_view kind, const std::string& item, const nlohmann::json& data) {
  if (failed_) {
    throw util::InfraError({file_.string(),
                            "an earlier row could not be written",
                            "free space or fix the permissions, then run the same command again"},
                           "E_RUN_WRITE");
  }
  Row row;
  row.seq = static_cast<std::int64_t>(rows_.size());
  row.time = utc_now();
  row.kind = kind;
  row.item = item;
  // Through text once, so that the row in memory is exactly what a reader will see.
  row.data = nlohmann::json::parse(canonical(data));
  row.prev = head();
  row.hash = hash_of(row);
  const std::string line = line_of(row);
  failed_ = true;
  std::string_view rest = line;
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
  rows_.push_back(row);
  return row;
}

std::string Ledger::head() const {
  return rows_.empty() ? zeros() : rows_.back().hash;
}

}  // namespace sweep::record
