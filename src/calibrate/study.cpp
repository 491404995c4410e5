#include "calibrate/study.h"

#include "evaluate/json_fields.h"
#include "evaluate/verdict.h"
#include "stats/stats.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"
#include "wire/channel.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <utility>

#include <fmt/format.h>

namespace sweep::calibrate {
namespace {

using nlohmann::json;
using wire::field;

constexpr std::size_t kMaxFile = std::size_t{64} << 20U;
constexpr std::int64_t kSchema = 1;
constexpr double kApart = 0.01;

// `info` null: of any device.
StudyLine line_from(const json& body, const device::Info* info) {
  if (field<std::int64_t>(body, "schema") != kSchema ||
      (info != nullptr && (field<std::string>(body, "gpu") != info->uuid ||
                           field<std::string>(body, "driver") != info->driver))) {
    evaluate::broken("of another device");
  }
  StudyLine line;
  line.number = field<std::uint64_t>(body, "session");
  line.control = field<bool>(body, "control");
  line.verdict = field<std::string>(body, "verdict");
  for (const json& band : evaluate::list_in(body, "bands")) {
    line.bands.push_back(session_from_json(band));
  }
  return line;
}

}  // namespace

std::vector<BandSession> Study::of(std::string_view band, bool control) const {
  std::vector<BandSession> found;
  for (const StudyLine& line : lines) {
    for (const BandSession& session : line.bands) {
      if (line.control == control && session.band == band) {
        found.push_back(session);
      }
    }
  }
  return found;
}

std::uint64_t Study::next_number() const {
  std::uint64_t next = 1;
  for (const StudyLine& line : lines) {
    next = std::max(next, line.number + 1);
  }
  return next;
}

namespace {

std::string device_of(const json& body) {
  return fmt::format("{} {}, driver {}",
                     field<std::string>(body, "device"),
                     field<std::string>(body, "gpu"),
                     field<std::string>(body, "driver"));
}

Study read_lines(const std::filesystem::path& file, const device::Info* info) {
  Study study;
  const std::string text = util::read_file(file, kMaxFile);
  for (const std::string_view line : util::split(text, '\n')) {
    if (line.empty()) {
      continue;
    }
    try {
      const json body = wire::parse_object(std::string(line), file.string());
      StudyLine read = line_from(body, info);
      study.devices.insert(device_of(body));
      study.lines.push_back(std::move(read));
    } catch (const util::Error&) {
      ++study.broken;
    } catch (const json::exception&) {
      ++study.broken;
    }
  }
  return study;
}

}  // namespace

Study read_study(const std::filesystem::path& file, const device::Info& info) {
  std::error_code error;
  return std::filesystem::exists(file, error) ? read_lines(file, &info) : Study{};
}

Study read_study_of_all(const std::filesystem::path& file) {
  return read_lines(file, nullptr);
}

void append_study(const std::filesystem::path& file,
                  const device::Info& info,
                  const std::string& version,
                  const StudyLine& line,
                  double wall) {
  json bands = json::array();
  for (const BandSession& session : line.bands) {
    bands.push_back(to_json(session));
  }
  const json body = {{"schema", kSchema},
                     {"gpu", info.uuid},
                     {"device", info.name},
                     {"driver", info.driver},
                     {"version", version},
                     {"made", util::iso_time(wall)},
                     {"session", line.number},
                     {"control", line.control},
                     {"verdict", line.verdict},
                     {"bands", std::move(bands)}};
  // A line that a run left torn must not take this one with it.
  std::ifstream end(file, std::ios::ate | std::ios::binary);
  char last = '\n';
  if (end && end.tellg() > 0) {
    end.seekg(-1, std::ios::end);
    end.get(last);
  }
  util::append_durable(file, (last == '\n' ? "" : "\n") + body.dump() + "\n");
}

namespace {

bool has_verdict(const BandSession& session, evaluate::Verdict verdict) {
  return session.verdict == evaluate::name(verdict);
}

StudyRow row_of(const Band& band, const Study& study) {
  StudyRow row;
  row.band = band.name;
  std::vector<double> seconds, widths;
  for (const BandSession& session : study.of(band.name, false)) {
    ++row.sessions;
    seconds.push_back(session.seconds);
    widths.push_back((std::log(session.ratio.high) - std::log(session.ratio.low)) / 2);
    row.excludes_one += session.ratio.low > 1 || session.ratio.high < 1 ? 1 : 0;
    row.faster_or_slower += has_verdict(session, evaluate::Verdict::pass_faster) ||
                                    has_verdict(session, evaluate::Verdict::pass_slower)
                                ? 1
                                : 0;
    if (session.usual) {
      ++row.usual;
      row.usual_differs += session.usual->differs ? 1 : 0;
      row.usual_apart += std::abs(std::log(session.usual->ratio)) > kApart ? 1 : 0;
    }
  }
  for (const BandSession& session : study.of(band.name, true)) {
    ++row.controls;
    row.controls_found += has_verdict(session, evaluate::Verdict::pass_slower) ? 1 : 0;
  }
  if (row.sessions > 0) {
    row.seconds = stats::median(seconds);
    row.half_width = stats::median(widths);
    row.half_width_q95 = stats::quantile(widths, 0.95);
  }
  return row;
}

}  // namespace

std::vector<StudyRow> rows_of(const Study& study) {
  std::vector<StudyRow> rows;
  for (const Band& band : kBands) {
    StudyRow row = row_of(band, study);
    if (row.sessions > 0 || row.controls > 0) {
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace sweep::calibrate
