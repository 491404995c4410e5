#include "util/lock.h"

#include "util/clock.h"
#include "util/error.h"
#include "util/file.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sweep::util {
namespace fs = std::filesystem;

fs::path lock_folder() {
  const char* chosen = std::getenv("SWEEP_LOCK_DIR");
  const fs::path folder = chosen != nullptr && *chosen != '\0' ? chosen : "/tmp/sweep-locks";
  if (::mkdir(folder.c_str(), 0777) == 0) {
    // mkdir obeys the umask; other users must be able to make files here.
    if (::chmod(folder.c_str(), 01777) != 0) {
      throw_errno("chmod", folder.string());
    }
    return folder;
  }
  if (errno != EEXIST) {
    throw InfraError({folder.string(),
                      "cannot make the lock folder",
                      "set SWEEP_LOCK_DIR to a folder that can be written"},
                     "E_LOCK_DIR");
  }

  struct stat info {};

  if (::lstat(folder.c_str(), &info) != 0 || !(S_ISDIR(info.st_mode) || chosen != nullptr)) {
    throw InfraError({folder.string(),
                      "is not a folder",
                      "remove it, or set SWEEP_LOCK_DIR to a folder that can be written"},
                     "E_LOCK_DIR");
  }
  return folder;
}

Fd open_lock_file(const fs::path& folder, const std::string& name) {
  if (name.find('/') != std::string::npos || !is_inside_path(name)) {
    throw InfraError({name, "not a lock name", "report this"}, "E_LOCK_NAME");
  }
  const fs::path path = folder / name;
  constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
  Fd fd(::open(path.c_str(), kFlags));
  if (!fd && errno == ENOENT) {
    fd = Fd(::open(path.c_str(), kFlags | O_CREAT | O_EXCL, 0666));
    if (fd && ::fchmod(fd.get(), 0666) != 0) {
      throw_errno("fchmod", path.string());
    }
    if (!fd && errno == EEXIST) {
      fd = Fd(::open(path.c_str(), kFlags));
    }
  }
  if (!fd) {
    throw_errno("open", path.string(), "set SWEEP_LOCK_DIR to a folder that can be written");
  }
  return fd;
}

std::optional<FileLock> FileLock::try_lock(Fd file, LockMode mode) {
  const int operation = (mode == LockMode::shared ? LOCK_SH : LOCK_EX) | LOCK_NB;
  while (::flock(file.get(), operation) != 0) {
    if (errno == EWOULDBLOCK) {
      return std::nullopt;
    }
    if (errno != EINTR) {
      throw_errno("flock", "lock file");
    }
  }
  return FileLock(std::move(file));
}

std::optional<FileLock> FileLock::wait(Fd file, LockMode mode, const WaitCallback& keep_waiting) {
  // flock has no deadline, and a blocking call could not be given up: poll, quickly at first.
  RealClock clock;
  const double start = clock.monotonic();
  double pause = 0.0005;
  double next_call = 0;
  for (;;) {
    const int operation = (mode == LockMode::shared ? LOCK_SH : LOCK_EX) | LOCK_NB;
    if (::flock(file.get(), operation) == 0) {
      return FileLock(std::move(file));
    }
    if (errno != EWOULDBLOCK && errno != EINTR) {
      throw_errno("flock", "lock file");
    }
    const double waited = clock.monotonic() - start;
    if (keep_waiting && waited >= next_call) {
      if (!keep_waiting(waited)) {
        return std::nullopt;
      }
      next_call = waited + 0.1;
    }
    clock.sleep(pause);
    pause = std::min(pause * 1.5, 0.01);
  }
}

std::optional<FileLock> acquire(const fs::path& folder,
                                const std::string& name,
                                LockMode mode,
                                const WaitCallback& keep_waiting) {
  std::optional<FileLock> turn =
      FileLock::wait(open_lock_file(folder, name + ".turn"), mode, keep_waiting);
  if (!turn) {
    return std::nullopt;
  }
  return FileLock::wait(open_lock_file(folder, name), mode, keep_waiting);
}

}  // namespace sweep::util
