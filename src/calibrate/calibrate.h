#pragma once

#include "calibrate/study.h"
#include "evaluate/calibration.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace sweep::calibrate {

struct Options {
  device::Id device;
  std::filesystem::path program;  // binary with the roles
  std::filesystem::path cache;    // empty: the compiler's default
  std::filesystem::path locks;    // empty: the default
  std::vector<Band> bands;
  int sessions = 5;  // of each band, with those of `append`
  int controls = 1;  // of copies that are 3% slower, with those of `append`
  int replicates = 5;
  bool pilot = false;   // sessions of one band each, as `sweep eval --full` has them
  double seconds = 50;  // after which no further session begins; each band gets one at least
  bool ceilings = true;
  bool usual = false;  // beside each session the usual method
  bool allow_unsandboxed = false;
  std::filesystem::path append;  // sessions are added to this file; empty: none
  std::filesystem::path raw;     // folder for every session's result with its samples; empty: none
  std::string version;           // of this program
};

struct Outcome {
  evaluate::Calibration calibration;
  Study study;                 // all sessions, those of `append` included
  std::filesystem::path file;  // where the calibration was stored; empty: it was not (pilot)
};

// Measures, stores the calibration in the cache (but for Options::pilot) and returns it; what this
// run leaves out is kept from the one that was there. `say` gets a line at each step. The device is
// taken alone while it is measured. Throws what its parts throw, and util::UsageError
// "E_CALIBRATE_BANDS" where the device reaches none of the bands.
[[nodiscard]] Outcome calibrate(const Options& options,
                                const std::function<void(const std::string&)>& say);

}  // namespace sweep::calibrate
