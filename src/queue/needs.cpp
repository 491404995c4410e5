#include "queue/needs.h"

#include "config/dotenv.h"
#include "endpoint/builtin.h"
#include "problem/problem.h"
#include "util/error.h"
#include "util/sandbox.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace sweep::queue {

namespace fs = std::filesystem;

std::array<fs::path, 2> script_places(const config::SweepConfig& config,
                                      const Installation& installation) {
  return {fs::absolute(config.file).parent_path(), installation.data / "configs"};
}

std::vector<std::pair<std::string, util::Message>> missing_scripts(
    const Plan& plan, const Installation& installation) {
  std::vector<std::pair<std::string, util::Message>> out;
  for (const config::Model& model : plan.config.models) {
    const std::string_view name = endpoint::builtin_name(model.base_url);
    if (name.empty()) {
      continue;
    }
    try {
      endpoint::check_scripts(
          endpoint::find_scripts(script_places(plan.config, installation), name),
          model.deployment_name);
    } catch (const util::UsageError& error) {
      out.emplace_back(model.name, error.message());
    }
  }
  return out;
}

void check_scripts(const Plan& plan, const Installation& installation) {
  const auto missing = missing_scripts(plan, installation);
  if (!missing.empty()) {
    throw util::UsageError(missing.front().second, "E_SWEEP_SCRIPTS");
  }
}

std::optional<util::Message> missing_disassembler(const Plan& plan,
                                                  const Installation& installation,
                                                  const profile::ToolSearch& search) {
  if (plan.config.run.device == "cpu" || plan.config.run.isa_policy == "off" ||
      plan.config.run.isa_policy == "warn") {
    return std::nullopt;
  }
  const auto policy = problem::parse_isa_policy(plan.config.run.isa_policy);
  std::set<std::string> seen;
  for (const config::WorkItem& item : plan.chosen) {
    const auto folder = installation.folders.find(item.problem_id());
    if (folder == installation.folders.end() || !seen.insert(item.problem_id()).second) {
      continue;
    }
    const problem::Policy rules = problem::require(folder->second).policy;
    if (rules.isa_families.empty() || policy.value_or(rules.isa) != problem::IsaPolicy::gate) {
      continue;
    }
    const auto nvdisasm = profile::find_tool(profile::Tool::nvdisasm, search);
    const auto cuobjdump = profile::find_tool(profile::Tool::cuobjdump, search);
    const auto* why = std::get_if<profile::Unavailable>(&nvdisasm);
    if (why == nullptr || std::holds_alternative<fs::path>(cuobjdump)) {
      return std::nullopt;
    }
    return util::Message{
        item.problem_id(),
        "requires instructions (isa = \"gate\"), and without a disassembler no result of it can be "
        "judged: " +
            why->what + ", nor was cuobjdump",
        why->next + "; or set [run] isa_policy = \"warn\""};
  }
  return std::nullopt;
}

namespace {

// Keys that are there and cannot be sent, by their variable.
std::map<std::string, util::Message> broken_keys(const Plan& plan) {
  std::map<std::string, util::Message> out;
  const auto files = config::dotenv_files(plan.config.file, plan.config.root);
  std::set<std::string> seen;
  for (const config::Model& model : plan.config.models) {
    if (model.api_key_env.empty() || !seen.insert(model.api_key_env).second) {
      continue;
    }
    try {
      (void)config::read_key_value(model.api_key_env, files);
    } catch (const util::UsageError& error) {
      out.emplace(model.api_key_env, error.message());
    }
  }
  return out;
}

}  // namespace

std::vector<util::Message> missing_keys(const Plan& plan) {
  std::vector<util::Message> out;
  const auto files = config::dotenv_files(plan.config.file, plan.config.root);
  const std::string where =
      files.empty() ? "a .env file beside " + plan.config.file.string() : files.front().string();
  for (const config::Model& model : plan.config.models) {
    if (model.api_key_env.empty() || config::find_key(model.api_key_env, files)) {
      continue;
    }
    const auto items = std::count_if(plan.chosen.begin(), plan.chosen.end(), [&](const auto& item) {
      return item.model == model.name;
    });
    out.push_back(
        {"models." + model.name,
         fmt::format(
             "key variable {} is not set, neither in the environment nor in {}; {} item{} it",
             model.api_key_env,
             where,
             items,
             items == 1 ? " needs" : "s need"),
         "set it or drop the model"});
  }
  return out;
}

void check_keys(const Plan& plan) {
  const std::vector<util::Message> missing = missing_keys(plan);
  if (!missing.empty()) {
    throw util::UsageError(missing.front(), "E_KEY_MISSING");
  }
  const auto broken = broken_keys(plan);
  if (!broken.empty()) {
    throw util::UsageError(broken.begin()->second, "E_KEY_VALUE");
  }
}

Lacking lacks(const Plan& plan, const Installation& installation) {
  constexpr std::string_view kModels = "models.";
  Lacking out;
  for (const util::Message& missing : missing_keys(plan)) {
    out.texts.push_back(missing.text());
    out.keyless.insert(missing.where.substr(std::min(kModels.size(), missing.where.size())));
  }
  for (const auto& [variable, broken] : broken_keys(plan)) {
    out.texts.push_back(broken.text());
    for (const config::Model& model : plan.config.models) {
      if (model.api_key_env == variable) {
        out.keyless.insert(model.name);
        out.unusable.insert(model.name);
      }
    }
  }
  for (const auto& [model, missing] : missing_scripts(plan, installation)) {
    out.texts.push_back(missing.text());
    out.scriptless.insert(model);
  }
  try {
    (void)lanes(installation.program, plan.config.run.device, 0, plan.config.run.require_gpu);
  } catch (const util::Error& error) {
    out.texts.emplace_back(error.what());
    out.device = true;
  }
  if (const auto missing = missing_disassembler(plan, installation, profile::default_search())) {
    out.texts.push_back(missing->text());
    out.device = true;
  }
  return out;
}

void check_machine(const Lane& lane, bool nvcc, bool allow_unsandboxed) {
  // The harness's own code is compiled by NVRTC in either case.
  for (const std::string& lacks : {lane.no_compiler, nvcc ? lane.no_nvcc : std::string()}) {
    if (!lacks.empty()) {
      throw util::UsageError({"compile", lacks, ""}, "E_COMPILE_TOOLCHAIN");
    }
  }
  if (allow_unsandboxed) {
    return;
  }
  for (const util::Protection& protection : util::probe_sandbox()) {
    if (protection.mandatory && !protection.active) {
      throw util::InfraError({"sandbox",
                              protection.name + " is missing (" + protection.detail +
                                  "), so models' code is not run here",
                              "see `sweep doctor`; --allow-unsandboxed runs it without protection "
                              "and marks every result"},
                             "E_SANDBOX");
    }
  }
}

}  // namespace sweep::queue
