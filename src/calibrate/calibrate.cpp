#include "calibrate/calibrate.h"

#include "calibrate/ceilings.h"
#include "calibrate/sessions.h"
#include "device/describe.h"
#include "evaluate/evaluation_json.h"
#include "evaluate/session.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>

#include <fmt/format.h>

namespace sweep::calibrate {
namespace {

constexpr double kPlanted = 0.03;
// Bands in which a planted slowdown is looked for; shorter ones are mostly launch.
constexpr double kPlantedFrom = 20e-6, kPlantedTo = 200e-6;

class Calibrator {
 public:
  Calibrator(const Options& options, const std::function<void(const std::string&)>& say)
      : options_(options), say_(say), compiler_(compile_options()) {}

  Outcome run() {
    begin_ = clock_.monotonic();
    info_ = device::describe(options_.device);
    target_ = {options_.device.kind, info_.arch};
    if (!options_.append.empty()) {
      outcome_.study = read_study(options_.append, info_);
    }
    make_places();
    compile();
    prepare();
    for (const Kind kind : {Kind::copy, Kind::gemm}) {
      time(kind);
    }
    rig_.reset();
    plant();
    return finish();
  }

 private:
  // What cannot be written shall not be found out after minutes.
  void make_places() const {
    const auto refuse = [](const std::filesystem::path& path, const char* what) {
      throw util::UsageError({path.string(), what, "give another path"}, "E_CALIBRATE_PATH");
    };
    std::error_code error;
    if (!options_.raw.empty() && std::filesystem::exists(options_.raw, error) &&
        !std::filesystem::is_directory(options_.raw, error)) {
      refuse(options_.raw, "is no folder");
    }
    if (!options_.raw.empty()) {
      util::make_folders(options_.raw);
    }
    if (!options_.append.empty() && !std::ofstream(options_.append, std::ios::app)) {
      refuse(options_.append, "cannot be written");
    }
    if (!options_.pilot) {
      util::make_folders(evaluate::calibration_file(options_.cache, info_).parent_path());
    }
  }

  [[nodiscard]] compile::Options compile_options() const {
    compile::Options made;
    made.cache = options_.cache;
    made.allow_unsandboxed = options_.allow_unsandboxed;
    made.program = options_.program;
    return made;
  }

  [[nodiscard]] bool cuda() const { return options_.device.kind == device::Kind::cuda; }

  [[nodiscard]] bool wants(Kind kind) const {
    return std::ranges::any_of(options_.bands, [kind](const Band& b) { return b.kind == kind; });
  }

  void absent(const std::string& name, const std::string& reason) {
    outcome_.calibration.absent.emplace_back(name, reason);
    say_(name + ": " + reason);
  }

  void compile() {
    say_("compiling");
    harness_ = evaluate::harness_images(compiler_, target_);
    copies_ = material(Kind::copy, compiler_, target_);
    if (!wants(Kind::gemm)) {
      return;
    }
    if (info_.arch == "sm_90a") {
      gemms_ = material(Kind::gemm, compiler_, target_);
    } else {
      absent("gemm", "the built-in kernel is for sm_90a, this device is " + info_.arch);
    }
  }

  // Nobody else on the device while this lives.
  [[nodiscard]] util::FileLock alone() const {
    evaluate::SessionOptions options;
    options.arm.device = options_.device;
    options.locks = options_.locks;
    return evaluate::lock_device(options, info_, util::LockMode::exclusive, 0);
  }

  const Material* material_of(Kind kind) const {
    const std::optional<Material>& made = kind == Kind::copy ? copies_ : gemms_;
    return made ? &*made : nullptr;
  }

  void prepare() {
    const util::FileLock lock = alone();
    rig_.emplace(options_.device, harness_);
    for (const Band& band : options_.bands) {
      const Material* with = material_of(band.kind);
      const auto sized = with != nullptr ? size_band(*rig_, *with, band) : std::nullopt;
      if (sized) {
        sized_.push_back(*sized);
        say_(fmt::format(
            "{}: {} rows take {}", band.name, sized->rows, util::human_seconds(sized->seconds)));
      } else if (with != nullptr) {
        absent(std::string(band.name), "no call of about this length on this device");
      }
    }
    if (sized_.empty()) {
      throw util::UsageError({device::text(options_.device),
                              "reaches none of the bands",
                              "name longer ones with --band"},
                             "E_CALIBRATE_BANDS");
    }
    if (!cuda()) {
      absent("ceilings, hostile neighbour", "do not apply to the cpu device");
    } else if (options_.ceilings) {
      measure();
    }
    if (!options_.usual) {
      rig_.reset();
    }
  }

