#include "report/build.h"

#include "embedded_report_assets.h"
#include "record/artifacts.h"
#include "record/chains.h"
#include "record/claims.h"
#include "record/foreign.h"
#include "record/ledger.h"
#include "record/plan.h"
#include "report/cite.h"
#include "report/load_rows.h"
#include "report/metrics.h"
#include "report/page_file.h"
#include "report/pages.h"
#include "report/progress.h"
#include "report/stream.h"
#include "report/tool_use.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/text.h"

#include <algorithm>
#include <future>
#include <memory>
#include <thread>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

namespace sweep::report {

namespace fs = std::filesystem;

namespace {

// Below report/; not served, as its name begins with a dot.
constexpr const char* kCacheName = ".rows";

// The planned items in the order of the plan, then trajectories that no plan names.
std::vector<Row> items_of(const record::RunDir& run,
                          const std::vector<record::Row>& rows,
                          const RowCache& cache) {
  std::vector<Row> items;
  std::unordered_set<std::string> planned;
  std::error_code error;
  const std::vector<record::ItemName> names = record::planned_items(run, rows);
  items.reserve(std::max(names.size(), cache.size()));
  for (const record::ItemName& name : names) {
    const fs::path file = run.trajectory_file(name);
    std::string key = file.lexically_relative(run.folder()).generic_string();
    const auto known = cache.find(key);
    if (known != cache.end() && planned.insert(std::move(key)).second) {
      items.push_back(known->second.row);
    } else {
      items.push_back(row_without_file(name, fs::exists(file, error) ? "unreadable" : "queued"));
      items.back().digest = digest_of(items.back());
    }
  }
  for (const auto& [key, cached] : cache) {
    if (!planned.contains(key)) {
      items.push_back(cached.row);
    }
  }
  return items;
}

// In a run that nothing works on, what waits and what is in progress goes by other words.
void settle(Row& item) {
  if (item.outcome == "queued") {
    item.outcome = "not_started";
  } else if (item.outcome == "in_progress") {
    item.outcome = "unfinished";
  } else {
    return;
  }
  item.digest = digest_of(item);
}

// The head is the root's, which commits to those of tasks' chains once they are joined.
void add_ledger(Context& context,
                const record::Verification& ledger,
                const std::string& last_time) {
  context.ledger_head = ledger.head;
  context.ledger_rows = ledger.rows;
  context.as_of = last_time;
  for (const record::Row& row : ledger.read) {
    const auto drift = row.data.find("drift");
    const bool begins = row.kind == record::kind::config || row.kind == record::kind::task_start;
    context.drifted = context.drifted || (begins && drift != row.data.end() && *drift == true);
    context.as_of = std::max(context.as_of, row.time);
  }
}

bool task_alive(const record::RunDir& run) {
  const auto signs = record::task_signs(run.claims_folder(), util::RealClock().wall());
  return std::ranges::any_of(signs, &record::TaskSign::alive);
}

void add_provenance(Context& context, const Row& row) {
  if (context.version.empty()) {
    context.version = row.version;
  }
  if (context.device.empty() && !row.gpu.empty()) {
    context.device = row.gpu + (row.driver.empty() ? "" : ", driver " + row.driver);
  }
  context.on_cpu = context.on_cpu || row.device == "cpu";
  context.foreign += row.admission == record::kForeign ? 1U : 0U;
  const auto has = [&](const char* flag) {
    return std::find(row.flags.begin(), row.flags.end(), flag) != row.flags.end();
  };
  context.scripted = context.scripted || row.base_url.starts_with("builtin:");
  context.unsealed += has("unsealed") || has("run without a sandbox") ? 1U : 0U;
}

// The text of a handed-in kernel from the run's artifacts, as far as a page shows it.
KernelText kernels_of(const record::RunDir& run) {
  return [folder = run.artifacts_folder()](const Row& row) {
    constexpr std::size_t kMostBytes = std::size_t{1} << 20U;
    try {
      return fs::is_directory(folder) && record::is_sha256(row.kernel_sha256)
                 ? record::Artifacts(folder, record::Artifacts::Use::read)
                       .get(row.kernel_sha256, kMostBytes)
                 : std::string();
    } catch (const util::Error&) {
      return std::string();
    }
  };
}

// What stands above an item's own page: nothing that another item's progress changes, so that the
// pages of finished items stay as they are while a run goes on.
Context item_context(const Context& run, const Row& row, const fs::path& file) {
  Context context;
  context.run_name = run.run_name;
  context.refresh_seconds = has_ended(row.outcome) ? 0 : run.refresh_seconds;
  add_provenance(context, row);
  if (row.outcome == "in_progress") {
    context.stream = read_stream(record::RunDir::stream_beside(file));
    // What a killed worker left is of a turn that is over, or will be asked anew.
    if (context.stream && context.stream->turn != static_cast<std::int64_t>(row.series.size())) {
      context.stream.reset();
    }
  }
  return context;
}

// All that the page of an item under way is made from besides its trajectory.
std::string made_with(const Context& run, const fs::path& file, bool settled) {
  const FileStamp stream = stamp_of(record::RunDir::stream_beside(file));
  return fmt::format("{} {} {} {} {}",
                     run.run_name,
                     run.refresh_seconds,
                     settled,
                     stream.inode,
                     stream.changed_ns);
}

}  // namespace

struct Builder::State {
  record::RunDir run;
  Saved saved;
  bool cache_read = false;
};

Builder::Builder(record::RunDir run) : state_(std::make_unique<State>(State{std::move(run), {}})) {}

Builder::~Builder() = default;

namespace {

constexpr std::size_t kMaxCache = std::size_t{1} << 30;

void read_cache(const fs::path& file, Saved& saved) {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(file, error))) {
    return;
  }
  try {
    saved = saved_from(record::read_whole(file, kMaxCache), this_program()).value_or(Saved{});
  } catch (const util::Error&) {
    saved = {};  // all is made anew
  }
}

