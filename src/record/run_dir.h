#pragma once

#include "record/artifacts.h"
#include "record/trajectory.h"
#include "util/fd.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace sweep::record {

// A name as one safe path part; = util::encode_path_part.
[[nodiscard]] std::string encode_part(std::string_view name);

// Whether a run's own files have this name in its folder, so that no variant's folder may.
[[nodiscard]] bool is_own_part(std::string_view part);

// Names one item's files.
struct ItemName {
  std::string variant;
  std::string model;
  std::string level;
  std::string problem;
  std::int64_t attempt = 1;
};

// Paths inside runs/<name>; knows the layout and nothing else. Names become path parts by
// util::encode_path_part.
class RunDir {
 public:
  explicit RunDir(std::filesystem::path folder) : folder_(std::move(folder)), items_(folder_) {}

  // One task's view of a run that several work on: items' files lie below `items`, all else below
  // `folder`.
  RunDir(std::filesystem::path folder, std::filesystem::path items)
      : folder_(std::move(folder)), items_(std::move(items)) {}

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

  // Where items' files lie; folder() unless it is a task's view.
  [[nodiscard]] const std::filesystem::path& items_folder() const { return items_; }

  [[nodiscard]] std::filesystem::path config_file() const { return folder_ / "sweep_config.json"; }

  [[nodiscard]] std::filesystem::path ledger_file() const { return folder_ / "ledger.jsonl"; }

  [[nodiscard]] std::filesystem::path artifacts_folder() const { return folder_ / "artifacts"; }

  // Of tasks that share the run (record/claims.h).
  [[nodiscard]] std::filesystem::path claims_folder() const { return folder_ / "claims"; }

  // The chain of one task; `task` as Claims::Owner has it.
  [[nodiscard]] std::filesystem::path chain_file(const std::string& task) const {
    return folder_ / ("ledger." + task + ".jsonl");
  }

  [[nodiscard]] std::filesystem::path report_folder() const { return folder_ / "report"; }

  [[nodiscard]] std::filesystem::path lock_file() const { return folder_ / ".lock"; }

  [[nodiscard]] std::filesystem::path trajectory_file(const ItemName& item) const;
  [[nodiscard]] std::filesystem::path kernel_file(const ItemName& item) const;
  // What the model says in a turn that is not over; there while it does, and after a kill.
  [[nodiscard]] std::filesystem::path stream_file(const ItemName& item) const;

  // The kernel file that belongs to a trajectory file of this layout, and the other way round.
  [[nodiscard]] static std::filesystem::path kernel_beside(const std::filesystem::path& trajectory);
  [[nodiscard]] static std::filesystem::path trajectory_beside(const std::filesystem::path& kernel);
  [[nodiscard]] static std::filesystem::path stream_beside(const std::filesystem::path& trajectory);

  // Bytes of the kernel file for a submission: the text and the data policy as its last line, so
  // that line numbers stay those of the submission.
  [[nodiscard]] static std::string kernel_text(std::string_view submission);

  // Every trajectory file below, sorted by path; symbolic links are not followed.
  [[nodiscard]] std::vector<std::filesystem::path> trajectory_files() const;
  [[nodiscard]] std::vector<std::filesystem::path> kernel_files() const;  // likewise
  // In the same folders: what killed writers left, and what is no file of a run at all.
  [[nodiscard]] std::vector<std::filesystem::path> left_overs() const;
  [[nodiscard]] std::vector<std::filesystem::path> other_files() const;

  // Makes the folders and proves that they can be written. InfraError E_RUN_WRITE (read-only, full,
  // not a folder).
  void create() const;

  // Written whole (write, fsync, rename, fsync of the folder); also the kernel file when there is a
  // submission; without one a kernel file of an earlier beginning is removed.
  void save(const ItemName& item, const Trajectory& trajectory) const;
  [[nodiscard]] Trajectory load(const std::filesystem::path& trajectory_file) const;

 private:
  [[nodiscard]] std::vector<std::filesystem::path> files(
      const std::function<bool(const std::string&)>& wanted) const;
  [[nodiscard]] std::optional<std::string> submission_of(const Trajectory& trajectory) const;

  std::filesystem::path folder_;
  std::filesystem::path items_;
};

// Held by the one sweep that works on a run, or by each of the tasks that share it (`shared`);
// released when the process dies. UsageError E_RUN_BUSY naming the holder's pid and host.
class RunLock {
 public:
  explicit RunLock(const RunDir& run, bool shared = false);

 private:
  util::Fd fd_;
};

// True while some process holds the run's RunLock.
[[nodiscard]] bool lock_held(const RunDir& run);

// "process 12 on HOST" of the sweep of this host that holds the lock, without touching it; empty:
// none, or it cannot be told (no /proc/locks).
[[nodiscard]] std::string lock_holder(const RunDir& run);

// Whether the kernel names the process as one that took the run's lock; the lock file's text is not
// asked, since whoever may write the folder may write anything there. False where it cannot be
// told.
[[nodiscard]] bool lock_held_by(const RunDir& run, pid_t pid);

// Writes a whole file durably and atomically. InfraError E_RUN_WRITE with the path and the remedy
// (free space, permissions).
void write_whole(const std::filesystem::path& file, std::string_view bytes, unsigned mode = 0644);
// Reads at most max_bytes; InfraError E_RUN_READ.
[[nodiscard]] std::string read_whole(const std::filesystem::path& file,
                                     std::size_t max_bytes = std::size_t{256} << 20);
// Makes a folder and its parents; InfraError E_RUN_WRITE.
void make_run_folder(const std::filesystem::path& folder);
// InfraError E_RUN_WRITE for a failed system call, from errno.
[[noreturn]] void throw_write(const std::string& call, const std::filesystem::path& where);

}  // namespace sweep::record
