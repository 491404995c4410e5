#pragma once

#include "config/matrix.h"
#include "queue/sweep.h"
#include "record/item_services.h"
#include "record/ledger.h"
#include "record/run_dir.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sweep::queue {

// What an earlier process left of one item.
struct Past {
  std::optional<record::Trajectory> trajectory;  // none: never begun, or unreadable
  std::string unreadable;  // reason, when the file is there but cannot be read
};

enum class Action {
  run,       // never begun
  go_on,     // in progress or infra_error: finished requests are replayed
  again,     // --retry: from the start
  finished,  // keep
};

// What becomes of an item with this outcome ("" = never begun). infra_error and in_progress go on
// by themselves; `error` and `timeout` begin anew only when asked, and nothing else does: `all` is
// both of them.
[[nodiscard]] Action decide(std::string_view outcome, Retry retry);

// Finished requests and tool calls of an item since it was last begun anew, one for each index in
// order. Of rows with the same index the last counts: a failed request that was asked anew, or work
// that replaced an abandoned branch.
struct Replay {
  std::vector<record::Finished> requests;
  std::vector<record::Finished> tools;
  std::int64_t retried = 0;      // how often --retry set the item back
  std::int64_t interrupted = 0;  // how often it was started without coming to an end
};

[[nodiscard]] Replay replay_of(const std::vector<record::Row>& rows, const std::string& item);

// "level1/3 #2 gpt-5.5": what a person calls an item.
[[nodiscard]] std::string label(const config::WorkItem& item);

[[nodiscard]] record::ItemName name_of(const config::WorkItem& item);
// A trajectory that says no more than which item it is.
[[nodiscard]] record::Trajectory named(const config::WorkItem& item, const std::string& run_name);

[[nodiscard]] Past past_of(const record::RunDir& run, const config::WorkItem& item);

// The identity hash that the run was last accepted with; none for a new run.
[[nodiscard]] std::optional<std::string> identity_of(const std::vector<record::Row>& rows);

[[nodiscard]] nlohmann::json to_json(const record::Finished& finished);
[[nodiscard]] record::Finished finished_from_json(
    const nlohmann::json& json);  // throws wire::WireError

[[nodiscard]] nlohmann::json to_json(const config::WorkItem& item);
[[nodiscard]] config::WorkItem item_from_json(
    const nlohmann::json& json);  // throws wire::WireError

}  // namespace sweep::queue
