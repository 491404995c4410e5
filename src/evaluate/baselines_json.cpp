#include "device/info_json.h"
#include "evaluate/baselines.h"
#include "evaluate/json_fields.h"
#include "util/text.h"
#include "wire/channel.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace sweep::evaluate {
namespace {

using nlohmann::json;
using wire::field;

constexpr std::int64_t kBaselineSchema = 1;
constexpr std::size_t kMostBaselines = 10000;
constexpr std::size_t kMostBaselineShapes = 100;

const json& short_list(const json& body, const char* key, std::size_t most) {
  const json& list = list_in(body, key);
  if (list.size() > most) {
    broken(std::string(key) + ": more than " + std::to_string(most) + " entries");
  }
  return list;
}

json ratio_to_json(const Interval& ratio) {
  return {{"low", number(ratio.low)}, {"point", number(ratio.point)}, {"high", number(ratio.high)}};
}

Interval ratio_from(const json& body) {
  const json& part = body.at("ratio");
  return {number_from(part, "low"), number_from(part, "point"), number_from(part, "high")};
}

double time_from(const json& body, const char* key) {
  const auto value = field<double>(body, key);
  if (!(value > 0) || !std::isfinite(value)) {
    broken(std::string(key) + " is not a time");
  }
  return value;
}

json entry_to_json(const RecordedBaseline& entry) {
  json shapes = json::array();
  for (const BaselineShape& shape : entry.shapes) {
    shapes.push_back({{"shape", shape.shape},
                      {"dims", dims_to_json(shape.dims)},
                      {"seed_seconds", shape.seed_seconds},
                      {"seconds", shape.seconds},
                      {"ratio", ratio_to_json(shape.ratio)}});
  }
  return {{"problem", entry.problem},
          {"problem_sha256", entry.problem_sha256},
          {"seed_sha256", entry.seed_sha256},
          {"name", util::to_valid_utf8(entry.name)},
          {"library", entry.library},
          {"path", util::to_valid_utf8(entry.path)},
          {"math", entry.math},
          {"failure", util::to_valid_utf8(entry.failure)},
          {"made", entry.made},
          {"ratio", ratio_to_json(entry.ratio)},
          {"shapes", std::move(shapes)},
          {"conditions", device::to_json(entry.conditions)},
          {"verdict", entry.verdict}};
}

RecordedBaseline entry_from(const json& body) {
  RecordedBaseline entry;
  entry.problem = field<std::string>(body, "problem");
  entry.problem_sha256 = field<std::string>(body, "problem_sha256");
  entry.seed_sha256 = field<std::string>(body, "seed_sha256");
  entry.name = field<std::string>(body, "name");
  entry.library = field<std::string>(body, "library");
  entry.path = field<std::string>(body, "path");
  entry.math = field<std::string>(body, "math");
  entry.failure = field<std::string>(body, "failure");
  entry.made = field<double>(body, "made");
  entry.ratio = ratio_from(body);
  for (const json& shape : short_list(body, "shapes", kMostBaselineShapes)) {
    entry.shapes.push_back({field<std::string>(shape, "shape"),
                            dims_from(shape, "dims"),
                            time_from(shape, "seed_seconds"),
                            time_from(shape, "seconds"),
                            ratio_from(shape)});
  }
  entry.conditions = device::conditions_from_json(body.at("conditions"));
  entry.verdict = field<std::string>(body, "verdict");
  return entry;
}

}  // namespace

json to_json(const BaselineTable& table) {
  json entries = json::array();
  for (const RecordedBaseline& entry : table.entries) {
    entries.push_back(entry_to_json(entry));
  }
  return {{"schema", kBaselineSchema},
          {"id", table.id},
          {"version", table.version},
          {"device", device::to_json(table.device)},
          {"entries", std::move(entries)}};
}

BaselineTable baselines_from_json(const json& body) {
  if (field<std::int64_t>(body, "schema") != kBaselineSchema) {
    broken("not a table of baselines of schema 1");
  }
  try {
    BaselineTable table;
    table.id = field<std::string>(body, "id");
    table.version = field<std::string>(body, "version");
    table.device = device::info_from_json(body.at("device"));
    for (const json& entry : short_list(body, "entries", kMostBaselines)) {
      table.entries.push_back(entry_from(entry));
    }
    return table;
  } catch (const json::exception& error) {
    broken(error.what());
  }
}

json to_json(const std::vector<ShownBaseline>& baselines) {
  json list = json::array();
  for (const ShownBaseline& shown : baselines) {
    const bool known = shown.reason.empty();
    list.push_back({{"name", util::to_valid_utf8(shown.name)},
                    {"library", shown.library},
                    {"math", shown.math},
                    {"age_seconds", shown.age_seconds},
                    {"ratio", known ? number(shown.ratio) : json(nullptr)},
                    {"candidate", known ? number(shown.candidate) : json(nullptr)},
                    {"shapes", shown.shapes},
                    {"reason", util::to_valid_utf8(shown.reason)}});
  }
  return list;
}

std::vector<ShownBaseline> shown_from_json(const json& list) {
  if (!list.is_array() || list.size() > kMostBaselines) {
    broken("baselines are not a list");
  }
  std::vector<ShownBaseline> baselines;
  for (const json& item : list) {
    ShownBaseline shown;
    shown.name = field<std::string>(item, "name");
    shown.library = field<std::string>(item, "library");
    shown.math = field<std::string>(item, "math");
    shown.age_seconds = field<double>(item, "age_seconds");
    shown.reason = field<std::string>(item, "reason");
    shown.shapes = int_from(item, "shapes");
    if (shown.reason.empty()) {
      shown.ratio = number_from(item, "ratio");
      shown.candidate = number_from(item, "candidate");
    }
    baselines.push_back(std::move(shown));
  }
  return baselines;
}

}  // namespace sweep::evaluate
