#include "util/lock.h"

#include "util/clock.h"
#include "util/error.h"
#include "util/file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sweep::util {
namespace fs = std::filesystem;

namespace {

constexpr const char* kTurnstile = ".turn";
constexpr const char* kUse = ".use";
constexpr const char* kOpen = ".open";

}  // namespace

fs::path lock_folder() {
  const char* chosen = std::getenv("SWEEP_LOCK_DIR");
  fs::path folder = chosen != nullptr && *chosen != '\0' ? chosen : "/tmp/sweep-locks";
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

namespace {

// flock has no deadline, and a blocking call could not be given up: poll, quickly at first. False
// when the callback gave up.
template <typename Attempt>
bool wait_until(const Attempt& attempt, const WaitCallback& keep_waiting) {
  RealClock clock;
  const double start = clock.monotonic();
  double pause = 0.0005;
  double next_call = 0;
  while (!attempt()) {
    const double waited = clock.monotonic() - start;
    if (keep_waiting && waited >= next_call) {
      if (!keep_waiting(waited)) {
        return false;
      }
      next_call = waited + 0.1;
    }
    clock.sleep(pause);
    pause = std::min(pause * 1.5, 0.01);
  }
  return true;
}

// Who keeps the turnstile writes for what it waits: 'x' or 's'. The file can be written by
// everybody; a wrong letter only makes holders give way in vain, or not.
void say_mode(int turnstile, LockMode mode) {
  const char letter = mode == LockMode::exclusive ? 'x' : 's';
  if (::pwrite(turnstile, &letter, 1, 0) != 1) {
    throw_errno("pwrite", "lock file", "free some disk space in the lock folder");
  }
}

bool exclusive_is_waited_for(const fs::path& folder, const std::string& name) {
  Fd file = open_lock_file(folder, name + kTurnstile);
  char letter = 0;
  if (::pread(file.get(), &letter, 1, 0) < 0) {
    throw_errno("pread", "lock file");
  }
  return letter == 'x' && !FileLock::try_lock(std::move(file), LockMode::exclusive);
}

// True when it is locked now.
bool flock_at_once(int fd, int operation) {
  while (::flock(fd, operation | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      return false;
    }
    if (errno != EINTR) {
      throw_errno("flock", "lock file");
    }
  }
  return true;
}

// Records of NAME.use: kPlaces of kRecord bytes, each "PID MODE BYTES" and blanks, locked by its
// holder through an open file description of its own.
constexpr int kPlaces = 512;
constexpr std::size_t kRecord = 64;

struct flock place_range(int place) {
  struct flock range {};

  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(place) * static_cast<off_t>(kRecord);
  range.l_len = static_cast<off_t>(kRecord);
  return range;
}

bool taken(int fd, int place) {
  struct flock range = place_range(place);
  if (::fcntl(fd, F_OFD_GETLK, &range) != 0) {
    throw_errno("fcntl", "lock file", "put the lock folder on a local file system");
  }
  return range.l_type != F_UNLCK;
}

// The file can be written by everybody: what does not read like a record counts nothing.
Holder read_record(int fd, int place) {
  std::array<char, kRecord + 1> text{};
  const auto offset = static_cast<off_t>(place) * static_cast<off_t>(kRecord);
  if (::pread(fd, text.data(), kRecord, offset) < 0) {
    throw_errno("pread", "lock file");
  }
  Holder holder;
  char mode = 0;
  std::uint64_t bytes = 0;
  if (std::sscanf(text.data(), "%9d %c %20lu", &holder.pid, &mode, &bytes) == 3) {
    holder.mode = mode == 'x' ? LockMode::exclusive : LockMode::shared;
    holder.bytes = bytes;
  }
  return holder;
}

void take_place(int fd, int place, const LockUse& use) {
  const std::string record = fmt::format("{} {} {}",
                                         use.pid != 0 ? use.pid : ::getpid(),
                                         use.mode == LockMode::exclusive ? 'x' : 's',
                                         use.bytes);
  const std::string padded = fmt::format("{:<{}}\n", record, kRecord - 1);
  const auto offset = static_cast<off_t>(place) * static_cast<off_t>(kRecord);
  // A record without its lock is nobody's, so the lock comes last.
  if (::pwrite(fd, padded.data(), kRecord, offset) != static_cast<ssize_t>(kRecord)) {
    throw_errno("pwrite", "lock file", "free some disk space in the lock folder");
  }
  struct flock range = place_range(place);
  if (::fcntl(fd, F_OFD_SETLK, &range) != 0) {
    throw_errno("fcntl", "lock file", "put the lock folder on a local file system");
  }
}

// Under the turnstile, so nobody else takes a place meanwhile. False: no room yet.
bool reserve(int fd, const LockUse& use) {
  int free_place = -1;
  std::uint64_t others = 0;
  for (int place = 0; place < kPlaces; ++place) {
    if (taken(fd, place)) {
      const std::uint64_t bytes = read_record(fd, place).bytes;
      others = bytes > UINT64_MAX - others ? UINT64_MAX : others + bytes;
    } else if (free_place < 0) {
      free_place = place;
    }
  }
  const bool fits = use.mode == LockMode::exclusive || use.capacity == 0 || use.bytes == 0 ||
                    others == 0 ||
                    (use.bytes <= use.capacity && others <= use.capacity - use.bytes);
  if (!fits || free_place < 0) {
    return false;
  }
  take_place(fd, free_place, use);
  return true;
}

}  // namespace

std::optional<FileLock> FileLock::wait(Fd file, LockMode mode, const WaitCallback& keep_waiting) {
  const int operation = (mode == LockMode::shared ? LOCK_SH : LOCK_EX) | LOCK_NB;
  const auto attempt = [&] {
    if (::flock(file.get(), operation) == 0) {
      return true;
    }
    if (errno != EWOULDBLOCK && errno != EINTR) {
      throw_errno("flock", "lock file");
    }
    return false;
  };
  if (!wait_until(attempt, keep_waiting)) {
    return std::nullopt;
  }
  return FileLock(std::move(file));
}

void make_lock_files(const fs::path& folder, const std::string& name) {
  (void)open_lock_file(folder, name + kTurnstile);
  (void)open_lock_file(folder, name);
  (void)open_lock_file(folder, name + kUse);
}

std::optional<FileLock> acquire(const fs::path& folder,
                                const std::string& name,
                                const LockUse& use,
                                const WaitCallback& keep_waiting) {
  const std::optional<FileLock> turn =
      FileLock::wait(open_lock_file(folder, name + kTurnstile), LockMode::exclusive, keep_waiting);
  if (!turn) {
    return std::nullopt;
  }
  say_mode(turn->fd(), use.mode);
  auto lock = FileLock::wait(open_lock_file(folder, name), use.mode, keep_waiting);
  if (!lock) {
    return std::nullopt;
  }
  lock->place_ = open_lock_file(folder, name + kUse);
  if (!wait_until([&] { return reserve(lock->place_.get(), use); }, keep_waiting)) {
    return std::nullopt;
  }
  return lock;
}

bool give_way(FileLock& lock,
              const fs::path& folder,
              const std::string& name,
              const WaitCallback& keep_waiting) {
  if (!exclusive_is_waited_for(folder, name)) {
    return true;
  }
  const int fd = lock.fd();
  (void)flock_at_once(fd, LOCK_UN);
  const auto passed = [&] {
    if (!exclusive_is_waited_for(folder, name)) {
      return true;
    }
    // Another may wait by the time that the first one has it.
    if (!flock_at_once(fd, LOCK_SH)) {
      return true;
    }
    (void)flock_at_once(fd, LOCK_UN);
    return false;
  };
  return wait_until(passed, keep_waiting) &&
         wait_until([fd] { return flock_at_once(fd, LOCK_SH); }, keep_waiting);
}

std::vector<Holder> holders(const fs::path& folder, const std::string& name) {
  const Fd file = open_lock_file(folder, name + kUse);
  std::vector<Holder> list;
  for (int place = 0; place < kPlaces; ++place) {
    if (taken(file.get(), place)) {
      list.push_back(read_record(file.get(), place));
    }
  }
  return list;
}

Fd announce(const fs::path& folder, const std::string& name) {
  Fd file = open_lock_file(folder, name + kOpen);
  for (int place = 0; place < kPlaces; ++place) {
    struct flock range = place_range(place);
    // Whoever has the place writes it: until then it holds the number of one that has gone.
    if (::fcntl(file.get(), F_OFD_SETLK, &range) == 0) {
      take_place(file.get(), place, {});
      return file;
    }
    if (errno != EAGAIN && errno != EACCES) {
      throw_errno("fcntl", "lock file", "put the lock folder on a local file system");
    }
  }
  return file;
}

std::vector<int> announced(const fs::path& folder, const std::string& name) {
  const Fd file = open_lock_file(folder, name + kOpen);
  std::vector<int> pids;
  for (int place = 0; place < kPlaces; ++place) {
    if (taken(file.get(), place)) {
      pids.push_back(read_record(file.get(), place).pid);
    }
  }
  return pids;
}

std::string text(const std::vector<Holder>& holders) {
  constexpr std::size_t kNamed = 4;
  std::string pids;
  bool timing = false;
  for (std::size_t i = 0; i < holders.size(); ++i) {
    timing = timing || holders[i].mode == LockMode::exclusive;
    if (i < kNamed) {
      pids += fmt::format("{}{}", i == 0 ? "" : ", ", holders[i].pid);
    }
  }
  if (holders.empty()) {
    return "others are before us";
  }
  return fmt::format("held by pid{} {}{}{}",
                     holders.size() == 1 ? "" : "s",
                     pids,
                     holders.size() > kNamed ? ", .." : "",
                     timing ? " for timing" : "");
}

}  // namespace sweep::util
