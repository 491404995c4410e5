#include "calibrate/calibrate.h"
#include "calibrate/study_plot.h"
#include "cli/calibrate_view.h"
#include "cli/command.h"
#include "cli/installation.h"
#include "cli/options.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <set>

#include <fmt/format.h>

namespace sweep::cli {

namespace {

constexpr std::string_view kCpuNote =
    "for reading only: verdicts of the cpu device use no noise floor, because what else the "
    "machine "
    "does decides its noise, from minute to minute";

struct CalibrateOptions {
  std::string device = "cuda";
  std::vector<std::string> bands;
  int sessions = calibrate::Options{}.sessions;
  int controls = calibrate::Options{}.controls;
  double seconds = calibrate::Options{}.seconds;
  std::string append, raw, plot;
  bool no_ceilings = false;
  bool pilot = false;
  bool table = false;
  GlobalOptions global;
};

void declare(CLI::App& app, CalibrateOptions& o) {
  std::vector<std::string> keys;
  for (const calibrate::Band& band : calibrate::kBands) {
    keys.emplace_back(band.key);
  }
  app.add_option("--device", o.device, "cpu, cuda or cuda:N")->capture_default_str();
  app.add_option("--band",
                 o.bands,
                 "microseconds of a copy, or gemm9, gemm180 (repeatable; default: all copies)")
      ->check(CLI::IsMember(keys));
  app.add_option("--sessions", o.sessions, "of each band, with those of --append")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_option(
         "--controls", o.controls, "sessions of a kernel that is 3% slower, with those of --append")
      ->check(CLI::Range(0, 10000))
      ->capture_default_str();
  app.add_option("--seconds", o.seconds, "after which no further session begins")
      ->check(CLI::Range(1.0, 86400.0))
      ->capture_default_str();
  app.add_option("--append",
                 o.append,
                 "a study in several runs: add each session to this file of JSON lines, with the "
                 "usual method beside it");
  app.add_option("--raw", o.raw, "write each session's result with its samples into this folder");
  app.add_flag("--pilot",
               o.pilot,
               "sessions as `sweep eval --full` has them, of one band each: a pilot chooses the "
               "replicates; for a study, and no noise floor of `sweep eval`")
      ->needs("--append");
  app.add_flag("--no-ceilings", o.no_ceilings, "leave out what the device reaches");
  app.add_flag("--table",
               o.table,
               "measure nothing: print the table of --append, of whatever GPUs its sessions are")
      ->needs("--append");
  app.add_option("--plot", o.plot, "draw the sessions of --append into this SVG file")
      ->needs("--append");
  add_global_options(app, o.global);
}

calibrate::Options to_options(const CalibrateOptions& o) {
  calibrate::Options options;
  const evaluate::Services services = evaluation_services();
  options.device = device::parse_id(o.device);
  options.program = services.program;
  options.cache = services.cache;
  options.locks = services.locks;
  for (const calibrate::Band& band : calibrate::kBands) {
    const bool named = std::ranges::find(o.bands, band.key) != o.bands.end();
    if (named || (o.bands.empty() && band.kind == calibrate::Kind::copy)) {
      options.bands.push_back(band);
    }
  }
  options.sessions = o.sessions;
  options.controls = o.controls;
  options.seconds = o.seconds;
  options.ceilings = !o.no_ceilings;
  options.pilot = o.pilot;
  options.usual = !o.append.empty();
  options.append = o.append;
  options.raw = o.raw;
  options.allow_unsandboxed = o.global.allow_unsandboxed;
  options.version = SWEEP_VERSION;
  return options;
}

nlohmann::json rows_json(const std::vector<calibrate::StudyRow>& rows) {
  nlohmann::json out = nlohmann::json::array();
  for (const calibrate::StudyRow& row : rows) {
    out.push_back({{"band", row.band},
                   {"seconds", row.seconds},
                   {"sessions", row.sessions},
                   {"excludes_one", row.excludes_one},
                   {"faster_or_slower", row.faster_or_slower},
                   {"half_width", row.half_width},
                   {"half_width_q95", row.half_width_q95},
                   {"usual", row.usual},
                   {"usual_differs", row.usual_differs},
                   {"usual_apart", row.usual_apart},
                   {"controls", row.controls},
                   {"controls_found", row.controls_found}});
  }
  return out;
}

void print(const calibrate::Outcome& outcome, const CalibrateOptions& o) {
  if (!o.plot.empty()) {
    util::write_file_atomic(o.plot, calibrate::study_svg(outcome.study));
  }
  const auto rows = calibrate::rows_of(outcome.study);
  if (o.global.json) {
    std::cout << nlohmann::json{{"schema", 1},
                                {"calibration", evaluate::to_json(outcome.calibration)},
                                {"file", outcome.file.string()},
                                {"study", rows_json(rows)},
                                {"devices", outcome.study.devices},
                                {"lines_left_out", outcome.study.broken}}
                     .dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
              << '\n';
    return;
  }
  const Style style = Style::for_stdout();
  if (!o.table && !o.pilot) {
    std::cout << calibration_text(outcome.calibration, style);
  }
  if (!o.append.empty()) {
    std::cout << study_text(rows, style);
  }
  for (const std::string& device : o.table ? outcome.study.devices : std::set<std::string>{}) {
    std::cout << " on " << util::printable(device) << '\n';
  }
  if (outcome.study.broken > 0) {
    std::cout << fmt::format(" {} line{} of {} {}cannot be read\n",
                             outcome.study.broken,
                             outcome.study.broken == 1 ? "" : "s",
                             util::printable(o.append),
                             o.table ? "" : "are of another device or ");
  }
  if (!outcome.file.empty()) {
    std::cout << "\n stored in " << util::printable(outcome.file.string()) << '\n';
    if (device::parse_id(o.device).kind == device::Kind::cpu) {
      std::cout << wrapped(kCpuNote, 1, output_columns());
    }
  }
}

}  // namespace

int run_calibrate(const std::vector<std::string>& arguments) {
  CalibrateOptions o;
  CLI::App app{
      "Measures what a device reaches and how much a kernel timed against itself scatters. "
      "Evaluations on a GPU take their margin from it.",
      "sweep calibrate"};
  declare(app, o);
  parse(app, arguments);
  const calibrate::Options options = to_options(o);
  if (o.table) {
    calibrate::Outcome outcome;
    outcome.study = calibrate::read_study_of_all(o.append);
    print(outcome, o);
    return kDone;
  }
  util::RealClock clock;
  const double begin = clock.monotonic();
  const calibrate::Outcome outcome = calibrate::calibrate(options, [&](const std::string& line) {
    if (!o.global.quiet) {
      std::cerr << fmt::format("{:7.1f} s  {}\n", clock.monotonic() - begin, util::printable(line))
                << std::flush;
    }
  });
  print(outcome, o);
  // What else runs on the host's cores may hide 3% on the cpu device.
  const bool counts = options.device.kind == device::Kind::cuda;
  const auto& controls = outcome.calibration.controls;
  return !counts || std::ranges::all_of(controls, &evaluate::ControlResult::passed) ? kDone
                                                                                    : kNotCorrect;
}

}  // namespace sweep::cli
