#include "cli/doctor.h"
#include "cli/installation.h"
#include "cli/probe.h"
#include "cli/quickstart.h"
#include "evaluate/preparation.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace sweep::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxToml = std::size_t{1} << 20;
constexpr const char* kProtected = "compiler, judge and runner are protected";

QuickstartCheck line_of(const std::string& label, const Diagnosis& finding) {
  return {label, finding.good, finding.detail, finding.cure};
}

// The needed rows of `sweep doctor`: a line for each, and one for all protections.
void add_machine(std::vector<QuickstartCheck>& lines, device::Id asked, bool allow_unsandboxed) {
  QuickstartCheck sandbox{"sandbox", true, kProtected, ""};
  for (const Diagnosis& finding : examine_machine(asked)) {
    if (!finding.needed) {
      continue;
    }
    if (!finding.group.ends_with("sandbox")) {
      const bool problems = finding.group == "files";
      lines.push_back(line_of(problems ? finding.name : finding.group, finding));
      if (finding.group == "device") {
        lines.back().detail = device::text(asked) + ": " + finding.detail;
        if (finding.good && asked.kind == device::Kind::cpu) {
          lines.back().next = "correctness only: times of the cpu device are no GPU times";
        }
      }
    } else if (!finding.good && sandbox.detail == kProtected) {
      sandbox = {"sandbox",
                 allow_unsandboxed,
                 finding.group + " has no " + finding.name + ": " + finding.detail,
                 allow_unsandboxed ? "--allow-unsandboxed: every result says so" : finding.cure};
    }
  }
  lines.push_back(sandbox);
}

QuickstartCheck check_problem() {
  const std::string id(kQuickstartProblem);
  try {
    const evaluate::Services services = evaluation_services();
    const problem::Problem problem = evaluate::find_problem(services, id);
    (void)evaluate::find_seed(services, problem);
    return {"problem", true, id + ": " + problem.title, ""};
  } catch (const util::Error& error) {
    return {"problem", false, error.message().what, error.message().next};
  }
}

QuickstartCheck check_key(const config::SweepConfig& config, const config::Model& model) {
  if (model.api_key_env.empty()) {
    return {"key", true, "none is sent", ""};
  }
  try {
    require_key(config, model);
    return {"key", true, model.api_key_env + " is set", ""};
  } catch (const util::Error& error) {
    return {"key",
            false,
            error.message().what,
            fmt::format("export {}=..., or name another variable with --api-key-env",
                        model.api_key_env)};
  }
}

void add_endpoint(std::vector<QuickstartCheck>& lines,
                  const config::SweepConfig& config,
                  const config::Model& model) {
  ProbedModel probed = probe_configured(config, model, {});
  std::ranges::stable_partition(probed.checks,
                                [](const ProbeCheck& check) { return check.name == "reach"; });
  for (const ProbeCheck& check : probed.checks) {
    if (check.state == CheckState::none) {
      continue;
    }
    const bool reach = check.name == "reach";
    // A model that is not listed and does not answer is not there.
    const bool absent = check.name == "model" && check.state == CheckState::warn && !probed.ready();
    const std::string where = reach && !probed.url.empty() ? probed.url + ": " : "";
    lines.push_back({reach                 ? "endpoint"
                     : check.name == "key" ? "key at endpoint"
                                           : check.name,
                     check.state != CheckState::fail && !absent,
                     where + check.text,
                     as_options(check.next)});
  }
}

// The nearest folder at or above `path` that exists.
fs::path existing(fs::path path) {
  std::error_code error;
  while (!fs::exists(path, error) && path.has_relative_path()) {
    path = path.parent_path();
  }
  return path;
}

// Why the folder's content keeps a run out; empty: it does not.
std::string occupied(const fs::path& output, const std::string& toml) {
  std::error_code error;
  const fs::path file = quickstart_file(output);
  if (fs::is_regular_file(file, error)) {
    return util::read_file(file, kMaxToml) == toml
               ? ""
               : "holds a quickstart that was begun with other options (see " +
                     file.filename().string() + ")";
  }
  if (fs::exists(record::RunDir(output).ledger_file(), error)) {
    return "holds another run";
  }
  return fs::is_empty(output, error) || error ? "" : "is not empty";
}

}  // namespace

QuickstartCheck check_quickstart_folder(const fs::path& output, const std::string& toml) {
  QuickstartCheck line{"output", false, output.string(), "give another folder with --output"};
  std::error_code error;
  const bool there = fs::exists(output, error);
  if (there && !fs::is_directory(output, error)) {
    line.detail += " is no folder";
    return line;
  }
  try {
    const std::string why = there ? occupied(output, toml) : "";
    const util::TempDir writable("sweep-quickstart", existing(output));
    line.ok = why.empty();
    line.detail += why.empty() ? "" : " " + why;
    line.next = line.ok ? "" : line.next;
  } catch (const util::Error& failure) {
    line.detail = failure.message().where + ": " + failure.message().what;
  }
  return line;
}

std::vector<QuickstartCheck> quickstart_checks(const QuickstartOptions& options,
                                               const config::SweepConfig& config) {
  std::vector<QuickstartCheck> lines;
  add_machine(lines, device::parse_id(options.device), options.global.allow_unsandboxed);
  lines.push_back(check_problem());
  lines.push_back(check_quickstart_folder(options.output, quickstart_toml(options)));
  const config::Model& model = config.models.front();
  lines.push_back(check_key(config, model));
  if (lines.back().ok) {
    add_endpoint(lines, config, model);
  } else {
    lines.push_back({"endpoint", false, "not asked: the key is missing", ""});
  }
  return lines;
}

std::string quickstart_check_text(const std::vector<QuickstartCheck>& checks,
                                  const Style& style,
                                  std::size_t width) {
  std::string out;
  for (const QuickstartCheck& check : checks) {
    const std::string mark = check.ok ? style.good("OK  ") : style.bad("FAIL");
    // Lines that go on stand behind the mark.
    std::string line = wrapped(check.label + ": " + util::printable(check.detail), 5, width);
    out += mark + " " + line.substr(std::min<std::size_t>(5, line.size()));
    if (!check.next.empty()) {
      out += wrapped(util::printable(check.next), 9, width);
    }
  }
  return out;
}

nlohmann::json to_json(const std::vector<QuickstartCheck>& checks) {
  nlohmann::json out = nlohmann::json::array();
  for (const QuickstartCheck& check : checks) {
    out.push_back({{"label", check.label},
                   {"ok", check.ok},
                   {"detail", util::to_valid_utf8(check.detail)},
                   {"next", util::to_valid_utf8(check.next)}});
  }
  return out;
}

}  // namespace sweep::cli
