#include "publish/check.h"

#include "agent/recompute.h"
#include "evaluate/salt.h"
#include "record/artifacts.h"
#include "record/json.h"
#include "record/ledger.h"
#include "record/run_dir.h"
#include "util/error.h"
#include "util/sha256.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace sweep::publish {

namespace fs = std::filesystem;

namespace {

std::string text_in(const nlohmann::json& data, const char* key) {
  const auto found = data.is_object() ? data.find(key) : data.end();
  return found != data.end() && found->is_string() ? found->get<std::string>() : std::string();
}

class Checker {
 public:
  explicit Checker(const fs::path& folder) : folder_(folder), run_(folder) {
    auto publication = read_publication(folder);
    if (!publication) {
      throw util::InfraError({folder.string(),
                              "holds no publication that can be read",
                              "give a folder that `sweep publish` made"},
                             "E_PUBLICATION");
    }
    out.publication = std::move(*publication);
    out.cite = util::sha256_file(folder / kPublicationFile);
    for (const PublishedFile& file : out.publication.files) {
      listed_[file.path] = &file;
    }
  }

  void check_files() {
    for (const auto& [path, file] : listed_) {
      std::error_code error;
      const fs::path here = folder_ / path;
      ++out.files;
      out.redacted += file->original.empty() ? 0U : 1U;
      if (!fs::is_regular_file(fs::symlink_status(here, error))) {
        out.broken.push_back(path + ": missing");
      } else if (util::sha256_file(here) != file->sha256) {
        out.broken.push_back(path + ": changed since it was published");
      }
    }
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      const std::string path = entry.path().lexically_relative(folder_).generic_string();
      if (!entry.is_directory() && path != kPublicationFile && !listed_.contains(path)) {
        out.broken.push_back(path + ": was not published");
      }
    }
  }

