#include "record/garbage.h"

#include "record/artifacts.h"
#include "record/chains.h"
#include "record/claims.h"
#include "util/clock.h"
#include "util/error.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

namespace sweep::record {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHashDigits = 64;

bool is_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

// Adds every run of exactly 64 lower-case hex digits.
void collect(std::string_view text, std::set<std::string, std::less<>>& names) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    if (!is_digit(text[begin])) {
      ++begin;
      continue;
    }
    std::size_t end = begin;
    while (end < text.size() && is_digit(text[end])) {
      ++end;
    }
    if (end - begin == kHashDigits) {
      names.emplace(text.substr(begin, kHashDigits));
    }
    begin = end;
  }
}

// Names in the run's own files and, from there, in artifacts.
std::set<std::string, std::less<>> names_of(const RunDir& run,
                                            const std::vector<std::string>& chains) {
  std::set<std::string, std::less<>> names;
  std::vector<fs::path> files = run.trajectory_files();
  files.push_back(run.ledger_file());
  for (const std::string& chain : chains) {
    files.push_back(run.folder() / chain);
  }
  std::error_code error;
  if (fs::is_regular_file(run.config_file(), error)) {
    files.push_back(run.config_file());
  }
  for (const fs::path& file : files) {
    collect(read_whole(file), names);
  }
  const Artifacts artifacts(run.artifacts_folder(), Artifacts::Use::read);
  std::set<std::string, std::less<>> seen;
  std::vector<std::string> next(names.begin(), names.end());
  while (!next.empty()) {
    const std::string name = std::move(next.back());
    next.pop_back();
    if (!seen.insert(name).second || !artifacts.has(name)) {
      continue;
    }
    std::set<std::string, std::less<>> more;
    collect(read_whole(artifacts.path(name)), more);
    next.insert(next.end(), more.begin(), more.end());
  }
  return seen;
}

// Where nothing can be written this machine's clock must do: then no task is at work either.
double time_of(const fs::path& claims) {
  try {
    return server_time(claims);
  } catch (const util::InfraError&) {
    return util::RealClock().wall();
  }
}

// While a task is at work its artifacts may have no names yet.
void require_no_task(const RunDir& run) {
  std::error_code error;
  if (!fs::exists(run.claims_folder(), error)) {
    return;
  }
  for (const TaskSign& sign : task_signs(run.claims_folder(), time_of(run.claims_folder()))) {
    if (sign.alive()) {
      throw util::UsageError({run.folder().string(),
                              "task " + sign.task + " works on this run",
                              "wait for it, or end it with `sweep stop`"},
                             "E_RUN_BUSY");
    }
  }
}

// A folder that cannot be read may hold a trajectory whose names would be missed.
void require_readable(const fs::path& folder) {
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
  }
  if (error) {
    throw util::InfraError({folder.string(),
                            "a folder below it cannot be read: " + error.message(),
                            "make it readable; nothing was deleted"},
                           "E_RUN_READ");
  }
}

}  // namespace

std::vector<Garbage> garbage_of(const RunDir& run) {
  std::error_code unknown;
  if (fs::is_symlink(run.artifacts_folder(), unknown)) {
    throw util::UsageError({run.artifacts_folder().string(),
                            "a symbolic link: what lies there may be another run's",
                            "move the folder itself to its place in the run"},
                           "E_GC_LINK");
  }
  require_no_task(run);
  const Chains ledgers = read_chains(run);
  std::vector<std::string> chains;
  for (const Chain& chain : ledgers.tasks) {
    chains.push_back(chain.name);
  }
  if (!ledgers.root.intact || !ledgers.problems.empty()) {
    throw util::UsageError(
        {run.ledger_file().string(),
         ledgers.problem(),
         "nothing is deleted from a run that `sweep verify` does not find intact"},
        "E_GC_BROKEN");
  }
  require_readable(run.folder());
  const auto names = names_of(run, chains);
  std::vector<Garbage> found;
  std::error_code error;
  for (const fs::path& file : run.left_overs()) {
    const auto bytes = fs::file_size(file, error);
    found.push_back({Garbage::Kind::unfinished, file, error ? 0 : bytes});
  }
  for (fs::directory_iterator it(run.artifacts_folder(), error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    std::error_code ignored;
    if (it->symlink_status(ignored).type() != fs::file_type::regular) {
      continue;
    }
    const bool unfinished = is_unfinished(name);
    if (unfinished || (is_sha256(name) && !names.contains(name))) {
      const auto bytes = it->file_size(ignored);
      found.push_back({unfinished ? Garbage::Kind::unfinished : Garbage::Kind::unnamed,
                       it->path(),
                       ignored ? 0 : bytes});
    }
  }
  if (error) {
    throw util::InfraError({run.artifacts_folder().string(), error.message(), "make it readable"},
                           "E_RUN_READ");
  }
  std::ranges::sort(found, {}, &Garbage::file);
  return found;
}

}  // namespace sweep::record
