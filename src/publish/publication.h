#pragma once

#include "publish/redact.h"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

// publication.json: what a published run consists of and what was taken out of it.
namespace sweep::publish {

inline constexpr std::string_view kPublicationFile = "publication.json";

struct PublishedFile {
  std::string path;      // relative to the bundle
  std::string sha256;    // of its bytes here
  std::string original;  // of its bytes in the run, where they differ; empty: they do not
  bool made = false;     // by publishing (report, exports): the run has no such file
  bool withheld = false;
  Counts redacted;
};

// What the ledger says of the salt that held-out draws come from.
struct HeldOutFacts {
  std::vector<std::string> commitments;  // distinct, in order of the rows; empty: none was made
  std::vector<std::int64_t> epochs;      // beside them
  bool masked = false;                   // the draws were taken out of the files
};

struct Publication {
  std::string run, version, published_at;
  std::string head;  // of the ledger
  std::size_t rows = 0;
  std::vector<std::int64_t> redacted_rows;
  HeldOutFacts held_out;
  std::vector<PublishedFile> files;
};

[[nodiscard]] nlohmann::json to_json(const Publication& publication);

// Hostile text. InfraError E_PUBLICATION naming what is wrong.
[[nodiscard]] Publication publication_from_json(const nlohmann::json& json);

// Of a bundle; unset: the folder is none.
[[nodiscard]] std::optional<Publication> read_publication(const std::filesystem::path& folder);

// What a reader of the bundle can prove, one sentence each: before a salt is revealed, and after.
[[nodiscard]] std::vector<std::string> proves_before(const Publication& publication);
[[nodiscard]] std::vector<std::string> proves_after(const Publication& publication);

}  // namespace sweep::publish
