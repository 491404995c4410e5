#include "record/verify.h"

#include "record/artifacts.h"
#include "record/fields.h"
#include "record/json.h"
#include "util/error.h"
#include "util/sha256.h"

#include <map>
#include <optional>
#include <utility>

namespace sweep::record {

namespace fs = std::filesystem;

namespace {

// Hash of each trajectory file, by its path in the run; none while its item is in progress.
using Expected = std::map<std::string, std::optional<std::string>>;

Expected expected_of(const std::vector<Row>& rows) {
  Expected expected;
  for (const Row& row : rows) {
    const std::string file = text_in(row.data, "file");
    if (row.kind == kind::item_start && !file.empty()) {
      expected[file] = std::nullopt;
    } else if (row.kind == kind::item_end && !file.empty()) {
      expected[file] = text_in(row.data, "trajectory_sha256");
    }
  }
  return expected;
}

// The bodies that a request's exchange names.
void check_exchange(const Artifacts& artifacts, const Row& row, RunVerification& out) {
  const auto facts = row.data.find("facts");
  const std::string hash =
      facts != row.data.end() && facts->is_object() ? text_in(*facts, "exchange") : std::string();
  if (!is_sha256(hash)) {
    return;
  }
  const auto missing = [&](const std::string& name) {
    out.broken.push_back("artifacts/" + name + ": missing, but the exchange of row " +
                         std::to_string(row.seq) + " needs it");
  };
  if (!artifacts.has(hash)) {
    missing(hash);
    return;
  }
  try {
    const nlohmann::json exchange = parse_bounded(artifacts.get(hash), "artifacts/" + hash);
    for (const auto& one : exchange.at("tries").get_ref<const nlohmann::json::array_t&>()) {
      for (const char* key : {"request", "response"}) {
        const std::string body = text_in(one, key);
        if (!is_sha256(body) || !artifacts.has(body)) {
          missing(body);
        }
      }
    }
  } catch (const util::Error& failure) {
    out.broken.emplace_back(failure.what());
  } catch (const nlohmann::json::exception&) {
    out.broken.push_back("artifacts/" + hash + ": is no exchange");
  }
}

// Every file in the folder has the bytes that its name says.
void check_names(const RunDir& run, const Artifacts& artifacts, RunVerification& out) {
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(run.artifacts_folder(), error))) {
    out.broken.emplace_back("artifacts: no folder");
    return;
  }
  for (const auto& entry : fs::directory_iterator(run.artifacts_folder())) {
    const std::string name = entry.path().filename().string();
    if (is_unfinished(name)) {
      continue;
    }
    ++out.artifacts;
    try {
      (void)artifacts.get(name);
    } catch (const util::Error& failure) {
      out.broken.emplace_back(failure.what());
    }
  }
}

void check_artifacts(const RunDir& run,
                     const Artifacts& artifacts,
                     const std::vector<Row>& rows,
                     RunVerification& out) {
  check_names(run, artifacts, out);
  for (const Row& row : rows) {
    for (const char* key : {"input", "output", "identity_sha256", "items_sha256", "toml_sha256"}) {
      const std::string hash = text_in(row.data, key);
      if (is_sha256(hash) && !artifacts.has(hash)) {
        out.broken.push_back("artifacts/" + hash + ": missing, but row " + std::to_string(row.seq) +
                             " names it");
      }
    }
    check_exchange(artifacts, row, out);
  }
}

// The copy of the configuration is the one that the ledger names last.
void check_config(const RunDir& run, RunVerification& out) {
  std::string identity;
  for (const Row& row : out.ledger.read) {
    const bool names = row.kind == kind::run_start || row.kind == kind::config;
    identity = names ? text_in(row.data, "identity_sha256") : identity;
  }
  if (!is_sha256(identity)) {
    return;
  }
  const std::string file = run.config_file().filename().string();
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(run.config_file(), error))) {
    out.broken.push_back(file + ": missing");
    return;
  }
  const std::string bytes = read_whole(run.config_file());
  if (!bytes.ends_with('\n') ||
      util::sha256_hex(std::string_view(bytes).substr(0, bytes.size() - 1)) != identity) {
    out.broken.push_back(file + ": is not the configuration that the ledger names");
  }
}

