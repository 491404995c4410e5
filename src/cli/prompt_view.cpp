#include "cli/prompt_view.h"

#include "agent/no_effect.h"
#include "agent/prompt.h"
#include "agent/task.h"
#include "evaluate/preparation.h"
#include "util/error.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>

namespace sweep::cli {
namespace {

// A sweep with this harness, which is built in, and nothing else of its own.
config::SweepConfig config_with(const std::string& harness) {
  std::vector<std::string> known;
  for (const config::Harness& one : config::builtin_harnesses()) {
    known.push_back(one.name);
  }
  if (std::ranges::find(known, harness) == known.end()) {
    const auto near = util::closest(harness, known);
    throw util::UsageError({"--harness " + util::printable(harness.substr(0, 80)),
                            "unknown harness",
                            (near ? "did you mean '" + *near + "'? " : "") +
                                "if a TOML defines it, give --config FILE instead, whose [agent] "
                                "names it"},
                           "E_CLI_HARNESS");
  }
  return config::parse(
             "[run]\nname = \"prompt\"\nproblems = [\"level1/3\"]\n[agent]\nharness = \"" +
                 harness +
                 "\"\n[[models]]\nname = \"m\"\nbase_url = \"builtin:demo\"\n"
                 "api_kind = \"openai_chat\"\n",
             "--harness",
             ".")
      .config;
}

device::Info info_of(device::Id id) {
  for (const device::Listed& listed : device::list()) {
    if (listed.usable && listed.id.kind == id.kind && listed.id.index == id.index) {
      return listed.info;
    }
  }
  throw util::UsageError({"--device " + device::text(id),
                          "no such device can be used here",
                          "see `sweep doctor`, or give --device cpu"},
                         "E_CLI_DEVICE");
}

}  // namespace

std::string prompt_text(const evaluate::Services& services,
                        const std::string& problem,
                        const PromptOptions& options,
                        bool json) {
  const config::SweepConfig config =
      options.config.empty() ? config_with(options.harness) : config::load(options.config).config;
  const device::Id id = device::parse_id(options.device);
  const problem::Problem found = evaluate::find_problem(services, problem);
  const agent::Task task =
      agent::make_task(found, info_of(id), id.kind, evaluate::seed_file(services, found));
  if (!options.config.empty()) {
    for (const config::Diagnostic& one :
         agent::without_effect(config, id.kind == device::Kind::cpu, !task.isa_families.empty())) {
      std::cerr << "warning: " << one.text() << '\n';
    }
  }
  const agent::Harness harness = agent::make_harness(config.agent);
  const std::string system = agent::system_prompt(harness);
  const std::string first =
      agent::task_prompt(task, agent::shown_by(config, harness, task, id.kind));
  if (!json) {
    return system + "\n\n" + std::string(72, '=') + "\n\n" + first + "\n";
  }
  return nlohmann::json{{"schema", 1},
                        {"id", found.id},
                        {"harness", config.agent.harness.name},
                        {"system", system},
                        {"first_message", first},
                        {"prompts_version", agent::prompts_version()},
                        {"prompts_sha256", agent::prompts_sha256()}}
             .dump(2) +
         "\n";
}

}  // namespace sweep::cli
