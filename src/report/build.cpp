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
#include <functional>
#include <map>
#include <optional>
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

// The rows of a run by file, each trajectory told to `shown` on the way; what cannot be read goes
// to `unreadable`.
std::map<fs::path, Row> load_rows(
    const record::RunDir& run,
    std::vector<std::string>& unreadable,
    const std::function<void(const Row&, const record::Trajectory&)>& shown) {
  std::map<fs::path, Row> found;
  for (const fs::path& file : run.trajectory_files()) {
    std::optional<record::Trajectory> trajectory;
    try {
      trajectory = run.load(file);
    } catch (const util::Error& error) {
      unreadable.emplace_back(error.what());
      continue;
    }
    Row row = row_of(*trajectory, page_of(run, file));
    shown(row, *trajectory);
    found.emplace(file, std::move(row));
  }
  return found;
}

// The planned items in the order of the plan, then trajectories that no plan names.
std::vector<Row> items_of(const record::RunDir& run,
                          const std::vector<record::Row>& rows,
                          std::map<fs::path, Row> found) {
  std::vector<Row> items;
  std::error_code error;
  for (const record::ItemName& name : record::planned_items(run, rows)) {
    const fs::path file = run.trajectory_file(name);
    if (auto known = found.extract(file)) {
      items.push_back(std::move(known.mapped()));
    } else {
      items.push_back(row_without_file(name, fs::exists(file, error) ? "unreadable" : "queued"));
    }
  }
  for (auto& [file, row] : found) {
    items.push_back(std::move(row));
  }
  return items;
}

// In a run that nothing works on, what waits and what is in progress goes by other words.
void settle(Row& item) {
  if (item.outcome == "queued") {
    item.outcome = "not_started";
  } else if (item.outcome == "in_progress") {
    item.outcome = "unfinished";
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

void add_provenance(Context& context, const Row& row) {
  if (context.version.empty()) {
    context.version = row.version;
  }
  if (context.device.empty() && !row.gpu.empty()) {
    context.device = row.gpu + (row.driver.empty() ? "" : ", driver " + row.driver);
  }
  context.on_cpu = context.on_cpu || row.device == "cpu";
  const auto has = [&](const char* flag) {
    return std::find(row.flags.begin(), row.flags.end(), flag) != row.flags.end();
  };
  context.unsealed += has("unsealed") || has("run without a sandbox") ? 1U : 0U;
}

// What stands above an item's own page: nothing that another item's progress changes, so that the
// pages of finished items stay as they are while a run goes on.
Context item_context(const Context& run, const Row& row) {
  Context context;
  context.run_name = run.run_name;
  context.refresh_seconds = has_ended(row.outcome) ? 0 : run.refresh_seconds;
  add_provenance(context, row);
  return context;
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
  const bool alive = options.refresh_seconds > 0 || record::lock_held(run);
  // Whether all have ended decides between the two words for a run that nothing works on alone.
  const Phase at_least = phase_of(ledger.read, alive, false);
  const bool settled = at_least == Phase::ended || at_least == Phase::interrupted;
  const fs::path folder = run.report_folder();
  const auto put = [&](const std::string& page, const std::string& html) {
    ++(write_if_changed(folder / page, html) ? built.pages : built.unchanged);
  };
  Context context;
  context.run_name = run.folder().filename().string();
  context.refresh_seconds = options.refresh_seconds;
  const auto found = load_rows(
      run, built.unreadable, [&](const Row& loaded, const record::Trajectory& trajectory) {
        Row row = loaded;
        if (settled) {
          settle(row);
        }
        put(row.page, trajectory_page(item_context(context, row), row, trajectory));
      });
  std::vector<Row> items = items_of(run, ledger.read, found);
  if (settled) {
    std::for_each(items.begin(), items.end(), settle);
  }
  context.phase = name(phase_of(ledger.read, alive, all_ended(items)));
  context.progress = progress_text(items);
  add_ledger(context, ledger);
  for (const Row& item : items) {
    add_provenance(context, item);
  }
  for (const embedded::File& asset : embedded::report_assets()) {
    (void)write_if_changed(folder / asset.name, asset.text);
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
