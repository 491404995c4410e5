#include "agent/recompute.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/runs.h"
#include "cli/style.h"
#include "evaluate/evaluation.h"
#include "evaluate/recompute.h"
#include "evaluate/salt.h"
#include "publish/check.h"
#include "record/json.h"
#include "record/verify.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>

#include <fmt/format.h>

namespace sweep::cli {

namespace {

void print_broken(const Style& style, const std::vector<std::string>& broken) {
  for (const std::string& one : broken) {
    std::cout << style.bad("broken ") << util::printable(one) << '\n';
  }
}

// Of results that other rules than today's judged (evaluate/rules.h).
nlohmann::json rules_json(const agent::Recomputed& again) {
  nlohmann::json results = nlohmann::json::object();
  for (const auto& [rules, count] : again.by_rules) {
    results[std::to_string(rules)] = count;
  }
  return {{"program", evaluate::kRules},
          {"results_by_other", std::move(results)},
          {"otherwise", again.otherwise}};
}

void print_rules(const Style& style, const agent::Recomputed& again) {
  for (const auto& [rules, count] : again.by_rules) {
    std::cout << fmt::format("{} {} result{} {}\n",
                             style.bad("rules "),
                             count,
                             count == 1 ? "" : "s",
                             evaluate::rules_text(rules));
  }
  for (const std::string& one : again.otherwise) {
    std::cout << style.bad("rules  ") << util::printable(one) << '\n';
  }
}

// The last line, and the exit code that goes with it.
void print_end(const Style& style, bool intact, const agent::Recomputed& again) {
  std::cout << (!intact ? style.bad("NOT intact")
                : again.otherwise.empty()
                    ? style.good("intact")
                    : style.bad("other rules") +
                          ": nothing differs but what those rules compute in "
                          "another way; what they gave cannot be computed again")
            << '\n';
}

int code_of(bool intact, const agent::Recomputed& again) {
  return !intact ? kInfra : again.otherwise.empty() ? kDone : kOtherRules;
}

nlohmann::json bundle_json(const publish::BundleCheck& checked) {
  return {{"schema", 1},
          {"intact", checked.intact()},
          {"published", true},
          {"cite", checked.cite},
          {"rows", checked.publication.rows},
          {"head", checked.publication.head},
          {"files", checked.files},
          {"redacted", checked.redacted},
          {"redacted_rows", checked.publication.redacted_rows.size()},
          {"artifacts", checked.artifacts},
          {"trajectories_bound", checked.bound},
          {"evaluations_bound", checked.bound_results},
          {"results", checked.again.results},
          {"rules", rules_json(checked.again)},
          {"salt", checked.salt_known ? nlohmann::json(*checked.salt_known) : nlohmann::json()},
          {"proves", publish::proves_before(checked.publication)},
          {"proves_with_salt", publish::proves_after(checked.publication)},
          {"broken", checked.broken}};
}

void print_bundle(const publish::BundleCheck& checked) {
  const Style style = Style::for_stdout();
  std::cout << fmt::format(
      "published {} of run {}, by sweep {}\n"
      "{} files are as published, {} of them redacted; {} ledger rows, head {}\n"
      "{} artifacts hash to their names; {} trajectories are what the ledger says, {} more have an "
      "evaluation that it says; {} results computed again\n",
      util::printable(checked.publication.published_at),
      util::printable(checked.publication.run),
      util::printable(checked.publication.version),
      checked.files,
      checked.redacted,
      checked.publication.rows,
      util::printable(checked.publication.head),
      checked.artifacts,
      checked.bound,
      checked.bound_results,
      checked.again.results);
  print_broken(style, checked.broken);
  print_rules(style, checked.again);
  if (checked.salt_known) {
    std::cout << (*checked.salt_known
                      ? style.good("salt   ") + "the ledger committed to this salt\n"
                      : style.bad("salt   ") + "the ledger has no commitment to this salt\n");
  }
  std::cout << "\nwhat this shows:\n";
  for (const std::string& line : publish::proves_before(checked.publication)) {
    std::cout << wrapped(line, 2, 100);
  }
  std::cout << "once the salt is revealed:\n";
  for (const std::string& line : publish::proves_after(checked.publication)) {
    std::cout << wrapped(line, 2, 100);
  }
  std::cout << "\ncite    sha256 " << checked.cite << '\n';
  print_end(style, checked.intact(), checked.again);
}

int verify_bundle(const std::filesystem::path& folder, const std::string& salt, bool json) {
  const publish::BundleCheck checked = publish::check_bundle(
      folder, salt.empty() ? std::string() : evaluate::read_revealed_salt(salt));
  if (json) {
    std::cout << bundle_json(checked).dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
              << '\n';
  } else {
    print_bundle(checked);
  }
  return code_of(checked.intact(), checked.again);
}

int verify_own(const record::RunDir& run, bool json) {
  record::RunVerification checked = record::verify_run(run);
  const agent::Recomputed again = agent::recompute(run);
  checked.broken.insert(checked.broken.end(), again.findings.begin(), again.findings.end());
  const bool good = checked.intact();
  if (json) {
    std::cout << nlohmann::json{{"schema", 1},
                                {"intact", good},
                                {"rows", checked.ledger.rows},
                                {"head", checked.ledger.head},
                                {"problem", checked.ledger.problem},
                                {"artifacts", checked.artifacts},
                                {"trajectories", checked.trajectories},
                                {"kernels", checked.kernels},
                                {"results", again.results},
                                {"rules", rules_json(again)},
                                {"broken", checked.broken}}
                     .dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
              << '\n';
  } else {
    const Style style = Style::for_stdout();
    std::cout << fmt::format(
        "{} rows, {} artifacts, {} finished trajectories, {} kernels, {} results computed again, "
        "head {}\n",
        checked.ledger.rows,
        checked.artifacts,
        checked.trajectories,
        checked.kernels,
        again.results,
        checked.ledger.head);
    if (!checked.ledger.problem.empty()) {
      std::cout << style.bad("broken ") << util::printable(checked.ledger.problem) << '\n';
    }
    print_broken(style, checked.broken);
    print_rules(style, again);
    print_end(style, good, again);
  }
  return code_of(good, again);
}

void refuse_salt(const std::string& salt) {
  if (!salt.empty()) {
    throw util::UsageError({"--salt " + salt,
                            "is for a published run, and this is not one",
                            "give the folder that `sweep publish` made"},
                           "E_CLI_OPTION");
  }
}

// Sessions of an evaluation that have samples, and how many these are.
struct Sampled {
  int sessions = 0;
  std::size_t samples = 0;

