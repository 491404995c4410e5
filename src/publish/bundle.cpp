#include "publish/bundle.h"

#include "publish/document.h"
#include "record/artifacts.h"
#include "record/json.h"
#include "record/ledger.h"
#include "report/build.h"
#include "report/exports.h"
#include "util/error.h"
#include "util/file.h"
#include "util/sha256.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace sweep::publish {

namespace fs = std::filesystem;

namespace {

std::string hash_in(const nlohmann::json& data, const char* key) {
  const auto found = data.is_object() ? data.find(key) : data.end();
  return found != data.end() && found->is_string() && record::is_sha256(found->get<std::string>())
             ? found->get<std::string>()
             : std::string();
}

// A folder beside the target that becomes it at the end, or goes.
class Draft {
 public:
  explicit Draft(fs::path target) : target_(std::move(target)), folder_(target_) {
    folder_ += ".partial";
    std::error_code error;
    for (const fs::path& path : {target_, folder_}) {
      if (fs::symlink_status(path, error).type() != fs::file_type::not_found) {
        throw util::UsageError({path.string(),
                                "exists already; nothing is overwritten",
                                "name a folder that does not exist"},
                               "E_PUBLISH_OUT");
      }
    }
    record::make_run_folder(folder_);
  }

  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  ~Draft() {
    std::error_code error;
    if (!done_) {
      fs::remove_all(folder_, error);
    }
  }

  void finish() {
    std::error_code error;
    fs::rename(folder_, target_, error);
    if (error) {
      throw util::InfraError(
          {target_.string(), "cannot be made: " + error.message(), "free space or permissions"},
          "E_RUN_WRITE");
    }
    done_ = true;
  }

  [[nodiscard]] const fs::path& folder() const { return folder_; }

 private:
  fs::path target_, folder_;
  bool done_ = false;
};

class Publisher {
 public:
  Publisher(const record::RunDir& run, fs::path folder, const Redactor& redactor, bool reveal)
      : run_(run), folder_(std::move(folder)), redactor_(redactor), reveal_(reveal) {}

  void copy_ledger() {
    const std::string text = record::read_whole(run_.ledger_file());
    const record::Verification ledger = record::verify_ledger_text(text, "ledger.jsonl");
    if (!ledger.intact) {
      throw util::InfraError({run_.ledger_file().string(),
                              ledger.problem.empty() ? "ends in an unfinished row" : ledger.problem,
                              "publish a run that `sweep verify` finds intact"},
                             "E_LEDGER_BROKEN");
    }
    publication.rows = ledger.rows;
    publication.head = ledger.head;
    Counts counts;
    std::string out;
    for (const record::Row& row : ledger.read) {
      note(row);
      out += line_of(row, counts);
    }
    put("ledger.jsonl", out, text, counts, false);
  }

  void copy_files() {
    std::vector<fs::path> files = run_.trajectory_files();
    for (const fs::path& file : files) {
      const std::string bytes = record::read_whole(file);
      note_trajectory(bytes);
      copy(file, bytes);
      // What is left must still be a trajectory: a secret may be the name of a field.
      (void)record::RunDir(folder_).load(folder_ / publication.files.back().path);
    }
    for (const fs::path& file : run_.kernel_files()) {
      copy(file, record::read_whole(file));
    }
    std::error_code error;
    if (fs::is_regular_file(run_.config_file(), error)) {
      copy(run_.config_file(), record::read_whole(run_.config_file()));
    }
    const record::Artifacts artifacts(run_.artifacts_folder());
    for (const std::string& hash : needed_) {
      if (artifacts.has(hash)) {
        copy(artifacts.path(hash), artifacts.get(hash));
      }
    }
  }

  // Everything that lies in the bundle and was not copied.
  void list_made() {
    std::set<std::string> known = {std::string(kPublicationFile)};
    for (const PublishedFile& file : publication.files) {
      known.insert(file.path);
    }
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      const std::string path = entry.path().lexically_relative(folder_).generic_string();
      if (entry.is_regular_file() && !known.contains(path)) {
        publication.files.push_back({path, util::sha256_file(entry.path()), "", true, false, {}});
      }
    }
    std::sort(publication.files.begin(),
              publication.files.end(),
              [](const PublishedFile& a, const PublishedFile& b) { return a.path < b.path; });
  }

  // The last look: nothing of what was to go is in any file or name.
  void search() const {
    for (const PublishedFile& file : publication.files) {
      // The program's own script and style, the same for everybody; the summary has them within.
      const bool own = file.path == "report/report.js" || file.path == "report/report.css" ||
                       file.path == "report/data/summary.html";
      std::string rule = redactor_.finds(file.path);
      if (rule.empty() && !own) {
        rule = redactor_.finds(record::read_whole(folder_ / file.path));
      }
      if (!rule.empty()) {
        throw util::InfraError({file.path,
                                "still holds something of the rule '" + rule + "'",
                                "please report it; nothing was published"},
                               "E_PUBLISH_LEAK");
      }
    }
  }

  Publication publication;

 private:
  std::string line_of(const record::Row& row, Counts& counts) {
    nlohmann::json json = {{"data", row.data},
                           {"hash", row.hash},
                           {"item", row.item},
                           {"kind", row.kind},
                           {"prev", row.prev},
                           {"seq", row.seq},
                           {"time", row.time}};
    Counts mine;
    const nlohmann::json clean = cleaned(json, redactor_, reveal_, mine);
    if (mine.empty()) {
      return record::canonical(json) + "\n";
    }
    for (const auto& [rule, count] : mine) {
      counts[rule] += count;
    }
    publication.redacted_rows.push_back(row.seq);
    return record::canonical(clean) + "\n";
  }

