#include "util/work_folder.h"

#include "util/error.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sweep::util {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kDrawn = 6;  // characters that mkdtemp draws

fs::path base_of(const fs::path& parent) {
  if (!parent.empty()) {
    return parent;
  }
  const char* chosen = std::getenv("TMPDIR");
  return chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
}

Fd open_folder(const fs::path& path) {
  return Fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// The folder that `fd` is open on still has this path.
bool is_still(const Fd& fd, const fs::path& path) {
  struct stat open {};

  struct stat named {};

  return ::fstat(fd.get(), &open) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

// Root gives folders to the users that its sandboxed children take on, whichever they are.
bool is_ours(const Fd& fd) {
  struct stat info {};

  return ::geteuid() == 0 || (::fstat(fd.get(), &info) == 0 && info.st_uid == ::geteuid());
}

bool is_named(const std::string& name, std::string_view prefix) {
  return name.size() == prefix.size() + 1 + kDrawn && name.starts_with(prefix) &&
         name[prefix.size()] == '-' &&
         std::all_of(
             name.end() - kDrawn, name.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
}

}  // namespace

WorkFolder::WorkFolder(std::string_view prefix, const fs::path& parent) {
  // Between its making and its lock a folder may be taken for an abandoned one; then another is
  // made.
  constexpr int kTries = 100;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    std::string made = (base_of(parent) / (std::string(prefix) + "-XXXXXX")).string();
    if (::mkdtemp(made.data()) == nullptr) {
      throw_errno("mkdtemp", made, "set TMPDIR to a folder that can be written");
    }
    Fd lock = open_folder(made);
    while (lock && ::flock(lock.get(), LOCK_EX) != 0) {
      if (errno != EINTR) {
        throw_errno("flock", made, "set TMPDIR to a folder on a local file system");
      }
    }
    if (lock && is_still(lock, made)) {
      path_ = made;
      lock_ = std::move(lock);
      return;
    }
  }
  throw InfraError({base_of(parent).string(),
                    "new folders vanish as soon as they are made",
                    "set TMPDIR to another folder"},
                   "E_SYSTEM");
}

WorkFolder::~WorkFolder() {
  if (!path_.empty()) {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
}

WorkFolder::WorkFolder(WorkFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}

std::size_t remove_abandoned(std::string_view prefix, const fs::path& parent) {
  std::size_t removed = 0;
  std::error_code error;
  for (fs::directory_iterator it(base_of(parent), error), end; !error && it != end;
       it.increment(error)) {
    if (!is_named(it->path().filename().string(), prefix)) {
      continue;
    }
    const Fd fd = open_folder(it->path());
    if (fd && is_ours(fd) && ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0 &&
        is_still(fd, it->path())) {
      std::error_code kept;
      fs::remove_all(it->path(), kept);
      removed += kept ? 0U : 1U;
    }
  }
  return removed;
}

}  // namespace sweep::util