  void measure() {
    const device::Image kernels = ceiling_kernels(compiler_, target_);
    outcome_.calibration.figures = measure_ceilings(*rig_, kernels);
    for (const evaluate::Figure& figure : outcome_.calibration.figures) {
      say_(fmt::format("{}: {:.4g} {}", figure.name, figure.value, figure.unit));
    }
    const auto found = std::ranges::find_if(sized_, [](const SizedBand& sized) {
      return sized.band.kind == Kind::copy && sized.band.seconds >= 20e-6;
    });
    if (found != sized_.end()) {
      outcome_.calibration.controls.push_back(
          hostile_neighbour(*rig_, kernels, *copies_, found->rows));
    }
  }

  // Bands of a kind that lack sessions.
  [[nodiscard]] std::vector<SizedBand> open_bands(Kind kind) const {
    std::vector<SizedBand> open;
    for (const SizedBand& sized : sized_) {
      if (sized.band.kind == kind &&
          static_cast<int>(outcome_.study.of(sized.band.name, false).size()) < options_.sessions) {
        open.push_back(sized);
      }
    }
    return open;
  }

  // Of the next session: with a pilot the band alone that has the fewest, as the pilot chooses
  // replicates for all of a session's bands together.
  [[nodiscard]] std::vector<SizedBand> next_bands(Kind kind) const {
    std::vector<SizedBand> open = open_bands(kind);
    if (options_.pilot && !open.empty()) {
      const auto count = [this](const SizedBand& sized) {
        return outcome_.study.of(sized.band.name, false).size();
      };
      return {*std::ranges::min_element(open, {}, count)};
    }
    return open;
  }

  [[nodiscard]] Sessions::Setup setup() const {
    return {options_.program,
            options_.locks,
            options_.device,
            options_.allow_unsandboxed,
            options_.replicates,
            0,
            options_.pilot};
  }

  // Whether `share` of the time is over.
  [[nodiscard]] bool late(double share) const {
    return clock_now() - begin_ > share * options_.seconds;
  }

  [[nodiscard]] double clock_now() const { return clock_.monotonic(); }

  void record(StudyLine line) {
    if (!options_.append.empty()) {
      append_study(options_.append, info_, options_.version, line, clock_.wall());
    }
    outcome_.study.lines.push_back(std::move(line));
  }

  // RAW/session-N.json: the time stage as an evaluation would store it.
  void keep_raw(const evaluate::TimeResult& time, std::uint64_t number) const {
    if (!options_.raw.empty()) {
      util::make_folders(options_.raw);
      util::write_file_atomic(options_.raw / fmt::format("session-{}.json", number),
                              evaluate::to_json(time).dump() + "\n");
    }
  }

  static StudyLine line_of(const evaluate::TimeResult& time,
                           const std::vector<SizedBand>& bands,
                           std::uint64_t number,
                           bool control) {
    StudyLine line{number, control, "", {}};
    line.verdict = time.decision ? evaluate::name(*time.decision) : "none";
    for (std::size_t i = 0; i < bands.size(); ++i) {
      line.bands.push_back(band_session(time, i, bands[i].band));
    }
    return line;
  }

  static std::string text_of(const StudyLine& line) {
    std::string text = fmt::format("session {}:", line.number);
    for (const BandSession& session : line.bands) {
      text += fmt::format("  {} {:.4f} [{:.4f}, {:.4f}]",
                          session.band,
                          session.ratio.point,
                          session.ratio.low,
                          session.ratio.high);
    }
    return text + "  " + line.verdict;
  }

  void time(Kind kind) {
    std::vector<SizedBand> bands = next_bands(kind);
    const Material* with = material_of(kind);
    if (bands.empty() || with == nullptr) {
      return;
    }
    // What is left is for the kinds after it and for the planted slowdown.
    const double share = kind == Kind::gemm ? 0.8 : material_of(Kind::gemm) != nullptr ? 0.5 : 0.8;
    Sessions sessions(setup(), *with, with->seed, harness_);
    for (bool first = true; !bands.empty() && (first || !late(share)); first = false) {
      const std::uint64_t number = outcome_.study.next_number();
      const evaluate::TimeResult result = sessions.run(bands, number);
      keep_raw(result, number);
      StudyLine line = line_of(result, bands, number, false);
      if (rig_) {
        const util::FileLock lock = alone();
        for (std::size_t i = 0; i < bands.size(); ++i) {
          line.bands[i].usual = usual_method(*rig_, *with, bands[i]);
        }
      }
      say_(text_of(line));
      record(std::move(line));
      bands = next_bands(kind);
    }
  }

