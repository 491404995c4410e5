#include "cli/admit.h"
#include "cli/command.h"
#include "cli/installation.h"
#include "cli/options.h"
#include "cli/problem_catalogue.h"
#include "cli/problem_check.h"
#include "cli/problem_json.h"
#include "cli/problem_text.h"
#include "cli/prompt_view.h"
#include "problem/new.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <iostream>
#include <set>

#include <fmt/format.h>

namespace sweep::cli {

namespace fs = std::filesystem;

namespace {

struct ProblemOptions {
  std::vector<std::string> ids;
  std::string domain;
  std::string slate;
  bool markdown = false;
  PromptOptions prompt;
  AdmitRequest admit;
  GlobalOptions global;
};

std::vector<const problem::Entry*> select(const problem::Catalog& catalog,
                                          const ProblemOptions& options) {
  std::vector<const problem::Entry*> chosen;
  std::vector<std::string> patterns = options.ids;
  if (patterns.empty()) {
    for (const problem::Entry& entry : catalog.entries()) {
      chosen.push_back(&entry);
    }
  }
  for (const std::string& pattern : patterns) {
    const auto matched = catalog.match(pattern);
    chosen.insert(chosen.end(), matched.begin(), matched.end());
  }
  std::erase_if(chosen, [&](const problem::Entry* entry) {
    const bool domain = options.domain.empty() || entry->domain == options.domain;
    const bool slate =
        options.slate.empty() ||
        std::find(entry->slates.begin(), entry->slates.end(), options.slate) != entry->slates.end();
    return !domain || !slate;
  });
  return chosen;
}

std::string lower(std::string text) {
  std::ranges::transform(
      text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Ids and globs as everywhere; a word without `/`, `*` and `:` is looked for in titles and domains.
std::vector<const problem::Entry*> listed(const problem::Catalog& catalog, ProblemOptions options) {
  std::vector<std::string> words;
  std::erase_if(options.ids, [&](const std::string& id) {
    const bool word = id.find_first_of("/*?:") == std::string::npos;
    if (word) {
      words.push_back(lower(id));
    }
    return word;
  });
  auto chosen = select(catalog, options);
  std::erase_if(chosen, [&](const problem::Entry* entry) {
    const std::string text = lower(entry->title + " " + entry->domain);
    return !std::ranges::all_of(
        words, [&](const std::string& word) { return text.find(word) != std::string::npos; });
  });
  return chosen;
}

void require_domain(const problem::Catalog& catalog, const std::string& domain) {
  std::set<std::string> known;
  for (const problem::Entry& entry : catalog.entries()) {
    known.insert(entry.domain);
  }
  if (!domain.empty() && !known.contains(domain)) {
    throw util::UsageError({"--domain " + domain,
                            "no problem has it",
                            fmt::format("there are {}", fmt::join(known, ", "))},
                           "E_CLI_DOMAIN");
  }
}

// For a row of the list; empty where nobody has examined the problem.
std::string admission_of(const problem::Entry& entry) {
  std::error_code ignored;
  if (entry.planned() || !fs::exists(entry.folder / admit::kRecordFile, ignored)) {
    return "";
  }
  const problem::Loaded loaded = problem::load(entry.folder);
  return loaded.problem ? std::string(admit::name(standing_of(*loaded.problem).status)) : "";
}

std::string painted(const std::string& admission, const Style& style) {
  const std::string text = pad_right(admission, 14);
  return admission == "admitted" ? style.good(text) : admission.empty() ? text : style.warn(text);
}

int list(const ProblemOptions& options) {
  const problem::Catalog catalog = open_catalog();
  require_domain(catalog, options.domain);
  const auto chosen = listed(catalog, options);
  if (options.markdown) {
    std::cout << catalogue_markdown(chosen);
    return kDone;
  }
  if (options.global.json) {
    nlohmann::json rows = nlohmann::json::array();
    for (const problem::Entry* entry : chosen) {
      rows.push_back({{"id", entry->id},
                      {"title", entry->title},
                      {"domain", entry->domain},
                      {"slates", entry->slates},
                      {"status", entry->planned() ? "planned" : "ready"},
                      {"admission", admission_of(*entry)}});
    }
    std::cout << nlohmann::json{{"schema", 1}, {"problems", rows}}.dump(2) << '\n';
    return kDone;
  }
  const Style style = Style::for_stdout();
  std::size_t ready = 0;
  std::size_t width = 0;
  for (const problem::Entry* entry : chosen) {
    width = std::max(width, entry->id.size());
  }
  for (const problem::Entry* entry : chosen) {
    ready += entry->planned() ? 0U : 1U;
    const std::string state = entry->planned() ? style.dim("planned") : style.good("ready  ");
    const bool slate =
        std::find(entry->slates.begin(), entry->slates.end(), "popcorn2") != entry->slates.end();
    std::cout << pad_right(entry->id, width + 2) << state << "  "
              << painted(admission_of(*entry), style) << pad_right(entry->domain, 14)
              << (slate ? "popcorn2  " : "          ") << entry->title << '\n';
  }
  std::cout << style.dim(fmt::format("{} problem{}, {} ready; sweep problems show ID",
                                     chosen.size(),
                                     chosen.size() == 1 ? "" : "s",
                                     ready))
            << '\n';
  return kDone;
}

bool is_folder(const std::string& id) {
  std::error_code ignored;
  return fs::exists(fs::path(id) / "problem.toml", ignored);
}

// Folders as they were given, and the ids of the others.
std::vector<std::string> shown_names(const problem::Catalog& catalog,
                                     const ProblemOptions& options) {
  std::vector<std::string> names;
  for (const std::string& id : options.ids) {
    if (is_folder(id)) {
      names.push_back(id);
      continue;
    }
    ProblemOptions one = options;
    one.ids = {id};
    for (const problem::Entry* entry : select(catalog, one)) {
      names.push_back(entry->id);
    }
  }
  return names;
}

int show(const ProblemOptions& options) {
  const problem::Catalog catalog = open_catalog();
  if (options.ids.empty()) {
    throw util::UsageError(
        {"sweep problems show", "needs a problem id or folder", "see `sweep problems list`"},
        "E_CLI_USAGE");
  }
  const evaluate::Services services =
      options.prompt.wanted ? evaluation_services() : evaluate::Services{};
  for (const std::string& name : shown_names(catalog, options)) {
    if (options.prompt.wanted) {
      std::cout << prompt_text(services, name, options.prompt, options.global.json);
      continue;
    }
    const problem::Problem problem = is_folder(name) ? problem::require(name) : catalog.open(name);
    const admit::Standing standing = standing_of(problem);
    if (options.global.json) {
      nlohmann::json body = problem_json(problem);
      body["admission"] = {{"status", admit::name(standing.status)}, {"text", standing.text}};
      std::cout << body.dump(2) << '\n';
      continue;
    }
    const Style style = Style::for_stdout();
    std::cout << problem_text(problem, style) << style.dim("admit   ")
              << util::printable(standing.text.empty()
                                     ? "not examined yet: sweep problems admit " + name
                                     : standing.text)
              << '\n';
  }
  return kDone;
}

// An id, a glob or a folder.
std::vector<fs::path> folders(const ProblemOptions& options) {
  const problem::Catalog catalog = open_catalog();
  std::vector<fs::path> out;
  ProblemOptions rest = options;
  std::erase_if(rest.ids, [&](const std::string& id) {
    const bool folder = is_folder(id);
    if (folder) {
      out.emplace_back(id);
    }
    return folder;
  });
  if (rest.ids.empty() && !out.empty()) {
    return out;
  }
  for (const problem::Entry* entry : select(catalog, rest)) {
    if (!entry->planned()) {
      out.push_back(entry->folder);
    }
  }
  return out;
}

int check(const ProblemOptions& options) {
  const Style style = Style::for_stdout();
  nlohmann::json rows = nlohmann::json::array();
  const evaluate::Services services = evaluation_services();
  std::size_t wrong = 0;
  std::size_t count = 0;
  for (const fs::path& folder : folders(options)) {
    const auto mistakes = check_problem(services, folder);
    bool bad = false;
    for (const problem::Mistake& mistake : mistakes) {
      bad = bad || !mistake.warning;
      rows.push_back({{"folder", folder.string()},
                      {"code", mistake.code},
                      {"text", mistake.text()},
                      {"warning", mistake.warning}});
      if (!options.global.json) {
        std::cout << (mistake.warning ? style.warn("warning ") : style.bad("mistake "))
                  << util::printable(mistake.text()) << " [" << mistake.code << "]\n";
      }
    }
    wrong += bad ? 1U : 0U;
    ++count;
    if (!options.global.json && !bad) {
      std::cout << style.good("ok      ") << folder.string() << '\n';
    }
  }
  if (options.global.json) {
    std::cout << nlohmann::json{{"schema", 1},
                                {"checked", count},
                                {"wrong", wrong},
                                {"mistakes", rows}}
                     .dump(2)
              << '\n';
  } else {
    std::cout << fmt::format("{} checked, {} with mistakes\n", count, wrong);
  }
  return wrong == 0 ? kDone : kUsage;
}

int admit(const ProblemOptions& options) {
  // Hours of work and a file into every problem's folder: only for problems that were named.
  if (options.ids.empty() && options.domain.empty() && options.slate.empty()) {
    throw util::UsageError({"sweep problems admit",
                            "needs the problems to examine",
                            "give ids, globs or folders, e.g. level1/3; '**' for all"},
                           "E_CLI_USAGE");
  }
  AdmitRequest request = options.admit;
  request.folders = folders(options);
  request.device = options.prompt.device.empty() ? "cpu" : options.prompt.device;
  request.global = options.global;
  if (request.folders.empty()) {
    throw util::UsageError({"sweep problems admit",
                            "none of the named problems exists yet",
                            "see `sweep problems list`"},
                           "E_ADMIT_PROBLEMS");
  }
  return admit_problems(request);
}

int create(const ProblemOptions& options) {
  if (options.ids.size() != 1) {
    throw util::UsageError({"sweep problems new",
                            "needs one id, e.g. my/12_scan",
                            "the folder ./problems/my/12_scan is made"},
                           "E_CLI_USAGE");
  }
  const fs::path folder = problem::write_template("problems", options.ids.front());
  util::write_file_atomic(folder / "seed.cu", seed_template(problem::require(folder).id));
  const std::string name = folder.string();
  std::cout
      << "made " << name << ": problem.toml, reference.cu (the oracle), seed.cu (the 1.0x)\n"
      << "they compute an affine map, y = alpha x + bias, whatever the name: an example to edit\n"
      << "next: edit all three, then  sweep problems check " << name << '\n'
      << "then: sweep new " << name << " > mine.cu; sweep eval mine.cu --problem " << name << '\n';
  return kDone;
}

// --markdown beside what it says nothing of would be passed over.
void require_list(const std::string& action, const ProblemOptions& options) {
  if (options.markdown && (action != "list" || options.global.json)) {
    throw util::UsageError({"--markdown",
                            options.global.json ? "is another form of the list than --json"
                                                : "is of `sweep problems list` only",
                            "leave one of them out, or see `sweep problems --help`"},
                           "E_CLI_MARKDOWN");
  }
}

}  // namespace

int run_problems(const std::vector<std::string>& arguments) {
  ProblemOptions options;
  std::string action;
  CLI::App app{"Lists, shows, checks, admits or starts problems.", "sweep problems"};
  app.add_option("ACTION", action, "list, show, check, admit or new")
      ->required()
      ->check(CLI::IsMember({"list", "show", "check", "admit", "new"}));
  app.add_option(
      "ID",
      options.ids,
      "ids (level1/3) or globs (sci/*; '**' for all); for list also words of the title, for "
      "show, check and admit also folders; admit examines only what is named");
  app.add_option("--domain", options.domain, "only this domain");
  app.add_option("--slate", options.slate, "only this slate, e.g. popcorn2");
  app.add_flag("--markdown", options.markdown, "list: the page docs/catalogue.md");
  CLI::Option* prompt =
      app.add_flag("--prompt", options.prompt.wanted, "show: what a model is sent first about it");
  CLI::Option* harness =
      app.add_option("--harness", options.prompt.harness, "of --prompt (default: default)")
          ->needs(prompt);
  app.add_option("--config",
                 options.prompt.config,
                 "of --prompt: a sweep's TOML, for its [agent], which names the harness")
      ->needs(prompt)
      ->excludes(harness);
  app.add_option(
      "--device", options.prompt.device, "of --prompt and admit: cpu (default) or cuda:N");
  app.add_option("--only",
                 options.admit.only,
                 "admit: only this rule, by name or number (repeatable); nothing is stored")
      ->allow_extra_args(false);
  app.add_option("--draws", options.admit.draws, "admit: random stress draws")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_option("--draw-seconds",
                 options.admit.draw_seconds,
                 "admit: stress draws of a problem end after this time")
      ->check(CLI::Range(1.0, 3600.0))
      ->capture_default_str();
  add_global_options(app, options.global);
  parse(app, arguments);
  require_list(action, options);
  if (action == "list") {
    return list(options);
  }
  if (action == "show") {
    return show(options);
  }
  if (action == "admit") {
    return admit(options);
  }
  return action == "check" ? check(options) : create(options);
}

}  // namespace sweep::cli
