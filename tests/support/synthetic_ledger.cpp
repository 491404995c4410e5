#include "synthetic_ledger.h"

#include "record/json.h"
#include "record/ledger.h"
#include "util/sha256.h"

namespace sweep::support {
namespace {

constexpr int kRequests = 7;  // of an item

class Chain {
 public:
  Chain() { row_.prev = std::string(64, '0'); }

  std::string text;

  void add(std::string_view kind, const std::string& item, const nlohmann::json& data) {
    row_.kind = kind;
    row_.item = item;
    row_.data = data;
    row_.time = "2026-01-31T12:00:00.000Z";
    row_.hash = record::hash_of(row_);
    text += record::canonical({{"data", row_.data},
                               {"hash", row_.hash},
                               {"item", row_.item},
                               {"kind", row_.kind},
                               {"prev", row_.prev},
                               {"seq", row_.seq},
                               {"time", row_.time}}) +
            "\n";
    row_.prev = row_.hash;
    ++row_.seq;
  }

 private:
  record::Row row_;
};

nlohmann::json finished(int index, const std::string& name) {
  const std::string hash = util::sha256_hex(name);
  return {{"index", index},
          {"key", hash},
          {"input", hash},
          {"output", hash},
          {"policy", record::kPolicy},
          {"facts",
           {{"exchange", hash},
            {"status", 200},
            {"seconds", 12.5},
            {"cost_usd", 0.0125},
            {"usage", {{"input_tokens", 12000}, {"output_tokens", 900}}}}}};
}

}  // namespace

std::string synthetic_ledger(const std::vector<record::ItemName>& items,
                             const std::string& items_sha256) {
  Chain chain;
  chain.add(
      record::kind::run_start, {}, {{"items_sha256", items_sha256}, {"sweep_version", "0.1.0"}});
  for (const record::ItemName& name : items) {
    const std::string item = record::encode_part(name.variant) + "/" +
                             record::encode_part(name.model) + "/level" + name.level + "/" +
                             name.problem + "#" + std::to_string(name.attempt);
    chain.add(record::kind::item_start, item, {{"file", item}});
    for (int i = 0; i < kRequests; ++i) {
      chain.add(record::kind::request, item, finished(i, item + "r"));
      chain.add(record::kind::tool, item, finished(i, item + "t"));
    }
    chain.add(record::kind::item_end, item, {{"outcome", "correct"}, {"file", item}});
  }
  chain.add(record::kind::run_end, {}, {{"interrupted", false}});
  return std::move(chain.text);
}

}  // namespace sweep::support
