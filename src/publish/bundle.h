#pragma once

#include "publish/collect.h"
#include "publish/publication.h"
#include "record/run_dir.h"

#include <filesystem>
#include <string>

namespace sweep::publish {

struct Published {
  Publication publication;
  std::string cite;         // SHA-256 of publication.json
  std::uint64_t bytes = 0;  // of all files
};

// Writes what may leave of a run into `folder`, which must not exist: ledger, configuration,
// trajectories, kernels and the artifacts that the ledger names, without what is private; a report
// and exports made from these; and publication.json, which lists every file and what was taken out.
// At the end every file is searched for what was to be taken out. The folder appears whole.
// UsageError E_PUBLISH_OUT (the folder exists), E_PUBLISH_RUNNING (a process works on the run, or
// began to), InfraError E_PUBLISH_LEAK naming the file and rule; nothing is left behind then.
Published publish(const record::RunDir& run,
                  const std::filesystem::path& folder,
                  const Surroundings& surroundings,
                  const CollectOptions& options,
                  const std::string& version);

}  // namespace sweep::publish
