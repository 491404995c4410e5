#include "config/price_table.h"
#include "config/schema.h"
#include "config/toml_reader.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"

#include <algorithm>
#include <array>
#include <system_error>

namespace sweep::config {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
constexpr std::array<std::string_view, 10> kOtherBackends = {"triton",
                                                             "tilelang",
                                                             "cute",
                                                             "thunderkittens",
                                                             "hip",
                                                             "helion",
                                                             "nki",
                                                             "pallas",
                                                             "numba",
                                                             "mojo"};

bool is_device(std::string_view text) {
  if (text == "cpu" || text == "cuda") {
    return true;
  }
  if (!text.starts_with("cuda:") || text.size() < 6 || text.size() > 8) {
    return false;
  }
  return std::all_of(text.begin() + 5, text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

void read_name(TomlReader& reader, const toml::table& table, Run& run) {
  if (!reader.text(table, "name", run.name) && table.get("name") == nullptr) {
    reader.error(table.source(), "[run] has no name", "add  name = \"...\"");
    return;
  }
  if (table.get("name")->is_string() && (run.name.empty() || run.name.size() > 80)) {
    reader.error(place_of(table, "name"), "name must have 1 to 80 bytes", "choose a short name");
  }
}

// One of a few words; `into` stays as it is where the key is absent or wrong.
void read_word(TomlReader& reader,
               const toml::table& table,
               const char* key,
               const std::vector<std::string>& words,
               std::string& into) {
  std::string word;
  if (!reader.text(table, key, word)) {
    return;
  }
  if (std::find(words.begin(), words.end(), word) == words.end()) {
    reader.error(place_of(table, key),
                 std::string(key) + " " + in_quotes(word) + " is unknown",
                 did_you_mean(word, words));
    return;
  }
  into = std::move(word);
}

// A compiler that was asked for and would not be used is a mistake.
void read_compiler(TomlReader& reader, const toml::table& table, Run& run) {
  std::string compiler = "nvrtc";
  if (!reader.text(table, "compiler", compiler)) {
    return;
  }
  run.nvcc = compiler == "nvcc";
  if (!run.nvcc && compiler != "nvrtc") {
    reader.error(place_of(table, "compiler"),
                 "compiler " + in_quotes(compiler) + " is unknown",
                 "\"nvrtc\" or \"nvcc\" is expected");
  } else if (run.nvcc && run.device == "cpu") {
    reader.error(place_of(table, "compiler"),
                 "the cpu device compiles with g++ alone",
                 "leave compiler out, or set device = \"cuda\"");
  }
}

void read_run_values(TomlReader& reader, const toml::table& table, Run& run) {
  std::string backend = "cuda";
  if (reader.text(table, "backend", backend) && backend != "cuda") {
    const bool known =
        std::find(kOtherBackends.begin(), kOtherBackends.end(), backend) != kOtherBackends.end();
    reader.error(
        place_of(table, "backend"),
        "backend " + in_quotes(backend) + (known ? " is not supported here" : " is unknown"),
        "submissions are CUDA C++: backend = \"cuda\"");
  }
  if (reader.text(table, "precision", run.precision) && run.precision != "fp32" &&
      run.precision != "fp16" && run.precision != "bf16") {
    reader.error(place_of(table, "precision"),
                 "precision " + in_quotes(run.precision) + " is unknown",
                 "fp32, fp16 or bf16 is expected");
  }
  if (reader.text(table, "device", run.device) && !is_device(run.device)) {
    reader.error(place_of(table, "device"),
                 "device " + in_quotes(run.device) + " is unknown",
                 "\"cuda\", \"cuda:N\" or \"cpu\" is expected");
  }
  read_compiler(reader, table, run);
  read_word(reader, table, "isa_policy", {"problem", "off", "warn", "gate"}, run.isa_policy);
  reader.text(table, "source_hardware_gpu_name", run.source_gpu);
  reader.text(table, "require_gpu", run.require_gpu);
  reader.optional(table, "popcorn_stress_eval", run.stress);
  reader.integer(table, "num_correct_trials", run.correct_trials, 1, 1000);
  run.submit_correct_trials = run.correct_trials;
  reader.integer(table, "submit_num_correct_trials", run.submit_correct_trials, 1, 1000);
  reader.integer(table, "attempts_per_problem", run.attempts_per_problem, 1, 10000);
  reader.integer(table, "seed", run.seed, 0, std::int64_t{1} << 53);
  reader.integer(table, "epoch", run.epoch, 0, std::int64_t{1} << 31);
  reader.optional(table, "confirm_usd", run.confirm_usd, 0.0, 1e9);
  reader.optional(table, "budget_usd", run.budget_usd, 0.0, 1e9);
  reader.optional(
      table, "budget_tokens", run.budget_tokens, std::int64_t{1}, std::int64_t{1} << 53);
  reader.text(table, "on_finish", run.on_finish);
  reader.boolean(table, "force_rerun", run.force_rerun);
}

void read_agent(TomlReader& reader, const toml::table& table, Agent& agent) {
  reader.number(table, "turn_delay_s", agent.turn_delay_s, 0, 86400);
  read_word(reader, table, "ptx_hub", {"off", "auto", "sm_80", "sm_90a"}, agent.ptx_hub);
  reader.optional(table, "reasoning_effort", agent.reasoning_effort);
  reader.integer(table, "llm_error_retries", agent.llm_error_retries, 1, 1000);
  reader.integer(table, "tool_output_context_max_chars", agent.tool_output_context_max_chars, 0);
  reader.integer(table, "reasoning_context_max_chars", agent.reasoning_context_max_chars, 0);
  reader.optional(
      table, "chat_context_tail_messages", agent.chat_context_tail_messages, std::int64_t{1});
}

void read_parallelism(TomlReader& reader, const toml::table& table, Parallelism& into) {
  reader.integer(table, "num_gpu_devices", into.num_gpu_devices, 1, 1024);
  reader.integer(table, "agents_per_gpu", into.agents_per_gpu, 1, 256);
  reader.integer(table, "cpu_compilers", into.cpu_compilers, 1, 4096);
  reader.number(table, "worker_timeout_s", into.worker_timeout_s, -1e9, 1e9);
  reader.number(table, "eval_rpc_timeout_s", into.eval_timeout_s, 1, 1e9);
  reader.integer(table, "llm_global_concurrency", into.llm_global_concurrency, 0, 100000);
  reader.boolean(table, "multi_gpu", into.multi_gpu);
}

void read_report(TomlReader& reader, const toml::table& table, Report& into) {
  reader.boolean(table, "enabled", into.enabled);
  reader.number(table, "refresh_seconds", into.refresh_seconds, 0.1, 86400);
  reader.boolean(table, "serve", into.serve);
  reader.text(table, "serve_host", into.serve_host);
  reader.integer(table, "serve_port", into.serve_port, 1, 65535);
}

void check_tables(TomlReader& reader, const toml::table& root) {
  const std::vector<std::string> tables = {
      "run", "agent", "harness", "parallelism", "report", "models"};
  for (auto&& [key, node] : root) {
    if (std::find(tables.begin(), tables.end(), key.str()) == tables.end()) {
      const std::string_view home = home_of(key.str());
      reader.error(key.source(),
                   "unknown table or key " + in_quotes(key.str()),
                   key.str() == "slate"
                       ? "this is a slate file: name it with  slate = \"FILE\"  in [run]"
                   : !home.empty() ? "it belongs in [" + std::string(home) + "]"
                                   : did_you_mean(key.str(), tables));
    }
  }
}

// An empty table stands in for one that is left out.
const toml::table& table_or_empty(TomlReader& reader,
                                  const toml::table& root,
                                  const char* name,
                                  const toml::table& empty) {
  const toml::table* found = reader.table(root, name);
  if (found == nullptr) {
    return empty;
  }
  reader.check_keys(*found, name);
  return *found;
}

PriceTable read_prices(TomlReader& reader, const toml::table& run, const fs::path& root) {
  PriceTable table;
  std::string file;
  if (reader.text(run, "prices", file)) {
    const std::string today = util::iso_time(util::RealClock().wall()).substr(0, 10);
    table.read(reader, place_of(run, "prices"), root / file, today);
  }
  return table;
}

void check_budget(TomlReader& reader, const SweepConfig& config) {
  for (const Model& model : config.models) {
    if (config.run.budget_usd && !model.price) {
      reader.error_in_file(
          "budget_usd is set, but the price of '" + util::printable(model.name) + "' is unknown",
          "add [models.price] with input and output (or free = true), or remove budget_usd");
    }
  }
}

}  // namespace

std::string_view name(ApiKind kind) {
  return kind == ApiKind::chat ? "openai_chat" : "openai";
}

fs::path root_of(const fs::path& file) {
  std::error_code error;
  const fs::path folder = fs::absolute(file, error).lexically_normal().parent_path();
  for (fs::path at = folder; !at.empty(); at = at.parent_path()) {
    if (fs::exists(at / ".git", error)) {
      return at;
    }
    if (at == at.root_path()) {
      break;
    }
  }
  return folder.filename() == "configs" ? folder.parent_path() : folder;
}

Loaded parse(std::string_view text, const std::string& file, const fs::path& root) {
  const toml::table document = parse_toml(text, file);
  TomlReader reader(file);
  Loaded loaded;
  SweepConfig& config = loaded.config;
  config.file = file;
  config.root = root;
  const toml::table empty;
  check_tables(reader, document);
  const toml::table& run = table_or_empty(reader, document, "run", empty);
  if (document.get("run") == nullptr) {
    reader.error_in_file("no [run]", "add [run] with name and slate (or problems)");
  } else {
    read_name(reader, run, config.run);
    read_selection(reader, run, root, config.run.selection);
  }
  std::string runs_dir = "runs";
  reader.text(run, "runs_dir", runs_dir);
  config.run.runs_dir = (root / runs_dir).lexically_normal();
  read_run_values(reader, run, config.run);
  const toml::table& agent = table_or_empty(reader, document, "agent", empty);
  read_harness(reader, document, run, agent, config.agent.harness);
  if (run.get("attempts_per_problem") == nullptr) {
    config.run.attempts_per_problem = config.agent.harness.samples;
  }
  read_agent(reader, agent, config.agent);
  read_parallelism(
      reader, table_or_empty(reader, document, "parallelism", empty), config.parallelism);
  read_report(reader, table_or_empty(reader, document, "report", empty), config.report);
  read_models(reader, document, config.agent, read_prices(reader, run, root), config.models);
  check_budget(reader, config);
  throw_errors(reader.errors());
  loaded.warnings = std::move(reader.warnings());
  return loaded;
}

Loaded load(const fs::path& file) {
  return parse(util::read_file(file, kMaxBytes), file.string(), root_of(file));
}

}  // namespace sweep::config
