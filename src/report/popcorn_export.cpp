// Results under PopcornBench's names.
#include "report/exports.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

namespace sweep::report {

namespace {

constexpr std::string_view kPopcornHead =
    "folder,set_id,mode,task,problem_id,level,model_raw,model,correct,outcome,speedup,dram_util,"
    "compute_pct,power_w,energy_mj,fusion,occupancy,sol_score,timeout_recovered,total_turns,"
    "first_correct_step,wall_clock_s,llm_total_tokens\r\n";

// Its outcomes; two of ours are finer.
std::string popcorn_outcome(const Row& row) {
  if (row.outcome == "rejected") {
    return "incorrect";
  }
  if (row.outcome == "infra_error") {
    return "error";
  }
  return row.finished() ? row.outcome : "in_progress";
}

// "level1/3" as 1 and 3; words stay words.
std::string popcorn_level(const Row& row) {
  constexpr std::string_view prefix = "level";
  return row.level.starts_with(prefix) && row.level.size() > prefix.size()
             ? row.level.substr(prefix.size())
             : row.level;
}

std::string popcorn_id(const Row& row) {
  const std::size_t slash = row.problem.find('/');
  return slash == std::string::npos ? row.problem : row.problem.substr(slash + 1);
}

nlohmann::json popcorn_word(const std::string& text) {
  std::int64_t popcorn_number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, popcorn_number);
  return error == std::errc() && stop == end ? nlohmann::json(popcorn_number)
                                             : nlohmann::json(text);
}

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return text;
}

std::string popcorn_number(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : std::string();
}

// Of the first turn in which a kernel passed as a whole; empty: in none.
std::string popcorn_first_correct(const Row& row) {
  for (const RowTurn& turn : row.series) {
    for (const RowCall& call : turn.calls) {
      if (call.success && (call.tool == "run_correctness" || call.tool == "submit_kernel")) {
        return fmt::format("{}.0", turn.turn);
      }
    }
  }
  return {};
}

std::optional<double> millijoules(const Row& row) {
  const auto joules = metric_of(row, "energy_per_call");
  return joules ? std::optional(*joules * 1e3) : std::nullopt;
}

std::optional<double> watts(const Row& row) {
  const auto joules = metric_of(row, "energy_per_call");
  return joules && row.runtime_us && *row.runtime_us > 0
             ? std::optional(*joules * 1e6 / *row.runtime_us)
             : std::nullopt;
}

nlohmann::json or_minus_one(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(-1);
}

nlohmann::json popcorn_result(const Row& row) {
  if (!row.has_result) {
    return nullptr;
  }
  return {{"compiled", row.compiled},
          {"correctness", row.correct},
          {"metadata", {{"hardware", row.gpu}, {"device", row.device}, {"verdict", row.verdict}}},
          {"runtime", or_minus_one(row.runtime_us)},
          {"runtime_stats", nlohmann::json::object()},
          {"ref_runtime", or_minus_one(row.seed_us)},
          {"ref_runtime_stats", nlohmann::json::object()},
          {"source_runtime", -1},
          {"source_runtime_stats", nlohmann::json::object()},
          {"source_backend", ""},
          {"speedup_vs_source", -1},
          {"memory_stats", {{"memory_ratio", or_minus_one([&]() -> std::optional<double> {
                               const auto ratio = metric_of(row, "memory_ratio");
                               return ratio ? std::optional(1 / *ratio) : std::nullopt;
                             }())}}},
          {"numerical_precision", {{"worst_share_of_allowed", or_minus_one(row.worst_share)}}},
          {"kernel_launch_stats",
           {{"num_kernels", row.launches > 0 ? row.launches : -1},
            {"fusion_ratio", or_minus_one(metric_of(row, "launch_ratio"))}}},
          {"sol_stats", {{"sol_score", or_minus_one(metric_of(row, "speed_of_light"))}}},
          {"energy_stats",
           {{"energy_per_run_mj", or_minus_one(millijoules(row))},
            {"avg_power_w", or_minus_one(watts(row))},
            {"energy_ratio", or_minus_one(metric_of(row, "energy_ratio"))}}},
          {"roofline_stats", nlohmann::json::object()}};
}

}  // namespace

std::string_view popcorn_csv_head() {
  return kPopcornHead;
}

std::string popcorn_csv(const RowPointers& rows) {
  std::string out(kPopcornHead);
  for (const Row* row : rows) {
    const bool correct = row->outcome == "correct";
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},,,{},{},{},,{},{},{},{},{},{}\r\n",
                       csv_field(row->run),
                       csv_field(row->variant),
                       csv_field(row->harness),
                       csv_field(row->title),
                       csv_field(popcorn_id(*row)),
                       csv_field(popcorn_level(*row)),
                       csv_field(row->model),
                       csv_field(lower_case(row->model)),
                       correct ? "True" : "False",
                       csv_field(popcorn_outcome(*row)),
                       row->speedup ? popcorn_number(row->speedup->point) : "",
                       popcorn_number(watts(*row)),
                       popcorn_number(millijoules(*row)),
                       popcorn_number(metric_of(*row, "launch_ratio")),
                       popcorn_number(metric_of(*row, "speed_of_light")),
                       "False",
                       row->turns,
                       popcorn_first_correct(*row),
                       row->wall_seconds,
                       row->input_tokens + row->output_tokens);
  }
  return out;
}

nlohmann::json popcorn_json(const RowPointers& rows) {
  nlohmann::json out = nlohmann::json::array();
  for (const Row* row : rows) {
    nlohmann::json tools = nlohmann::json::array();
    for (const auto& [tool, count] : row->tools) {
      tools.push_back(tool);
    }
    out.push_back({{"problem_id", popcorn_word(popcorn_id(*row))},
                   {"level", popcorn_word(popcorn_level(*row))},
                   {"problem_name", row->title},
                   {"run_name", row->run},
                   {"model_name", row->model},
                   {"backend", row->backend},
                   {"precision", row->precision},
                   {"max_turns", row->max_turns},
                   {"max_tool_calls", row->max_tool_calls},
                   {"tools_used", std::move(tools)},
                   {"started_at", row->started_at},
                   {"finished_at",
                    row->finished_at.empty() ? nlohmann::json() : nlohmann::json(row->finished_at)},
                   {"agent_wall_clock_s", row->wall_seconds},
                   {"total_turns", row->turns},
                   {"total_tool_calls", row->tool_calls},
                   {"llm_input_tokens", row->input_tokens},
                   {"llm_output_tokens", row->output_tokens},
                   {"llm_total_tokens", row->input_tokens + row->output_tokens},
                   {"outcome", popcorn_outcome(*row)},
                   {"variant", row->variant},
                   {"final_result", popcorn_result(*row)}});
  }
  return out;
}

}  // namespace sweep::report
