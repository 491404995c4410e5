#include "cli/command.h"
#include "cli/options.h"
#include "cli/probe_view.h"
#include "config/config.h"
#include "config/dotenv.h"
#include "util/error.h"
#include "util/text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <iterator>

#include <unistd.h>

namespace sweep::cli {

namespace {

std::vector<const config::Model*> chosen(const config::SweepConfig& config,
                                         const std::string& file,
                                         const std::string& only) {
  std::vector<const config::Model*> out;
  std::vector<std::string> names;
  for (const config::Model& model : config.models) {
    names.push_back(model.name);
    if (only.empty() || model.name == only) {
      out.push_back(&model);
    }
  }
  if (out.empty()) {
    const auto near = util::closest(only, names);
    throw util::UsageError({file,
                            "no model named '" + util::printable(only) + "'",
                            near ? "did you mean " + *near + "?" : "see [[models]] in the file"},
                           "E_PROBE_MODEL");
  }
  return out;
}

}  // namespace

int run_probe(const std::vector<std::string>& arguments) {
  std::string file;
  std::string only;
  std::vector<std::string> wanted;
  ProbeStages stages;
  GlobalOptions global;
  CLI::App app{"Asks every model of a config a few short questions before a long run.",
               "sweep probe"};
  app.add_option("CONFIG", file, "sweep configuration (TOML)")->required();
  app.add_option("--model", only, "this model only");
  app.add_option(
         "--stage",
         wanted,
         "smoke: a plain answer, a stream, a tool round trip. Besides: context (a prompt of "
         "6000 tokens), stress (many requests at once), soak (minutes on end)")
      ->delimiter(',')
      ->check(CLI::IsMember({"smoke", "context", "stress", "soak"}));
  app.add_option("--concurrency",
                 stages.concurrency,
                 "stress: requests at once (default: the model's max_concurrency)")
      ->check(CLI::Range(1, 256));
  app.add_option("--minutes", stages.minutes, "soak: for how long (default 5)")
      ->check(CLI::Range(0.01, 1440.0));
  add_global_options(app, global);
  parse(app, arguments);
  const auto asked_for = [&](const char* stage) {
    return std::find(wanted.begin(), wanted.end(), stage) != wanted.end();
  };
  stages.context = asked_for("context");
  stages.stress = asked_for("stress");
  stages.soak = asked_for("soak");
  const config::Loaded loaded = config::load(file);
  const std::vector<const config::Model*> models = chosen(loaded.config, file, only);
  // All of them before anything is asked.
  for (const config::Model* model : models) {
    require_key(loaded.config, *model);
  }
  if (!global.quiet) {
    std::vector<config::Diagnostic> warnings = loaded.warnings;
    std::ranges::move(config::open_to_others(loaded.config), std::back_inserter(warnings));
    for (const config::Diagnostic& warning : warnings) {
      std::cerr << "warning: " << warning.text() << '\n';
    }
  }
  const bool tell = !global.quiet && !global.json && ::isatty(STDERR_FILENO) == 1;
  std::vector<ProbedModel> probed;
  for (const config::Model* model : models) {
    if (tell) {
      std::cerr << "\r\x1b[Kasking " << util::printable(model->name) << " ..." << std::flush;
    }
    probed.push_back(probe_configured(loaded.config, *model, stages));
  }
  if (tell) {
    std::cerr << "\r\x1b[K" << std::flush;
  }
  if (global.json) {
    std::cout << probe_json(probed).dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
              << '\n';
  } else {
    std::cout << probe_text(probed, Style::for_stdout(), output_columns());
  }
  return std::ranges::all_of(probed, &ProbedModel::ready) ? kDone : kInfra;
}

}  // namespace sweep::cli
