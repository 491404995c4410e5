// Models of a configuration, with their keys and the built-in server.
#include "cli/installation.h"
#include "cli/probe.h"
#include "config/dotenv.h"
#include "endpoint/builtin.h"
#include "util/error.h"

#include <array>
#include <filesystem>
#include <memory>

namespace sweep::cli {

namespace {

std::string base_url(const config::SweepConfig& config,
                     const config::Model& model,
                     std::unique_ptr<endpoint::BuiltinProcess>& builtin) {
  const std::string_view name = endpoint::builtin_name(model.base_url);
  if (name.empty()) {
    return model.base_url;
  }
  const std::array places{std::filesystem::absolute(config.file).parent_path(),
                          data_root() / "configs"};
  builtin = std::make_unique<endpoint::BuiltinProcess>(places, name, program_path());
  return builtin->base_url();
}

// UsageError E_KEY_MISSING.
endpoint::Secret key_of(const config::SweepConfig& config, const config::Model& model) {
  if (model.api_key_env.empty()) {
    return {};
  }
  const auto value =
      config::read_key_value(model.api_key_env, config::dotenv_files(config.file, config.root));
  if (!value) {
    throw util::UsageError(
        {"models." + model.name,
         "key variable " + model.api_key_env +
             " is not set, neither in the environment nor in a .env file beside " +
             config.file.filename().string(),
         "set it or drop the model"},
        "E_KEY_MISSING");
  }
  return endpoint::Secret(*value);
}

std::string key_place(const config::SweepConfig& config, const config::Model& model) {
  if (model.api_key_env.empty()) {
    return {};
  }
  const auto place =
      config::find_key(model.api_key_env, config::dotenv_files(config.file, config.root));
  return model.api_key_env + (place ? " from " + *place : "");
}

}  // namespace

void require_key(const config::SweepConfig& config, const config::Model& model) {
  (void)key_of(config, model);
}

ProbedModel probe_configured(const config::SweepConfig& config,
                             const config::Model& model,
                             const ProbeStages& stages) {
  ProbedModel out;
  try {
    std::unique_ptr<endpoint::BuiltinProcess> builtin;
    const std::string url = base_url(config, model, builtin);
    out = probe_model(model, url, key_of(config, model), stages);
  } catch (const util::Error& error) {
    out.model = model.name;
    out.checks.push_back({"reach", CheckState::fail, error.message().what, error.message().next});
  }
  out.key = key_place(config, model);
  return out;
}

}  // namespace sweep::cli
