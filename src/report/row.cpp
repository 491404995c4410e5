#include "report/row.h"

#include "util/text.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

namespace sweep::report {

namespace {

using record::Trajectory;

// What a row takes of outside text and lists.
constexpr std::size_t kName = 200;   // bytes
constexpr std::size_t kLine = 500;   // bytes of a reason
constexpr std::size_t kPath = 4096;  // bytes
constexpr std::size_t kFlags = 32;   // and slates, stages
constexpr std::size_t kShapes = 64;
constexpr std::size_t kMetrics = 512;
constexpr std::size_t kTurns = 1000;
constexpr std::size_t kCalls = 100;  // of a turn
constexpr std::size_t kTools = 64;   // different ones

// Copies outside text and lists within bounds and remembers whether something was cut.
class Taker {
 public:
  std::string text(const std::string& from, std::size_t bytes = kName) {
    if (from.size() <= bytes) {
      return util::to_valid_utf8(from);
    }
    cut_ = true;
    std::size_t end = bytes;
    while (end > 0 && (static_cast<unsigned char>(from[end]) & 0xC0U) == 0x80U) {
      --end;
    }
    return util::to_valid_utf8(std::string_view(from).substr(0, end)) + "\u2026";
  }

  template <class T, class Make>
  auto list(const std::vector<T>& from, std::size_t most, Make make) {
    std::vector<decltype(make(from.front()))> out;
    cut_ = cut_ || from.size() > most;
    out.reserve(std::min(from.size(), most));
    for (std::size_t i = 0; i < from.size() && i < most; ++i) {
      out.push_back(make(from[i]));
    }
    return out;
  }

  std::vector<std::string> texts(const std::vector<std::string>& from) {
    return list(from, kFlags, [this](const std::string& one) { return text(one); });
  }

  void note_cut() { cut_ = true; }

  [[nodiscard]] bool cut() const { return cut_; }

