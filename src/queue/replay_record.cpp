#include "queue/replay_record.h"

namespace sweep::queue {

std::optional<record::Finished> ReplayRecord::finished_tool(std::int64_t index) {
  for (const record::Finished& tool : recorded_.tools) {
    if (tool.index == index) {
      // The result stands in the new run as it does in the old.
      if (record::is_sha256(tool.output_sha256)) {
        record::Finished copy = tool;
        copy.input_sha256 = artifacts_.put(old_.get(tool.input_sha256));
        copy.output_sha256 = artifacts_.put(old_.get(tool.output_sha256));
        (void)record_tool(copy);
      }
      return tool;
    }
  }
  return std::nullopt;
}

std::string ReplayRecord::record_request(const record::Finished& request) {
  ++requests_;
  return append(record::kind::request, request);
}

std::string ReplayRecord::record_tool(const record::Finished& tool) {
  return append(record::kind::tool, tool);
}

void ReplayRecord::save(const record::Trajectory& trajectory) {
  out_.save(name_of(item_), trajectory);
  if (expire_ && requests_ >= recorded_.requests.size()) {
    expire_();
  }
}

std::string ReplayRecord::append(std::string_view kind, const record::Finished& finished) {
  nlohmann::json data = to_json(finished);
  data["policy"] = record::kPolicy;
  return ledger_.append(kind, item_.id(), std::move(data)).hash;
}

}  // namespace sweep::queue
