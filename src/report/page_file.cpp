#include "report/page_file.h"

#include "record/run_dir.h"
#include "util/error.h"
#include "util/fd.h"
#include "util/file.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sweep::report {

namespace fs = std::filesystem;

namespace {

// Compared in parts, so that a page of many MB is not in memory twice.
bool holds(const fs::path& file, std::string_view bytes) {
  const util::Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));

  struct stat found {};

  if (!fd || ::fstat(fd.get(), &found) != 0 || !S_ISREG(found.st_mode) ||
      static_cast<std::size_t>(found.st_size) != bytes.size()) {
    return false;
  }
  std::array<char, 65536> part{};
  while (!bytes.empty()) {
    const ssize_t size = ::read(fd.get(), part.data(), part.size());
    if (size <= 0 || static_cast<std::size_t>(size) > bytes.size() ||
        bytes.substr(0, static_cast<std::size_t>(size)) !=
            std::string_view(part.data(), static_cast<std::size_t>(size))) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

void write_all(const util::Fd& fd, std::string_view bytes, const fs::path& file) {
  while (!bytes.empty()) {
    const ssize_t size = ::write(fd.get(), bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size <= 0) {
      record::throw_write("write", file);
    }
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
}

}  // namespace

bool write_page(const fs::path& file, std::string_view bytes) {
  if (holds(file, bytes)) {
    return false;
  }
  std::string beside = (file.parent_path() / ".page.XXXXXX").string();
  int made = ::mkostemp(beside.data(), O_CLOEXEC);
  if (made < 0 && errno == ENOENT) {
    record::make_run_folder(file.parent_path());
    beside = (file.parent_path() / ".page.XXXXXX").string();
    made = ::mkostemp(beside.data(), O_CLOEXEC);
  }
  const util::Fd fd(made);
  if (!fd) {
    record::throw_write("mkostemp", file);
  }
  try {
    write_all(fd, bytes, file);
    if (::fchmod(fd.get(), 0644) != 0 || ::rename(beside.c_str(), file.c_str()) != 0) {
      record::throw_write("rename", file);
    }
  } catch (...) {
    ::unlink(beside.c_str());
    throw;
  }
  return true;
}

void refuse_links(const fs::path& report) {
  std::error_code error;
  const auto refuse = [](const fs::path& path) {
    throw util::UsageError({path.string(),
                            "is a symbolic link; a report is written inside its run only",
                            "remove the link, then run `sweep report` again"},
                           "E_REPORT_LINK");
  };
  if (fs::is_symlink(fs::symlink_status(report, error))) {
    refuse(report);
  }
  for (fs::recursive_directory_iterator it(report, error), end; !error && it != end;
       it.increment(error)) {
    if (it->is_symlink(error) && it->is_directory(error)) {
      refuse(it->path());
    }
  }
}

}  // namespace sweep::report
