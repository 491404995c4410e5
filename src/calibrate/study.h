#pragma once

#include "calibrate/bands.h"

#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

// Sessions of one device over many short runs, in a file of JSON lines.
namespace sweep::calibrate {

// One line. `control`: the kernel was the copy that is 3% slower.
struct StudyLine {
  std::uint64_t number = 0;
  bool control = false;
  std::string verdict;  // of the whole session, guards included
  std::vector<BandSession> bands;
};

struct Study {
  std::vector<StudyLine> lines;
  int broken = 0;  // lines that could not be read, or are of another device or driver
  std::set<std::string> devices;  // of the lines: "NVIDIA H200 GPU-35e2.., driver 580.159.04"

  // Sessions of a band.
  [[nodiscard]] std::vector<BandSession> of(std::string_view band, bool control) const;

  // Above every number in use.
  [[nodiscard]] std::uint64_t next_number() const;
};

// At most 64 MiB are read; no file: no lines. What cannot be read is counted and left.
[[nodiscard]] Study read_study(const std::filesystem::path& file, const device::Info& info);

// The same of all devices, for a table: no device is needed. Throws util::Error where the file
// cannot be read.
[[nodiscard]] Study read_study_of_all(const std::filesystem::path& file);

// Appends the line and syncs it.
void append_study(const std::filesystem::path& file,
                  const device::Info& info,
                  const std::string& version,
                  const StudyLine& line,
                  double wall);

// A row of the study's table.
struct StudyRow {
  std::string band;
  double seconds = 0;  // median call
  int sessions = 0;
  int excludes_one = 0;      // intervals without 1
  int faster_or_slower = 0;  // verdicts
  double half_width = 0;     // median over the sessions, relative
  double half_width_q95 = 0;
  int usual = 0, usual_differs = 0, usual_apart = 0;  // apart: over 1%
  int controls = 0, controls_found = 0;               // 3% slower: SLOWER
};

[[nodiscard]] std::vector<StudyRow> rows_of(const Study& study);

}  // namespace sweep::calibrate