  // Copies that are 3% slower than the seed.
  void plant() {
    std::vector<SizedBand> bands;
    std::vector<std::int64_t> extra;
    double empty = 0;
    for (const evaluate::Figure& figure : outcome_.calibration.figures) {
      empty = figure.unit == "s" ? figure.value : empty;
    }
    for (const SizedBand& sized : sized_) {
      if (sized.band.kind == Kind::copy && sized.seconds >= kPlantedFrom &&
          sized.seconds <= kPlantedTo) {
        bands.push_back(sized);
        // What an empty kernel takes does not grow with the rows.
        const double share = kPlanted * sized.seconds / std::max(sized.seconds - empty, 1e-7);
        extra.push_back(static_cast<std::int64_t>(share * static_cast<double>(sized.rows)));
      }
    }
    if (bands.empty() || options_.controls == 0) {
      return;
    }
    std::optional<Sessions> sessions;
    bool first = true;
    while (static_cast<int>(outcome_.study.of(bands.front().band.name, true).size()) <
               options_.controls &&
           (first || !late(1))) {
      if (!sessions) {
        sessions.emplace(setup(), *copies_, *copies_->slower, harness_);
      }
      first = false;
      const std::uint64_t number = outcome_.study.next_number();
      const evaluate::TimeResult result = sessions->run(bands, number, extra);
      keep_raw(result, number);
      StudyLine line = line_of(result, bands, number, true);
      say_("3% slower, " + text_of(line));
      record(std::move(line));
    }
    for (const SizedBand& sized : bands) {
      add_control(sized.band);
    }
  }

  void add_control(const Band& band) {
    const std::vector<BandSession> found = outcome_.study.of(band.name, true);
    if (found.empty()) {
      return;
    }
    const auto slower = std::ranges::count(
        found, std::string(evaluate::name(evaluate::Verdict::pass_slower)), &BandSession::verdict);
    outcome_.calibration.controls.push_back(
        {fmt::format("3% slower, {}", band.name),
         slower == static_cast<std::ptrdiff_t>(found.size()),
         found.back().ratio,
         fmt::format("SLOWER in {} of {} sessions; the last one's ratio", slower, found.size())});
  }

  // What this run did not measure stays as it was on this device and driver.
  void keep_earlier(evaluate::Calibration& made) const {
    const evaluate::FoundCalibration found = evaluate::find_calibration(options_.cache, info_);
    if (!found.calibration) {
      return;
    }
    for (const evaluate::CalibratedBand& band : found.calibration->bands) {
      if (std::ranges::find(made.bands, band.name, &evaluate::CalibratedBand::name) ==
          made.bands.end()) {
        made.bands.push_back(band);
      }
    }
    if (made.figures.empty()) {
      made.figures = found.calibration->figures;
    }
    for (const evaluate::ControlResult& control : found.calibration->controls) {
      if (std::ranges::find(made.controls, control.name, &evaluate::ControlResult::name) ==
          made.controls.end()) {
        made.controls.push_back(control);
      }
    }
  }

  Outcome finish() {
    // The noise floor is that of an evaluation without a pilot, which has fewer replicates.
    if (options_.pilot) {
      return std::move(outcome_);
    }
    evaluate::Calibration& made = outcome_.calibration;
    made.made = clock_.wall();
    made.version = options_.version;
    made.device = info_;
    for (const Band& band : kBands) {
      const std::vector<BandSession> sessions = outcome_.study.of(band.name, false);
      if (!sessions.empty()) {
        made.bands.push_back(summarise(band, sessions));
      }
    }
    keep_earlier(made);
    evaluate::store_calibration(options_.cache, made);
    outcome_.file = evaluate::calibration_file(options_.cache, info_);
    return std::move(outcome_);
  }

  const Options& options_;
  const std::function<void(const std::string&)>& say_;
  compile::Compiler compiler_;
  mutable util::RealClock clock_;
  double begin_ = 0;
  device::Info info_;
  compile::Target target_;
  evaluate::HarnessImages harness_;
  std::optional<Material> copies_, gemms_;
  std::optional<Rig> rig_;  // ends before what it was loaded from
  std::vector<SizedBand> sized_;
  Outcome outcome_;
};

}  // namespace

Outcome calibrate(const Options& options, const std::function<void(const std::string&)>& say) {
  return Calibrator(options, say).run();
}

}  // namespace sweep::calibrate