  // What a row names, and its commitment to a salt.
  void note(const record::Row& row) {
    for (const char* key : {"input", "output", "identity_sha256", "items_sha256", "toml_sha256"}) {
      need(hash_in(row.data, key));
    }
    const auto facts = row.data.find("facts");
    const std::string exchange =
        facts == row.data.end() ? std::string() : hash_in(*facts, "exchange");
    need(exchange);
    const record::Artifacts artifacts(run_.artifacts_folder());
    if (!exchange.empty() && artifacts.has(exchange)) {
      const auto json = nlohmann::json::parse(artifacts.get(exchange), nullptr, false);
      if (json.is_object() && json.contains("tries") && json.at("tries").is_array()) {
        for (const auto& one : json.at("tries")) {
          need(hash_in(one, "request"));
          need(hash_in(one, "response"));
        }
      }
    }
    const auto held_out = row.data.find("held_out");
    if (held_out != row.data.end()) {
      const std::string commitment = hash_in(*held_out, "salt_commitment");
      auto& known = publication.held_out.commitments;
      if (!commitment.empty() && std::find(known.begin(), known.end(), commitment) == known.end()) {
        known.push_back(commitment);
        const auto epoch = held_out->find("epoch");
        publication.held_out.epochs.push_back(epoch != held_out->end() && epoch->is_number_integer()
                                                  ? epoch->get<std::int64_t>()
                                                  : 0);
      }
    }
  }

  void note_trajectory(const std::string& bytes) {
    const record::Trajectory trajectory = record::parse_trajectory(bytes, "a trajectory");
    for (const record::Turn& turn : trajectory.turns) {
      for (const record::ToolCall& call : turn.tool_calls) {
        need(call.kernel_sha256);
      }
    }
    if (trajectory.final_result) {
      need(trajectory.final_result->kernel_sha256);
    }
  }

  void need(const std::string& hash) {
    if (record::is_sha256(hash)) {
      needed_.insert(hash);
    }
  }

  void copy(const fs::path& file, const std::string& bytes) {
    const Cleaned clean = cleaned(bytes, redactor_, reveal_);
    put(file.lexically_relative(run_.folder()).generic_string(),
        clean.bytes,
        bytes,
        clean.counts,
        clean.withheld);
  }

  void put(const std::string& name,
           const std::string& bytes,
           const std::string& original,
           const Counts& counts,
           bool withheld) {
    Counts in_name;
    PublishedFile file;
    file.path = redactor_.redact(name, in_name);
    file.sha256 = util::sha256_hex(bytes);
    if (bytes != original) {
      file.original = util::sha256_hex(original);
      file.redacted = counts;
    }
    file.withheld = withheld;
    publication.held_out.masked = publication.held_out.masked || counts.contains("held-out");
    const fs::path target = util::join_inside(folder_, file.path);
    util::make_folders(target.parent_path());
    record::write_whole(target, bytes);
    publication.files.push_back(std::move(file));
  }

  const record::RunDir& run_;
  fs::path folder_;
  const Redactor& redactor_;
  bool reveal_;
  std::set<std::string> needed_;
};

void refuse_running(const record::RunDir& run) {
  if (record::lock_held(run)) {
    throw util::UsageError({run.folder().string(),
                            "a sweep works on this run",
                            "publish it when `sweep status` says that it has ended"},
                           "E_PUBLISH_RUNNING");
  }
}

// Pages and data files from what is in the bundle, which holds nothing private any more.
void make_report(const fs::path& folder, const std::string& run_name) {
  const record::RunDir bundle(folder);
  report::BuildOptions options;
  options.use_cache = false;
  options.run_name = run_name;
  const report::Built built = report::build(bundle, options);
  report::RowPointers rows;
  for (const report::Row& row : built.rows) {
    rows.push_back(&row);
  }
  const report::Source source = report::source_of(run_name, built);
  (void)report::write_exports(bundle.report_folder() / "data", source, rows, {.remember = false});
  // The store by which a later build saves time is of no use to a reader.
  std::error_code error;
  fs::remove(bundle.report_folder() / ".rows", error);
}

void write_publication(const fs::path& folder, const std::string& text) {
  record::write_whole(folder / kPublicationFile, text);
}

std::string text_of(const Publication& publication) {
  return to_json(publication).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

Published publish(const record::RunDir& run,
                  const fs::path& folder,
                  const Surroundings& surroundings,
                  const CollectOptions& options,
                  const std::string& version) {
  refuse_running(run);
  Draft draft(folder);
  const Redactor redactor(secrets_of(run, surroundings, options));
  Publisher publisher(run, draft.folder(), redactor, options.reveal_held_out);
  Counts in_name;
  Publication& publication = publisher.publication;
  publication.run = redactor.redact(run.folder().filename().string(), in_name);
  publication.version = version;
  publication.published_at = record::utc_now();
  publisher.copy_ledger();
  publisher.copy_files();
  write_publication(draft.folder(), text_of(publication));  // pages say what it says
  make_report(draft.folder(), publication.run);
  publisher.list_made();
  publisher.search();
  const std::string text = text_of(publication);
  write_publication(draft.folder(), text);
  // A sweep that began meanwhile may have written while files were read.
  refuse_running(run);
  draft.finish();
  Published out{publication, util::sha256_hex(text), text.size()};
  for (const PublishedFile& file : publication.files) {
    out.bytes += fs::file_size(folder / file.path);
  }
  return out;
}

}  // namespace sweep::publish
