#include "record/artifacts.h"

#include "record/run_dir.h"
#include "util/error.h"
#include "util/file.h"
#include "util/sha256.h"

#include <algorithm>
#include <system_error>

namespace sweep::record {
namespace fs = std::filesystem;

bool is_sha256(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

bool is_unfinished(std::string_view name) {
  constexpr std::size_t kHash = 64;
  return name.size() == 1 + kHash + 7 && name[0] == '.' && is_sha256(name.substr(1, kHash)) &&
         name[1 + kHash] == '.';
}

Artifacts::Artifacts(fs::path folder, Use use) : folder_(std::move(folder)) {
  if (use == Use::write) {
    make_run_folder(folder_);
  }
}

std::string Artifacts::put(std::string_view bytes) const {
  std::string name = util::sha256_hex(bytes);
  std::error_code error;
  const fs::path file = folder_ / name;
  const auto size = fs::file_size(file, error);
  // One that was damaged since is made good.
  if (error || size != bytes.size() || read_whole(file) != bytes) {
    write_whole(file, bytes, 0444);
  }
  return name;
}

std::string Artifacts::get(const std::string& sha256, std::size_t max_bytes) const {
  const fs::path file = path(sha256);
  if (!has(sha256)) {
    throw util::InfraError({file.string(), "missing artifact", "copy the run again, whole"},
                           "E_ARTIFACT_MISSING");
  }
  std::string bytes = read_whole(file, max_bytes);
  if (util::sha256_hex(bytes) != sha256) {
    throw util::InfraError({file.string(),
                            "content does not hash to its name",
                            "the file was changed after it was written; copy the run again"},
                           "E_ARTIFACT_CORRUPT");
  }
  return bytes;
}

bool Artifacts::has(const std::string& sha256) const {
  std::error_code error;
  return fs::is_regular_file(fs::symlink_status(path(sha256), error));
}

fs::path Artifacts::path(const std::string& sha256) const {
  if (!is_sha256(sha256)) {
    throw util::InfraError({folder_.string(),
                            "'" + sha256.substr(0, 80) + "' is no artifact name",
                            "64 lower-case hex digits are expected"},
                           "E_ARTIFACT_NAME");
  }
  return folder_ / sha256;
}

}  // namespace sweep::record
