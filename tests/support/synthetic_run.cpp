#include "synthetic_run.h"

#include "record/artifacts.h"
#include "record/json.h"
#include "record/plan.h"
#include "record/run_dir.h"
#include "record/trajectory.h"
#include "synthetic_ledger.h"
#include "util/sha256.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <fstream>
#include <thread>
#include <vector>

#include <fmt/format.h>

namespace sweep::support {
namespace {

using nlohmann::json;
using record::Interval;

constexpr std::array kModels = {"gpt-5.5",
                                "gpt-5.5-mini",
                                "glm-5.1",
                                "grok-4.3",
                                "kimi-k2.6",
                                "llama-4-maverick",
                                "qwen3-coder",
                                "deepseek-v4",
                                "sonnet-5",
                                "mistral/large 3"};
constexpr std::array kLevels = {"1", "2", "3", "4", "sci"};
constexpr std::array kDomains = {"graph", "biology", "probability", "sequence", "robotics", "llm"};
constexpr std::size_t kAttempts = 2, kVariants = 2;

// SplitMix64: the same everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }

  std::size_t below(std::size_t end) { return next() % end; }

  double unit() { return static_cast<double>(next() >> 11U) * 0x1p-53; }

  bool one_in(std::size_t n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

constexpr std::array kHostile = {
    "</pre></script><script>document.title='owned'</script>",
    "<img src=x onerror=alert(1)><iframe src=javascript:alert(1)></iframe>",
    "\x1b[31mred\x1b[0m\x07 \x01\x02 bell",
    "\xe2\x80\xae"
    "gnp.exe \xe2\x81\xa6 isolated \xe2\x80\x8f rtl",
    "\xff\xfe invalid \xc3( \xed\xa0\x80 end",
    "]]>--><!-- {{constructor.constructor('1')()}} ${7*7} &lt;b&gt;",
    "=HYPERLINK(\"http://elsewhere\",\"x\")\t\"quoted\", \\input{/etc/passwd} | a | b |",
};

std::string prose(Random& random, std::size_t bytes) {
  constexpr std::array words = {"the ",  "kernel ", "reads ",     "each ",   "row ",
                                "of ",   "CSR ",    "into ",      "shared ", "memory, ",
                                "so ",   "warps ",  "coalesce; ", "then ",   "we ",
                                "tile ", "by ",     "32 ",        "and ",    "unroll.\n"};
  std::string out;
  while (out.size() < bytes) {
    out += words[random.below(words.size())];
  }
  return out;
}

std::string kernel(Random& random, std::size_t lines) {
  std::string out =
      "//@ problem level1/3\n//@ const V = 4\n__global__ void spmm(const int* "
      "row_ptr, const float* x, float* y) {\n";
  for (std::size_t i = 0; i < lines; ++i) {
    out += fmt::format("  float acc{} = fmaf(x[row_ptr[{}] * {} + threadIdx.x], {:.4f}f, y[{}]);\n",
                       i,
                       random.below(64),
                       random.below(512),
                       random.unit(),
                       random.below(99));
  }
  return out + "}\n//@ launch spmm<<<ceildiv(rows, 8), 256>>>(row_ptr, x, y)\n";
}

Interval around(double point, double half) {
  return {point, point / (1 + half), point * (1 + half)};
}

json calls(Random& random, std::size_t count) {
  json out = json::array();
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back({{"content", "default"},
                   {"device_seconds", random.unit() * 1e-4},
                   {"dims", {{"cols", random.below(900)}, {"rows", random.below(900)}}},
                   {"draw", i % 4},
                   {"failure", nullptr},
                   {"shape", i < 8 ? "tiny" : "stress/" + std::to_string(i)},
                   {"worst_share", random.unit()}});
  }
  return out;
}

json samples(Random& random, double ratio) {
  json rows = json::array();
  for (int replicate = 0; replicate < 3; ++replicate) {
    for (int shape = 0; shape < 2; ++shape) {
      for (int block = 0; block < 18; ++block) {
        for (int position = 0; position < 4; ++position) {
          const bool candidate = position == 1 || position == 2;
          const double seconds = 2e-5 * (1 + 0.05 * random.unit()) / (candidate ? ratio : 1);
          rows.push_back({replicate,
                          shape,
                          block,
                          position,
                          candidate ? 1 : 0,
                          seconds,
                          seconds + 1.5e-6,
                          0.998});
        }
      }
    }
  }
  return {{"columns",
           {"replicate",
            "shape",
            "block",
            "position",
            "candidate",
            "device_seconds",
            "host_seconds",
            "flushed"}},
          {"rows", std::move(rows)}};
}

json evaluation(Random& random, double ratio) {
  json shapes = json::array(), metrics = json::array();
  for (const char* name : {"small", "large"}) {
    const double seconds = 1e-5 * (1 + random.unit());
    shapes.push_back({{"shape", name},
                      {"bytes", 2e6},
                      {"flops", 8e6 * random.unit()},
                      {"candidate_seconds", seconds},
                      {"seed_seconds", seconds * ratio},
                      {"launches", 1 + random.below(3)},
                      {"unit", "fp32"}});
    metrics.push_back({{"name", "roofline"},
                       {"shape", name},
                       {"value", 0.1 + 0.8 * random.unit()},
                       {"text", "DRAM read"}});
  }
  return {{"schema", 1},
          {"metrics", std::move(metrics)},
          {"stages",
           {{"check", {{"calls", calls(random, 16)}, {"seconds", 0.4}}},
            {"stress", {{"calls", calls(random, 39)}, {"passed", true}, {"seconds", 0.7}}},
            {"time",
             {{"shapes", std::move(shapes)},
              {"samples", samples(random, ratio)},
              {"blocks", 18},
              {"replicates", 3},
              {"clock", "CUDA events"}}}}}};
}

struct Ending {
  const char* outcome;
  const char* verdict;
  const char* reason;
};

// Weighted by repetition.
constexpr std::array kEndings = {
    Ending{"correct", "PASS_FASTER", ""},
    Ending{"correct", "PASS_FASTER", ""},
    Ending{"correct", "PASS_EQUIVALENT", ""},
    Ending{"correct", "PASS_SLOWER", ""},
    Ending{"correct", "PASS_INCONCLUSIVE", "the interval leaves it open"},
    Ending{"incorrect", "INCORRECT_VALUE", "y[17] is 0.25 and not 0.5 at rows=13"},
    Ending{"incorrect", "INCORRECT_GENERALISATION", "right on the published shapes only"},
    Ending{"compile_fail", "COMPILE_ERROR", "kernel.cu(12): error: 'vals' is undefined"},
    Ending{"rejected", "REJECTED_CACHED_OUTPUT", "the output of the call before was returned"},
    Ending{"error", "", ""},
    Ending{"timeout", "", ""},
    Ending{"infra_error", "", ""},
    Ending{"skipped", "", ""},
    Ending{"in_progress", "", ""},
};

record::FinalResult result(Random& random, const Ending& ending) {
  record::FinalResult out;
  const std::string outcome = ending.outcome;
  out.compiled = outcome != "compile_fail";
  out.correctness = outcome == "correct";
  out.verdict = ending.verdict;
  out.reason = ending.reason;
  out.flags = random.one_in(5) ? std::vector<std::string>{"UNEVEN"} : std::vector<std::string>{};
  out.reproduce = "sweep eval kernel.cu --device cuda:0 --problem level1/3 --seed 0";
  out.stages = {{"compile", true, out.compiled, "spmm: 40 registers", 0.3, 0, 0}};
  out.kernel_sha256 = util::sha256_hex(std::to_string(random.next()));
  if (!out.compiled) {
    return out;
  }
  const double ratio = out.verdict == "PASS_SLOWER"       ? 0.3 + 0.6 * random.unit()
                       : out.verdict == "PASS_EQUIVALENT" ? 1.0
                                                          : std::exp(2 * random.unit());
  out.stages.push_back({"check", true, outcome != "incorrect", "", 0.4, 16, 16});
  out.stages.push_back(
      {"stress", true, out.correctness, "12 random and 27 edge shapes", 0.7, 0, 0});
  out.evaluation = evaluation(random, ratio);
  if (out.correctness) {
    out.speedup = around(ratio, 0.02 + 0.1 * random.unit());
    out.runtime_us = 20 / ratio;
    out.ref_runtime_us = 20;
    for (const char* shape : {"rows=4096,cols=64", "rows=65536,cols=64"}) {
      out.timings.push_back({shape, 20, 20 / ratio, around(ratio, 0.05), random.unit(), 3, 18});
    }
    out.memory_stats = {{"memory_ratio", {{"shapes", {{"small", 1.0}}}, {"unit", ""}}}};
    out.numerical_precision = {{"worst_share", random.unit()}};
  }
  return out;
}

// The words of a turn; sometimes those of an enemy.
record::Turn turn_of(Random& random, std::int64_t id, bool hostile, record::Trajectory& t) {
  record::Turn turn;
  turn.turn_id = id;
  turn.reasoning = prose(random, 300 + random.below(5000));
  turn.text = prose(random, 200 + random.below(800));
  const std::string code = kernel(random, 15 + random.below(40));
  turn.messages_in = json::array({{{"role", "system"}, {"content", t.system_prompt}},
                                  {{"role", "user"}, {"content", prose(random, 4000)}}});
  turn.response = json::array({{{"type", "message"}, {"content", turn.text}}});
  record::ToolCall call;
  call.tool_name = random.one_in(3) ? "compile_kernel" : "run_correctness";
  call.args = {{"kernel_code", code}};
  call.success = !random.one_in(3);
  call.result_text = call.success ? "run_correctness PASSED\n" : prose(random, 900);
  call.metadata = {{"verdict", call.success ? "PASS_INCONCLUSIVE" : "INCORRECT_VALUE"}};
  call.started_s = turn.started_s = 20.0 * static_cast<double>(id);
  call.wall_clock_s = 2 * random.unit();
  if (hostile) {
    turn.text = record::canonical(kHostile[random.below(kHostile.size())]);
    turn.reasoning += kHostile[random.below(kHostile.size())];
    call.tool_name = kHostile[random.below(kHostile.size())];
    call.result_text = kHostile[random.below(kHostile.size())];
    call.args["kernel_code"] = code + kHostile[random.below(kHostile.size())];
  }
  turn.llm_usage = record::Usage{3000 + 2000 * id, 1500, 900, 1000, false, nullptr};
  turn.tokens_before = t.llm_total_tokens;
  t.llm_input_tokens += turn.llm_usage->input_tokens;
  t.llm_output_tokens += turn.llm_usage->output_tokens;
  t.llm_total_tokens = t.llm_input_tokens + t.llm_output_tokens;
  turn.tokens_after = t.llm_total_tokens;
  turn.llm_latency_s = 5 + 20 * random.unit();
  turn.turn_wall_clock_s = turn.llm_latency_s + call.wall_clock_s;
  if (id > 1) {
    turn.best_visible_speedup = 1 + 0.2 * static_cast<double>(id) * random.unit();
  }
  turn.tool_calls.push_back(std::move(call));
  return turn;
}

record::ItemName name_of(std::size_t index) {
  const std::size_t model = index % kModels.size();
  const std::size_t variant = index / kModels.size() % kVariants;
  const std::size_t attempt = index / (kModels.size() * kVariants) % kAttempts;
  const std::size_t problem = index / (kModels.size() * kVariants * kAttempts);
  return {variant == 0 ? "popcorn2" : "original",
          kModels[model],
          kLevels[problem % kLevels.size()],
          problem % kLevels.size() == 4 ? "sim" + std::to_string(problem / kLevels.size())
                                        : std::to_string(1 + problem / kLevels.size()),
          static_cast<std::int64_t>(attempt + 1)};
}

void add_head(const record::ItemName& name, Random& random, record::Trajectory& t) {
  t.variant = name.variant;
  t.model_name = name.model;
  t.level = name.level;
  t.problem_id = name.problem;
  t.attempt = name.attempt;
  const std::string problem =
      (name.level == "sci" ? "sci/" : "level" + name.level + "/") + name.problem;
  t.item_id = record::encode_part(name.variant) + "/" + record::encode_part(name.model) + "/" +
              problem + (name.attempt > 1 ? "#" + std::to_string(name.attempt) : "");
  t.run_name = "synthetic";
  t.problem_name = "problem_" + name.problem;
  t.problem_title = "Made-up problem " + problem;
  t.problem_domain = kDomains[util::leading_u64(util::sha256(problem)) % kDomains.size()];
  t.problem_slates =
      random.one_in(4) ? std::vector<std::string>{"popcorn2"} : std::vector<std::string>{};
  t.harness = name.variant == "original" ? "all" : "default";
  t.max_turns = 14;
  t.max_tool_calls = 40;
  t.precision = "fp32";
  t.started_at = "2026-01-31T12:00:00.000Z";
  t.system_prompt = prose(random, 1800);
  t.provenance.device = "cuda:0";
  t.provenance.gpu_name = "NVIDIA H200";
  t.provenance.driver = "580.159.04";
  t.provenance.sweep_version = "0.1.0";
  t.provenance.problem_sha256 = util::sha256_hex(problem);
  t.provenance.api_kind = "openai_chat";
}

record::Trajectory trajectory_of(std::size_t index, const SyntheticRun& what) {
  Random random(what.seed * 1000003 + index);
  const bool hostile = what.hostile && index % 50 == 0;
  record::Trajectory t;
  add_head(name_of(index), random, t);
  if (hostile) {
    t.problem_title = kHostile[index / 50 % kHostile.size()];
    t.harness = kHostile[(index / 50 + 1) % kHostile.size()];
    t.error = kHostile[(index / 50 + 2) % kHostile.size()];
  }
  const Ending& ending = kEndings[random.below(kEndings.size())];
  t.outcome = ending.outcome;
  const auto turns = static_cast<std::int64_t>(t.outcome == "skipped" ? 0 : 1 + random.below(14));
  for (std::int64_t i = 0; i < turns; ++i) {
    t.turns.push_back(turn_of(random, i, hostile, t));
  }
  t.total_turns = t.total_tool_calls = turns;
  t.agent_wall_clock_s = 30 * static_cast<double>(turns);
  if (!random.one_in(20)) {
    t.cost_usd = 1e-6 * static_cast<double>(t.llm_total_tokens);
  }
  if (t.outcome != "in_progress") {
    t.finished_at = "2026-01-31T12:10:00.000Z";
    t.stop_reason = random.one_in(3) ? "turns" : "submitted";
  }
  if (ending.verdict[0] != '\0' && !t.turns.empty()) {
    t.final_result = result(random, ending);
    t.turns.back().submitted_kernel = t.turns.back().tool_calls.back().args["kernel_code"];
    t.turns.back().is_final = true;
  }
  if (what.hostile && index == 0) {
    t.turns.resize(std::max<std::size_t>(t.turns.size(), 1));
    t.turns.front().reasoning = std::string(std::size_t{5} << 20U, 'x');
  }
  return t;
}

void put(const std::filesystem::path& file, const std::string& bytes) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << bytes;
}

void put_item(const record::RunDir& run, std::size_t index, const SyntheticRun& what) {
  const record::ItemName name = name_of(index);
  const record::Trajectory t = trajectory_of(index, what);
  put(run.trajectory_file(name),
      record::to_json(t).dump(1, ' ', false, json::error_handler_t::replace) + "\n");
  if (t.final_result) {
    put(run.kernel_file(name), record::RunDir::kernel_text(*t.turns.back().submitted_kernel));
  }
}

}  // namespace

void make_synthetic_run(const std::filesystem::path& folder, const SyntheticRun& what) {
  std::filesystem::create_directories(folder);
  const record::RunDir run(folder);
  std::atomic<std::size_t> next = 0;
  std::vector<std::jthread> workers;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
    workers.emplace_back([&] {
      for (std::size_t index = next++; index < what.items; index = next++) {
        put_item(run, index, what);
      }
    });
  }
  workers.clear();
  if (what.hostile) {
    put(folder / "popcorn2/broken/level_1_problem_1_trajectory.json", "{\"turns\": [\xff");
    put(folder / "popcorn2/deep/level_1_problem_1_trajectory.json", std::string(100000, '['));
  }
  std::vector<record::ItemName> plan;
  for (std::size_t index = 0; index < what.items; ++index) {
    plan.push_back(name_of(index));
  }
  const record::Artifacts artifacts(run.artifacts_folder());
  put(run.ledger_file(), synthetic_ledger(plan, artifacts.put(record::plan_json(plan))));
}

}  // namespace sweep::support
