#include "cli/eval_run.h"
#include "cli/progress_line.h"
#include "cli/scan_view.h"
#include "profile/isa.h"

#include <nlohmann/json.hpp>

#include <iostream>

#include <fmt/format.h>

namespace sweep::cli {

namespace {

// The evaluations of one scan.
class Scan {
 public:
  Scan(const EvalOptions& options, const EvalTask& task, const evaluate::Services& services)
      : task_(task),
        services_(services),
        request_(to_request(options)),
        talks_(!options.global.quiet && !options.global.json),
        progress_(talks_) {
    report_.file = request_.submission.file;
    report_.parameters = task.scan;
    report_.in_file = values_in_file(task.scan, request_.submission, request_.overrides);
  }

  ScanReport run() {
    const auto all = combinations(task_.scan);
    report_.planned = all.size();
    for (const std::vector<std::int64_t>& values : all) {
      report_.variants.push_back({values, judge(values, request_.seed, position(values))});
      say(report_.variants.back());
      // What fails before anything was judged fails for all.
      if (report_.variants.size() == 1 && infra(report_.variants.front())) {
        break;
      }
    }
    rank(report_.variants);
    if (const ScanVariant& first = report_.variants.front(); eligible(first)) {
      // Another seed: the winner's luck with its draws and order must not repeat.
      report_.confirmation = judge(first.values, request_.seed + 1, "again");
      report_.requirements = examine_all(task_.requirements, *report_.confirmation);
    }
    progress_.clear();
    return std::move(report_);
  }

 private:
  static bool infra(const ScanVariant& variant) {
    return variant.evaluation.outcome() == evaluate::Outcome::infra_error;
  }

  [[nodiscard]] std::string position(const std::vector<std::int64_t>& values) const {
    return fmt::format("{}/{} {}",
                       report_.variants.size() + 1,
                       report_.planned,
                       values_text(report_.parameters, values));
  }

  evaluate::Evaluation judge(const std::vector<std::int64_t>& values,
                             std::uint64_t seed,
                             const std::string& place) {
    evaluate::EvaluationRequest request = request_;
    request.seed = seed;
    request.overrides.merge(constants_of(report_.parameters, values));
    progress_.prefix(place);
    return profile::evaluate_with_isa(
        request, services_, [this](const evaluate::ProgressEvent& event) {
          progress_.show(event);
        });
  }

  void say(const ScanVariant& variant) {
    progress_.clear();
    if (talks_) {
      std::cerr << ' ' << variant_line(report_, variant) << '\n';
    }
  }

  const EvalTask& task_;
  const evaluate::Services& services_;
  const evaluate::EvaluationRequest request_;
  bool talks_;
  ProgressLine progress_;
  ScanReport report_;
};

}  // namespace

int run_scan(const EvalOptions& options, const EvalTask& task, const evaluate::Services& services) {
  const ScanReport report = Scan(options, task, services).run();
  const Style style = Style::for_stdout();
  if (options.global.json) {
    std::cout << to_json(report).dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
              << '\n';
  } else {
    std::cout << (options.global.quiet ? scan_line(report, style)
                                       : scan_text(report, style, output_columns()))
              << requirements_text(report.requirements, style, output_columns());
  }
  return scan_exit_code(report);
}

}  // namespace sweep::cli
