#include "cli/command.h"
#include "cli/options.h"
#include "cli/runs.h"
#include "compile/cache.h"
#include "record/garbage.h"
#include "util/error.h"
#include "util/text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <iostream>

#include <fmt/format.h>

namespace sweep::cli {
namespace {

namespace fs = std::filesystem;
using record::Garbage;

constexpr std::size_t kMostListed = 20;

struct Found {
  std::string what;  // for people and JSON
  fs::path file;
  std::uint64_t bytes = 0;
};

void add_run(const record::RunDir& run, std::vector<Found>& found) {
  for (const Garbage& one : record::garbage_of(run)) {
    found.push_back({one.kind == Garbage::Kind::unfinished ? "unfinished" : "unnamed artifact",
                     one.file,
                     one.bytes});
  }
}

// Compiled images that were not written for so long: they are made again when they are asked for.
void add_cache(const fs::path& folder, double days, std::vector<Found>& found) {
  const auto limit = fs::file_time_type::clock::now() -
                     std::chrono::duration_cast<fs::file_time_type::duration>(
                         std::chrono::duration<double, std::ratio<86400>>(days));
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder / "compiled", error), end; !error && it != end;
       it.increment(error)) {
    std::error_code gone;  // by another process meanwhile
    if (it->symlink_status(gone).type() == fs::file_type::regular &&
        it->last_write_time(gone) < limit && !gone) {
      found.push_back({"compiled image", it->path(), it->file_size(gone)});
    }
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    throw util::InfraError({(folder / "compiled").string(), error.message(), "make it readable"},
                           "E_GC_CACHE");
  }
}

void remove(const Found& one) {
  std::error_code error;
  fs::remove(one.file, error);
  if (error) {
    throw util::InfraError({one.file.string(), error.message(), "make its folder writable"},
                           "E_GC_REMOVE");
  }
}

void require_idle(const record::RunDir& run) {
  if (record::lock_held(run)) {
    throw util::UsageError({run.folder().string(),
                            "a sweep works on this run (" + record::lock_holder(run) + ")",
                            "wait for it, or end it with `sweep stop`"},
                           "E_RUN_BUSY");
  }
}

void print(const std::vector<Found>& found, bool dry) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    bytes += found[i].bytes;
    if (dry && i < kMostListed) {
      std::cout << fmt::format("  {:<17} {:>9}  {}\n",
                               found[i].what,
                               util::human_bytes(found[i].bytes),
                               util::printable(found[i].file.string()));
    }
  }
  if (dry && found.size() > kMostListed) {
    std::cout << fmt::format("  and {} more (--json lists all)\n", found.size() - kMostListed);
  }
  std::cout << fmt::format("{} {} file{}, {}\n",
                           dry ? "would delete" : "deleted",
                           found.size(),
                           found.size() == 1 ? "" : "s",
                           util::human_bytes(bytes));
}

void print_json(const std::vector<Found>& found, bool dry) {
  nlohmann::json files = nlohmann::json::array();
  std::uint64_t bytes = 0;
  for (const Found& one : found) {
    bytes += one.bytes;
    files.push_back({{"file", one.file.string()}, {"what", one.what}, {"bytes", one.bytes}});
  }
  std::cout << nlohmann::json{{"schema", 1}, {"dry_run", dry}, {"bytes", bytes}, {"files", files}}
                   .dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
            << '\n';
}

}  // namespace

int run_gc(const std::vector<std::string>& arguments) {
  std::vector<std::string> names;
  bool dry = false;
  bool cache = false;
  double days = 30;
  GlobalOptions global;
  CLI::App app{
      "Deletes what nothing needs: artifacts that no row, trajectory or artifact of a run names "
      "(an abandoned branch that was set back keeps its rows, so it stays), files that a killed "
      "sweep left unfinished, and with --cache compiled images that are old. A run at work is "
      "refused.",
      "sweep gc"};
  app.add_option("RUN", names, "run folders or names");
  app.add_flag("--dry-run", dry, "list what would go, delete nothing");
  app.add_flag("--cache", cache, "the cache of compiled images as well ($SWEEP_CACHE_DIR)");
  app.add_option("--older-than", days, "days since an image was made")
      ->check(CLI::Range(0.0, 36500.0))
      ->capture_default_str();
  add_global_options(app, global);
  parse(app, arguments);
  if (names.empty() && !cache) {
    throw util::UsageError({"sweep gc", "nothing to look at", "name runs, or give --cache"},
                           "E_GC_NOTHING");
  }
  std::vector<Found> found;
  std::vector<record::RunLock> held;  // until everything is deleted
  for (const std::string& name : names) {
    const record::RunDir run = open_run(name);
    if (dry) {
      require_idle(run);  // nothing is written, the lock neither
    } else {
      held.emplace_back(run);
    }
    add_run(run, found);
  }
  if (cache) {
    add_cache(compile::default_cache_folder(), days, found);
  }
  if (!dry) {
    for (const Found& one : found) {
      remove(one);
    }
  }
  global.json ? print_json(found, dry) : print(found, dry);
  return kDone;
}

}  // namespace sweep::cli