  void add(const evaluate::TimeResult& time) {
    sessions += time.samples.empty() ? 0 : 1;
    samples += time.samples.size();
    for (const evaluate::TimeResult& earlier : time.earlier) {
      add(earlier);
    }
  }
};

Sampled sampled(const evaluate::Evaluation& result) {
  Sampled found;
  if (result.time) {
    found.add(*result.time);
  }
  if (result.heldout && result.heldout->time.for_archive()) {
    found.add(*result.heldout->time.for_archive());
  }
  if (result.confirmation.for_archive()) {
    found.add(*result.confirmation.for_archive());
  }
  return found;
}

// What `sweep eval --json` or --dump wrote: a file, of which no ledger knows.
int verify_result(const std::filesystem::path& file, bool json) {
  const std::string text = util::read_file(file, std::size_t{256} << 20U);
  nlohmann::json body;
  Sampled found;
  try {
    body = record::parse_bounded(text, file.string());
    found = sampled(evaluate::evaluation_from_json(body));
  } catch (const util::Error& error) {
    throw util::UsageError({util::printable(file.string()),
                            "is no result of one evaluation: " + error.message().what,
                            "give a run's folder, or a file that `sweep eval --json` printed"},
                           "E_VERIFY_RESULT");
  }
  const evaluate::Recomputed one = evaluate::recompute(body);
  agent::Recomputed again{1, one.findings, {}, one.otherwise};
  if (one.rules != evaluate::kRules) {
    again.by_rules[one.rules] = 1;
  }
  const bool intact = again.findings.empty();
  if (json) {
    std::cout << nlohmann::json{{"schema", 1},
                                {"intact", intact},
                                {"sessions", found.sessions},
                                {"samples", found.samples},
                                {"rules", rules_json(again)},
                                {"broken", again.findings}}
                     .dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
              << '\n';
  } else {
    const Style style = Style::for_stdout();
    std::cout << fmt::format(
        "{} timed session{} of {} samples computed again; no ledger vouches for "
        "the samples themselves\n",
        found.sessions,
        found.sessions == 1 ? "" : "s",
        found.samples);
    print_broken(style, again.findings);
    print_rules(style, again);
    print_end(style, intact, again);
  }
  return code_of(intact, again);
}

}  // namespace

int run_verify(const std::vector<std::string>& arguments) {
  std::string name, salt;
  GlobalOptions global;
  CLI::App app{
      "Checks a run against its ledger (hash chain, artifacts, finished trajectories) and "
      "computes its results again from the raw samples; those of one `sweep eval --json` as well.",
      "sweep verify"};
  app.add_option("RUN",
                 name,
                 "run folder or name, what `sweep publish` made, or a file of `sweep eval --json`")
      ->required();
  app.add_option("--salt", salt, "of a published run: the file with the salt that was revealed");
  add_global_options(app, global);
  parse(app, arguments);
  std::error_code error;
  if (std::filesystem::is_regular_file(name, error)) {
    refuse_salt(salt);
    return verify_result(name, global.json);
  }
  const record::RunDir run = open_run(name);
  if (publish::read_publication(run.folder())) {
    return verify_bundle(run.folder(), salt, global.json);
  }
  refuse_salt(salt);
  return verify_own(run, global.json);
}

}  // namespace sweep::cli
