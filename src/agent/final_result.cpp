#include "agent/session.h"
#include "evaluate/verdict.h"

#include <cmath>

namespace sweep::agent {
namespace {

std::string shape_text(const std::string& name, const expr::IntEnv& dims) {
  std::string text;
  for (const auto& [dim, value] : dims)
    text += (text.empty() ? "" : ",") + dim + "=" + std::to_string(value);
  return text.empty() ? name : text;
}

void add_timing(const evaluate::TimeResult& time, record::FinalResult& out) {
  double log_seed = 0;
  double log_candidate = 0;
  for (const evaluate::ShapeTiming& shape : time.shapes) {
    record::ShapeTiming one;
    one.shape = shape_text(shape.shape, shape.dims);
    one.seed_us = shape.seed_seconds * 1e6;
    one.candidate_us = shape.candidate_seconds * 1e6;
    one.speedup = record::Interval{shape.ratio.point, shape.ratio.low, shape.ratio.high};
    if (shape.floor_seconds > 0 && shape.candidate_seconds > 0)
      one.share_of_floor = shape.floor_seconds / shape.candidate_seconds;
    if (shape.throughput.reason.empty()) {
      const evaluate::GraphTiming& graphs = shape.throughput;
      one.throughput_us = graphs.candidate_seconds * 1e6;
      one.seed_throughput_us = graphs.seed_seconds * 1e6;
      one.throughput_speedup =
          record::Interval{graphs.ratio.point, graphs.ratio.low, graphs.ratio.high};
    }
    one.replicates = time.replicates;
    one.blocks = time.blocks;
    log_seed += std::log(shape.seed_seconds);
    log_candidate += std::log(shape.candidate_seconds);
    out.timings.push_back(std::move(one));
  }
  if (time.shapes.empty())
    return;
  const auto count = static_cast<double>(time.shapes.size());
  out.ref_runtime_us = std::exp(log_seed / count) * 1e6;
  out.runtime_us = std::exp(log_candidate / count) * 1e6;
  out.speedup = record::Interval{time.ratio.point, time.ratio.low, time.ratio.high};
}

record::Stage stage(std::string name, bool passed, double seconds, std::string summary = {}) {
  record::Stage out;
  out.name = std::move(name);
  out.ran = true;
  out.passed = passed;
  out.seconds = seconds;
  out.summary = std::move(summary);
  return out;
}

std::string compile_text(const evaluate::CompileResult& compile) {
  if (compile.status != "ok")
    return compile.status;
  std::string out;
  for (const evaluate::KernelFacts& kernel : compile.kernels)
    if (kernel.registers >= 0)
      out += (out.empty() ? "" : "; ") + kernel.name + ": " + std::to_string(kernel.registers) +
             " registers";
  return out;
}

void add_stages(const evaluate::Evaluation& evaluation, record::FinalResult& out) {
  if (evaluation.screen)
    out.stages.push_back(
        stage("screen", evaluation.screen->errors.empty(), evaluation.screen->seconds));
  if (evaluation.compile)
    out.stages.push_back(stage("compile",
                               evaluation.compile->status == "ok",
                               evaluation.compile->seconds,
                               compile_text(*evaluation.compile)));
  if (evaluation.check) {
    record::Stage one = stage("check",
                              !evaluation.check->failure,
                              evaluation.check->seconds,
                              evaluation.check->failure ? evaluation.check->failure->text : "");
    one.total_count = static_cast<std::int64_t>(evaluation.check->calls.size());
    for (const evaluate::Call& call : evaluation.check->calls)
      one.passed_count += call.failure ? 0 : 1;
    out.stages.push_back(std::move(one));
  }
  if (evaluation.stress)
    out.stages.push_back(stage("stress",
                               evaluation.stress->passed,
                               evaluation.stress->seconds,
                               std::to_string(evaluation.stress->random_shapes) + " random and " +
                                   std::to_string(evaluation.stress->edge_shapes) +
                                   " edge shapes"));
  if (evaluation.time)
    out.stages.push_back(stage(
        "time",
        !evaluation.time->failure,
        evaluation.time->seconds,
        std::to_string(evaluation.time->replicates) + " replicates, " + evaluation.time->clock));
  if (evaluation.heldout)
    out.stages.push_back(
        stage("held_out", evaluation.heldout->passed, evaluation.heldout->seconds));
}

// {"shapes": {shape: value}} of one metric; null where no shape has it.
nlohmann::json metric_json(const evaluate::Evaluation& evaluation, std::string_view name) {
  nlohmann::json shapes = nlohmann::json::object();
  std::string unit;
  for (const evaluate::Metric& metric : evaluation.metrics) {
    if (metric.name == name && metric.value) {
      shapes[metric.shape] = *metric.value;
      unit = metric.unit;
    }
  }
  return shapes.empty() ? nlohmann::json(nullptr)
                        : nlohmann::json{{"shapes", std::move(shapes)}, {"unit", unit}};
}

// The named metrics as one member; null where none has a value.
nlohmann::json metrics_json(const evaluate::Evaluation& evaluation,
                            std::initializer_list<std::string_view> names) {
  nlohmann::json out = nlohmann::json::object();
  for (const std::string_view name : names) {
    if (nlohmann::json one = metric_json(evaluation, name); !one.is_null())
      out[std::string(name)] = std::move(one);
  }
  return out.empty() ? nlohmann::json(nullptr) : out;
}

void add_metrics(const evaluate::Evaluation& evaluation, record::FinalResult& out) {
  out.memory_stats = metrics_json(evaluation, {"memory_ratio"});
  out.kernel_launch_stats =
      metrics_json(evaluation, {"launch_ratio", "throughput_per_call", "throughput_ratio"});
  out.sol_stats = metrics_json(evaluation, {"speed_of_light"});
  out.energy_stats = metrics_json(evaluation, {"energy_per_call", "energy_ratio"});
  out.roofline_stats =
      metrics_json(evaluation, {"roofline", "bytes_per_second", "flop_per_second"});
}

}  // namespace

record::FinalResult final_result(const evaluate::Evaluation& evaluation) {
  record::FinalResult out;
  const evaluate::Outcome outcome = evaluation.outcome();
  out.compiled = evaluation.compile && evaluation.compile->status == "ok" &&
                 outcome != evaluate::Outcome::compile_fail;
  out.correctness = outcome == evaluate::Outcome::correct;
  out.verdict = std::string(evaluate::name(evaluation.verdict));
  out.flags = evaluation.flags;
  out.reason = evaluation.headline;
  out.reproduce = evaluation.reproduce;
  out.plan_sha256 = evaluation.plan.sha256;
  if (!evaluation.plan.text.empty())
    out.plan = nlohmann::json::parse(evaluation.plan.text);
  if (evaluation.stress && evaluation.stress->inner.for_archive())
    out.inner_verdict =
        std::string(evaluate::name(evaluation.stress->inner.for_archive()->verdict));
  else if (evaluation.heldout && evaluation.heldout->inner.for_archive())
    out.inner_verdict =
        std::string(evaluate::name(evaluation.heldout->inner.for_archive()->verdict));
  if (evaluation.time)
    add_timing(*evaluation.time, out);
  add_stages(evaluation, out);
  out.metadata = {{"outcome", std::string(evaluate::name(outcome))},
                  {"device", evaluation.device},
                  {"hardware", evaluation.device_info.name}};
  add_metrics(evaluation, out);
  if (evaluation.check)
    out.numerical_precision = {{"worst_share", evaluation.check->worst_share}};
  return out;
}

}  // namespace sweep::agent
