#include "publish/publication.h"

#include "record/artifacts.h"
#include "record/json.h"
#include "record/run_dir.h"
#include "util/error.h"
#include "util/file.h"

#include <nlohmann/json.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace sweep::publish {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kKind = "sweep publication";

nlohmann::json rules_json(const Publication& publication) {
  Counts applied;
  Counts files;
  for (const PublishedFile& file : publication.files) {
    for (const auto& [rule, count] : file.redacted) {
      applied[rule] += count;
      ++files[rule];
    }
  }
  std::vector<std::pair<std::string, std::string>> all = {
      {"host",
       "names of hosts: the judge's, the publisher's, those of private endpoints; and every "
       "field `host`"},
      {"user", "names of people in paths, of the publishing account"},
      {"endpoint", "addresses of endpoints that not everybody can call"},
      {"deployment", "names of deployments at such endpoints that differ from the model's"},
      {"gpu", "UUIDs of the GPUs used"},
      {"program", "names and numbers of other programs on the GPU"},
      {"header", "values of HTTP headers of answers, but for the harmless ones"},
      {"held-out", "seeds, dims, contents and failures of held-out draws"},
      {"stream", "whole streams that hold something private only when put together"},
      {"given", "texts named with --redact"}};
  for (const Rule& rule : pattern_rules()) {
    all.emplace_back(rule.name, rule.what);
  }
  nlohmann::json out = nlohmann::json::array();
  for (const auto& [rule, what] : all) {
    out.push_back(
        {{"rule", rule}, {"what", what}, {"applied", applied[rule]}, {"files", files[rule]}});
  }
  return out;
}

nlohmann::json file_json(const PublishedFile& file) {
  nlohmann::json out = {{"path", file.path}, {"sha256", file.sha256}};
  if (!file.original.empty()) {
    out["original_sha256"] = file.original;
    out["redacted"] = file.redacted;
  }
  if (file.made) {
    out["made"] = true;
  }
  if (file.withheld) {
    out["withheld"] = true;
  }
  return out;
}

PublishedFile file_from(const nlohmann::json& json) {
  PublishedFile file;
  file.path = json.at("path");
  file.sha256 = json.at("sha256");
  file.original = json.value("original_sha256", "");
  file.made = json.value("made", false);
  file.withheld = json.value("withheld", false);
  if (json.contains("redacted")) {
    file.redacted = json.at("redacted").get<Counts>();
  }
  if (!util::is_inside_path(file.path) || !record::is_sha256(file.sha256) ||
      (!file.original.empty() && !record::is_sha256(file.original))) {
    throw util::InfraError(
        {"publication.json", "names a file or a hash that is none", "have the bundle sent again"},
        "E_PUBLICATION");
  }
  return file;
}

}  // namespace

nlohmann::json to_json(const Publication& publication) {
  nlohmann::json files = nlohmann::json::array();
  for (const PublishedFile& file : publication.files) {
    files.push_back(file_json(file));
  }
  return {{"schema", 1},
          {"kind", kKind},
          {"run", publication.run},
          {"version", publication.version},
          {"published_at", publication.published_at},
          {"policy", record::kPolicy},
          {"ledger",
           {{"rows", publication.rows},
            {"head", publication.head},
            {"redacted_rows", publication.redacted_rows}}},
          {"held_out",
           {{"commitments", publication.held_out.commitments},
            {"epochs", publication.held_out.epochs},
            {"masked", publication.held_out.masked}}},
          {"proves_before_the_salt_is_revealed", proves_before(publication)},
          {"proves_after", proves_after(publication)},
          {"rules", rules_json(publication)},
          {"files", std::move(files)}};
}

Publication publication_from_json(const nlohmann::json& json) {
  try {
    Publication out;
    out.run = json.at("run");
    out.version = json.at("version");
    out.published_at = json.at("published_at");
    out.rows = json.at("ledger").at("rows");
    out.head = json.at("ledger").at("head");
    out.redacted_rows = json.at("ledger").at("redacted_rows").get<std::vector<std::int64_t>>();
    const nlohmann::json& held_out = json.at("held_out");
    out.held_out.commitments = held_out.at("commitments").get<std::vector<std::string>>();
    out.held_out.epochs = held_out.at("epochs").get<std::vector<std::int64_t>>();
    out.held_out.masked = held_out.at("masked");
    for (const nlohmann::json& file : json.at("files")) {
      out.files.push_back(file_from(file));
    }
    return out;
  } catch (const nlohmann::json::exception&) {
    throw util::InfraError(
        {"publication.json", "a field is missing or of another type", "have the bundle sent again"},
        "E_PUBLICATION");
  }
}

std::optional<Publication> read_publication(const fs::path& folder) {
  std::error_code error;
  const fs::path file = folder / kPublicationFile;
  if (!fs::is_regular_file(fs::symlink_status(file, error))) {
    return std::nullopt;
  }
  const nlohmann::json json =
      record::parse_bounded(record::read_whole(file), file.filename().string());
  if (!json.is_object() || json.value("kind", nlohmann::json()) != kKind) {
    return std::nullopt;
  }
  return publication_from_json(json);
}

std::vector<std::string> proves_before(const Publication& publication) {
  const auto changed = static_cast<std::size_t>(std::count_if(
      publication.files.begin(), publication.files.end(), [](const PublishedFile& file) {
        return !file.original.empty();
      }));
  std::vector<std::string> out = {
      "Each file is the one that was published: publication.json has its hash, and the hash of "
      "publication.json is what to cite.",
      fmt::format("The ledger's {} rows follow each other up to the head, and none was changed, "
                  "taken out or put in, but for {} of which a text was taken out.",
                  publication.rows,
                  publication.redacted_rows.size()),
      "Prompts, answers, kernels and results that were not redacted are those of the run: the "
      "ledger has their hashes.",
      "Every speedup, time and verdict follows from the raw samples in the trajectories."};
  if (changed > 0) {
    out.push_back(fmt::format(
        "Not proved: that {} redacted files say what the run's files said. The ledger has the "
        "hashes of the originals, which whoever has the run can show.",
        changed));
  }
  if (publication.held_out.masked) {
    out.emplace_back("Not proved: on which held-out shapes the kernels were judged.");
  }
  return out;
}

std::vector<std::string> proves_after(const Publication& publication) {
  if (publication.held_out.commitments.empty()) {
    return {
        "The ledger has no commitment to a salt: nothing shows that the held-out draws were "
        "fixed before the run. (On the cpu device nothing is held out.)"};
  }
  return {
      "`sweep verify BUNDLE --salt FILE`: the salt is the one that the ledger committed to when "
      "the run began, so the held-out draws were fixed before any model answered.",
      "`SWEEP_SALT_FILE=FILE sweep eval KERNEL --full` then judges a kernel of the bundle on "
      "the same held-out draws."};
}

}  // namespace sweep::publish
