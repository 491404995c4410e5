#include "util/file.h"

#include "util/error.h"
#include "util/fd.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sweep::util {
namespace fs = std::filesystem;

namespace {

constexpr const char* kDiskHint = "free space or fix the permissions, then run again";

void sync_fd(int fd, const std::string& where) {
  // EINVAL: a file system without fsync (pipes, some FUSE); there is nothing to wait for.
  if (::fsync(fd) != 0 && errno != EINVAL) {
    throw_errno("fsync", where, kDiskHint);
  }
}

fs::path folder_of(const fs::path& path) {
  const fs::path parent = path.parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

// Removes the temporary file unless it was renamed away.
class Unlinker {
 public:
  explicit Unlinker(std::string path) : path_(std::move(path)) {}

  Unlinker(const Unlinker&) = delete;
  Unlinker& operator=(const Unlinker&) = delete;
  Unlinker(Unlinker&&) = delete;
  Unlinker& operator=(Unlinker&&) = delete;

  ~Unlinker() {
    if (!path_.empty()) {
      ::unlink(path_.c_str());
    }
  }

  void keep() { path_.clear(); }

 private:
  std::string path_;
};

}  // namespace

std::string read_file(const fs::path& path, std::size_t max_bytes, Links links) {
  const int follow = links == Links::refuse ? O_NOFOLLOW : 0;
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | follow));
  if (!fd) {
    if (errno == ELOOP) {
      throw UsageError({path.string(), "a symbolic link", "give the path of a file"},
                       "E_FILE_KIND");
    }
    if (errno == ENOENT || errno == ENOTDIR) {
      throw UsageError({path.string(), "no such file", "check the path"}, "E_FILE_MISSING");
    }
    if (errno == EACCES) {
      throw UsageError({path.string(), "may not be read", "check the permissions"},
                       "E_FILE_DENIED");
    }
    throw_errno("open", path.string(), "check the permissions");
  }

  struct stat info {};

  if (::fstat(fd.get(), &info) != 0) {
    throw_errno("fstat", path.string());
  }
  if (!S_ISREG(info.st_mode)) {
    throw UsageError({path.string(), "not a regular file", "give the path of a file"},
                     "E_FILE_KIND");
  }
  // The size may be 0 (/proc) or change while it is read: read one byte more than allowed and look.
  // What says itself that it is too large is not read.
  std::string text;
  std::size_t got = 0;
  std::size_t room = static_cast<std::size_t>(info.st_size) + 1;
  while (got <= max_bytes && static_cast<std::uintmax_t>(info.st_size) <= max_bytes) {
    room = std::min(room, max_bytes + 1 - got);
    text.resize(got + room);
    const std::size_t n = read_all(fd.get(), text.data() + got, room, path.string());
    got += n;
    if (n < room) {
      text.resize(got);
      return text;
    }
    room = 65536;
  }
  throw UsageError(
      {path.string(), "larger than " + std::to_string(max_bytes) + " bytes", "give a smaller file"},
      "E_FILE_SIZE");
}

void write_file_atomic(const fs::path& path, std::string_view bytes, unsigned mode) {
  std::string temporary = (folder_of(path) / ("." + path.filename().string() + ".XXXXXX")).string();
  const Fd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd) {
    throw_errno("mkostemp", path.string(), kDiskHint);
  }
  Unlinker cleanup(temporary);
  write_all(fd.get(), bytes, path.string());
  if (::fchmod(fd.get(), static_cast<mode_t>(mode)) != 0) {
    throw_errno("fchmod", path.string());
  }
  sync_fd(fd.get(), path.string());
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    throw_errno("rename", path.string(), kDiskHint);
  }
  cleanup.keep();
  sync_folder(folder_of(path));
}

void append_durable(const fs::path& path, std::string_view bytes) {
  Fd fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  const bool made = !fd && errno == ENOENT;
  if (made) {
    fd = Fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  }
  if (!fd) {
    throw_errno("open", path.string(), kDiskHint);
  }
  write_all(fd.get(), bytes, path.string());
  sync_fd(fd.get(), path.string());
  if (made) {
    sync_folder(folder_of(path));
  }
}

void sync_folder(const fs::path& folder) {
  const Fd fd = open_file(folder.string(), O_RDONLY | O_DIRECTORY);
  sync_fd(fd.get(), folder.string());
}

void make_folders(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw InfraError({folder.string(), "cannot make the folder: " + error.message(), kDiskHint},
                     "E_SYSTEM");
  }
}

bool is_inside_path(std::string_view path) {
  if (path.empty() || path.front() == '/' || path.find('\0') != std::string_view::npos) {
    return false;
  }
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    if (path.substr(0, slash) == "..") {
      return false;
    }
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
  return true;
}

fs::path join_inside(const fs::path& root, std::string_view path) {
  if (!is_inside_path(path)) {
    throw UsageError({std::string(path),
                      "must be a relative path without '..'",
                      "name a file below " + root.string()},
                     "E_PATH");
  }
  return root / fs::path(path);
}

TempDir::TempDir(std::string_view prefix, const fs::path& parent) {
  fs::path base = parent;
  if (base.empty()) {
    const char* chosen = std::getenv("TMPDIR");
    base = chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
  }
  std::string made = (base / (std::string(prefix) + ".XXXXXX")).string();
  if (::mkdtemp(made.data()) == nullptr) {
    throw_errno("mkdtemp", made, "set TMPDIR to a folder that can be written");
  }
  path_ = made;
}

TempDir::~TempDir() {
  remove();
}

TempDir::TempDir(TempDir&& other) noexcept : path_(std::exchange(other.path_, {})) {}

TempDir& TempDir::operator=(TempDir&& other) noexcept {
  if (this != &other) {
    remove();
    path_ = std::exchange(other.path_, {});
  }
  return *this;
}

void TempDir::remove() noexcept {
  if (!path_.empty()) {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    path_.clear();
  }
}

}  // namespace sweep::util
