#pragma once

#include "problem/problem.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::problem {

// A problem that exists (folder) or is only planned (named in problems/catalogue.toml, no folder
// yet).
struct Entry {
  std::string id;     // "level1/3"
  std::string title;  // from the catalogue, or from the folder's problem.toml
  std::string domain;
  std::vector<std::string> slates;
  std::filesystem::path folder;  // empty: planned

  [[nodiscard]] bool planned() const { return folder.empty(); }
};

// The problems known to this process. A folder is a problem if it holds problem.toml; its id is in
// the folder's name: ROOT/<level>/<id>_<name> -> "<level>/<id>" without leading zeros
// ("level1/03_relu" -> "level1/3"; "sci/heat2d" may have no number: "sci/heat2d_x" ->
// "sci/heat2d"). Reading is lazy: only titles are read.
class Catalog {
 public:
  // `roots` in order of precedence: an id found earlier hides later ones. A root that is itself a
  // problem folder counts as that one problem. A missing root is a UsageError.
  explicit Catalog(const std::vector<std::filesystem::path>& roots);

  // All entries, planned ones last within a level; ordered by level, then number, then name.
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

  // Entry of an id ("level1/3", "level1/03", "level1/03_relu"), or null.
  [[nodiscard]] const Entry* find(std::string_view id) const;

  // Ids that match: an id, a glob (`*` and `?` do not cross '/', `**` does; "sci/*") or
  // "slate:NAME". A pattern that matches nothing is UsageError with the nearest ids.
  [[nodiscard]] std::vector<const Entry*> match(std::string_view pattern) const;

  // Reads the problem; UsageError if it is planned, unknown or has mistakes.
  [[nodiscard]] Problem open(std::string_view id) const;

 private:
  std::vector<Entry> entries_;
};

// Where problems are looked for: `extra` (each --problem DIR), then SWEEP_PROBLEMS (colon
// separated), then the built-in folder: "problems" beside the program, or up to three folders above
// it (build/release/sweep), then share/sweep/problems beside a bundle's bin.
[[nodiscard]] std::vector<std::filesystem::path> default_roots(
    const std::vector<std::filesystem::path>& extra,
    const std::filesystem::path& program,
    const char* sweep_problems);

}  // namespace sweep::problem
