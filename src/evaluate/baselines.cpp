#include "evaluate/baselines.h"

#include "evaluate/device_file.h"
#include "evaluate/preparation.h"
#include "util/error.h"
#include "util/file.h"
#include "util/sha256.h"
#include "wire/channel.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>

namespace sweep::evaluate {
namespace {

constexpr std::size_t kMostBaselineBytes = std::size_t{16} << 20U;

std::string table_id(BaselineTable table) {
  table.id.clear();
  return util::sha256_hex(to_json(table).dump()).substr(0, 16);
}

FoundBaselines read_table(const std::filesystem::path& file) {
  try {
    const std::string text = util::read_file(file, kMostBaselineBytes, util::Links::refuse);
    BaselineTable found = baselines_from_json(wire::parse_object(text, file.string()));
    if (found.id != table_id(found)) {
      return {std::nullopt, file.string() + " was altered: its id is not that of its content"};
    }
    return {std::move(found), ""};
  } catch (const util::Error& failure) {
    return {std::nullopt, failure.what()};
  }
}

const ShapeTiming* same_shape(const TimeResult& time, const BaselineShape& shape) {
  const auto found = std::ranges::find(time.shapes, shape.dims, &ShapeTiming::dims);
  return found == time.shapes.end() ? nullptr : &*found;
}

// Fills in the numbers, or the reason why there are none.
void hold_against(const RecordedBaseline& entry, const TimeResult& time, ShownBaseline& shown) {
  double baseline = 0, candidate = 0;
  for (const BaselineShape& shape : entry.shapes) {
    const ShapeTiming* timed = same_shape(time, shape);
    if (timed != nullptr && timed->ratio.point > 0 && shape.ratio.point > 0) {
      baseline += std::log(shape.ratio.point);
      candidate += std::log(timed->ratio.point);
      ++shown.shapes;
    }
  }
  if (shown.shapes == 0) {
    shown.reason = "recorded at none of the shapes that were timed";
    return;
  }
  shown.ratio = std::exp(baseline / shown.shapes);
  shown.candidate = std::exp((candidate - baseline) / shown.shapes);
}

}  // namespace

std::filesystem::path baselines_file(const std::filesystem::path& cache, const device::Info& info) {
  return device_file(cache, "baselines", info);
}

void store_baselines(const std::filesystem::path& cache, BaselineTable& table) {
  std::ranges::sort(table.entries, [](const RecordedBaseline& a, const RecordedBaseline& b) {
    return std::tie(a.problem, a.name) < std::tie(b.problem, b.name);
  });
  table.id = table_id(table);
  const std::filesystem::path file = baselines_file(cache, table.device);
  util::make_folders(file.parent_path());
  util::write_file_atomic(file, to_json(table).dump(2) + "\n");
}

FoundBaselines find_baselines(const std::filesystem::path& cache, const device::Info& info) {
  const std::filesystem::path file = baselines_file(cache, info);
  std::error_code error;
  if (!std::filesystem::exists(file, error)) {
    return {std::nullopt,
            has_other_driver(file.parent_path(), info)
                ? "recorded with another driver than " + info.driver
                : "this device has none"};
  }
  FoundBaselines found = read_table(file);
  if (found.table &&
      (found.table->device.uuid != info.uuid || found.table->device.driver != info.driver)) {
    return {std::nullopt, file.string() + " is of another device"};
  }
  return found;
}

std::vector<StoredBaselines> stored_baselines(const std::filesystem::path& cache) {
  constexpr std::size_t kMostFiles = 1000;
  std::vector<StoredBaselines> out;
  std::error_code error;
  const std::filesystem::path folder = baselines_file(cache, {}).parent_path();
  for (std::filesystem::directory_iterator at(folder, error), end;
       !error && at != end && out.size() < kMostFiles;
       at.increment(error)) {
    if (at->path().extension() == ".json") {
      out.push_back({at->path(), read_table(at->path())});
    }
  }
  std::ranges::sort(out, {}, &StoredBaselines::file);
  return out;
}

void replace_problem(BaselineTable& table,
                     const std::string& problem,
                     std::vector<RecordedBaseline> entries) {
  std::erase_if(table.entries, [&](const auto& entry) { return entry.problem == problem; });
  std::ranges::move(entries, std::back_inserter(table.entries));
}

std::vector<ShownBaseline> shown_baselines(const BaselineTable& table,
                                           const problem::Problem& problem,
                                           const std::string& seed_sha256,
                                           const TimeResult& time,
                                           double now) {
  std::vector<ShownBaseline> out;
  for (const RecordedBaseline& entry : table.entries) {
    if (entry.problem != problem.id || entry.name == kSeedBaseline) {
      continue;
    }
    ShownBaseline& shown = out.emplace_back();
    shown.name = entry.name;
    shown.library = entry.library;
    shown.math = entry.math;
    shown.age_seconds = std::max(now - entry.made, 0.0);
    if (!entry.failure.empty()) {
      shown.reason = entry.failure;
    } else if (entry.problem_sha256 != problem.hash() || entry.seed_sha256 != seed_sha256) {
      shown.reason = "recorded for another version of the problem or its seed";
    } else {
      hold_against(entry, time, shown);
    }
  }
  return out;
}

std::vector<ShownBaseline> baselines_beside(const Services& services,
                                            const problem::Problem& problem,
                                            const device::Info& info,
                                            const TimeResult& time,
                                            double now) {
  if (problem.baselines.empty()) {
    return {};
  }
  const FoundBaselines found = find_baselines(services.cache, info);
  if (!found.table) {
    return {};
  }
  const std::string seed = util::sha256_hex(find_seed(services, problem).text);
  return shown_baselines(*found.table, problem, seed, time, now);
}

}  // namespace sweep::evaluate
