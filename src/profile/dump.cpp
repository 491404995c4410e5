#include "profile/dump.h"

#include "util/error.h"

#include <cerrno>
#include <cstring>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sweep::profile {
namespace {

constexpr const char* kNext = "name a new folder for --dump";

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& what) {
  throw util::UsageError({path.string(), what, kNext}, "E_DUMP_FOLDER");
}

bool is_empty(int folder, const std::filesystem::path& path) {
  const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* entries = copy < 0 ? nullptr : ::fdopendir(copy);
  if (entries == nullptr) {
    if (copy >= 0) {
      ::close(copy);
    }
    util::throw_errno("opendir", path.string());
  }
  bool empty = true;
  while (const dirent* entry = ::readdir(entries)) {
    empty =
        empty && (std::strcmp(entry->d_name, ".") == 0 || std::strcmp(entry->d_name, "..") == 0);
  }
  ::closedir(entries);
  return empty;
}

std::filesystem::path without_slash(const std::filesystem::path& path) {
  return path.has_filename() ? path : path.parent_path();
}

}  // namespace

DumpFolder::DumpFolder(const std::filesystem::path& path) : path_(without_slash(path)) {
  if (path_.empty()) {
    refuse(path, "no name of a folder");
  }
  constexpr mode_t kMode = 0755;
  const bool made = ::mkdir(path_.c_str(), kMode) == 0;
  if (!made && errno != EEXIST) {
    refuse(path_, std::string("cannot be made: ") + std::strerror(errno));
  }
  // A trailing link is refused, so that nothing is written where it leads.
  folder_ = util::Fd(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder_) {
    refuse(path_,
           errno == ELOOP || errno == ENOTDIR ? "is no folder, or a symbolic link"
                                              : std::strerror(errno));
  }
  if (!made && !is_empty(folder_.get(), path_)) {
    refuse(path_, "is not empty");
  }
}

void DumpFolder::write(const std::string& name, std::string_view bytes) {
  constexpr mode_t kMode = 0644;
  const util::Fd file(::openat(
      folder_.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMode));
  if (!file) {
    util::throw_errno("open", (path_ / name).string(), kNext);
  }
  util::write_all(file.get(), bytes, (path_ / name).string());
  written_.push_back({name, bytes.size()});
}

}  // namespace sweep::profile
