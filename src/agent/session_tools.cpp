#include "agent/kernel_text.h"
#include "agent/prompt.h"
#include "agent/session.h"
#include "endpoint/arguments.h"
#include "endpoint/json.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/excerpt.h"
#include "util/sha256.h"
#include "util/text.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sweep::agent {
namespace {

// The arguments as a trajectory holds them: the object where they are one.
nlohmann::json arguments_json(const endpoint::ToolCall& call) {
  auto arguments = endpoint::parse_json(call.arguments);
  if (!arguments || call.arguments.size() > endpoint::kMaxArguments)
    return util::to_valid_utf8(bounded(call.arguments));
  std::optional<std::string> kernel;
  if (const auto code = arguments->find("kernel_code");
      code != arguments->end() && code->is_string()) {
    kernel = bounded(code->get<std::string>());
    *code = "";
  }
  const std::string others = endpoint::dump(*arguments);
  if (bounded(others).size() != others.size())
    return util::to_valid_utf8(bounded(call.arguments));
  if (kernel)
    (*arguments)["kernel_code"] = *std::move(kernel);
  return nlohmann::json::parse(endpoint::dump(*arguments));
}

std::string origin_of(const endpoint::ToolCall& call) {
  return !call.from_text ? "native" : call.markup.empty() ? "text" : "text:" + call.markup;
}

}  // namespace

double ToolOutcome::lock_wait_seconds() const {
  const auto found =
      evaluation.is_object() ? evaluation.find("lock_wait_seconds") : evaluation.end();
  return found != evaluation.end() && found->is_number() ? found->get<double>() : 0;
}

std::string Session::refusal(const endpoint::ToolCall& call) const {
  if (!harness_.has(call.name))
    return fill_prompt("unknown_tool.md",
                       {{"name", util::printable(call.name.substr(0, 100))},
                        {"tools", tool_names()},
                        {"left", harness_.tries() ? answers_left() : ""}});
  const std::string why = !call.problem.empty()     ? call.problem
                          : takes_kernel(call.name) ? kernel_argument(call).problem
                                                    : std::string();
  return why.empty() ? "" : fill_prompt("not_run.md", {{"tool", call.name}, {"why", why}});
}

std::string Session::tool_names() const {
  return fmt::format("{}", fmt::join(harness_.tools, ", "));
}

void Session::add_call(record::ToolCall done, record::Turn& turn) {
  if (done.success && done.metadata.contains("visible_speedup")) {
    const double speedup = done.metadata["visible_speedup"].get<double>();
    best_speedup_ = std::max(best_speedup_.value_or(speedup), speedup);
  }
  turn.best_visible_speedup = best_speedup_;
  done.started_s = services_.clock->monotonic() - started_ - done.wall_clock_s;
  turn.tools_wall_clock_s += done.wall_clock_s;
  turn.tool_calls.push_back(std::move(done));
}

void Session::run_calls(const std::vector<endpoint::ToolCall>& calls, record::Turn& turn) {
  tried_in_turn_ = false;
  for (const endpoint::ToolCall& call : calls) {
    record::ToolCall done;
    if (!stop_ && services_.record->stopping())
      stop_ = StopReason::interrupted;
    if (!stop_ && out_of_time())
      stop_ = StopReason::timeout;
    if (stop_) {
      break;
    }
    const bool spent = trajectory_.total_tool_calls >= harness_.max_tool_calls;
    if (spent && call.name != "submit_kernel") {
      done.tool_name = util::printable(call.name.substr(0, 100));
      done.call_id = call.id;
      done.origin = origin_of(call);
      done.args = arguments_json(call);
      done.result_text = fill_prompt("call_limit.md");
    } else {
      ++trajectory_.total_tool_calls;
      done = run_call(call, turn);
    }
    const std::size_t whole = done.result_text.size();
    if (harness_.tool_output_max > 0)
      done.result_text =
          util::excerpt(done.result_text, static_cast<std::size_t>(harness_.tool_output_max));
    done.output_truncated = done.result_text.size() < whole;
    turn.tool_output_truncated = turn.tool_output_truncated || done.output_truncated;
    conversation_.push_back(
        {endpoint::Speaker::tool, done.result_text, "", {}, call.id, call.name, ""});
    turn.feedback_to_model += (turn.feedback_to_model.empty() ? "" : "\n\n") + done.result_text;
    add_call(std::move(done), turn);
  }
}

