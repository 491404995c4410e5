#pragma once

#include "record/run_dir.h"

#include <string>
#include <vector>

namespace sweep::support {

// ledger.jsonl of an ended run of these items: a start, for each item its begin, seven requests and
// tool calls and its end, and the run's end. The same for the same arguments.
[[nodiscard]] std::string synthetic_ledger(const std::vector<record::ItemName>& items,
                                           const std::string& items_sha256);

}  // namespace sweep::support
