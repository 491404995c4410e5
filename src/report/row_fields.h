#pragma once

#include "record/trajectory_fields.h"
#include "report/row.h"

// The list of fields of a row, used by every codec of it alike. A visitor V has
// operator()(name, member).
namespace sweep::report {

using record::Is;

template <class V, Is<ToolCount> T>
void fields(V& v, T& x) {
  v("calls", x.calls);
  v("failed", x.failed);
}

template <class V, Is<RowCall> T>
void fields(V& v, T& x) {
  v("tool", x.tool);
  v("origin", x.origin);
  v("success", x.success);
  v("verdict", x.verdict);
  v("started_s", x.started_s);
  v("seconds", x.seconds);
}

template <class V, Is<RowTurn> T>
void fields(V& v, T& x) {
  v("turn", x.turn);
  v("tokens_before", x.tokens_before);
  v("tokens_after", x.tokens_after);
  v("started_s", x.started_s);
  v("seconds", x.seconds);
  v("latency_s", x.latency_s);
  v("best_visible_speedup", x.best_visible_speedup);
  v("replayed", x.replayed);
  v("calls", x.calls);
}

template <class V, Is<RowMetric> T>
void fields(V& v, T& x) {
  v("name", x.name);
  v("shape", x.shape);
  v("value", x.value);
  v("unit", x.unit);
}

template <class V, Is<RooflinePoint> T>
void fields(V& v, T& x) {
  v("shape", x.shape);
  v("intensity", x.intensity);
  v("achieved", x.achieved);
  v("bytes_per_second", x.bytes_per_second);
  v("memory_ceiling", x.memory_ceiling);
  v("compute_ceiling", x.compute_ceiling);
  v("share", x.share);
  v("unit", x.unit);
  v("bound", x.bound);
  v("source", x.source);
}

template <class V, Is<Row> T>
void fields_head(V& v, T& x) {
  v("item", x.item);
  v("run", x.run);
  v("variant", x.variant);
  v("model", x.model);
  v("level", x.level);
  v("problem", x.problem);
  v("title", x.title);
  v("domain", x.domain);
  v("slates", x.slates);
  v("admission", x.admission);
  v("attempt", x.attempt);
  v("harness", x.harness);
  v("backend", x.backend);
  v("precision", x.precision);
  v("max_turns", x.max_turns);
  v("max_tool_calls", x.max_tool_calls);
  v("page", x.page);
}

template <class V, Is<Row> T>
void fields_result(V& v, T& x) {
  v("outcome", x.outcome);
  v("has_result", x.has_result);
  v("verdict", x.verdict);
  v("inner_verdict", x.inner_verdict);
  v("flags", x.flags);
  v("result_reason", x.result_reason);
  v("stop_reason", x.stop_reason);
  v("skip_reason", x.skip_reason);
  v("error", x.error);
  v("error_code", x.error_code);
  v("compiled", x.compiled);
  v("correct", x.correct);
  v("stages", x.stages);
  v("reproduce", x.reproduce);
  v("speedup", x.speedup);
  v("confidence", x.confidence);
  v("runtime_us", x.runtime_us);
  v("seed_us", x.seed_us);
  v("share_of_floor", x.share_of_floor);
  v("timings", x.timings);
  v("metrics", x.metrics);
  v("roofline", x.roofline);
  v("worst_share", x.worst_share);
  v("launches", x.launches);
  v("kernel_sha256", x.kernel_sha256);
}

template <class V, Is<Row> T>
void fields_effort(V& v, T& x) {
  v("input_tokens", x.input_tokens);
  v("output_tokens", x.output_tokens);
  v("reasoning_tokens", x.reasoning_tokens);
  v("cached_tokens", x.cached_tokens);
  v("cost_usd", x.cost_usd);
  v("wasted_usd", x.wasted_usd);
  v("provider_usd", x.provider_usd);
  v("started_at", x.started_at);
  v("finished_at", x.finished_at);
  v("wall_seconds", x.wall_seconds);
  v("turns", x.turns);
  v("tool_calls", x.tool_calls);
  v("answers_cut", x.answers_cut);
  v("retried", x.retried);
  v("interruptions", x.interruptions);
  v("tools", x.tools);
  v("series", x.series);
}

template <class V, Is<Row> T>
void fields(V& v, T& x) {
  fields_head(v, x);
  fields_result(v, x);
  fields_effort(v, x);
  v("device", x.device);
  v("gpu", x.gpu);
  v("driver", x.driver);
  v("arch", x.arch);
  v("compiler", x.compiler);
  v("version", x.version);
  v("git_commit", x.git_commit);
  v("judge_version", x.judge_version);
  v("judge_rules", x.judge_rules);
  v("host", x.host);
  v("base_url", x.base_url);
  v("deployment", x.deployment);
  v("api_kind", x.api_kind);
  v("sandboxed", x.sandboxed);
  v("seed", x.seed);
  v("problem_sha256", x.problem_sha256);
  v("seed_sha256", x.seed_sha256);
  v("prompts_sha256", x.prompts_sha256);
  v("config_sha256", x.config_sha256);
  v("price_sha256", x.price_sha256);
  v("cut", x.cut);
}

}  // namespace sweep::report
