#include "cli/command.h"
#include "cli/eval_run.h"
#include "cli/eval_view.h"
#include "cli/installation.h"
#include "cli/progress_line.h"
#include "cli/tools_view.h"
#include "profile/isa.h"
#include "util/error.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>
#include <optional>

namespace sweep::cli {

Judged judge_once(const EvalOptions& options,
                  const EvalTask& task,
                  const evaluate::Services& services) {
  const evaluate::EvaluationRequest request = to_request(options);
  std::optional<profile::DumpFolder> dump;
  if (task.wanted.dump) {
    dump.emplace(*task.wanted.dump);
  }
  ProgressLine progress(!options.global.quiet && !options.global.json);
  Judged judged;
  judged.evaluation = profile::evaluate_with_isa(
      request, services, [&](const evaluate::ProgressEvent& event) { progress.show(event); });
  if (task.wanted.any()) {
    try {
      judged.tools = profile::inspect(request,
                                      services,
                                      judged.evaluation,
                                      task.wanted,
                                      dump ? &*dump : nullptr,
                                      [&](const std::string& what) { progress.say(what); });
    } catch (const util::Error&) {
      judged.broken = std::current_exception();
    }
    profile::add_executed(judged.tools, judged.evaluation);
  }
  judged.requirements = examine_all(task.requirements, judged.evaluation);
  return judged;
}

nlohmann::json to_json(const Judged& judged, const EvalTask& task) {
  nlohmann::json body = evaluate::to_json(judged.evaluation, evaluate::View::archive);
  if (task.wanted.any()) {
    body["tools"] = profile::to_json(judged.tools);
  }
  if (!judged.requirements.empty()) {
    body["requirements"] = to_json(judged.requirements);
  }
  return body;
}

std::string judged_text(const Judged& judged, const EvalOptions& options) {
  const Style style = Style::for_stdout();
  const std::string required = requirements_text(judged.requirements, style, output_columns());
  if (options.global.quiet) {
    return verdict_line(judged.evaluation, style) + required;
  }
  return eval_text(judged.evaluation, style, output_columns()) + required +
         tools_text(judged.tools, style, output_columns());
}

int run_eval(const std::vector<std::string>& arguments) {
  EvalOptions options;
  CLI::App app{
      "Judges one kernel: compiles, checks, stresses and times it against the problem's seed.",
      "sweep eval"};
  declare(app, options);
  parse(app, arguments);
  const EvalTask task = to_task(options);
  const evaluate::Services services = evaluation_services();
  if (!task.scan.empty()) {
    return run_scan(options, task, services);
  }
  if (options.watch) {
    run_watch(options, task, services);
  }
  const Judged judged = judge_once(options, task, services);
  if (options.global.json) {
    std::cout << to_json(judged, task).dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
              << '\n';
  } else {
    std::cout << judged_text(judged, options);
  }
  if (judged.broken) {
    std::rethrow_exception(judged.broken);
  }
  return eval_exit_code(judged.evaluation, judged.requirements);
}

}  // namespace sweep::cli
