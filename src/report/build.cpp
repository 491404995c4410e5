#include "report/build.h"

#include "embedded_report_assets.h"
#include "record/ledger.h"
#include "report/page.h"
#include "util/error.h"
#include "util/text.h"

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

Context context_of(const record::RunDir& run,
                   const std::vector<Item>& items,
                   const BuildOptions& options) {
  Context context;
  context.run_name = run.folder().filename().string();
  context.refresh_seconds = options.refresh_seconds;
  context.ledger_head = std::string(64, '0');
  if (fs::exists(run.ledger_file())) {
    const record::Verification ledger = record::verify_ledger(run.ledger_file());
    context.ledger_head = ledger.head;
    for (const record::Row& row : ledger.read) {
      const auto drift = row.data.find("drift");
      context.drifted = context.drifted || (row.kind == record::kind::config &&
                                            drift != row.data.end() && *drift == true);
    }
  }
  for (const Item& item : items) {
    const record::Provenance& p = item.trajectory.provenance;
    if (context.version.empty()) {
      context.version = p.sweep_version;
    }
    if (context.device.empty() && !p.gpu_name.empty()) {
      context.device = p.gpu_name + (p.driver.empty() ? "" : ", driver " + p.driver);
    }
  }
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
  std::vector<Item> items;
  for (const fs::path& file : run.trajectory_files()) {
    try {
      items.push_back({run.load(file), page_of(run, file)});
    } catch (const util::Error& error) {
      built.unreadable.push_back(error.what());
    }
  }
  const Context context = context_of(run, items, options);
  const fs::path folder = run.report_folder();
  const auto put = [&](const std::string& page, const std::string& html) {
    ++(write_if_changed(folder / page, html) ? built.pages : built.unchanged);
  };
  for (const embedded::File& asset : embedded::report_assets()) {
    (void)write_if_changed(folder / asset.name, asset.text);
  }
  for (const Item& item : items) {
    put(item.page, trajectory_page(context, item));
  }
  for (const std::string& model : models_of(items)) {
    put(model_page_name(model), model_page(context, model, items));
  }
  put("methods.html", methods_page(context));
  put("index.html", run_page(context, items));
  built.index = folder / "index.html";
  return built;
}

}  // namespace sweep::report
