#pragma once

#include "config/config.h"
#include "config/matrix.h"
#include "record/ledger.h"
#include "record/run_dir.h"

#include <filesystem>
#include <string>
#include <vector>

// What a run that was made before says of itself, for those who go through it again.
namespace sweep::queue {

// All its rows, of tasks too, in order. InfraError E_LEDGER_BROKEN.
[[nodiscard]] std::vector<record::Row> recorded_rows(const record::RunDir& run);

// The artifact that the last row with this field names; empty: none does.
[[nodiscard]] std::string named_by(const std::vector<record::Row>& rows, const char* field);

// The configuration that it ran with, or that of `file` where one is given. UsageError
// E_REPLAY_CONFIG for a run without.
[[nodiscard]] config::SweepConfig recorded_config(const record::RunDir& run,
                                                  const std::vector<record::Row>& rows,
                                                  const std::filesystem::path& file);

[[nodiscard]] config::WorkItem item_of(const record::ItemName& name);

}  // namespace sweep::queue
