#include "queue/recorded.h"

#include "record/artifacts.h"
#include "record/chains.h"
#include "util/error.h"

namespace sweep::queue {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxRecordedToml = std::size_t{1} << 20;

}  // namespace

std::vector<record::Row> recorded_rows(const record::RunDir& run) {
  record::Chains ledgers = record::read_chains(run);
  if (!ledgers.root.intact || !ledgers.problems.empty()) {
    throw util::InfraError({run.folder().string(), ledgers.problem(), "see `sweep verify`"},
                           "E_LEDGER_BROKEN");
  }
  return std::move(ledgers).rows();
}

// The artifact that the last row with this field names; empty: none does.
std::string named_by(const std::vector<record::Row>& rows, const char* field) {
  std::string hash;
  for (const record::Row& row : rows) {
    const auto found = row.data.find(field);
    if ((row.kind == record::kind::run_start || row.kind == record::kind::config) &&
        found != row.data.end() && found->is_string()) {
      hash = found->get<std::string>();
    }
  }
  return record::is_sha256(hash) ? hash : std::string();
}

config::SweepConfig recorded_config(const record::RunDir& run,
                                    const std::vector<record::Row>& rows,
                                    const fs::path& file) {
  if (!file.empty()) {
    return config::load(file).config;
  }
  const std::string hash = named_by(rows, "toml_sha256");
  if (hash.empty()) {
    throw util::UsageError({run.folder().string(),
                            "was recorded without its configuration",
                            "give the TOML file it ran with: --config FILE"},
                           "E_REPLAY_CONFIG");
  }
  const record::Artifacts artifacts(run.artifacts_folder(), record::Artifacts::Use::read);
  return config::parse_recorded(artifacts.get(hash, kMaxRecordedToml),
                                "configuration of " + run.folder().string(),
                                fs::absolute(run.folder()).parent_path())
      .config;
}

config::WorkItem item_of(const record::ItemName& name) {
  config::WorkItem item;
  item.variant = name.variant;
  item.model = name.model;
  item.level = name.level;
  item.problem = name.problem;
  item.attempt = name.attempt;
  return item;
}

}  // namespace sweep::queue