record::ToolCall Session::run_call(const endpoint::ToolCall& call, record::Turn& turn) {
  record::ToolCall done;
  done.tool_name = util::printable(call.name.substr(0, 100));
  done.call_id = call.id;
  done.origin = origin_of(call);
  done.args = arguments_json(call);
  const bool version = harness_.tries() && call.name == "submit_kernel";
  if (version && tried_in_turn_) {
    done.result_text = fill_prompt("one_version.md");
    return done;
  }
  done.result_text = refusal(call);
  if (!done.result_text.empty()) {
    // A text that no tool takes is not refused for ever.
    if (too_long(call) && !seen_.emplace(call.name, util::sha256_hex(call.arguments)).second) {
      done.result_text = fill_prompt("same_text.md", {{"tool", call.name}});
      stop_ = StopReason::policy_stop;
    } else if (version && harness_.feedback == config::Feedback::sanitised)
      done.result_text = told_no_version();
    return done;
  }
  const std::string kernel = takes_kernel(call.name) ? kernel_argument(call).text : std::string();
  note_kernel(kernel, done);
  if (version) {
    record::ToolCall tried = try_version(kernel, done.origin, turn);
    tried.call_id = done.call_id;
    tried.args = std::move(done.args);
    tried.kernel_sha256 = std::move(done.kernel_sha256);
    return tried;
  }
  const bool again = !kernel.empty() && !seen_.emplace(call.name, util::sha256_hex(kernel)).second;
  if (again && call.name != "submit_kernel") {
    done.result_text = fill_prompt("same_text.md", {{"tool", call.name}});
    stop_ = StopReason::policy_stop;
    return done;
  }
  const double before = services_.clock->monotonic();
  const ToolOutcome outcome = run_recorded(call.name, kernel, turn);
  learn(outcome, tool_settings_);
  done.wall_clock_s = services_.clock->monotonic() - before;
  done.lock_wait_s = outcome.lock_wait_seconds();
  done.result_text = outcome.text;
  done.success = outcome.success;
  done.metadata = outcome.metadata;
  if (stop_)
    return done;
  if (call.name == "submit_kernel") {
    set_result(kernel, outcome, turn);
    stop_ = StopReason::submitted;
  } else {
    remember(call.name, kernel, outcome);
  }
  return done;
}

void Session::note_kernel(const std::string& kernel, record::ToolCall& done) {
  if (done.args.is_null())
    done.args = {{"kernel_code", util::to_valid_utf8(bounded(kernel))}};
  if (bounded(kernel).size() != kernel.size())
    done.kernel_sha256 = services_.record->put_artifact(kernel);
}

// A tool's result, from the record where an earlier process had it. A harness failure is tried once
// more, then ends the session.
ToolOutcome Session::run_recorded(const std::string& tool,
                                  const std::string& kernel,
                                  record::Turn& turn) {
  const std::string key = util::sha256_hex(tool + "\n" + kernel);
  const bool again = services_.again != nullptr;
  if (replaying_ || again) {
    const auto finished = services_.record->finished_tool(tool_runs_);
    if (finished && finished->key_sha256 == key && !finished->output_sha256.empty()) {
      ++tool_runs_;
      turn.replayed = true;
      ToolOutcome outcome =
          outcome_from_text(services_.record->get_artifact(finished->output_sha256));
      note_code(kernel, outcome);
      return outcome;
    }
    replaying_ = false;
  }
  if (again) {
    stop_ = StopReason::infra;
    trajectory_.error = tool + ": this call is not in the record";
    trajectory_.error_code = "E_REPLAY_TOOL";
    ToolOutcome none;
    none.infra = true;
    return none;
  }
  ToolSettings settings = tool_settings_;
  if (tool == kTryKernel)
    settings.submission =
        harness_.feedback == config::Feedback::timing ? Submission::timed : Submission::checked;
  const std::string& name = tool == kTryKernel ? kSubmitKernel : tool;
  if (name == kSubmitKernel)
    if (auto known = judged_before(kernel, settings))
      return record_outcome(tool, kernel, {}, *std::move(known));
  report(tool);
  ToolOutcome outcome = run_tool(name, kernel, settings, *services_.evaluator);
  if (outcome.infra && !services_.record->stopping())
    outcome = run_tool(name, kernel, settings, *services_.evaluator);
  if (outcome.infra) {
    stop_ = services_.record->stopping() ? StopReason::interrupted : StopReason::infra;
    trajectory_.error = outcome.evaluation.is_object()
                            ? outcome.evaluation.value("infra", outcome.text)
                            : outcome.text;
    const bool device =
        outcome.evaluation.is_object() &&
        outcome.evaluation.value("verdict", "") == evaluate::name(evaluate::Verdict::infra_device);
    trajectory_.error_code = std::string(device ? kDeviceFault : kJudgeFault);
    return outcome;
  }
  for (const Attachment& file : outcome.attachments)
    outcome.metadata["files"][file.name] = services_.record->put_artifact(file.bytes);
  note_code(kernel, outcome);
  return record_outcome(
      tool,
      kernel,
      name == kSubmitKernel ? keys_of(kernel, settings) : std::vector<std::string>(),
      std::move(outcome));
}

