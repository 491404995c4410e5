#include "cli/command.h"
#include "cli/installation.h"
#include "cli/options.h"
#include "cli/style.h"
#include "config/config.h"
#include "config/dotenv.h"
#include "endpoint/builtin.h"
#include "endpoint/client.h"
#include "endpoint/target.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <array>
#include <iostream>

#include <fmt/format.h>

namespace sweep::cli {

namespace {

struct Answer {
  std::string model;
  bool good = false;
  double seconds = 0;
  std::string text;
};

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

// One short question, one try: what a person wants to know before a long run is whether it answers
// at all.
Answer ask(const config::SweepConfig& config, const config::Model& model) {
  Answer answer{model.name, false, 0, {}};
  std::unique_ptr<endpoint::BuiltinProcess> builtin;
  try {
    util::RealClock clock;
    endpoint::Retry retry;
    retry.max_attempts = 2;
    retry.max_rate_limited = 2;
    retry.deadline = model.request_timeout_s;
    const auto end = endpoint::connect(
        endpoint::target_of(model, base_url(config, model, builtin), key_of(config, model)),
        retry,
        {&clock, nullptr, {}, {}});
    endpoint::Message question;
    question.text = "sweep probe: reply with the single word ready.";
    endpoint::Settings settings;
    settings.max_output_tokens = 2048;
    const auto result = end->complete({question}, {}, settings);
    if (const auto* failure = std::get_if<endpoint::EndpointFailure>(&result)) {
      answer.text = fmt::format("{}: {}", endpoint::name(failure->kind), failure->text);
      return answer;
    }
    const auto& completion = std::get<endpoint::Completion>(result);
    answer.good = true;
    answer.seconds = completion.seconds;
    answer.text = fmt::format("{} characters, {} tokens out, finish {}{}",
                              completion.message.text.size(),
                              completion.usage.output,
                              endpoint::name(completion.finish),
                              completion.model.empty() ? "" : ", as " + completion.model);
  } catch (const util::Error& error) {
    answer.text = error.what();
  }
  return answer;
}

}  // namespace

int run_probe(const std::vector<std::string>& arguments) {
  std::string file;
  std::string only;
  std::string stage = "smoke";
  GlobalOptions global;
  CLI::App app{"Asks every model of a config one question before a long run.", "sweep probe"};
  app.add_option("CONFIG", file, "sweep configuration (TOML)")->required();
  app.add_option("--model", only, "this model only");
  app.add_option("--stage", stage, "smoke: one question each (context, stress and soak come later)")
      ->check(CLI::IsMember({"smoke"}));
  add_global_options(app, global);
  parse(app, arguments);
  const config::Loaded loaded = config::load(file);
  // All of them before anything is asked.
  for (const config::Model& model : loaded.config.models) {
    if (only.empty() || model.name == only) {
      (void)key_of(loaded.config, model);
    }
  }
  const Style style = Style::for_stdout();
  nlohmann::json rows = nlohmann::json::array();
  std::size_t bad = 0;
  std::size_t asked = 0;
  for (const config::Model& model : loaded.config.models) {
    if (!only.empty() && model.name != only) {
      continue;
    }
    ++asked;
    const Answer answer = ask(loaded.config, model);
    bad += answer.good ? 0U : 1U;
    rows.push_back({{"model", answer.model},
                    {"ok", answer.good},
                    {"seconds", answer.seconds},
                    {"text", answer.text}});
    if (!global.json) {
      std::cout << (answer.good ? style.good("ok   ") : style.bad("FAIL "))
                << pad_right(answer.model, 24)
                << (answer.good ? util::human_seconds(answer.seconds) + "  " : "")
                << util::printable(answer.text) << '\n';
    }
  }
  if (asked == 0) {
    throw util::UsageError({file, "no model named '" + only + "'", "see [[models]] in the file"},
                           "E_PROBE_MODEL");
  }
  if (global.json) {
    std::cout << nlohmann::json{{"schema", 1}, {"models", rows}}.dump(
                     2, ' ', false, nlohmann::json::error_handler_t::replace)
              << '\n';
  }
  return bad == 0 ? kDone : kInfra;
}

}  // namespace sweep::cli
