#include "device/info_json.h"
#include "evaluate/calibration.h"
#include "evaluate/json_fields.h"
#include "wire/channel.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace sweep::evaluate {
namespace {

using nlohmann::json;
using wire::field;

constexpr std::size_t kMostEntries = 1000;
constexpr std::int64_t kSchema = 1;

const json& entries(const json& body, const char* key) {
  const json& list = list_in(body, key);
  if (list.size() > kMostEntries) {
    broken(std::string(key) + ": more than " + std::to_string(kMostEntries) + " entries");
  }
  return list;
}

// A relative width.
double width(const json& body, const char* key) {
  const auto value = field<double>(body, key);
  if (!(value >= 0 && value <= 1)) {
    broken(std::string(key) + " is not between 0 and 1");
  }
  return value;
}

double seconds_of(const json& body, const char* key) {
  const auto value = field<double>(body, key);
  if (!(value > 0) || !std::isfinite(value)) {
    broken(std::string(key) + " is not a time");
  }
  return value;
}

CalibratedBand band_from(const json& body) {
  CalibratedBand band;
  band.name = field<std::string>(body, "name");
  band.seconds = seconds_of(body, "seconds");
  band.measured_seconds = seconds_of(body, "measured_seconds");
  band.sessions = int_from(body, "sessions");
  band.half_width = width(body, "half_width");
  band.ratio_q95 = width(body, "ratio_q95");
  band.half_width_q95 = width(body, "half_width_q95");
  band.excludes_one = int_from(body, "excludes_one");
  const json& verdicts = body.at("verdicts");
  if (!verdicts.is_object() || verdicts.size() > kMostEntries) {
    broken("verdicts are not counts by name");
  }
  for (const auto& [name, count] : verdicts.items()) {
    band.verdicts[name] = int_from(verdicts, name.c_str());
  }
  return band;
}

ControlResult control_from(const json& body) {
  return {field<std::string>(body, "name"),
          field<bool>(body, "passed"),
          {number_from(body, "low"), number_from(body, "point"), number_from(body, "high")},
          field<std::string>(body, "text")};
}

}  // namespace

json to_json(const Calibration& calibration) {
  json bands = json::array(), figures = json::array(), controls = json::array(),
       absent = json::array();
  for (const CalibratedBand& band : calibration.bands) {
    bands.push_back({{"name", band.name},
                     {"seconds", band.seconds},
                     {"measured_seconds", band.measured_seconds},
                     {"sessions", band.sessions},
                     {"half_width", band.half_width},
                     {"ratio_q95", band.ratio_q95},
                     {"half_width_q95", band.half_width_q95},
                     {"excludes_one", band.excludes_one},
                     {"verdicts", band.verdicts}});
  }
  for (const Figure& figure : calibration.figures) {
    figures.push_back({{"name", figure.name},
                       {"value", figure.value},
                       {"unit", figure.unit},
                       {"note", figure.note}});
  }
  for (const ControlResult& control : calibration.controls) {
    controls.push_back({{"name", control.name},
                        {"passed", control.passed},
                        {"low", number(control.ratio.low)},
                        {"point", number(control.ratio.point)},
                        {"high", number(control.ratio.high)},
                        {"text", control.text}});
  }
  for (const auto& [name, reason] : calibration.absent) {
    absent.push_back({{"name", name}, {"reason", reason}});
  }
  return {{"schema", kSchema},
          {"id", calibration.id},
          {"made", calibration.made},
          {"version", calibration.version},
          {"device", device::to_json(calibration.device)},
          {"bands", std::move(bands)},
          {"figures", std::move(figures)},
          {"controls", std::move(controls)},
          {"absent", std::move(absent)}};
}

Calibration calibration_from_json(const json& body) {
  if (field<std::int64_t>(body, "schema") != kSchema) {
    broken("not a calibration of schema 1");
  }
  try {
    Calibration made;
    made.id = field<std::string>(body, "id");
    made.made = field<double>(body, "made");
    made.version = field<std::string>(body, "version");
    made.device = device::info_from_json(body.at("device"));
    for (const json& band : entries(body, "bands")) {
      made.bands.push_back(band_from(band));
    }
    for (const json& figure : entries(body, "figures")) {
      made.figures.push_back({field<std::string>(figure, "name"),
                              field<double>(figure, "value"),
                              field<std::string>(figure, "unit"),
                              field<std::string>(figure, "note")});
    }
    for (const json& control : entries(body, "controls")) {
      made.controls.push_back(control_from(control));
    }
    for (const json& item : entries(body, "absent")) {
      made.absent.emplace_back(field<std::string>(item, "name"),
                               field<std::string>(item, "reason"));
    }
    return made;
  } catch (const json::exception& error) {
    broken(error.what());
  }
}

}  // namespace sweep::evaluate
