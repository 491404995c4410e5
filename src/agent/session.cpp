#include "agent/session.h"

#include "agent/kernel_text.h"
#include "agent/prompt.h"
#include "agent/sampling.h"
#include "endpoint/json.h"
#include "endpoint/price.h"
#include "record/json.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/sha256.h"
#include "util/text.h"

#include <algorithm>
#include <array>

namespace sweep::agent {
namespace {

endpoint::Settings settings_of(const config::Model& model,
                               const config::Agent& agent,
                               bool tool_required) {
  endpoint::Settings out;
  out.temperature = model.sampling.temperature;
  out.top_p = model.sampling.top_p;
  out.max_output_tokens = model.sampling.max_tokens;
  out.reasoning_effort = model.reasoning_effort.value_or(agent.reasoning_effort.value_or(""));
  out.tool_required = tool_required;
  return out;
}

std::string count(std::int64_t number, const std::string& noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

nlohmann::json sampling_json(const endpoint::Settings& settings) {
  nlohmann::json out = nlohmann::json::object();
  if (settings.temperature)
    out["temperature"] = *settings.temperature;
  if (settings.top_p)
    out["top_p"] = *settings.top_p;
  if (settings.seed)
    out["seed"] = *settings.seed;
  if (settings.max_output_tokens)
    out["max_tokens"] = *settings.max_output_tokens;
  if (!settings.reasoning_effort.empty())
    out["reasoning_effort"] = settings.reasoning_effort;
  return out;
}

}  // namespace

const config::Model& find_model(const config::SweepConfig& config, const std::string& name) {
  const auto found = std::find_if(config.models.begin(),
                                  config.models.end(),
                                  [&](const config::Model& model) { return model.name == name; });
  if (found == config.models.end())
    throw util::UsageError(
        {"item", "no model '" + name + "' in the configuration", "check [[models]]"},
        "E_AGENT_MODEL");
  return *found;
}

std::string_view name(StopReason reason) {
  constexpr std::array<std::string_view, 9> names = {"submitted",
                                                     "first_correct",
                                                     "turns",
                                                     "policy_stop",
                                                     "endpoint",
                                                     "timeout",
                                                     "infra",
                                                     "interrupted",
                                                     "budget"};
  return names.at(static_cast<std::size_t>(reason));
}

ToolSettings tool_settings(const config::SweepConfig& config,
                           const config::WorkItem& item,
                           device::Id device,
                           bool allow_unsandboxed) {
  return {item.problem_id(),
          device,
          {},
          static_cast<std::uint64_t>(std::max<std::int64_t>(config.run.seed, 0)),
          static_cast<int>(config.run.correct_trials),
          static_cast<int>(config.run.submit_correct_trials),
          config.parallelism.eval_timeout_s,
          allow_unsandboxed,
          config::stress_gates(config.run, item.variant),
          config.run.nvcc,
          problem::parse_isa_policy(config.run.isa_policy),
          Submission::judged,
          config.agent.harness.tools};
}

Session::Session(const config::SweepConfig& config,
                 const config::WorkItem& item,
                 const Task& task,
                 device::Id device,
                 const record::Provenance& provenance,
                 const Services& services)
    : config_(config),
      item_(item),
      task_(task),
      model_(find_model(config, item.model)),
      services_(services),
      harness_(make_harness(config.agent)),
      tools_(tool_definitions(harness_)),
      settings_(settings_of(model_, config.agent, harness_.tool_required)),
      price_(model_.price) {
  settings_.seed = sampling_seed(config, model_, item);
  tool_settings_ = tool_settings(config, item, device, services.allow_unsandboxed);
  tool_settings_.device_facts = task.device;
  trajectory_.provenance = provenance;
  // What is not offered is not answered.
  std::erase_if(harness_.tools, [&](const std::string& name) {
    return std::ranges::none_of(tools_, [&](const auto& tool) { return tool.name == name; });
  });
}

record::Trajectory Session::run() {
  begin();
  for (std::int64_t turn = 0; turn < harness_.max_turns && !stop_; ++turn)
    one_turn(turn);
  if (!stop_)
    stop_ = StopReason::turns;
  if (!trajectory_.final_result)
    hand_in_best();
  finish();
  return std::move(trajectory_);
}

void Session::begin() {
  started_ = services_.clock->monotonic();
  trajectory_.item_id = item_.id();
  trajectory_.run_name = config_.run.name;
  trajectory_.model_name = item_.model;
  trajectory_.variant = item_.variant;
  trajectory_.level = item_.level;
  trajectory_.problem_id = item_.problem;
  trajectory_.problem_name = task_.name;
  trajectory_.problem_title = task_.title;
  trajectory_.problem_domain = task_.domain;
  trajectory_.problem_slates = task_.slates;
  trajectory_.problem_admission = task_.admission;
  trajectory_.attempt = item_.attempt;
  trajectory_.precision = task_.precision;
  trajectory_.harness = harness_.name;
  trajectory_.max_turns = harness_.max_turns;
  trajectory_.max_tool_calls = harness_.max_tool_calls;
  trajectory_.tools_enabled = harness_.tools;
  trajectory_.harness_rules = {
      {"base", harness_.base},
      {"stop", config::name(harness_.stop)},
      {"feedback", harness_.tries() ? config::name(harness_.feedback) : ""},
      {"show_seed", harness_.show_seed},
      {"warn_turns_remaining", harness_.warn_turns_remaining}};
  trajectory_.sampling = sampling_json(settings_);
  trajectory_.started_at = util::iso_time(services_.clock->wall());
  trajectory_.system_prompt = system_prompt(harness_);
  trajectory_.provenance.prompts_sha256 = prompts_sha256();
  trajectory_.provenance.problem_sha256 = task_.sha256;
  trajectory_.provenance.seed_sha256 = task_.seed_sha256;
  if (price_) {
    trajectory_.cost_usd = 0;
    trajectory_.cost_wasted_usd = 0;
    trajectory_.price_sha256 = config::price_sha256(*price_);
  }
  if (services_.again != nullptr)
    trajectory_.system_prompt = services_.again->system_prompt;
  conversation_.push_back({endpoint::Speaker::system, trajectory_.system_prompt});
  conversation_.push_back(
      {endpoint::Speaker::user,
       services_.again != nullptr
           ? services_.again->first_message
           : task_prompt(task_, shown_by(config_, harness_, task_, tool_settings_.device.kind))});
}

void Session::one_turn(std::int64_t number) {
  turn_number_ = number;
  if (services_.record->stopping()) {
    stop_ = StopReason::interrupted;
    return;
  }
  if (out_of_time()) {
    stop_ = StopReason::timeout;
    return;
  }
  if (number > 0 && config_.agent.turn_delay_s > 0)
    services_.clock->sleep(config_.agent.turn_delay_s);
  add_notes(number);
  const double before = services_.clock->monotonic();
  trajectory_.turns.emplace_back();
  record::Turn turn;
  turn.turn_id = number;
  turn.started_s = before - started_;
  turn.tokens_before = trajectory_.llm_total_tokens;
  if (auto answer = ask(turn)) {
    note_answer(*answer, turn);
    conversation_.push_back(answer->message);
    if (answer->message.calls.empty() && harness_.tries())
      try_text(*answer, turn);
    else if (answer->message.calls.empty())
      without_calls(*answer, number, turn);
    else
      run_calls(answer->message.calls, turn);
    note_cut(*answer, turn);
  }
  turn.tokens_after = trajectory_.llm_total_tokens;
  turn.best_visible_speedup = best_speedup_;
  turn.is_final = stop_.has_value() || number + 1 == harness_.max_turns;
  turn.turn_wall_clock_s = services_.clock->monotonic() - before;
  trajectory_.turns.back() = std::move(turn);
  trajectory_.total_turns = static_cast<std::int64_t>(trajectory_.turns.size());
  save();
}

void Session::append_user(const std::string& text) {
  if (conversation_.back().speaker == endpoint::Speaker::user && conversation_.size() > 2)
    conversation_.back().text += "\n\n" + text;
  else
    conversation_.push_back({endpoint::Speaker::user, text});
}

void Session::add_notes(std::int64_t turn) {
  const std::int64_t left = harness_.max_turns - turn - 1;
  if (turn == 0)
    return;
  if (harness_.tries()) {
    // The answer to each version says how many are left.
    if (left == 0)
      append_user(fill_prompt("final_try.md"));
    return;
  }
  if (left == 0)
    append_user(fill_prompt("final_turn.md"));
  else if (left <= harness_.warn_turns_remaining)
    append_user(fill_prompt(
        "budget_note.md",
        {{"turns_left", count(left, "answer")},
         {"calls_left",
          count(std::max<std::int64_t>(harness_.max_tool_calls - trajectory_.total_tool_calls, 0),
                "tool call")}}));
}

void Session::note_answer(const endpoint::Completion& answer, record::Turn& turn) {
  const endpoint::Message& message = answer.message;
  turn.text = bounded(message.text);
  turn.reasoning = message.reasoning;
  const auto limit =
      static_cast<std::size_t>(std::max<std::int64_t>(harness_.reasoning_log_max, 0));
  if (limit > 0 && turn.reasoning.size() > limit) {
    turn.reasoning = util::head_and_tail(turn.reasoning, limit);
    turn.reasoning_logged_truncated = true;
  }
  endpoint::Message stored = message;
  stored.reasoning = turn.reasoning;
  turn.response = kept_.answer(stored, turn_number_);
  turn.llm_latency_s = answer.seconds;
  if (answer.finish == endpoint::Finish::length) {
    turn.provider_truncated = true;
    turn.provider_truncation_hints.push_back("finish: " + answer.finish_raw);
    trajectory_.truncation_occurred = true;
  }
  record::Usage usage;
  usage.input_tokens = std::max<std::int64_t>(answer.usage.input, 0);
  usage.output_tokens = std::max<std::int64_t>(answer.usage.output, 0);
  largest_output_ = std::max(largest_output_, usage.output_tokens);
  usage.reasoning_tokens = std::max<std::int64_t>(answer.usage.reasoning, 0);
  usage.cached_input_tokens = std::max<std::int64_t>(answer.usage.cached, 0);
  usage.estimated = answer.usage.estimated;
  trajectory_.llm_input_tokens += usage.input_tokens;
  trajectory_.llm_output_tokens += usage.output_tokens;
  trajectory_.llm_total_tokens = trajectory_.llm_input_tokens + trajectory_.llm_output_tokens;
  turn.llm_usage = std::move(usage);
  if (price_) {
    const std::int64_t cost = endpoint::cost_nano_usd(answer.usage, *price_);
    cost_nano_ = endpoint::add_saturated(cost_nano_, cost);
    turn.cost_usd = static_cast<double>(cost) * 1e-9;
    trajectory_.cost_usd = static_cast<double>(cost_nano_) * 1e-9;
  }
  add_waste(answer.attempts);
  if (answer.usage.provider_nano_usd) {
    charged_nano_ = endpoint::add_saturated(charged_nano_, *answer.usage.provider_nano_usd);
    trajectory_.cost_provider_usd = static_cast<double>(charged_nano_) * 1e-9;
  }
}

void Session::without_calls(const endpoint::Completion& answer,
                            std::int64_t number,
                            record::Turn& turn) {
  const bool cut = answer.finish == endpoint::Finish::length;
  if (number + 1 < harness_.max_turns) {
    turn.feedback_to_model = cut ? told_cut() : fill_prompt("nudge.md", {{"tools", tool_names()}});
    append_user(turn.feedback_to_model);
    return;
  }
  if (const std::string kernel = kernel_in_text(answer.message.text, cut); !kernel.empty()) {
    submit(kernel, "text:fence", turn);
    stop_ = stop_.value_or(StopReason::submitted);
  }
}

bool Session::out_of_time() const {
  const double limit = config_.parallelism.worker_timeout_s;
  return limit > 0 && working_seconds() > limit;
}

double Session::working_seconds() const {
  return services_.clock->monotonic() - started_ - services_.record->waited() - backed_off_;
}

void Session::report(const std::string& state, const std::string& event) {
  record::Progress progress;
  progress.turn = turn_number_ + 1;
  progress.state = state;
  progress.event = event;
  progress.tokens = trajectory_.llm_total_tokens;
  progress.cost_usd = trajectory_.cost_usd;
  services_.record->progress(progress);
}

void Session::save() {
  trajectory_.agent_wall_clock_s = services_.clock->monotonic() - started_;
  services_.record->save(trajectory_);
}

void Session::finish() {
  const StopReason reason = *stop_;
  trajectory_.stop_reason = std::string(name(reason));
  trajectory_.total_turns = static_cast<std::int64_t>(trajectory_.turns.size());
  if (reason == StopReason::interrupted || reason == StopReason::budget) {
    save();
    return;
  }
  if (trajectory_.final_result)
    trajectory_.outcome = trajectory_.final_result->metadata.value("outcome", "error");
  else if (reason == StopReason::timeout)
    trajectory_.outcome = "timeout";
  else if (reason == StopReason::infra || (reason == StopReason::endpoint && endpoint_is_infra_))
    trajectory_.outcome = "infra_error";
  else
    trajectory_.outcome = "error";
  if (trajectory_.outcome == "error" && trajectory_.error.empty())
    trajectory_.error = "no kernel was handed in, and none was found to compile";
  trajectory_.finished_at = util::iso_time(services_.clock->wall());
  save();
}

record::Trajectory run(const config::SweepConfig& config,
                       const config::WorkItem& item,
                       const Task& task,
                       device::Id device,
                       const record::Provenance& provenance,
                       const Services& services) {
  return Session(config, item, task, device, provenance, services).run();
}

}  // namespace sweep::agent
