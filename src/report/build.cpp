#include "report/build.h"

#include "embedded_report_assets.h"
#include "record/ledger.h"
#include "record/plan.h"
#include "report/metrics.h"
#include "report/page.h"
#include "report/progress.h"
#include "report/tool_use.h"
#include "util/error.h"
#include "util/text.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace sweep::report {

namespace fs = std::filesystem;

namespace {

std::string page_of(const record::RunDir& run, const fs::path& trajectory) {
  // The run's own layout holds only encoded names; they are kept, so that a page stands where its
  // trajectory stands.
  fs::path relative = trajectory.lexically_relative(run.folder());
  std::string name = relative.generic_string();
  const std::string suffix = "_trajectory.json";
  const std::string stem =
      name.ends_with(suffix) ? name.substr(0, name.size() - suffix.size()) : name;
  return "t/" + stem + ".html";
}

// A link in place of report/ or of a folder below it would let the pages be written elsewhere.
void refuse_links(const record::RunDir& run) {
  const fs::path report = run.report_folder();
  std::error_code error;
  const auto refuse = [](const fs::path& path) {
    throw util::UsageError({path.string(),
                            "is a symbolic link; a report is written inside its run only",
                            "remove the link, then run `sweep report` again"},
                           "E_REPORT_LINK");
  };
  if (fs::is_symlink(fs::symlink_status(report, error))) {
    refuse(report);
  }
  for (fs::recursive_directory_iterator it(report, error), end; !error && it != end;
       it.increment(error)) {
    if (it->is_symlink(error) && it->is_directory(error)) {
      refuse(it->path());
    }
  }
}

// Makes the folders above `file` and writes it unless it already has this text.
bool write_if_changed(const fs::path& file, std::string_view bytes) {
  std::error_code error;
  if (fs::file_size(file, error) == bytes.size() && !error && record::read_whole(file) == bytes) {
    return false;
  }
  fs::create_directories(file.parent_path(), error);
  if (error) {
    throw util::InfraError({file.parent_path().string(),
                            "cannot make the folder: " + error.message(),
                            "free space or permissions"},
                           "E_RUN_WRITE");
  }
  record::write_whole(file, bytes);
  return true;
}

// The trajectories of a run by file; what cannot be read goes to `unreadable`.
std::map<fs::path, Item> load_items(const record::RunDir& run,
                                    std::vector<std::string>& unreadable) {
  std::map<fs::path, Item> found;
  for (const fs::path& file : run.trajectory_files()) {
    try {
      found.emplace(file, Item{run.load(file), page_of(run, file)});
    } catch (const util::Error& error) {
      unreadable.emplace_back(error.what());
    }
  }
  return found;
}

Item without_file(const record::ItemName& name, const std::string& outcome) {
  Item item;
  item.trajectory.variant = name.variant;
  item.trajectory.model_name = name.model;
  item.trajectory.level = name.level;
  item.trajectory.problem_id = name.problem;
  item.trajectory.attempt = name.attempt;
  item.trajectory.outcome = outcome;
  return item;
}

// The planned items in the order of the plan, then trajectories that no plan names.
std::vector<Item> items_of(const record::RunDir& run,
                           const std::vector<record::Row>& rows,
                           std::map<fs::path, Item> found) {
  std::vector<Item> items;
  std::error_code error;
  for (const record::ItemName& name : record::planned_items(run, rows)) {
    const fs::path file = run.trajectory_file(name);
    if (auto known = found.extract(file)) {
      items.push_back(std::move(known.mapped()));
    } else {
      items.push_back(without_file(name, fs::exists(file, error) ? "unreadable" : "queued"));
    }
  }
  for (auto& [file, item] : found) {
    items.push_back(std::move(item));
  }
  return items;
}

// In a run that nothing works on, what waits and what is in progress goes by other words.
void settle(std::vector<Item>& items) {
  for (Item& item : items) {
    std::string& outcome = item.trajectory.outcome;
    if (outcome == "queued") {
      outcome = "not_started";
    } else if (outcome == "in_progress") {
      outcome = "unfinished";
    }
  }
}

void add_ledger(Context& context, const record::Verification& ledger) {
  context.ledger_head = ledger.head;
  context.ledger_rows = ledger.rows;
  for (const record::Row& row : ledger.read) {
    const auto drift = row.data.find("drift");
    context.drifted = context.drifted || (row.kind == record::kind::config &&
                                          drift != row.data.end() && *drift == true);
    context.as_of = row.time;
  }
}

void add_provenance(Context& context, const record::Trajectory& trajectory) {
  const record::Provenance& p = trajectory.provenance;
  if (context.version.empty()) {
    context.version = p.sweep_version;
  }
  if (context.device.empty() && !p.gpu_name.empty()) {
    context.device = p.gpu_name + (p.driver.empty() ? "" : ", driver " + p.driver);
  }
  context.on_cpu = context.on_cpu || p.device == "cpu";
  if (trajectory.final_result) {
    const auto& flags = trajectory.final_result->flags;
    const auto has = [&](const char* flag) {
      return std::find(flags.begin(), flags.end(), flag) != flags.end();
    };
    context.unsealed += has("unsealed") || has("run without a sandbox") ? 1U : 0U;
  }
}

}  // namespace

Built build(const record::RunDir& run, const BuildOptions& options) {
  if (!fs::is_directory(run.folder())) {
    throw util::UsageError({run.folder().string(),
                            "no such run folder",
                            "give the folder that a sweep made, e.g. runs/demo"},
                           "E_RUN_MISSING");
  }
  refuse_links(run);
  Built built;
  record::Verification ledger;
  ledger.head = std::string(64, '0');
  if (fs::exists(run.ledger_file())) {
    ledger = record::verify_ledger(run.ledger_file());
  }
  std::vector<Item> items = items_of(run, ledger.read, load_items(run, built.unreadable));
  const bool alive = options.refresh_seconds > 0 || record::lock_held(run);
  const Phase phase = phase_of(ledger.read, alive, all_ended(items));
  if (phase == Phase::ended || phase == Phase::interrupted) {
    settle(items);
  }
  Context context;
  context.run_name = run.folder().filename().string();
  context.refresh_seconds = options.refresh_seconds;
  context.phase = name(phase);
  context.progress = progress_text(items);
  add_ledger(context, ledger);
  for (const Item& item : items) {
    add_provenance(context, item.trajectory);
  }
  const fs::path folder = run.report_folder();
  const auto put = [&](const std::string& page, const std::string& html) {
    ++(write_if_changed(folder / page, html) ? built.pages : built.unchanged);
  };
  for (const embedded::File& asset : embedded::report_assets()) {
    (void)write_if_changed(folder / asset.name, asset.text);
  }
  for (const Item& item : items) {
    if (!item.page.empty()) {
      put(item.page, trajectory_page(context, item));
    }
  }
  for (const std::string& model : models_of(items)) {
    put(model_page_name(model), model_page(context, model, items));
  }
  (void)write_if_changed(folder / "tool_use.csv", tool_use_csv(items));
  (void)write_if_changed(folder / "metrics", metrics_text(context, items));
  put("methods.html", methods_page(context));
  put("index.html", run_page(context, items));
  built.index = folder / "index.html";
  return built;
}

}  // namespace sweep::report
