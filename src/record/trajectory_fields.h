#pragma once

#include "record/trajectory.h"

#include <concepts>
#include <type_traits>

// The list of fields of each type of a trajectory file, used by its writer and by its reader alike.
// A visitor V has operator()(name, member), or_minus_one(name, optional<double>) and
// number_or_text(name, string).
namespace sweep::record {

template <class T, class U>
concept Is = std::same_as<std::remove_const_t<T>, U>;

template <class V, Is<Interval> T>
void fields(V& v, T& x) {
  v("point", x.point);
  v("low", x.low);
  v("high", x.high);
}

template <class V, Is<Usage> T>
void fields(V& v, T& x) {
  v("input_tokens", x.input_tokens);
  v("output_tokens", x.output_tokens);
  v("reasoning_tokens", x.reasoning_tokens);
  v("cached_input_tokens", x.cached_input_tokens);
  v("estimated", x.estimated);
  v("provider", x.provider);
}

template <class V, Is<ToolCall> T>
void fields(V& v, T& x) {
  v("tool_name", x.tool_name);
  v("call_id", x.call_id);
  v("origin", x.origin);
  v("args", x.args);
  v("kernel_sha256", x.kernel_sha256);
  v("result_text", x.result_text);
  v("success", x.success);
  v("metadata", x.metadata);
  v("wall_clock_s", x.wall_clock_s);
  v("started_s", x.started_s);
  v("lock_wait_s", x.lock_wait_s);
  v("output_truncated", x.output_truncated);
}

template <class V, Is<Request> T>
void fields(V& v, T& x) {
  v("index", x.index);
  v("ledger_hash", x.ledger_hash);
  v("prompt_sha256", x.prompt_sha256);
  v("response_sha256", x.response_sha256);
  v("http_status", x.http_status);
  v("error", x.error);
  v("latency_s", x.latency_s);
  v("first_token_s", x.first_token_s);
  v("wait_s", x.wait_s);
}

template <class V, Is<Turn> T>
void fields(V& v, T& x) {
  v("turn_id", x.turn_id);
  v("messages_in", x.messages_in);
  v("response", x.response);
  v("reasoning", x.reasoning);
  v("text", x.text);
  v("feedback_to_model", x.feedback_to_model);
  v("requests", x.requests);
  v("tool_calls", x.tool_calls);
  v("llm_latency_s", x.llm_latency_s);
  v("turn_wall_clock_s", x.turn_wall_clock_s);
  v("tools_wall_clock_s", x.tools_wall_clock_s);
  v("tool_output_truncated", x.tool_output_truncated);
  v("reasoning_logged_truncated", x.reasoning_logged_truncated);
  v("provider_truncated", x.provider_truncated);
  v("provider_truncation_hints", x.provider_truncation_hints);
  v("is_final", x.is_final);
  v("submitted_kernel", x.submitted_kernel);
  v("llm_usage", x.llm_usage);
  v("cost_usd", x.cost_usd);
  v("replayed", x.replayed);
  v("started_s", x.started_s);
  v("tokens_before", x.tokens_before);
  v("tokens_after", x.tokens_after);
  v("best_visible_speedup", x.best_visible_speedup);
  v("trimmed", x.trimmed);
}

template <class V, Is<ShapeTiming> T>
void fields(V& v, T& x) {
  v("shape", x.shape);
  v("seed_us", x.seed_us);
  v("candidate_us", x.candidate_us);
  v("speedup", x.speedup);
  v("share_of_floor", x.share_of_floor);
  v("throughput_us", x.throughput_us);
  v("seed_throughput_us", x.seed_throughput_us);
  v("throughput_speedup", x.throughput_speedup);
  v("replicates", x.replicates);
  v("blocks", x.blocks);
}

template <class V, Is<Stage> T>
void fields(V& v, T& x) {
  v("name", x.name);
  v("ran", x.ran);
  v("passed", x.passed);
  v("summary", x.summary);
  v("seconds", x.seconds);
  v("passed_count", x.passed_count);
  v("total_count", x.total_count);
}

template <class V, Is<FinalResult> T>
void fields(V& v, T& x) {
  v("compiled", x.compiled);
  v("correctness", x.correctness);
  v("verdict", x.verdict);
  v("flags", x.flags);
  v("inner_verdict", x.inner_verdict);
  v("reason", x.reason);
  v("reproduce", x.reproduce);
  v("speedup", x.speedup);
  v("confidence", x.confidence);
  v.or_minus_one("runtime", x.runtime_us);
  v.or_minus_one("ref_runtime", x.ref_runtime_us);
  v("runtime_stats", x.runtime_stats);
  v("ref_runtime_stats", x.ref_runtime_stats);
  v.or_minus_one("source_runtime", x.source_runtime_us);
  v("source_runtime_stats", x.source_runtime_stats);
  v("source_backend", x.source_backend);
  v.or_minus_one("speedup_vs_source", x.speedup_vs_source);
  v("timings", x.timings);
  v("stages", x.stages);
  v("kernel_sha256", x.kernel_sha256);
  v("plan_sha256", x.plan_sha256);
  v("plan", x.plan);
  v("memory_stats", x.memory_stats);
  v("numerical_precision", x.numerical_precision);
  v("kernel_launch_stats", x.kernel_launch_stats);
  v("sol_stats", x.sol_stats);
  v("energy_stats", x.energy_stats);
  v("roofline_stats", x.roofline_stats);
  v("metadata", x.metadata);
  v("evaluation", x.evaluation);
}

template <class V, Is<Provenance> T>
void fields(V& v, T& x) {
  v("sweep_version", x.sweep_version);
  v("git_commit", x.git_commit);
  v("config_sha256", x.config_sha256);
  v("judge_version", x.judge_version);
  v("device", x.device);
  v("gpu_name", x.gpu_name);
  v("gpu_uuid", x.gpu_uuid);
  v("driver", x.driver);
  v("arch", x.arch);
  v("compiler", x.compiler);
  v("host", x.host);
  v("base_url", x.base_url);
  v("deployment_name", x.deployment_name);
  v("api_kind", x.api_kind);
  v("endpoint_profile", x.endpoint_profile);
  v("problem_sha256", x.problem_sha256);
  v("seed_sha256", x.seed_sha256);
  v("prompts_sha256", x.prompts_sha256);
  v("seed", x.seed);
  v("sandboxed", x.sandboxed);
  v("data_policy", x.data_policy);
}

template <class V, Is<Trajectory> T>
void fields_head(V& v, T& x) {
  v("schema", x.schema);
  v("item_id", x.item_id);
  v("run_name", x.run_name);
  v("model_name", x.model_name);
  v("variant", x.variant);
  v.number_or_text("level", x.level);
  v.number_or_text("problem_id", x.problem_id);
  v("problem_name", x.problem_name);
  v("problem_title", x.problem_title);
  v("problem_domain", x.problem_domain);
  v("problem_slates", x.problem_slates);
  v("problem_admission", x.problem_admission);
  v("attempt", x.attempt);
  v("backend", x.backend);
  v("precision", x.precision);
  v("harness", x.harness);
  v("harness_rules", x.harness_rules);
  v("max_turns", x.max_turns);
  v("max_tool_calls", x.max_tool_calls);
  v("tools_enabled", x.tools_enabled);
  v("sampling", x.sampling);
}

template <class V, Is<Trajectory> T>
void fields(V& v, T& x) {
  fields_head(v, x);
  v("started_at", x.started_at);
  v("finished_at", x.finished_at);
  v("agent_wall_clock_s", x.agent_wall_clock_s);
  v("chat_history_window_truncated", x.chat_history_window_truncated);
  v("truncation_occurred", x.truncation_occurred);
  v("answers_cut", x.answers_cut);
  v("total_turns", x.total_turns);
  v("total_tool_calls", x.total_tool_calls);
  v("llm_input_tokens", x.llm_input_tokens);
  v("llm_output_tokens", x.llm_output_tokens);
  v("llm_total_tokens", x.llm_total_tokens);
  v("cost_usd", x.cost_usd);
  v("cost_wasted_usd", x.cost_wasted_usd);
  v("cost_provider_usd", x.cost_provider_usd);
  v("price_sha256", x.price_sha256);
  v("outcome", x.outcome);
  v("stop_reason", x.stop_reason);
  v("skip_reason", x.skip_reason);
  v("error", x.error);
  v("error_code", x.error_code);
  v("times_retried", x.times_retried);
  v("interruptions", x.interruptions);
  v("system_prompt", x.system_prompt);
  v("bench_slate", x.bench_slate);
  v("stress_eval", x.stress_eval);
  v("final_result", x.final_result);
  v("turns", x.turns);
  v("provenance", x.provenance);
}

}  // namespace sweep::record
