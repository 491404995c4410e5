#include "profile/ncu.h"

#include "profile/previous.h"
#include "profile/replay.h"
#include "profile/turn.h"
#include "profile/watched.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"

namespace sweep::profile {
namespace {

namespace fs = std::filesystem;

constexpr double kImportSeconds = 60;
constexpr std::size_t kMostLog = std::size_t{1} << 20U;
constexpr std::size_t kMostPage = std::size_t{32} << 20U;
constexpr std::size_t kMostReport = std::size_t{256} << 20U;
constexpr const char* kReport = "profile.ncu-rep";

// `full` is a word that every version knows; single metrics have other names from one to the next.
std::vector<std::string> collect_arguments(const Watched& watched) {
  std::vector<std::string> all = {"--set",
                                  "full",
                                  "--clock-control",
                                  "none",
                                  "--launch-count",
                                  std::to_string(kMostProfiled),
                                  "--force-overwrite",
                                  "--export",
                                  kReport};
  const std::vector<std::string> target = watched.target();
  all.insert(all.end(), target.begin(), target.end());
  return all;
}

// The same report's count of each instruction.
Result<ExecutedOpcodes> executed_opcodes(const Watched& watched, const std::string& tool) {
  const util::Captured page =
      watched.run(tool,
                  {"--import", kReport, "--csv", "--page", "source", "--print-source", "sass"},
                  kImportSeconds,
                  kMostPage);
  if (!page.status.ok() || page.out_bytes > kMostPage) {
    return Unavailable{"ncu's source page could not be had: " +
                           (page.status.ok() ? "it is too long" : page.status.text()),
                       ""};
  }
  return parse_ncu_source(page.out);
}

Unavailable failed(const util::Captured& run, const Result<Replayed>& replayed) {
  if (run.status.timed_out) {
    return {"ncu " + run.status.text(),
            "a kernel whose blocks wait for another launch hangs under it"};
  }
  if (auto error = ncu_error(run.out + "\n" + run.err)) {
    return *error;
  }
  const auto* lost = std::get_if<Unavailable>(&replayed);
  const std::string why = lost != nullptr                      ? lost->text()
                          : std::get<Replayed>(replayed).fault ? *std::get<Replayed>(replayed).fault
                                                               : "it wrote no report";
  return {"ncu ended with " + run.status.text() + ": " + util::printable(why),
          "see whether the kernel runs without it: sweep eval --only check"};
}

}  // namespace

Result<NcuReport> profile(const evaluate::EvaluationRequest& request,
                          const evaluate::Services& services,
                          const evaluate::Evaluation& evaluation,
                          const Subject& subject,
                          const Wanted& wanted) {
  if (auto refused = refusal(request, evaluation, "ncu")) {
    return *refused;
  }
  if (subject.uncompiled) {
    return *subject.uncompiled;
  }
  const Result<fs::path> tool = find_tool(Tool::ncu, wanted.search);
  if (const auto* missing = std::get_if<Unavailable>(&tool)) {
    return *missing;
  }
  const std::vector<VisibleShape> shapes = visible_shapes(subject.problem, request);
  const VisibleShape& shape = largest(shapes);
  NcuReport report;
  report.tool = std::get<fs::path>(tool).string();
  report.shape = shape.place.name;
  const Watched watched(request, services, subject, shape);
  {
    const util::FileLock turn = take_turn(services, evaluation.device_info, shape);
    const util::Captured run =
        watched.run(report.tool, collect_arguments(watched), wanted.profile_seconds, kMostLog);
    const Result<Replayed> replayed = read_replayed(watched.folder());
    std::error_code error;
    if (run.status.timed_out || !fs::is_regular_file(watched.folder() / kReport, error)) {
      return failed(run, replayed);
    }
    if (const auto* done = std::get_if<Replayed>(&replayed)) {
      report.launches = done->launches;
    }
    report.log = util::to_valid_utf8(run.out + run.err);
  }
  const util::Captured page =
      watched.run(report.tool,
                  {"--import", kReport, "--csv", "--page", "raw", "--print-units", "base"},
                  kImportSeconds,
                  kMostPage);
  if (page.out_bytes > kMostPage) {
    return Unavailable{"ncu's table is larger than " + util::human_bytes(kMostPage),
                       "profile a plan with fewer launches"};
  }
  Result<std::vector<KernelProfile>> kernels = parse_ncu_page(page.out);
  if (auto* missing = std::get_if<Unavailable>(&kernels)) {
    return page.status.ok() ? std::move(*missing) : failed(page, Replayed{});
  }
  report.kernels = std::get<0>(std::move(kernels));
  report.executed = executed_opcodes(watched, report.tool);
  report.report = util::read_file(watched.folder() / kReport, kMostReport, util::Links::refuse);
  if (wanted.compare) {
    compare_with_previous(services, request, evaluation.device_info, report);
  }
  return report;
}

}  // namespace sweep::profile