  void check_ledger() {
    const std::set<std::int64_t> redacted(out.publication.redacted_rows.begin(),
                                          out.publication.redacted_rows.end());
    const std::string text = record::read_whole(run_.ledger_file());
    std::string before(64, '0');
    std::int64_t seq = 0;
    for (std::size_t at = 0; at < text.size(); ++seq) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const nlohmann::json json = nlohmann::json::parse(text.substr(at, end - at), nullptr, false);
      const bool whole = json.is_object() && json.contains("seq") && json.contains("data") &&
                         json.at("seq") == seq && text_in(json, "prev") == before;
      if (!whole || (!redacted.contains(seq) && hash_without(json) != text_in(json, "hash"))) {
        out.broken.push_back(fmt::format("ledger.jsonl:{}: the chain breaks here", seq + 1));
        return;
      }
      before = text_in(json, "hash");
      rows_.push_back(json);
      at = end + 1;
    }
    if (before != out.publication.head || rows_.size() != out.publication.rows) {
      out.broken.emplace_back("ledger.jsonl: does not end at the published head");
    }
  }

  void check_artifacts() {
    for (const auto& [path, file] : listed_) {
      constexpr std::string_view prefix = "artifacts/";
      if (!path.starts_with(prefix)) {
        continue;
      }
      const std::string name = path.substr(prefix.size());
      if ((file->original.empty() ? file->sha256 : file->original) != name) {
        out.broken.push_back(path + ": its bytes are not those of its name");
      } else {
        out.artifacts += file->original.empty() ? 1U : 0U;
      }
    }
    for (const nlohmann::json& row : rows_) {
      for (const char* key :
           {"input", "output", "identity_sha256", "items_sha256", "toml_sha256"}) {
        const std::string hash = text_in(row.at("data"), key);
        if (record::is_sha256(hash) && !listed_.contains("artifacts/" + hash)) {
          out.broken.push_back(fmt::format("artifacts/{}: missing, but row {} names it",
                                           hash,
                                           row.at("seq").get<std::int64_t>()));
        }
      }
    }
  }

  void check_trajectories() {
    std::map<std::string, std::string> expected;
    for (const nlohmann::json& row : rows_) {
      if (text_in(row, "kind") == record::kind::item_end) {
        expected[text_in(row.at("data"), "file")] = text_in(row.at("data"), "trajectory_sha256");
      }
    }
    for (const auto& [path, hash] : expected) {
      const auto found = listed_.find(path);
      if (found == listed_.end()) {
        out.broken.push_back(path + ": missing, but the ledger names it");
        continue;
      }
      const PublishedFile& file = *found->second;
      if ((file.original.empty() ? file.sha256 : file.original) != hash) {
        out.broken.push_back(path + ": is not the file that the ledger names");
      } else if (file.original.empty()) {
        ++out.bound;
      } else if (evaluation_is_bound(path)) {
        ++out.bound_results;
      }
    }
    check_kernels();
    out.again = agent::recompute(run_);
    out.broken.insert(out.broken.end(), out.again.findings.begin(), out.again.findings.end());
  }

  BundleCheck out;

 private:
  static std::string hash_without(nlohmann::json json) {
    json.erase("hash");
    return util::sha256_hex(record::canonical(json));
  }

  // A kernel file that was not redacted holds the text that was judged.
  void check_kernels() {
    for (const fs::path& kernel : run_.kernel_files()) {
      const std::string path = kernel.lexically_relative(folder_).generic_string();
      const auto found = listed_.find(path);
      if (found == listed_.end() || !found->second->original.empty()) {
        continue;
      }
      std::string judged;
      try {
        const auto trajectory = run_.load(record::RunDir::trajectory_beside(kernel));
        judged = trajectory.final_result ? trajectory.final_result->kernel_sha256 : std::string();
      } catch (const util::Error& failure) {
        out.broken.emplace_back(failure.what());
        continue;
      }
      std::string bytes = record::read_whole(kernel);
      const std::string marker = record::RunDir::kernel_text("");
      bytes.resize(bytes.ends_with(marker) ? bytes.size() - marker.size() : 0);
      if (util::sha256_hex(bytes) != judged) {
        out.broken.push_back(path + ": is not the text that was judged");
      }
    }
  }

  // The evaluation in a redacted trajectory stands word by word in an artifact that was not
  // redacted and that a row of the chain names.
  bool evaluation_is_bound(const std::string& path) {
    record::Trajectory trajectory;
    try {
      trajectory = run_.load(folder_ / path);
    } catch (const util::Error& failure) {
      out.broken.emplace_back(failure.what());
      return false;
    }
    if (!trajectory.final_result || !trajectory.final_result->evaluation.is_object()) {
      return false;
    }
    for (const nlohmann::json& row : rows_) {
      const std::string hash = text_in(row.at("data"), "output");
      const auto found = listed_.find("artifacts/" + hash);
      if (text_in(row, "kind") != record::kind::tool ||
          text_in(row, "item") != trajectory.item_id || found == listed_.end() ||
          !found->second->original.empty()) {
        continue;
      }
      const nlohmann::json result =
          nlohmann::json::parse(record::read_whole(run_.artifacts_folder() / hash), nullptr, false);
      if (result.is_object() && result.contains("evaluation") &&
          result.at("evaluation") == trajectory.final_result->evaluation) {
        return true;
      }
    }
    return false;
  }

  fs::path folder_;
  record::RunDir run_;
  std::map<std::string, const PublishedFile*> listed_;
  std::vector<nlohmann::json> rows_;
};

}  // namespace

BundleCheck check_bundle(const fs::path& folder, const std::string& salt) {
  Checker checker(folder);
  checker.check_files();
  if (checker.out.broken.empty()) {
    checker.check_ledger();
    checker.check_artifacts();
    checker.check_trajectories();
  }
  if (!salt.empty()) {
    const auto& known = checker.out.publication.held_out.commitments;
    checker.out.salt_known =
        std::find(known.begin(), known.end(), evaluate::salt_commitment(salt)) != known.end();
  }
  return checker.out;
}

}  // namespace sweep::publish