 private:
  bool cut_ = false;
};

double finite(double value) {
  return std::isfinite(value) ? value : 0;
}

// A member of an object of outside JSON; null where there is none.
const nlohmann::json& member(const nlohmann::json& from, const char* name) {
  static const nlohmann::json kNone;
  const auto found = from.is_object() ? from.find(name) : from.end();
  return from.is_object() && found != from.end() ? *found : kNone;
}

double number(const nlohmann::json& from, const char* name) {
  const nlohmann::json& value = member(from, name);
  return value.is_number() ? finite(value.get<double>()) : 0;
}

std::string word(const nlohmann::json& from, const char* name) {
  const nlohmann::json& value = member(from, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
  });
}

void add_problem(Row& row, const std::string& level, const std::string& problem) {
  row.level = is_number(level) ? "level" + level : level;
  row.problem = row.level + "/" + problem;
}

void add_head(const Trajectory& t, Taker& take, Row& row) {
  row.item = take.text(t.item_id, kPath);
  row.run = take.text(t.run_name);
  row.variant = take.text(t.variant);
  row.model = take.text(t.model_name);
  add_problem(row, take.text(t.level), take.text(t.problem_id));
  row.title = take.text(t.problem_title.empty() ? t.problem_name : t.problem_title);
  row.domain = take.text(t.problem_domain);
  row.slates = take.texts(t.problem_slates);
  row.admission = take.text(t.problem_admission);
  if (row.slates.empty() && !t.bench_slate.empty()) {
    row.slates.push_back(take.text(t.bench_slate));
  }
  row.attempt = t.attempt;
  row.harness = take.text(t.harness);
  row.backend = take.text(t.backend);
  row.precision = take.text(t.precision);
  row.max_turns = t.max_turns;
  row.max_tool_calls = t.max_tool_calls;
}

// A metric of every shape, from {"NAME": {"shapes": {SHAPE: value}, "unit"}}.
void add_metrics(const nlohmann::json& stats, Taker& take, Row& row) {
  if (!stats.is_object()) {
    return;
  }
  for (const auto& [name, one] : stats.items()) {
    const nlohmann::json& shapes = member(one, "shapes");
    if (!shapes.is_object()) {
      continue;
    }
    for (const auto& [shape, value] : shapes.items()) {
      if (row.metrics.size() >= kMetrics) {
        take.note_cut();
        return;
      }
      if (value.is_number()) {
        row.metrics.push_back({take.text(name),
                               take.text(shape),
                               finite(value.get<double>()),
                               take.text(word(one, "unit"))});
      }
    }
  }
}

// Share of the roofline and the ceiling that bounds it, as the judge found them.
void add_bound(const nlohmann::json& metrics, Taker& take, RooflinePoint& point, double bytes) {
  if (!metrics.is_array()) {
    return;
  }
  for (const nlohmann::json& metric : metrics) {
    if (word(metric, "name") == "roofline" && word(metric, "shape") == point.shape) {
      point.share = number(metric, "value");
      point.bound = take.text(word(metric, "text"));
    }
  }
  if (point.share <= 0 || bytes <= 0) {
    return;
  }
  // share = achieved / ceiling of what bounds; the other ceiling is not in the record.
  const bool memory = point.bound.starts_with("DRAM");
  (memory ? point.memory_ceiling : point.compute_ceiling) =
      (memory ? point.bytes_per_second : point.achieved) / point.share;
  point.source = "the device's calibration";
}

void add_roofline(const record::FinalResult& result, Taker& take, Row& row) {
  const nlohmann::json& time = member(member(result.evaluation, "stages"), "time");
  const nlohmann::json& shapes = member(time, "shapes");
  if (!shapes.is_array()) {
    return;
  }
  for (const nlohmann::json& shape : shapes) {
    if (row.roofline.size() >= kShapes) {
      take.note_cut();
      return;
    }
    if (row.launches == 0 && member(shape, "launches").is_number_integer()) {
      row.launches = member(shape, "launches").get<std::int64_t>();
    }
    const double seconds = number(shape, "candidate_seconds");
    const double bytes = number(shape, "bytes");
    const double flops = number(shape, "flops");
    if (seconds <= 0 || bytes <= 0) {
      continue;
    }
    RooflinePoint point;
    point.shape = take.text(word(shape, "shape"));
    point.unit = take.text(word(shape, "unit"));
    point.intensity = finite(flops / bytes);
    point.achieved = finite(flops / seconds);
    point.bytes_per_second = finite(bytes / seconds);
    add_bound(member(result.evaluation, "metrics"), take, point, bytes);
    row.roofline.push_back(std::move(point));
  }
}

void add_timings(const record::FinalResult& result, Taker& take, Row& row) {
  row.timings = take.list(result.timings, kShapes, [&](const record::ShapeTiming& from) {
    record::ShapeTiming one = from;
    one.shape = take.text(from.shape);
    return one;
  });
  double logs = 0;
  std::size_t known = 0;
  for (const record::ShapeTiming& one : row.timings) {
    if (one.share_of_floor && *one.share_of_floor > 0) {
      logs += std::log(*one.share_of_floor);
      ++known;
    }
  }
  if (known > 0 && known == row.timings.size()) {
    row.share_of_floor = std::exp(logs / static_cast<double>(known));
  }
}

void add_result(const record::FinalResult& result, Taker& take, Row& row) {
  row.has_result = true;
  row.verdict = take.text(result.verdict);
  row.inner_verdict = take.text(result.inner_verdict);
  row.flags = take.texts(result.flags);
  row.result_reason = take.text(result.reason, kLine);
  row.compiled = result.compiled;
  row.correct = result.correctness;
  row.stages = take.list(result.stages, kFlags, [&](const record::Stage& from) {
    record::Stage one = from;
    one.name = take.text(from.name);
    one.summary = take.text(from.summary, kLine);
    return one;
  });
  row.reproduce = take.text(result.reproduce, kPath);
  if (row.outcome == "correct" && result.speedup && result.speedup->point > 0) {
    row.speedup = result.speedup;
  }
  row.confidence = result.confidence;
  row.runtime_us = result.runtime_us;
  row.seed_us = result.ref_runtime_us;
  row.kernel_sha256 = take.text(result.kernel_sha256);
  row.judge_rules = record::rules_of(result);
  add_timings(result, take, row);
  for (const nlohmann::json* stats : {&result.memory_stats,
                                      &result.kernel_launch_stats,
                                      &result.sol_stats,
                                      &result.energy_stats,
                                      &result.roofline_stats}) {
    add_metrics(*stats, take, row);
  }
  if (member(result.numerical_precision, "worst_share").is_number()) {
    row.worst_share = number(result.numerical_precision, "worst_share");
  }
  add_roofline(result, take, row);
}

RowCall call_of(const record::ToolCall& call, Taker& take) {
  return {take.text(call.tool_name),
          take.text(call.origin),
          call.success,
          take.text(word(call.metadata, "verdict")),
          call.started_s,
          call.wall_clock_s};
}

// `name` itself while there are few of them.
ToolCount& count_of(std::map<std::string, ToolCount>& tools, const std::string& name) {
  return tools[tools.contains(name) || tools.size() < kTools ? name : "(others)"];
}

void add_turns(const Trajectory& t, Taker& take, Row& row) {
  for (const record::Turn& turn : t.turns) {
    for (const record::ToolCall& call : turn.tool_calls) {
      ToolCount& count = count_of(row.tools, take.text(call.tool_name));
      ++count.calls;
      count.failed += call.success ? 0 : 1;
    }
    if (turn.llm_usage) {
      row.reasoning_tokens += turn.llm_usage->reasoning_tokens;
      row.cached_tokens += turn.llm_usage->cached_input_tokens;
    }
  }
  row.series = take.list(t.turns, kTurns, [&](const record::Turn& turn) {
    return RowTurn{turn.turn_id + 1,
                   turn.tokens_before,
                   turn.tokens_after,
                   turn.started_s,
                   turn.turn_wall_clock_s,
                   turn.llm_latency_s,
                   turn.best_visible_speedup,
                   turn.replayed,
                   take.list(turn.tool_calls, kCalls, [&](const record::ToolCall& call) {
                     return call_of(call, take);
                   })};
  });
}

void add_effort(const Trajectory& t, Taker& take, Row& row) {
  row.input_tokens = t.llm_input_tokens;
  row.output_tokens = t.llm_output_tokens;
  row.cost_usd = t.cost_usd;
  row.wasted_usd = t.cost_wasted_usd;
  row.provider_usd = t.cost_provider_usd;
  row.started_at = take.text(t.started_at);
  row.finished_at = take.text(t.finished_at.value_or(""));
  row.wall_seconds = t.agent_wall_clock_s;
  row.turns = t.total_turns;
  row.tool_calls = t.total_tool_calls;
  row.answers_cut = t.answers_cut;
  row.retried = t.times_retried;
  row.interruptions = t.interruptions;
  row.price_sha256 = take.text(t.price_sha256);
}

void add_provenance(const record::Provenance& p, Taker& take, Row& row) {
  row.device = take.text(p.device);
  row.gpu = take.text(p.gpu_name);
  row.driver = take.text(p.driver);
  row.arch = take.text(p.arch);
  row.compiler = take.text(p.compiler);
  row.version = take.text(p.sweep_version);
  row.git_commit = take.text(p.git_commit);
  row.judge_version = take.text(p.judge_version);
  row.host = take.text(p.host);
  row.base_url = take.text(p.base_url, kPath);
  row.deployment = take.text(p.deployment_name);
  row.api_kind = take.text(p.api_kind);
  row.sandboxed = p.sandboxed;
  row.seed = p.seed;
  row.problem_sha256 = take.text(p.problem_sha256);
  row.seed_sha256 = take.text(p.seed_sha256);
  row.prompts_sha256 = take.text(p.prompts_sha256);
  row.config_sha256 = take.text(p.config_sha256);
}

}  // namespace

