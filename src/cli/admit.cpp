#include "cli/admit.h"

#include "cli/command.h"
#include "cli/installation.h"
#include "device/device.h"
#include "util/error.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>

#include <fmt/format.h>
#include <unistd.h>

namespace sweep::cli {

namespace {

using evaluate::admission::RuleResult;
using evaluate::admission::State;

admit::AdmitOptions installed() {
  admit::AdmitOptions options;
  options.services = evaluation_services();
  options.version = SWEEP_VERSION;
  return options;
}

evaluate::admission::Rule rule_of(const std::string& text) {
  const auto rule = evaluate::admission::parse_rule(text);
  if (!rule) {
    std::vector<std::string_view> names;
    for (const auto& info : evaluate::admission::rules()) {
      names.push_back(info.name);
    }
    throw util::UsageError(
        {"--only " + text, "is no rule", fmt::format("there are {}", fmt::join(names, ", "))},
        "E_ADMIT_RULE");
  }
  return *rule;
}

admit::AdmitOptions options_of(const AdmitRequest& request) {
  admit::AdmitOptions options = installed();
  options.device = device::parse_id(request.device);
  options.allow_unsandboxed = request.global.allow_unsandboxed;
  options.rules.draws = request.draws;
  options.rules.draw_seconds = request.draw_seconds;
  for (const std::string& text : request.only) {
    options.rules.rules.push_back(rule_of(text));
  }
  return options;
}

// What is going on, on one line of a terminal that later rows replace.
evaluate::Tick tick_for(const AdmitRequest& request, const std::string& id) {
  const bool on = !request.global.quiet && !request.global.json && ::isatty(STDERR_FILENO) == 1;
  return [on, id](const std::string& text, std::size_t done, std::size_t total) {
    if (on) {
      std::cerr << "\r\x1b[K " << id << ": " << util::printable(text)
                << (total > 0 ? fmt::format(" {}/{}", done, total) : "") << std::flush;
    }
  };
}

bool good(const admit::Admission& admission, bool whole) {
  return whole ? admission.admitted()
               : admission.failure.empty() &&
                     std::ranges::none_of(admission.rules, [](const RuleResult& rule) {
                       return rule.state == State::fails;
                     });
}

}  // namespace

admit::Standing standing_of(const problem::Problem& problem) {
  return admit::standing_now(evaluation_services(), problem);
}

int admit_problems(const AdmitRequest& request) {
  const admit::AdmitOptions options = options_of(request);
  const bool whole = request.only.empty();
  nlohmann::json rows = nlohmann::json::array();
  std::size_t bad = 0;
  for (const std::filesystem::path& folder : request.folders) {
    const problem::Problem problem = problem::require(folder);
    const evaluate::Tick tick = tick_for(request, problem.id);
    const admit::Admission admission = admit::admit(options, problem, tick);
    if (whole) {
      admit::store(folder, admission);
    }
    bad += good(admission, whole) ? 0U : 1U;
    tick("", 0, 0);
    if (request.global.json) {
      rows.push_back(admit::to_json(admission));
      continue;
    }
    if (!request.global.quiet && ::isatty(STDERR_FILENO) == 1) {
      std::cerr << "\r\x1b[K" << std::flush;
    }
    std::cout << admission_text(admission, problem.title, Style::for_stdout(), output_columns())
              << std::flush;
  }
  if (request.global.json) {
    std::cout << nlohmann::json{{"schema", 1}, {"bad", bad}, {"admissions", rows}}.dump(
                     2, ' ', false, nlohmann::json::error_handler_t::replace)
              << '\n';
  } else {
    std::cout << fmt::format("{} examined on {}, {} {}\n",
                             request.folders.size(),
                             request.device,
                             bad,
                             whole ? "not admitted" : "with a rule that fails");
  }
  return bad == 0 ? kDone : kNotCorrect;
}

}  // namespace sweep::cli
