#include "record/ledger_row.h"

#include "record/json.h"
#include "util/error.h"
#include "util/sha256.h"

#include <array>
#include <cstddef>
#include <optional>
#include <utility>

namespace sweep::record {

namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

constexpr std::size_t kMaxRow = std::size_t{16} << 20;
constexpr int kMaxDepth = 40;

constexpr const char* kWrongHash = "its hash does not match its content";

enum Member : std::size_t { kData, kHash, kItem, kKind, kPrev, kSeq, kTime, kMembers };

struct Known {
  std::string_view key;
  element_type type;
};

constexpr std::array<Known, kMembers> kKnown = {Known{"data", element_type::OBJECT},
                                                Known{"hash", element_type::STRING},
                                                Known{"item", element_type::STRING},
                                                Known{"kind", element_type::STRING},
                                                Known{"prev", element_type::STRING},
                                                Known{"seq", element_type::INT64},
                                                Known{"time", element_type::STRING}};

// The members of a row in the order in which they are written; empty: it is no such row.
std::optional<std::array<element, kMembers>> members_of(const element& row) {
  std::array<element, kMembers> out;
  std::size_t count = 0;
  if (row.type() != element_type::OBJECT) {
    return std::nullopt;
  }
  for (const auto& [key, value] : simdjson::dom::object(row)) {
    if (count == kMembers || key != kKnown[count].key || value.type() != kKnown[count].type) {
      return std::nullopt;
    }
    out[count++] = value;
  }
  return count == kMembers ? std::optional(out) : std::nullopt;
}

// Any row, however it is written: why it is not the next one, or empty.
std::string read_any(std::string_view line, const Last& before, Row& row, bool& torn) {
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
  if (row.seq != before.seq + 1) {
    return "sequence number " + std::to_string(row.seq) + " is out of order";
  }
  if (row.prev != before.hash) {
    return "does not follow the row before it";
  }
  const Spelled spelled = spell(row);
  if (util::sha256_hex(spelled.body) != row.hash) {
    return kWrongHash;
  }
  return spelled.line == line ? std::string() : "not written in canonical form";
}

}  // namespace

const std::string& first_prev() {
  static const std::string text(64, '0');
  return text;
}

Spelled spell(const Row& row) {
  const std::string data = "{\"data\":" + canonical(row.data);
  const std::string rest = ",\"item\":" + canonical(row.item) + ",\"kind\":" + canonical(row.kind) +
                           ",\"prev\":" + canonical(row.prev) +
                           ",\"seq\":" + std::to_string(row.seq) +
                           ",\"time\":" + canonical(row.time) + "}";
  return {data + rest, data + ",\"hash\":" + canonical(row.hash) + rest};
}

RowReader::RowReader(bool (*wanted)(std::string_view kind)) : wanted_(wanted), parser_(kMaxDepth) {}

// Whether the line is the next row and is written as it should be: then what was hashed is the line
// without its hash, and nothing but texts is taken from it.
bool RowReader::read_canonical(std::string_view line, const Last& before, Row& row) {
  const auto root = line.size() <= kMaxRow ? parser_.parse(line) : std::nullopt;
  const auto members = root ? members_of(*root) : std::nullopt;
  if (!members) {
    return false;
  }
  const auto text = [&](Member which) { return std::string_view((*members)[which]); };
  const std::int64_t seq = (*members)[kSeq];
  spelling_ = "{\"data\":";
  if (seq != before.seq + 1 || text(kPrev) != before.hash ||
      !append_canonical((*members)[kData], spelling_)) {
    return false;
  }
  const std::size_t hash_begin = spelling_.size();
  std::size_t hash_end = hash_begin;
  for (std::size_t i = kHash; i < kMembers; ++i) {
    spelling_ += ",\"";
    spelling_ += kKnown[i].key;
    spelling_ += "\":";
    (void)append_canonical((*members)[i], spelling_);
    hash_end = i == kHash ? spelling_.size() : hash_end;
  }
  spelling_ += '}';
  if (spelling_ != line) {
    return false;
  }
  util::Sha256 hash;
  hash.update(line.substr(0, hash_begin)).update(line.substr(hash_end));
  if (util::to_hex(hash.finish()) != text(kHash)) {
    return false;
  }
  row.seq = seq;
  row.time = text(kTime);
  row.kind = text(kKind);
  row.item = text(kItem);
  row.prev = text(kPrev);
  row.hash = text(kHash);
  row.data = nlohmann::json::object();
  if (wanted_(row.kind)) {
    convert((*members)[kData], row.data);
  }
  return true;
}

std::string RowReader::read(std::string_view line, const Last& before, Row& row, bool& torn) {
  return read_canonical(line, before, row) ? std::string() : read_any(line, before, row, torn);
}

}  // namespace sweep::record
