#include "calibrate/baseline_record.h"
#include "cli/baseline_view.h"
#include "cli/command.h"
#include "cli/installation.h"
#include "cli/options.h"
#include "device/describe.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include <fmt/format.h>

namespace sweep::cli {
namespace {

struct BaselineCommand {
  std::string action;
  std::vector<std::string> problems;
  std::string device = "cuda";
  int replicates = calibrate::BaselineOptions{}.replicates;
  GlobalOptions global;
};

// Ids, globs and folders; all that exist where none is named.
std::vector<problem::Problem> problems_of(const BaselineCommand& o) {
  const problem::Catalog catalog = open_catalog();
  std::vector<problem::Problem> out;
  const auto add = [&](const problem::Entry* entry) {
    const bool known = std::ranges::find(out, entry->id, &problem::Problem::id) != out.end();
    if (!entry->planned() && !known) {
      out.push_back(catalog.open(entry->id));
    }
  };
  for (const std::string& text : o.problems) {
    if (std::filesystem::exists(std::filesystem::path(text) / "problem.toml")) {
      out.push_back(problem::require(text));
      continue;
    }
    for (const problem::Entry* entry : catalog.match(text)) {
      add(entry);
    }
  }
  if (o.problems.empty()) {
    for (const problem::Entry& entry : catalog.entries()) {
      add(&entry);
    }
  }
  if (out.empty()) {
    throw util::UsageError({"sweep baseline " + o.action,
                            "none of the named problems exists yet",
                            "see `sweep problems list`"},
                           "E_BASELINE_PROBLEMS");
  }
  return out;
}

device::Id gpu_of(const BaselineCommand& o) {
  const device::Id id = device::parse_id(o.device);
  if (id.kind == device::Kind::cpu) {
    throw util::UsageError({"sweep baseline " + o.action,
                            "the cpu device has no vendor libraries",
                            "give a GPU with --device cuda:N"},
                           "E_BASELINE_DEVICE");
  }
  return id;
}

bool has_gpu() {
  return std::ranges::any_of(device::list(), [](const device::Listed& listed) {
    return listed.usable && listed.id.kind == device::Kind::cuda;
  });
}

// The device's own advice is --device cpu, which has no libraries to time.
void require_gpu(device::Id id) {
  try {
    (void)device::describe(id);
  } catch (const util::UsageError& error) {
    throw util::UsageError({"sweep baseline record",
                            "needs a GPU: " + error.message().what,
                            "run it on a machine with one (see `sweep doctor --device cuda`)"},
                           error.code());
  }
}

std::vector<std::string> ids_of(const std::vector<problem::Problem>& problems) {
  std::vector<std::string> ids;
  for (const problem::Problem& problem : problems) {
    ids.push_back(problem.id);
  }
  return ids;
}

void print_baselines(const evaluate::BaselineTable& table,
                     const std::vector<std::string>& ids,
                     const BaselineCommand& o,
                     const std::filesystem::path& file) {
  if (o.global.json) {
    nlohmann::json body = evaluate::to_json(table);
    std::erase_if(
        body["entries"].get_ref<nlohmann::json::array_t&>(), [&](const nlohmann::json& entry) {
          return std::ranges::find(ids, entry.at("problem").get<std::string>()) == ids.end();
        });
    std::cout << nlohmann::json{{"schema", 1}, {"baselines", body}, {"file", file.string()}}.dump(
                     2, ' ', false, nlohmann::json::error_handler_t::replace)
              << '\n';
    return;
  }
  util::RealClock clock;
  std::cout << baselines_text(table, ids, Style::for_stdout(), output_columns(), clock.wall())
            << "\n stored in " << util::printable(file.string()) << '\n';
}

int record(const BaselineCommand& o) {
  calibrate::BaselineOptions options;
  options.device = gpu_of(o);
  options.services = evaluation_services();
  options.replicates = o.replicates;
  options.allow_unsandboxed = o.global.allow_unsandboxed;
  options.version = SWEEP_VERSION;
  require_gpu(options.device);
  const std::vector<problem::Problem> problems = problems_of(o);
  const evaluate::BaselineTable table =
      calibrate::record_baselines(options, problems, [&](const std::string& line) {
        if (!o.global.quiet) {
          std::cerr << util::printable(line) << std::endl;
        }
      });
  const std::vector<std::string> ids = ids_of(problems);
  print_baselines(table, ids, o, evaluate::baselines_file(options.services.cache, table.device));
  return std::ranges::any_of(table.entries,
                             [&](const evaluate::RecordedBaseline& entry) {
                               return !entry.failure.empty() &&
                                      std::ranges::find(ids, entry.problem) != ids.end();
                             })
             ? kNotCorrect
             : kDone;
}

bool has_any(const evaluate::BaselineTable& table, const std::vector<std::string>& ids) {
  return std::ranges::any_of(table.entries, [&](const evaluate::RecordedBaseline& entry) {
    return std::ranges::find(ids, entry.problem) != ids.end();
  });
}

[[noreturn]] void nothing_recorded(const std::string& why, const std::string& next) {
  throw util::UsageError({"sweep baseline show", why, next}, "E_BASELINE_NONE");
}

// Without a GPU: what was recorded on others and lies in this store.
int show_stored(const BaselineCommand& o, const evaluate::Services& services) {
  const std::vector<std::string> ids = ids_of(problems_of(o));
  std::string reason = "this machine has no GPU that can be used, and nothing is stored";
  std::vector<evaluate::StoredBaselines> shown;
  for (evaluate::StoredBaselines& stored : evaluate::stored_baselines(services.cache)) {
    if (!stored.found.table) {
      reason = stored.found.reason;
    } else if (has_any(*stored.found.table, ids)) {
      shown.push_back(std::move(stored));
    } else {
      reason = "nothing is recorded for these problems";
    }
  }
  if (shown.empty()) {
    nothing_recorded(reason, "run `sweep baseline record` on a machine with a GPU");
  }
  if (shown.size() > 1 && o.global.json) {
    nothing_recorded("the store has tables of several devices",
                     "run it on the machine of the GPU, or leave --json out");
  }
  for (const evaluate::StoredBaselines& stored : shown) {
    print_baselines(*stored.found.table, ids, o, stored.file);
  }
  return kDone;
}

int show_baselines(const BaselineCommand& o) {
  const evaluate::Services services = evaluation_services();
  const device::Id gpu = gpu_of(o);
  device::Info info;
  try {
    info = device::describe(gpu);
  } catch (const util::UsageError&) {
    if (has_gpu()) {
      throw;  // another index is meant
    }
    return show_stored(o, services);
  }
  const evaluate::FoundBaselines found = evaluate::find_baselines(services.cache, info);
  const std::vector<std::string> ids = ids_of(problems_of(o));
  if (!found.table || !has_any(*found.table, ids)) {
    nothing_recorded(found.table ? "nothing is recorded for these problems" : found.reason,
                     "run `sweep baseline record`");
  }
  print_baselines(*found.table, ids, o, evaluate::baselines_file(services.cache, info));
  return kDone;
}

}  // namespace

int run_baseline(const std::vector<std::string>& arguments) {
  BaselineCommand o;
  CLI::App app{
      "Times the seed and every declared baseline of problems on a GPU, each checked with the "
      "reference first, or shows the times that are stored for it (on a machine without a GPU: all "
      "that are stored).",
      "sweep baseline"};
  app.add_option("ACTION", o.action, "record or show")
      ->required()
      ->check(CLI::IsMember({"record", "show"}));
  app.add_option("PROBLEM", o.problems, "ids (level1/3), globs (sci/*) or folders; default: all");
  app.add_option("--device", o.device, "cuda or cuda:N")->capture_default_str();
  app.add_option("--replicates", o.replicates, "fresh pairs of processes for each baseline")
      ->check(CLI::Range(2, 15))
      ->capture_default_str();
  add_global_options(app, o.global);
  parse(app, arguments);
  return o.action == "record" ? record(o) : show_baselines(o);
}

}  // namespace sweep::cli