Row row_of(const Trajectory& t, std::string page) {
  Row row;
  Taker take;
  add_head(t, take, row);
  row.page = std::move(page);
  row.outcome = take.text(t.outcome);
  row.stop_reason = take.text(t.stop_reason);
  row.skip_reason = take.text(t.skip_reason, kLine);
  row.error = take.text(t.error, kLine);
  row.error_code = take.text(t.error_code);
  if (t.final_result) {
    add_result(*t.final_result, take, row);
  }
  add_effort(t, take, row);
  add_turns(t, take, row);
  add_provenance(t.provenance, take, row);
  row.cut = take.cut();
  return row;
}

Row row_without_file(const record::ItemName& name, std::string outcome) {
  Row row;
  Taker take;
  row.variant = take.text(name.variant);
  row.model = take.text(name.model);
  add_problem(row, take.text(name.level), take.text(name.problem));
  row.attempt = name.attempt;
  row.item = util::encode_path_part(row.variant) + "/" + util::encode_path_part(row.model) + "/" +
             row.problem + (name.attempt > 1 ? "#" + std::to_string(name.attempt) : "");
  row.outcome = std::move(outcome);
  row.cut = take.cut();
  return row;
}

std::optional<bool> passed(const Row& row, std::string_view stage) {
  for (const record::Stage& one : row.stages) {
    if (one.name == stage && one.ran) {
      return one.passed;
    }
  }
  return std::nullopt;
}

}  // namespace sweep::report
