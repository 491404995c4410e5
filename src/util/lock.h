#pragma once

#include "util/fd.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::util {

enum class LockMode { shared, exclusive };

// Folder of lock files that several users share: $SWEEP_LOCK_DIR, else /tmp/sweep-locks; made with
// mode 1777. InfraError "E_LOCK_DIR" when it is no folder or cannot be made.
[[nodiscard]] std::filesystem::path lock_folder();

// Opens a lock file for reading and writing, mode 0666 whatever the umask; opened without O_CREAT
// first, since in a sticky folder of another user the kernel may refuse O_CREAT on an existing file
// (fs.protected_regular). Symbolic links are refused. `name` must be one path part.
[[nodiscard]] Fd open_lock_file(const std::filesystem::path& folder, const std::string& name);

// Makes the files of acquire(), for a process that may use the folder's files and make none.
void make_lock_files(const std::filesystem::path& folder, const std::string& name);

// Called about ten times a second while waiting, with the seconds waited so far; false gives up.
using WaitCallback = std::function<bool(double seconds_waited)>;

struct LockUse;

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

  friend std::optional<FileLock> acquire(const std::filesystem::path& folder,
                                         const std::string& name,
                                         const LockUse& use,
                                         const WaitCallback& keep_waiting);

  Fd file_;
  Fd place_;  // in NAME.use, of acquire()
};

// What a holder says about itself.
struct LockUse {
  LockMode mode = LockMode::shared;
  std::uint64_t bytes = 0;     // of the resource that a shared holder needs at most
  std::uint64_t capacity = 0;  // what shared holders may need together; 0: no limit
  int pid = 0;                 // of the process that a person can find; 0: this one
};

// Shared or exclusive use of one named resource (a GPU). Whoever wants it keeps the turnstile
// `NAME.turn` locked while it waits, so that a stream of shared holders cannot starve an exclusive
// one. A shared holder also waits until its bytes and those of all other holders are within its
// `capacity`; more than `capacity` waits until it is the only one. The turnstile is free again as
// soon as the lock is held. Reservations are records in `NAME.use`; each is locked by its holder
// and counts only as long as it is, so the kernel drops those of the dead, whatever pid namespace
// or machine user they were of. InfraError for a failing file system.
[[nodiscard]] std::optional<FileLock> acquire(const std::filesystem::path& folder,
                                              const std::string& name,
                                              const LockUse& use,
                                              const WaitCallback& keep_waiting = {});

[[nodiscard]] inline std::optional<FileLock> acquire(const std::filesystem::path& folder,
                                                     const std::string& name,
                                                     LockMode mode,
                                                     const WaitCallback& keep_waiting = {}) {
  return acquire(folder, name, LockUse{mode, 0, 0, 0}, keep_waiting);
}

// For a shared holder between two pieces of work: lets who waits for exclusive use have it, and
// holds again afterwards. At once where nobody waits. Its reservation stays meanwhile, as it keeps
// what it has of the resource; so it does not queue at the turnstile again, where somebody may wait
// for the room that the reservation takes. False: the callback said so, and it is not held.
[[nodiscard]] bool give_way(FileLock& lock,
                            const std::filesystem::path& folder,
                            const std::string& name,
                            const WaitCallback& keep_waiting = {});

struct Holder {
  int pid = 0;  // as it said; 0 when the record is damaged
  LockMode mode = LockMode::shared;
  std::uint64_t bytes = 0;
};

// Those who hold the resource through acquire() now, in no order. Makes the files when they are
// missing.
[[nodiscard]] std::vector<Holder> holders(const std::filesystem::path& folder,
                                          const std::string& name);

// Says, as long as the descriptor is open, that this process and those that it starts keep off the
// resource while somebody else holds it alone, though they have it open. Where 512 say so already
// nothing is said. Throws util::InfraError for a failing file system.
[[nodiscard]] Fd announce(const std::filesystem::path& folder, const std::string& name);

// Pids that were announced, as each knew its own.
[[nodiscard]] std::vector<int> announced(const std::filesystem::path& folder,
                                         const std::string& name);

// "held by pid 12 for timing", "held by pids 3, 4"; "others are before us" when nobody shows.
[[nodiscard]] std::string text(const std::vector<Holder>& holders);

}  // namespace sweep::util