void Session::remember(const std::string& tool,
                       const std::string& kernel,
                       const ToolOutcome& outcome) {
  // What was compiled and found wrong is handed in where there is nothing else: it is an incorrect
  // kernel, not none.
  const bool compiled = outcome.success || outcome.metadata.value("compiled", false);
  if (!compiled || (tool != "compile_kernel" && tool != "run_correctness"))
    return;
  Candidate candidate;
  candidate.kernel = kernel;
  candidate.state = tool == "run_correctness" && outcome.success ? Candidate::State::correct
                                                                 : Candidate::State::compiled;
  candidate.device_seconds = outcome.device_seconds;
  candidates_.push_back(std::move(candidate));
}

const Session::Candidate* Session::best() const {
  // Of equally fast ones the first, of those that are not correct the last.
  const auto better = [](const Candidate& a, const Candidate& b) {
    if (a.state != b.state)
      return a.state > b.state;
    if (a.state != Candidate::State::correct)
      return true;
    if (a.visible_speedup && b.visible_speedup)
      return *a.visible_speedup > *b.visible_speedup;
    return a.visible_speedup.has_value() != b.visible_speedup.has_value()
               ? a.visible_speedup.has_value()
               : a.device_seconds < b.device_seconds;
  };
  const Candidate* found = nullptr;
  for (const Candidate& candidate : candidates_)
    if (found == nullptr || better(candidate, *found))
      found = &candidate;
  return found;
}

void Session::submit(const std::string& kernel, const std::string& origin, record::Turn& turn) {
  record::ToolCall done;
  done.tool_name = "submit_kernel";
  done.origin = origin;
  note_kernel(kernel, done);
  const double before = services_.clock->monotonic();
  const ToolOutcome outcome = run_recorded("submit_kernel", kernel, turn);
  done.wall_clock_s = services_.clock->monotonic() - before;
  done.lock_wait_s = outcome.lock_wait_seconds();
  done.result_text = outcome.text;
  done.success = outcome.success;
  done.metadata = outcome.metadata;
  add_call(std::move(done), turn);
  if (!outcome.infra)
    set_result(kernel, outcome, turn);
}

// The fastest correct kernel, else the last that compiled, else the last version that was tried.
// After a timeout only a correct one is worth the time.
void Session::hand_in_best() {
  const StopReason reason = *stop_;
  if (reason == StopReason::interrupted || reason == StopReason::infra ||
      reason == StopReason::budget)
    return;
  const Candidate* candidate = best();
  if (candidate == nullptr ||
      (reason == StopReason::timeout && candidate->state != Candidate::State::correct) ||
      trajectory_.turns.empty())
    return;
  const std::string kernel = candidate->kernel;
  submit(kernel, "auto", trajectory_.turns.back());
}

void Session::set_result(const std::string& kernel,
                         const ToolOutcome& outcome,
                         record::Turn& turn) {
  turn.submitted_kernel = util::to_valid_utf8(bounded(kernel));
  const evaluate::Evaluation evaluation = evaluate::evaluation_from_json(outcome.evaluation);
  record::FinalResult result = final_result(evaluation);
  result.kernel_sha256 = services_.record->put_artifact(kernel);
  result.evaluation = outcome.evaluation;
  if (outcome.metadata.contains("duplicate_of"))
    result.metadata["duplicate_of"] = outcome.metadata["duplicate_of"];
  trajectory_.provenance.sandboxed = evaluation.protections.landlock;
  trajectory_.provenance.judge_version = evaluation.version;
  trajectory_.provenance.compiler = evaluation.compile ? evaluation.compile->compiler : "";
  trajectory_.final_result = std::move(result);
}

}  // namespace sweep::agent
