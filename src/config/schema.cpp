#include "config/schema.h"

#include "config/config.h"
#include "config/model_keys.h"

#include <algorithm>
#include <array>

namespace sweep::config {

namespace {

constexpr std::string_view kPairs = "paired blocks of device-timed calls are always used";
constexpr std::string_view kTranslation =
    "hardware translation problems carry their own source, contract and oracle";
constexpr std::string_view kStress = "each problem declares its own stress shapes";
constexpr std::string_view kTimeouts = "every stage has a hard limit of its own";

constexpr std::array kRunKeys = {
    Key{"run", "name", kText, "required", "name of the run and of its folder"},
    Key{"run", "runs_dir", kText, "\"runs\"", "folder of the runs"},
    Key{"run",
        "dataset_src",
        kText,
        "\"local\"",
        "where problems come from",
        "the built-in catalogue is used"},
    Key{"run", "dataset_name", kText, "", "name of a data set", "the built-in catalogue is used"},
    Key{"run",
        "variants",
        kTexts,
        "slate's name",
        "problem sets, a sweep axis (a text is accepted)"},
    Key{"run", "variant", kText, "slate's name", "the same for one set"},
    Key{"run", "levels", kInts, "all selected", "levels; required without slate or problems"},
    Key{"run", "slate", kText, "", "name of a slate, or a TOML file with [slate]"},
    Key{"run", "problems", kTexts, "", "ids and globs: \"level1/3\", \"sci/*\""},
    Key{"run", "problem_subset", kInts, "[]", "ids for every level and variant; empty: all"},
    Key{"run", "problem_subset_by_level", kTable, "{}", "ids by level; wins over problem_subset"},
    Key{"run",
        "problem_subset_by_variant_level",
        kTable,
        "{}",
        "ids by variant and level; wins over both"},
    Key{"run", "backend", kText, "\"cuda\"", "language of submissions; only \"cuda\""},
    Key{"run",
        "precision",
        kText,
        "\"fp32\"",
        "label",
        "each problem declares its precision; the value is a label"},
    Key{"run",
        "gpu_arch",
        kTexts,
        "",
        "architectures",
        "kernels are compiled for the device that is present"},
    Key{"run", "timing_method", kText, "", "timing method", kPairs},
    Key{"run", "num_correct_trials", kInt, "5", "seeds for each visible shape in run_correctness"},
    Key{"run",
        "submit_num_correct_trials",
        kInt,
        "num_correct_trials",
        "the same in submit_kernel"},
    Key{"run",
        "num_perf_trials",
        kInt,
        "",
        "timing trials",
        "timing goes on until its interval is narrow enough"},
    Key{"run",
        "tools",
        kTexts,
        "\"default\"",
        "\"default\", \"all\", or names (comma list or list)"},
    Key{"run",
        "force_rerun",
        kBool,
        "false",
        "begin every finished item anew at each start, correct ones too; "
        "--retry begins anew only what failed"},
    Key{"run",
        "popcorn_stress_eval",
        kBool,
        "by variant",
        "whether stress decides the outcome; off for popcorn, original and "
        "hardware_translation_stub, on otherwise"},
    Key{"run", "stress_refs_root", kText, "", "folder of stress references", kStress},
    Key{"run", "stress_tiers", kTexts, "", "stress tiers", kStress},
    Key{"run", "stress_num_correct_trials_per_tier", kInt, "", "trials a tier", kStress},
    Key{"run", "prompt_option", kText, "", "prompt kind", "the problem decides the prompt"},
    Key{"run",
        "source_hardware_gpu_name",
        kText,
        "",
        "what prompts of translation problems call the source's GPU; else its architecture"},
    Key{"run", "hardware_gpu_name", kText, "", "target GPU", "the device that is present is named"},
    Key{"run", "source_kernel_dir", kText, "", "source kernels", kTranslation},
    Key{"run", "source_backend", kText, "", "source language", kTranslation},
    Key{"run", "hardware_translation_io_dir", kText, "", "contracts", kTranslation},
    Key{"run", "hardware_translation_oracle_dir", kText, "", "oracles", kTranslation},
    Key{"run", "target_node_shape", kText, "", "wording", "the devices that are present are named"},
    Key{"run", "source_node_shape", kText, "", "wording", kTranslation},
    Key{"run", "hidden_reference_kernel_dir", kText, "", "expert kernels", kTranslation},
    Key{"run",
        "device",
        kText,
        "\"cuda\"",
        "\"cuda\" (all up to num_gpu_devices), \"cuda:N\" or \"cpu\""},
    Key{"run", "require_gpu", kText, "", "text that the GPU's name must contain"},
    Key{"run",
        "compiler",
        kText,
        "\"nvrtc\"",
        "\"nvrtc\" or \"nvcc\", of CUDA C++ for a GPU: nvcc is slower and takes what NVRTC cannot"},
    Key{"run",
        "isa_policy",
        kText,
        "\"problem\"",
        "what becomes of a kernel without the instructions that its problem asks for: \"off\", "
        "\"warn\", \"gate\", or as each problem says"},
    Key{"run", "confirm_usd", kNumber, "none", "ask on a terminal above this upper bound"},
    Key{"run",
        "budget_usd",
        kNumber,
        "none",
        "ask models nothing that would exceed this; raise it to go on"},
    Key{"run", "budget_tokens", kInt, "none", "the same in tokens, prompts and answers"},
    Key{"run", "prices", kText, "none", "price file; [models.price] wins over it"},
    Key{"run",
        "on_finish",
        kText,
        "",
        "program to start at the end (SWEEP_RUN and SWEEP_STATUS in its environment)"},
    Key{"run", "seed", kInt, "0", "number that all visible draws derive from"},
    Key{"run", "epoch", kInt, "0", "number that the held-out draws derive from besides the salt"},
    Key{"run", "attempts_per_problem", kInt, "1", "independent attempts"},

    Key{"agent",
        "harness",
        kText,
        "from tools",
        "single_turn, default, all, repair, optimize, one_shot, or NAME of a [harness.NAME]"},
    Key{"agent", "max_turns", kInt, "10", "model calls an item"},
    Key{"agent",
        "max_tool_calls",
        kInt,
        "30",
        "tool calls an item; where versions are tried and it is not given, at least max_turns"},
    Key{"agent", "warn_turns_remaining", kInt, "2", "budget note when this many turns are left"},
    Key{"agent",
        "ptx_hub",
        kText,
        "\"off\"",
        "fact sheets in the prompt: \"off\", \"auto\" (by the device), \"sm_80\" or \"sm_90a\""},
    Key{"agent", "turn_delay_s", kNumber, "0", "pause between turns"},
    Key{"agent", "reasoning_effort", kText, "none", "reasoning effort sent to Responses endpoints"},
    Key{"agent",
        "llm_error_retries",
        kInt,
        "5",
        "tries a turn, those that a rate limit refuses not counted"},
    Key{"agent", "verbose", kBool, "", "more output", "each turn is in its trajectory"},
    Key{"agent", "stream_torchrun_stdout", kBool, "", "more output", "there is no torchrun here"},
    Key{"agent",
        "tool_output_context_max_chars",
        kInt,
        "120000",
        "longest tool output in the context; 0: no limit"},
    Key{"agent", "reasoning_context_max_chars", kInt, "0", "longest stored reasoning; 0: no limit"},
    Key{"agent", "chat_context_tail_messages", kInt, "none", "sliding window of the conversation"},
    Key{"agent",
        "distributed_torchrun_world_size",
        kInt,
        "",
        "ranks",
        "the problem declares its ranks"},
    Key{"agent", "eval_torchrun_timeout_s", kNumber, "", "limit", kTimeouts},
    Key{"agent", "dynamic_eval_timeout", kBool, "", "limit", kTimeouts},
    Key{"agent", "correctness_overhead_s", kNumber, "", "limit", kTimeouts},
    Key{"agent", "correctness_timeout_k", kNumber, "", "limit", kTimeouts},
    Key{"agent", "correctness_floor_s", kNumber, "", "limit", kTimeouts},
    Key{"agent", "submit_overhead_s", kNumber, "", "limit", kTimeouts},
    Key{"agent", "submit_timeout_k", kNumber, "", "limit", kTimeouts},
    Key{"agent", "submit_floor_s", kNumber, "", "limit", kTimeouts},
    Key{"agent", "reference_probe_enabled", kBool, "", "limit", kTimeouts},
    Key{"agent", "reference_probe_timeout_s", kNumber, "", "limit", kTimeouts},

    Key{"harness.NAME",
        "base",
        kText,
        "\"default\"",
        "built-in harness that the other keys change"},
    Key{"harness.NAME",
        "tools",
        kTexts,
        "base's",
        "names, or a set as in [run]; submit_kernel is always there"},
    Key{"harness.NAME", "max_turns", kInt, "base's", "model calls an item"},
    Key{"harness.NAME",
        "max_tool_calls",
        kInt,
        "base's",
        "tool calls an item; where versions are tried and it is not given, at least max_turns"},
    Key{"harness.NAME", "warn_turns_remaining", kInt, "base's", "as in [agent]"},
    Key{"harness.NAME",
        "stop",
        kText,
        "base's",
        "\"submitted\", \"first_correct\" or \"turns\": what ends a conversation"},
    Key{"harness.NAME",
        "feedback",
        kText,
        "base's",
        "\"sanitised\", \"check\" or \"timing\": what is told of a version that is tried"},
    Key{"harness.NAME", "show_seed", kBool, "base's", "show the seed kernel"},
    Key{"harness.NAME", "samples", kInt, "base's", "default of [run] attempts_per_problem"},

    Key{"parallelism", "num_gpu_devices", kInt, "all", "GPUs to use"},
    Key{"parallelism", "agents_per_gpu", kInt, "4", "conversations a GPU"},
    Key{"parallelism", "cpu_compilers", kInt, "one a core", "compilers at a time"},
    Key{"parallelism",
        "use_eval_queue",
        kBool,
        "",
        "queue",
        "every evaluation has processes of its own"},
    Key{"parallelism", "perf_lock_per_gpu", kBool, "", "lock", "timing always holds its GPU alone"},
    Key{"parallelism", "multi_gpu", kBool, "false", "select the multi-GPU problems only"},
    Key{"parallelism",
        "worker_timeout_s",
        kNumber,
        "1800",
        "wall limit of an item; 0 or less: none"},
    Key{"parallelism",
        "eval_rpc_timeout_s",
        kNumber,
        "3600",
        "limit of one evaluation, waiting left out"},
    Key{"parallelism",
        "llm_global_concurrency",
        kInt,
        "0",
        "model requests at a time; 0: no limit"},

    Key{"report", "enabled", kBool, "true", "build the report"},
    Key{"report", "refresh_seconds", kNumber, "30", "pause between builds while the sweep runs"},
    Key{"report", "serve", kBool, "true", "serve it while the sweep runs"},
    Key{"report", "serve_host", kText, "\"127.0.0.1\"", "address; others need --allow-remote"},
    Key{"report", "serve_port", kInt, "8765", "port; the next free one when taken"},
};

constexpr auto kKeys = [] {
  std::array<Key, kRunKeys.size() + kModelKeys.size()> all{};
  std::copy(kModelKeys.begin(),
            kModelKeys.end(),
            std::copy(kRunKeys.begin(), kRunKeys.end(), all.begin()));
  return all;
}();

}  // namespace

std::span<const Key> keys() {
  return kKeys;
}

const Key* find_key_of(std::string_view table, std::string_view name) {
  const auto* const found = std::find_if(kKeys.begin(), kKeys.end(), [&](const Key& key) {
    return key.table == table && key.name == name;
  });
  return found == kKeys.end() ? nullptr : found;
}

std::string_view home_of(std::string_view name) {
  // The price file is another document.
  const auto* const found = std::find_if(kKeys.begin(), kKeys.end(), [&](const Key& key) {
    return key.name == name && key.table != "prices";
  });
  return found == kKeys.end() ? std::string_view() : found->table;
}

std::vector<std::string> names_of(std::string_view table) {
  std::vector<std::string> names;
  for (const Key& key : kKeys) {
    if (key.table == table) {
      names.emplace_back(key.name);
    }
  }
  return names;
}

std::string key_reference() {
  std::string text;
  std::string_view table;
  for (const Key& key : kKeys) {
    if (key.table != table) {
      table = key.table;
      text += (text.empty() ? "" : "\n") +
              std::string(table == "models"   ? "[[models]]"
                          : table == "prices" ? "[[prices]] of the file that [run] prices names"
                                              : "[" + std::string(table) + "]") +
              "\n";
    }
    text += "  " + std::string(key.name) + ": " + std::string(key.type);
    if (!key.instead.empty()) {
      text += "; accepted and ignored: " + std::string(key.instead) + "\n";
      continue;
    }
    text += key.fallback.empty() ? std::string() : "; default " + std::string(key.fallback);
    text += "; " + std::string(key.meaning) + "\n";
  }
  return text;
}

}  // namespace sweep::config
