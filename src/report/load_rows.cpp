#include "report/load_rows.h"

#include "report/page_file.h"
#include "util/error.h"
#include "util/parallel.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

namespace sweep::report {

namespace fs = std::filesystem;

namespace {

// Where a trajectory's page stands. The run's own layout holds only encoded names; they are kept,
// so that a page stands where its trajectory stands.
std::string page_of(const std::string& trajectory) {
  const std::string suffix = "_trajectory.json";
  const std::string stem = trajectory.ends_with(suffix)
                               ? trajectory.substr(0, trajectory.size() - suffix.size())
                               : trajectory;
  return "t/" + stem + ".html";
}

class Loader {
 public:
  Loader(const record::RunDir& run, const ItemPage& page) : run_(run), page_(page) {}

  // Takes over what is as the old cache says and lists the rest.
  void sort_out(RowCache& old) {
    for (const fs::path& file : run_.trajectory_files()) {
      std::string name = file.lexically_relative(run_.folder()).generic_string();
      const FileStamp stamp = stamp_of(file);
      const auto known = old.find(name);
      if (known != old.end() && is_current(known->second, file, name, stamp)) {
        cache.insert(old.extract(known));
        ++result.unchanged;
      } else {
        todo_.push_back({file, std::move(name), stamp});
      }
    }
    result.changed = !todo_.empty() || !old.empty();
  }

  void work(unsigned workers) {
    util::in_parallel(todo_.size(), workers, [this](std::size_t i) { read(todo_[i]); });
    std::sort(result.unreadable.begin(), result.unreadable.end());
  }

  RowCache cache;
  Loaded result;

 private:
  struct File {
    fs::path file;
    std::string name;
    FileStamp stamp;  // before it is read
  };

  bool is_current(CachedRow& known,
                  const fs::path& file,
                  const std::string& name,
                  const FileStamp& stamp) const {
    // The cache's word for where its page stands is not asked.
    known.row.page = page_of(name);
    return stamp.size >= 0 && known.trajectory == stamp &&
           known.made_with == page_.made_with(known.row, file) &&
           known.page == stamp_of(run_.report_folder() / known.row.page);
  }

  void read(const File& one) {
    std::optional<record::Trajectory> trajectory;
    try {
      trajectory = run_.load(one.file);
    } catch (const util::Error& error) {
      const std::lock_guard hold(lock_);
      result.unreadable.emplace_back(error.what());
      return;
    }
    CachedRow made;
    made.trajectory = one.stamp;
    made.row = row_of(*trajectory, page_of(one.name));
    made.row.digest = digest_of(made.row);
    made.made_with = page_.made_with(made.row, one.file);
    const fs::path page = run_.report_folder() / made.row.page;
    const bool written = write_page(page, page_.html(made.row, *trajectory, one.file));
    made.page = stamp_of(page);
    const std::lock_guard hold(lock_);
    ++(written ? result.pages : result.unchanged);
    cache.emplace(one.name, std::move(made));
  }

  const record::RunDir& run_;
  const ItemPage& page_;
  std::vector<File> todo_;
  std::mutex lock_;
};

}  // namespace

Loaded load_rows(const record::RunDir& run,
                 const ItemPage& page,
                 unsigned workers,
                 RowCache& cache) {
  Loader loader(run, page);
  loader.sort_out(cache);
  loader.work(workers);
  cache = std::move(loader.cache);
  return std::move(loader.result);
}

}  // namespace sweep::report