void require_run(const record::RunDir& run) {
  if (!fs::is_directory(run.folder())) {
    throw util::UsageError({run.folder().string(),
                            "no such run folder",
                            "give the folder that a sweep made, e.g. runs/demo"},
                           "E_RUN_MISSING");
  }
}

record::Verification ledger_of(const record::RunDir& run, record::LedgerDigest& known) {
  if (fs::exists(run.ledger_file())) {
    record::Verification root = record::verify_on(run.ledger_file(), known);
    if (record::has_chains(run)) {
      root.read = record::read_chains(run).rows();
    }
    return root;
  }
  known = {};
  record::Verification none;
  none.head = std::string(64, '0');
  return none;
}

// What does not need the trajectories; whether `cache` is another than before.
bool write_rest(const Context& context,
                const std::vector<Row>& items,
                const record::RunDir& run,
                unsigned workers,
                PageCache& cache,
                Built& built) {
  const fs::path folder = run.report_folder();
  for (const embedded::File& asset : embedded::report_assets()) {
    (void)write_page(folder / asset.name, asset.text);
  }
  std::future<void> tables = std::async(std::launch::async, [&] {
    (void)write_page(folder / "tool_use.csv", tool_use_csv(items));
    (void)write_page(folder / "metrics", metrics_text(context, items));
  });
  const PagesPut put =
      put_pages(folder, context, page_plans(context, items, kernels_of(run)), workers, cache);
  const bool cite = write_page(folder / kCitePage, cite_page(context, publication_facts(run)));
  tables.get();
  built.pages += put.written + (cite ? 1U : 0U);
  built.unchanged += put.unchanged + (cite ? 0U : 1U);
  return put.cache_changed;
}

}  // namespace

Built Builder::build(const BuildOptions& options) {
  const record::RunDir& run = state_->run;
  require_run(run);
  const fs::path folder = run.report_folder();
  refuse_links(folder);
  if (!std::exchange(state_->cache_read, true) && options.use_cache) {
    read_cache(folder / kCacheName, state_->saved);
  }
  const std::string ledger_before = state_->saved.ledger.sha256;
  // The ledger is verified while trajectories are read.
  const std::shared_future<record::Verification> verified =
      std::async(std::launch::async, [&] { return ledger_of(run, state_->saved.ledger); });
  const bool alive = options.refresh_seconds > 0 || record::lock_held(run) || task_alive(run);
  // Whether all have ended decides between the two words for a run that nothing works on alone.
  const std::shared_future<bool> settled = std::async(std::launch::deferred, [&] {
    const Phase at_least = phase_of(verified.get().read, alive, false);
    return at_least == Phase::ended || at_least == Phase::interrupted;
  });
  Context context;
  context.run_name = options.run_name.empty() ? run.folder().filename().string() : options.run_name;
  context.refresh_seconds = options.refresh_seconds;
  const ItemPage page{
      [&](const Row& row, const fs::path& file) {
        return has_ended(row.outcome) ? context.run_name : made_with(context, file, settled.get());
      },
      [&](const Row& loaded, const record::Trajectory& trajectory, const fs::path& file) {
        Row row = loaded;
        if (!has_ended(row.outcome) && settled.get()) {
          settle(row);
        }
        return trajectory_page(item_context(context, row, file), row, trajectory);
      }};
  const unsigned workers =
      options.workers > 0 ? options.workers : std::max(1U, std::thread::hardware_concurrency());
  Loaded loaded = load_rows(run, page, workers, state_->saved.rows);
  Built built{folder / "index.html", loaded.pages, loaded.unchanged, std::move(loaded.unreadable)};
  const record::Verification& ledger = verified.get();
  std::vector<Row> items = items_of(run, ledger.read, state_->saved.rows);
  if (settled.get()) {
    std::for_each(items.begin(), items.end(), settle);
  }
  context.phase = name(phase_of(ledger.read, alive, all_ended(items)));
  context.progress = progress_text(items);
  add_ledger(context, ledger, state_->saved.ledger.last_time);
  context.scope = scope_text(items);
  for (const Row& item : items) {
    add_provenance(context, item);
  }
  const bool others = write_rest(context, items, run, workers, state_->saved.pages, built);
  if (loaded.changed || others || state_->saved.ledger.sha256 != ledger_before) {
    (void)write_page(folder / kCacheName, to_bytes(state_->saved, this_program()));
  }
  built.ledger = {context.ledger_head, context.ledger_rows, context.as_of};
  built.rows = std::move(items);
  return built;
}

Built build(const record::RunDir& run, const BuildOptions& options) {
  return Builder(run).build(options);
}

}  // namespace sweep::report
