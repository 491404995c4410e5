#include "queue/import.h"

#include "config/matrix.h"
#include "queue/recorded.h"
#include "record/artifacts.h"
#include "record/foreign.h"
#include "record/json.h"
#include "record/ledger.h"
#include "record/plan.h"
#include "record/trajectory.h"
#include "util/error.h"
#include "util/file.h"
#include "util/sha256.h"
#include "util/text.h"

#include <algorithm>
#include <set>

namespace sweep::queue {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostFiles = 100000;
constexpr std::size_t kMostBytes = std::size_t{64} << 20;  // of one trajectory
// Bytes of the path parts that names become: a file's name has at most 255, with what is around it.
constexpr std::size_t kMostFolder = 180;
constexpr std::size_t kMostPart = 100;

// What upstream measured, as it wrote it: names and units are its own.
nlohmann::json measured(const nlohmann::json& from) {
  nlohmann::json out = nlohmann::json::object();
  const auto result = from.find("final_result");
  if (result == from.end() || !result->is_object()) {
    return out;
  }
  for (const char* key : {"compiled",
                          "correctness",
                          "runtime",
                          "runtime_stats",
                          "ref_runtime",
                          "ref_runtime_stats",
                          "source_runtime",
                          "speedup_vs_source"}) {
    if (const auto found = result->find(key); found != result->end()) {
      out[key] = *found;
    }
  }
  return out;
}

// Nothing of a foreign file may pass for a judgement of ours, also where it has our fields.
void disown(record::Trajectory& t, const nlohmann::json& from) {
  t.problem_admission = record::kForeign;
  t.provenance = {};
  t.provenance.data_policy = record::kPolicy;
  t.error_code.clear();
  t.price_sha256.clear();
  if (!t.final_result) {
    return;
  }
  record::FinalResult result;
  result.compiled = t.final_result->compiled;
  result.correctness = t.final_result->correctness;
  result.verdict = "FOREIGN";
  result.flags = {record::kForeign};
  result.reason = "judged by PopcornBench, not here";
  result.metadata = {{"outcome", t.outcome}, {"foreign", measured(from)}};
  t.final_result = std::move(result);
}

// A name that becomes a path part of at most so many bytes; one that is cut ends in its hash, so
// that two that begin alike stay apart.
std::string bounded(const std::string& name, std::size_t most) {
  if (util::encode_path_part(name).size() <= most) {
    return name;
  }
  constexpr std::size_t kHash = 16;
  constexpr std::size_t kCharacter = 3;  // bytes of one that is encoded
  std::size_t end = std::min((most - kHash - 1) / kCharacter, name.size());
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) {
    --end;  // no character is cut
  }
  return name.substr(0, end) + "-" + util::sha256_hex(name).substr(0, kHash);
}

std::string part(const fs::path& path, const std::string& otherwise) {
  const std::string name = util::to_valid_utf8(path.filename().string());
  return bounded(name.empty() ? otherwise : name, kMostFolder);
}

struct Read {
  record::ItemName name;
  record::Trajectory trajectory;
  std::string sha256;
};

Read read(const fs::path& file, const std::string& run_name) {
  const std::string text = util::read_file(file, kMostBytes, util::Links::refuse);
  const nlohmann::json json = record::parse_bounded(text, file.string(), kMostBytes);
  Read out;
  out.trajectory = record::trajectory_from_json(json);
  record::Trajectory& t = out.trajectory;
  if (t.level.empty() || t.problem_id.empty()) {
    throw util::UsageError({file.string(), "names no level or problem", "it is no trajectory"},
                           "E_IMPORT_FILE");
  }
  t.variant = part(file.parent_path().parent_path(), "foreign");
  if (record::is_own_part(record::encode_part(t.variant))) {
    throw util::UsageError({file.string(),
                            "its variant has the name of a run's own files",
                            "rename the folder " + t.variant},
                           "E_IMPORT_FILE");
  }
  t.model_name = part(file.parent_path(), t.model_name);
  t.level = bounded(t.level, kMostPart);
  t.problem_id = bounded(t.problem_id, kMostPart);
  t.run_name = run_name;
  t.attempt = std::clamp<std::int64_t>(t.attempt, 1, 1000);
  disown(t, json);
  out.name = {t.variant, t.model_name, t.level, t.problem_id, t.attempt};
  t.item_id = item_of(out.name).id();
  out.sha256 = util::sha256_hex(text);
  return out;
}

void require_new(const record::RunDir& run) {
  std::error_code error;
  if (fs::exists(run.folder(), error) && !fs::is_empty(run.folder(), error)) {
    throw util::UsageError(
        {run.folder().string(), "already holds something", "give another --run-name"},
        "E_IMPORT_OUT");
  }
}

}  // namespace

Imported import_run(const fs::path& source, const record::RunDir& run, const std::string& version) {
  std::error_code error;
  if (!fs::is_directory(source, error)) {
    throw util::UsageError({util::printable(source.string()),
                            "is no folder",
                            "give a run of PopcornBench, e.g. runs/NAME"},
                           "E_IMPORT_SOURCE");
  }
  require_new(run);
  const std::vector<fs::path> files = record::RunDir(source).trajectory_files();
  if (files.empty() || files.size() > kMostFiles) {
    throw util::UsageError({util::printable(source.string()),
                            files.empty() ? "holds no trajectory" : "holds too many files",
                            "expected is VARIANT/MODEL/level_L_problem_P_trajectory.json"},
                           "E_IMPORT_NOTHING");
  }
  Imported out;
  run.create();
  record::Ledger ledger(run.ledger_file());
  (void)ledger.append(record::kind::import_start,
                      {},
                      {{"source", util::to_valid_utf8(fs::absolute(source).string())},
                       {"of", "PopcornBench"},
                       {"sweep_version", version},
                       {"policy", record::kPolicy}});
  std::set<fs::path> known;
  std::vector<record::ItemName> names;
  for (const fs::path& file : files) {
    try {
      const Read one = read(file, run.folder().filename().string());
      const fs::path to = run.trajectory_file(one.name);
      if (!known.insert(to).second) {
        throw util::UsageError({file.string(), "is the second of its item", "one was taken"},
                               "E_IMPORT_FILE");
      }
      record::make_run_folder(to.parent_path());
      const std::string bytes = record::to_json(one.trajectory)
                                    .dump(1, ' ', false, nlohmann::json::error_handler_t::replace) +
                                "\n";
      const std::string place = to.lexically_relative(run.folder()).generic_string();
      const std::string id = one.trajectory.item_id;
      (void)ledger.append(record::kind::item_start, id, {{"file", place}});
      record::write_whole(to, bytes);
      (void)ledger.append(record::kind::item_end,
                          id,
                          {{"outcome", one.trajectory.outcome},
                           {"file", place},
                           {"source_sha256", one.sha256},
                           {"trajectory_sha256", util::sha256_hex(bytes)}});
      names.push_back(one.name);
    } catch (const util::Error& failure) {
      if (failure.code() == "E_RUN_WRITE") {
        throw;
      }
      const std::string what = failure.what();
      out.refused.push_back(what.starts_with(file.string()) ? what : file.string() + ": " + what);
    } catch (const nlohmann::json::exception& failure) {
      out.refused.push_back(file.string() + ": " + failure.what());
    }
  }
  out.trajectories = names.size();
  const std::string plan = record::Artifacts(run.artifacts_folder()).put(record::plan_json(names));
  (void)ledger.append(record::kind::run_end, {}, {{"items_sha256", plan}, {"interrupted", false}});
  return out;
}

}  // namespace sweep::queue
