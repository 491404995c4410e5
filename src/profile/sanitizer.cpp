#include "profile/sanitizer.h"

#include "profile/replay.h"
#include "profile/turn.h"
#include "profile/watched.h"
#include "util/text.h"

#include <array>

#include <fmt/format.h>

namespace sweep::profile {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostOutput = std::size_t{1} << 20U;

struct Checker {
  const char* name;
  std::vector<std::string> options;
};

std::vector<Checker> checkers() {
  // Padding: an overrun of one buffer must not end in the next one.
  return {{"memcheck", {"--padding", "4096"}},
          {"racecheck", {"--racecheck-report", "analysis"}},
          {"synccheck", {}},
          {"initcheck", {}}};
}

std::vector<std::string> arguments_of(const Checker& checker, const Watched& watched) {
  std::vector<std::string> all = {"--tool", checker.name};
  all.insert(all.end(), checker.options.begin(), checker.options.end());
  // Frames of our own host code tell nothing, and neither do our own calls of the driver.
  for (const char* option :
       {"--show-backtrace", "no", "--report-api-errors", "no", "--print-limit", "64"}) {
    all.emplace_back(option);
  }
  const std::vector<std::string> target = watched.target();
  all.insert(all.end(), target.begin(), target.end());
  return all;
}

std::string last_line(std::string_view text) {
  text = util::trim(text);
  const std::size_t begin = text.rfind('\n');
  constexpr std::size_t kMost = 200;
  return util::printable(
      text.substr(begin == std::string_view::npos ? 0 : begin + 1).substr(0, kMost));
}

}  // namespace

Result<SanitizerLog> judge_run(const std::string& checker,
                               const util::Captured& run,
                               const Result<Replayed>& replayed) {
  if (run.status.timed_out) {
    return Unavailable{checker + " " + run.status.text(),
                       "a kernel whose blocks wait for each other may hang under it"};
  }
  SanitizerLog log = parse_sanitizer(run.out + "\n" + run.err);
  const auto* lost = std::get_if<Unavailable>(&replayed);
  if (lost == nullptr && log.reported >= 0) {
    const auto& result = std::get<Replayed>(replayed);
    if (result.fault && log.findings.empty()) {
      log.notes.push_back("the replay ended in: " + util::printable(*result.fault));
    }
    return log;
  }
  // Findings count even where the tool ended the program.
  if (!log.findings.empty()) {
    return log;
  }
  const std::string said = !log.notes.empty() ? log.notes.front()
                           : lost != nullptr && run.status.ok()
                               ? lost->text()
                               : last_line(run.err.empty() ? run.out : run.err);
  const bool device = said.find("Device not supported") != std::string::npos;
  return Unavailable{
      checker + " did not work (" + run.status.text() + ")" + (said.empty() ? "" : ": " + said),
      device ? "this driver or virtual machine does not let tools instrument kernels"
             : "run it by hand to see more; the toolkit may be older than the driver"};
}

Result<SanitizerReport> sanitize(const evaluate::EvaluationRequest& request,
                                 const evaluate::Services& services,
                                 const evaluate::Evaluation& evaluation,
                                 const Subject& subject,
                                 const Wanted& wanted) {
  if (auto refused = refusal(request, evaluation, "compute-sanitizer")) {
    return *refused;
  }
  if (subject.uncompiled) {
    return *subject.uncompiled;
  }
  const Result<fs::path> tool = find_tool(Tool::compute_sanitizer, wanted.search);
  if (const auto* missing = std::get_if<Unavailable>(&tool)) {
    return *missing;
  }
  const std::vector<VisibleShape> shapes = visible_shapes(subject.problem, request);
  const VisibleShape& shape = smallest(shapes);
  SanitizerReport report;
  report.tool = std::get<fs::path>(tool).string();
  report.shape = shape.place.name;
  const Watched watched(request, services, subject, shape);
  const util::FileLock turn = take_turn(services, evaluation.device_info, shape);
  for (const Checker& checker : checkers()) {
    const util::Captured run = watched.run(std::get<fs::path>(tool),
                                           arguments_of(checker, watched),
                                           wanted.checker_seconds,
                                           kMostOutput);
    report.checkers.push_back({checker.name,
                               judge_run(checker.name, run, read_replayed(watched.folder())),
                               util::to_valid_utf8(run.out + run.err)});
  }
  return report;
}

}  // namespace sweep::profile
