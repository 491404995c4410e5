#pragma once

#include "device/conditions.h"
#include "evaluate/evaluation.h"
#include "problem/problem.h"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What `sweep baseline record` measured on a device, and what evaluations show of it.
namespace sweep::evaluate {

// The seed's own entry is called so; it was timed against itself.
inline constexpr std::string_view kSeedBaseline = "seed";

struct BaselineShape {
  std::string shape;
  expr::IntEnv dims;  // free dims
  double seed_seconds = 0, seconds = 0;
  Interval ratio;  // seed / baseline: above 1 the baseline is faster
};

// One baseline of one problem, timed against the seed.
struct RecordedBaseline {
  std::string problem;         // "level1/3"
  std::string problem_sha256;  // problem::Problem::hash() when it was timed
  std::string seed_sha256;     // of the seed's text
  std::string name;            // "cuSPARSE"
  std::string library;         // "cuSPARSE 12.6.3"; empty: a kernel
  std::string path, math;      // of a library
  std::string failure;         // why there are no times; empty: there are
  double made = 0;             // seconds since 1970
  Interval ratio;              // geometric mean over the shapes
  std::vector<BaselineShape> shapes;
  device::Conditions conditions;
  std::string verdict;  // of the session, as an evaluation would say it
};

struct BaselineTable {
  std::string id;       // 16 hex digits of the SHA-256 of the rest
  std::string version;  // of this program, at the last recording
  device::Info device;
  std::vector<RecordedBaseline> entries;  // by problem, then name
};

// Schema 1. from_json throws wire::WireError for anything but what to_json() made: at most 10,000
// entries of 100 shapes.
[[nodiscard]] nlohmann::json to_json(const BaselineTable& table);
[[nodiscard]] BaselineTable baselines_from_json(const nlohmann::json& body);

// `cache`/baselines/UUID-DRIVER.json; an empty `cache` is the compiler's default folder.
[[nodiscard]] std::filesystem::path baselines_file(const std::filesystem::path& cache,
                                                   const device::Info& info);

// Sets `id`, sorts, and replaces the file of the device and driver in one step.
void store_baselines(const std::filesystem::path& cache, BaselineTable& table);

// The file may be anyone's: at most 16 MiB are read, and what it says is checked.
struct FoundBaselines {
  std::optional<BaselineTable> table;
  std::string reason;  // why there is none
};

[[nodiscard]] FoundBaselines find_baselines(const std::filesystem::path& cache,
                                            const device::Info& info);

struct StoredBaselines {
  std::filesystem::path file;
  FoundBaselines found;
};

// Every table of the store, of whatever device, by file name (at most 1,000); none where nothing
// was recorded. Needs no device.
[[nodiscard]] std::vector<StoredBaselines> stored_baselines(const std::filesystem::path& cache);

// Takes the place of the entries of the same problem, which may be none of these names any more.
void replace_problem(BaselineTable& table,
                     const std::string& problem,
                     std::vector<RecordedBaseline> entries);

// The entries of the problem but the seed's, held against the times of `time`. Shapes are the same
// where their free dims are.
[[nodiscard]] std::vector<ShownBaseline> shown_baselines(const BaselineTable& table,
                                                         const problem::Problem& problem,
                                                         const std::string& seed_sha256,
                                                         const TimeResult& time,
                                                         double now);

// The same from the table of a GPU, as an evaluation shows it; nothing where none was recorded.
[[nodiscard]] std::vector<ShownBaseline> baselines_beside(const Services& services,
                                                          const problem::Problem& problem,
                                                          const device::Info& info,
                                                          const TimeResult& time,
                                                          double now);

[[nodiscard]] nlohmann::json to_json(const std::vector<ShownBaseline>& baselines);
[[nodiscard]] std::vector<ShownBaseline> shown_from_json(const nlohmann::json& list);

}  // namespace sweep::evaluate