// The artifacts of kernels that are cut in a trajectory.
void check_calls(const RunDir& run,
                 const fs::path& path,
                 const Trajectory& trajectory,
                 RunVerification& out) {
  for (const Turn& turn : trajectory.turns) {
    for (const ToolCall& call : turn.tool_calls) {
      const std::string& hash = call.kernel_sha256;
      std::error_code error;
      if (!hash.empty() &&
          !(is_sha256(hash) && fs::is_regular_file(run.artifacts_folder() / hash, error))) {
        out.broken.push_back("artifacts/" + hash + ": missing, but " +
                             path.lexically_relative(run.folder()).generic_string() +
                             " names it as the kernel of a tool call");
      }
    }
  }
}

// The kernel file of a finished, unchanged trajectory holds the text that was judged.
void check_kernel(const RunDir& run, const fs::path& path, RunVerification& out) {
  const fs::path kernel = RunDir::kernel_beside(path);
  const std::string file = kernel.lexically_relative(run.folder()).generic_string();
  Trajectory trajectory;
  try {
    trajectory = run.load(path);
  } catch (const util::Error& failure) {
    out.broken.emplace_back(failure.what());
    return;
  }
  check_calls(run, path, trajectory, out);
  std::error_code error;
  const bool there = fs::is_regular_file(fs::symlink_status(kernel, error));
  const std::string judged =
      trajectory.final_result ? trajectory.final_result->kernel_sha256 : std::string{};
  if (judged.empty()) {
    if (there) {
      out.broken.push_back(file + ": its trajectory has no submission");
    }
    return;
  }
  const Artifacts artifacts(run.artifacts_folder(), Artifacts::Use::read);
  if (!is_sha256(judged) || !artifacts.has(judged)) {
    out.broken.push_back("artifacts/" + judged + ": missing, but " +
                         path.lexically_relative(run.folder()).generic_string() +
                         " names it as the judged kernel");
  }
  if (!there) {
    out.broken.push_back(file + ": missing");
    return;
  }
  ++out.kernels;
  const std::string bytes = read_whole(kernel);
  const std::string marker = RunDir::kernel_text("");
  if (!bytes.ends_with(marker) ||
      util::sha256_hex(std::string_view(bytes).substr(0, bytes.size() - marker.size())) != judged) {
    out.broken.push_back(file + ": is not the text that was judged");
  }
}

void check_trajectories(const RunDir& run, const std::vector<Row>& rows, RunVerification& out) {
  Expected expected = expected_of(rows);
  // Only files that the layout finds are read, so a row cannot name a path outside the run.
  for (const fs::path& path : run.trajectory_files()) {
    const std::string file = path.lexically_relative(run.folder()).generic_string();
    const auto found = expected.find(file);
    if (found == expected.end()) {
      out.broken.push_back(file + ": no ledger row names it");
      continue;
    }
    if (found->second) {
      ++out.trajectories;
      if (util::sha256_hex(read_whole(path)) != *found->second) {
        out.broken.push_back(file + ": changed since it was judged");
      } else {
        check_kernel(run, path, out);
      }
    }
    expected.erase(found);
  }
  for (const auto& [file, hash] : expected) {
    if (hash) {
      out.broken.push_back(file + ": missing");
    }
  }
  for (const fs::path& kernel : run.kernel_files()) {
    if (!fs::exists(RunDir::trajectory_beside(kernel))) {
      out.broken.push_back(kernel.lexically_relative(run.folder()).generic_string() +
                           ": no trajectory is beside it");
    }
  }
  for (const fs::path& stranger : run.other_files()) {
    out.broken.push_back(stranger.lexically_relative(run.folder()).generic_string() +
                         ": no file of a run");
  }
}

}  // namespace

RunVerification verify_run(const RunDir& run) {
  RunVerification out;
  Chains chains = read_chains(run);
  out.broken = chains.problems;
  out.chains = chains.tasks.size();
  for (const Chain& chain : chains.tasks) {
    out.chain_rows += chain.read.rows;
  }
  const std::vector<Row> rows = std::as_const(chains).rows();
  out.ledger = std::move(chains.root);
  check_artifacts(run, Artifacts(run.artifacts_folder(), Artifacts::Use::read), rows, out);
  check_config(run, out);
  check_trajectories(run, rows, out);
  return out;
}

}  // namespace sweep::record
