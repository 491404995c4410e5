#pragma once

#include "util/fd.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace sweep::util {

enum class LockMode { shared, exclusive };

// Folder of lock files that several users share: $SWEEP_LOCK_DIR, else /tmp/sweep-locks; made with
// mode 1777. InfraError "E_LOCK_DIR" when it is no folder or cannot be made.
[[nodiscard]] std::filesystem::path lock_folder();

// Opens a lock file for reading and writing, mode 0666 whatever the umask; opened without O_CREAT
// first, since in a sticky folder of another user the kernel may refuse O_CREAT on an existing file
// (fs.protected_regular). Symbolic links are refused. `name` must be one path part.
[[nodiscard]] Fd open_lock_file(const std::filesystem::path& folder, const std::string& name);

// Called about ten times a second while waiting, with the seconds waited so far; false gives up.
using WaitCallback = std::function<bool(double seconds_waited)>;

// A held flock on a file; released on destruction or when the process (and all heirs of the
// descriptor) ends.
class FileLock {
 public:
  // None when somebody holds it in a mode that excludes ours.
  [[nodiscard]] static std::optional<FileLock> try_lock(Fd file, LockMode mode);

  // Waits. None only when the callback said so.
  [[nodiscard]] static std::optional<FileLock> wait(Fd file,
                                                    LockMode mode,
                                                    const WaitCallback& keep_waiting = {});

  // The locked file, e.g. to read and write reservations in it.
  [[nodiscard]] int fd() const noexcept { return file_.get(); }

 private:
  explicit FileLock(Fd file) : file_(std::move(file)) {}

  Fd file_;
};

// Shared or exclusive use of one named resource (a GPU). An exclusive holder-to-be keeps the
// turnstile `NAME.turn` locked while it waits, and every shared one passes through it, so that a
// stream of shared holders cannot starve it. The turnstile is free again as soon as the lock itself
// is held.
[[nodiscard]] std::optional<FileLock> acquire(const std::filesystem::path& folder,
                                              const std::string& name,
                                              LockMode mode,
                                              const WaitCallback& keep_waiting = {});

}  // namespace sweep::util
