#pragma once

#include "record/ledger.h"
#include "record/run_dir.h"

#include <string>
#include <string_view>
#include <vector>

namespace sweep::record {

// The items that a process of a run set out to finish, as canonical JSON: an array of {"attempt",
// "level", "model", "problem", "variant"} in the order given. Stored as an artifact that run_start,
// run_resume and config rows name as `items_sha256`.
[[nodiscard]] std::string plan_json(const std::vector<ItemName>& items);

// Reverses plan_json. InfraError E_RUN_PLAN when it is no such array of at most 100,000 items,
// E_JSON when it is no JSON.
[[nodiscard]] std::vector<ItemName> plan_from_json(std::string_view text);

// Every item of the run by its rows: what the last run_start or config row planned, and after it
// what later run_resume rows (of --only) and tasks' task_start rows added. Rows and artifacts of a
// hand not ours are passed over: then there may be fewer, and none for a run made before plans were
// recorded.
[[nodiscard]] std::vector<ItemName> planned_items(const RunDir& run, const std::vector<Row>& rows);

}  // namespace sweep::record
