#include "config/drift.h"

#include "util/error.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace sweep::config {

namespace {

using nlohmann::json;

template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

json lists_by_level(const std::map<std::int64_t, std::vector<std::int64_t>>& lists) {
  json out = json::object();
  for (const auto& [level, ids] : lists) {
    out[std::to_string(level)] = ids;
  }
  return out;
}

json model_json(const Model& model) {
  const Sampling& s = model.sampling;
  const json price = model.price ? json::parse(price_json(*model.price)) : json(nullptr);
  json out = {{"deployment_name", model.deployment_name},
              {"api_kind", name(model.api_kind)},
              {"base_url", model.base_url},
              {"api_key_env", model.api_key_env},
              {"reasoning_effort", or_null(model.reasoning_effort)},
              {"omit_responses_reasoning", model.omit_responses_reasoning},
              {"omit_chat_run_meta", model.omit_chat_run_meta},
              {"stream", model.stream},
              {"request_timeout_s", model.request_timeout_s},
              {"rpm", or_null(model.rpm)},
              {"tpm", or_null(model.tpm)},
              {"max_concurrency", model.max_concurrency},
              {"reserve", model.reserve_full ? "full" : "p90"},
              {"burst_s", model.burst_s},
              {"limits_group", model.limits_group},
              {"sampling",
               {{"temperature", or_null(s.temperature)},
                {"top_p", or_null(s.top_p)},
                {"max_tokens", or_null(s.max_tokens)},
                {"seed", or_null(s.seed)}}},
              {"price", price}};
  // Left out where nothing is said: runs of before these keys go on.
  if (model.priority != 0) {
    out["priority"] = model.priority;
  }
  if (model.endpoint.profile != "auto" || !model.endpoint.values.empty()) {
    out["endpoint"] = model.endpoint.values;
    out["endpoint"]["profile"] = model.endpoint.profile;
  }
  return out;
}

json selection_json(const Selection& s) {
  json by_variant = json::object();
  for (const auto& [variant, lists] : s.subset_by_variant_level) {
    by_variant[variant] = lists_by_level(lists);
  }
  return {{"variants", s.variants},
          {"levels", s.levels},
          {"slate", or_null(s.slate)},
          {"slate_levels", lists_by_level(s.slate_levels)},
          {"problems", s.problems},
          {"problem_subset", s.subset},
          {"problem_subset_by_level", lists_by_level(s.subset_by_level)},
          {"problem_subset_by_variant_level", by_variant}};
}

json run_json(const Run& run) {
  json out = {{"name", run.name},
              {"selection", selection_json(run.selection)},
              {"precision", run.precision},
              {"device", run.device},
              {"require_gpu", run.require_gpu},
              {"compiler", run.nvcc ? "nvcc" : "nvrtc"},
              {"popcorn_stress_eval", or_null(run.stress)},
              {"num_correct_trials", run.correct_trials},
              {"submit_num_correct_trials", run.submit_correct_trials},
              {"attempts_per_problem", run.attempts_per_problem},
              {"seed", run.seed},
              {"epoch", run.epoch},
              {"confirm_usd", or_null(run.confirm_usd)},
              {"budget_usd", or_null(run.budget_usd)},
              {"budget_tokens", or_null(run.budget_tokens)},
              {"on_finish", run.on_finish},
              {"force_rerun", run.force_rerun}};
  // Left out where nothing is said, as below.
  if (run.isa_policy != "problem") {
    out["isa_policy"] = run.isa_policy;
  }
  if (!run.source_gpu.empty()) {
    out["source_hardware_gpu_name"] = run.source_gpu;
  }
  return out;
}

json agent_json(const Agent& a) {
  const Harness& h = a.harness;
  json out = {{"harness", h.name},
              {"tools", h.tools},
              {"max_turns", h.max_turns},
              {"max_tool_calls", h.max_tool_calls},
              {"warn_turns_remaining", h.warn_turns_remaining},
              {"turn_delay_s", a.turn_delay_s},
              {"reasoning_effort", or_null(a.reasoning_effort)},
              {"llm_error_retries", a.llm_error_retries},
              {"tool_output_context_max_chars", a.tool_output_context_max_chars},
              {"reasoning_context_max_chars", a.reasoning_context_max_chars},
              {"chat_context_tail_messages", or_null(a.chat_context_tail_messages)}};
  if (a.ptx_hub != "off") {
    out["ptx_hub"] = a.ptx_hub;
  }
  // The rules of a built-in one follow from its name and this program's version.
  if (!h.builtin()) {
    out["harness_rules"] = {{"base", h.base},
                            {"stop", name(h.stop)},
                            {"feedback", h.tries() ? name(h.feedback) : ""},
                            {"show_seed", h.show_seed}};
  }
  return out;
}

json config_json(const SweepConfig& config) {
  const Parallelism& p = config.parallelism;
  const Report& r = config.report;
  json models = json::object();
  for (const Model& model : config.models) {
    models[model.name] = model_json(model);
  }
  return {{"run", run_json(config.run)},
          {"agent", agent_json(config.agent)},
          {"parallelism",
           {{"num_gpu_devices", p.num_gpu_devices},
            {"agents_per_gpu", p.agents_per_gpu},
            {"cpu_compilers", p.cpu_compilers},
            {"worker_timeout_s", p.worker_timeout_s},
            {"eval_rpc_timeout_s", p.eval_timeout_s},
            {"llm_global_concurrency", p.llm_global_concurrency},
            {"multi_gpu", p.multi_gpu}}},
          {"report",
           {{"enabled", r.enabled},
            {"refresh_seconds", r.refresh_seconds},
            {"serve", r.serve},
            {"serve_host", r.serve_host},
            {"serve_port", r.serve_port}}},
          {"models", models}};
}

std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

json read_identity(std::string_view text) {
  json document = json::parse(text, nullptr, false);
  const bool fine = text.size() < (std::size_t{16} << 20) && document.is_object() &&
                    document.contains("config") && document["config"].is_object() &&
                    document.contains("conditions") && document["conditions"].is_object();
  if (!fine) {
    throw util::UsageError(
        {"identity of the run", "not a stored configuration", "start anew with --run-name"},
        "E_RUN_IDENTITY");
  }
  return document;
}

// Paths whose change cannot alter a result. A star stands for one part of the path.
constexpr std::array kFine = {std::string_view("config/run/selection"),
                              std::string_view("config/run/name"),
                              std::string_view("config/run/device"),
                              std::string_view("config/run/attempts_per_problem"),
                              std::string_view("config/run/confirm_usd"),
                              std::string_view("config/run/budget_usd"),
                              std::string_view("config/run/budget_tokens"),
                              std::string_view("config/run/on_finish"),
                              std::string_view("config/run/force_rerun"),
                              std::string_view("config/run/precision"),
                              std::string_view("config/run/require_gpu"),
                              std::string_view("config/agent/llm_error_retries"),
                              std::string_view("config/agent/turn_delay_s"),
                              std::string_view("config/parallelism"),
                              std::string_view("config/report"),
                              std::string_view("config/models/*/api_key_env"),
                              std::string_view("config/models/*/rpm"),
                              std::string_view("config/models/*/tpm"),
                              std::string_view("config/models/*/max_concurrency"),
                              std::string_view("config/models/*/reserve"),
                              std::string_view("config/models/*/burst_s"),
                              std::string_view("config/models/*/priority"),
                              std::string_view("config/models/*/limits_group"),
                              std::string_view("config/models/*/price"),
                              std::string_view("config/models/*/request_timeout_s"),
                              std::string_view("config/models/*/stream")};
// These decide what an item is and how long it may take, though they stand in a table that is
// otherwise fine.
constexpr std::array kRefuses = {std::string_view("config/parallelism/worker_timeout_s"),
                                 std::string_view("config/parallelism/eval_rpc_timeout_s")};

using Path = std::vector<std::string>;

bool under(std::string_view rule, const Path& path) {
  std::size_t part = 0;
  while (!rule.empty()) {
    const std::size_t slash = rule.find('/');
    const std::string_view head = rule.substr(0, slash);
    if (part == path.size() || (head != "*" && head != path[part])) {
      return false;
    }
    ++part;
    rule = slash == std::string_view::npos ? std::string_view() : rule.substr(slash + 1);
  }
  return true;
}

Change::Kind judge(const Path& path, const json& before, const json& after) {
  const auto any = [&](const auto& rules) {
    return std::any_of(
        rules.begin(), rules.end(), [&](std::string_view rule) { return under(rule, path); });
  };
  if (any(kRefuses)) {
    return Change::Kind::refuses;
  }
  if (any(kFine)) {
    return Change::Kind::fine;
  }
  // A model added or left out, and the hash of a seed that no earlier item used.
  const bool whole_entry = path.size() == 3 && path[1] == "models";
  const bool condition = path.size() == 2 && path[0] == "conditions";
  return (whole_entry || condition) &&
                 (before.is_null() ||
                  (after.is_null() && (whole_entry || path[1].starts_with("seed:"))))
             ? Change::Kind::fine
             : Change::Kind::refuses;
}

std::string shown_path(const Path& path) {
  std::string text;
  for (std::size_t i = path[0] == "config" ? 1 : 0; i < path.size(); ++i) {
    text += (text.empty() ? "" : ".") + path[i];
  }
  return text;
}

void compare(const json& before, const json& after, Path& path, std::vector<Change>& changes) {
  if (before == after) {
    return;
  }
  if (before.is_object() && after.is_object()) {
    json names = before;
    names.update(after);
    for (const auto& [key, unused] : names.items()) {
      path.push_back(key);
      compare(before.contains(key) ? before[key] : json(nullptr),
              after.contains(key) ? after[key] : json(nullptr),
              path,
              changes);
      path.pop_back();
    }
    return;
  }
  changes.push_back({judge(path, before, after), shown_path(path), dump(before), dump(after)});
}

}  // namespace

std::string canonical_json(const SweepConfig& config) {
  return dump(config_json(config));
}

std::string identity_json(const SweepConfig& config, const Conditions& conditions) {
  return dump({{"config", config_json(config)}, {"conditions", conditions}});
}

std::vector<Change> drift(std::string_view before, std::string_view after) {
  std::vector<Change> changes;
  Path path;
  compare(read_identity(before), read_identity(after), path, changes);
  return changes;
}

}  // namespace sweep::config
