#include "record/run_dir.h"

#include "record/json.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sweep::record {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kTrajectorySuffix = "_trajectory.json";
constexpr std::string_view kKernelSuffix = "_kernel.cu";
constexpr std::string_view kStreamSuffix = "_stream.json";
// Folders of a run that hold no items' files.
constexpr std::array<std::string_view, 5> kOurs = {"artifacts", "claims", "log", "report", "slurm"};

std::string remedy(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "free space, then run the same command again: finished work is kept";
    case EFBIG:
      return "raise the limit (ulimit -f), then run the same command again: finished work is kept";
    case EROFS:
    case EACCES:
    case EPERM:
      return "make the folder writable, or choose another with [run] runs_dir";
    case ENOTDIR:
    case EEXIST:
      return "a file is in the way; move it, or choose another [run] runs_dir";
    default:
      return "check the disk, then run the same command again";
  }
}

fs::path item_file(const fs::path& folder, const ItemName& item, std::string_view suffix) {
  std::string name = "level_" + util::encode_path_part(item.level) + "_problem_" +
                     util::encode_path_part(item.problem);
  if (item.attempt > 1) {
    name += "_a" + std::to_string(item.attempt);
  }
  return folder / util::encode_path_part(item.variant) / util::encode_path_part(item.model) /
         (name + std::string(suffix));
}

fs::path with_suffix(const fs::path& file, std::string_view from, std::string_view to) {
  const std::string name = file.filename().string();
  return file.parent_path() / (name.substr(0, name.size() - from.size()) + std::string(to));
}

bool is_item_file(const std::string& name, std::string_view suffix) {
  return name.starts_with("level_") && name.ends_with(suffix);
}

// A file that a killed writer had not finished, ".NAME.XXXXXX", or what a model was saying then.
bool is_left_over(const std::string& name) {
  if (is_item_file(name, kStreamSuffix)) {
    return true;
  }
  constexpr std::size_t kEnd = 7;
  if (name.size() <= kEnd + 1 || name[0] != '.' || name[name.size() - kEnd] != '.') {
    return false;
  }
  const std::string whole = name.substr(1, name.size() - kEnd - 1);
  return is_item_file(whole, kTrajectorySuffix) || is_item_file(whole, kKernelSuffix) ||
         is_item_file(whole, kStreamSuffix);
}

// Of no symbolic link. The folder's own list says it on most file systems, without a look at the
// file.
bool is_itself(const fs::directory_entry& entry,
               bool (fs::directory_entry::*kind)(std::error_code&) const) {
  std::error_code error;
  return !entry.is_symlink(error) && (entry.*kind)(error);
}

std::string holder_of(int fd) {
  std::array<char, 200> text{};
  const ssize_t n = ::pread(fd, text.data(), text.size() - 1, 0);
  const std::string_view found =
      util::trim(std::string_view(text.data(), n > 0 ? static_cast<std::size_t>(n) : 0));
  return found.empty() ? "another process" : util::printable(found);
}

util::Fd open_lock(const RunDir& run) {
  return util::Fd(::open(run.lock_file().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
}

// Processes that have a lock of the file, as /proc/locks numbers them.
std::vector<pid_t> lock_takers(int fd) {
  struct stat info {};

  if (::fstat(fd, &info) != 0) {
    return {};
  }
  // "1: FLOCK  ADVISORY  WRITE 14341 fe:00:10953082 0 EOF"
  const std::string inode = ":" + std::to_string(info.st_ino);
  std::vector<pid_t> found;
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, kind, advice, right, file;
    pid_t pid = 0;
    // A lock that is waited for has "->" in the place of its kind.
    if (words >> number >> kind >> advice >> right >> pid >> file && kind == "FLOCK" &&
        file.ends_with(inode)) {
      found.push_back(pid);
    }
  }
  return found;
}

}  // namespace

void throw_write(const std::string& call, const fs::path& where) {
  const int error = errno;
  throw util::InfraError(
      {where.string(), call + ": " + std::generic_category().message(error), remedy(error)},
      "E_RUN_WRITE");
}

void write_whole(const fs::path& file, std::string_view bytes, unsigned mode) {
  try {
    errno = 0;
    util::write_file_atomic(file, bytes, mode);
  } catch (const util::Error& error) {
    const int number = errno;
    throw util::InfraError({file.string(), error.message().what, remedy(number)}, "E_RUN_WRITE");
  }
}

void make_run_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder)) {
    const int number = error ? error.value() : ENOTDIR;
    throw util::InfraError({folder.string(),
                            "cannot make the folder: " + std::generic_category().message(number),
                            remedy(number)},
                           "E_RUN_WRITE");
  }
}

std::string read_whole(const fs::path& file, std::size_t max_bytes) {
  try {
    return util::read_file(file, max_bytes);
  } catch (const util::Error& error) {
    throw util::InfraError({file.string(), error.message().what, error.message().next},
                           "E_RUN_READ");
  }
}

std::string encode_part(std::string_view name) {
  return util::encode_path_part(name);
}

bool is_own_part(std::string_view part) {
  return std::ranges::count(kOurs, part) > 0 || part == "sweep_config.json" ||
         (part.starts_with("ledger.") && part.ends_with(".jsonl"));
}

fs::path RunDir::trajectory_file(const ItemName& item) const {
  return item_file(items_, item, kTrajectorySuffix);
}

fs::path RunDir::kernel_file(const ItemName& item) const {
  return item_file(items_, item, kKernelSuffix);
}

fs::path RunDir::stream_file(const ItemName& item) const {
  return item_file(items_, item, kStreamSuffix);
}

fs::path RunDir::stream_beside(const fs::path& trajectory) {
  return with_suffix(trajectory, kTrajectorySuffix, kStreamSuffix);
}

fs::path RunDir::kernel_beside(const fs::path& trajectory) {
  return with_suffix(trajectory, kTrajectorySuffix, kKernelSuffix);
}

fs::path RunDir::trajectory_beside(const fs::path& kernel) {
  return with_suffix(kernel, kKernelSuffix, kTrajectorySuffix);
}

std::string RunDir::kernel_text(std::string_view submission) {
  return std::string(submission) + "\n// " + std::string(kPolicy) + "\n";
}

std::vector<fs::path> RunDir::trajectory_files() const {
  return files([](const std::string& name) { return is_item_file(name, kTrajectorySuffix); });
}

std::vector<fs::path> RunDir::kernel_files() const {
  return files([](const std::string& name) { return is_item_file(name, kKernelSuffix); });
}

std::vector<fs::path> RunDir::left_overs() const {
  return files(is_left_over);
}

std::vector<fs::path> RunDir::other_files() const {
  return files([](const std::string& name) {
    return !is_item_file(name, kTrajectorySuffix) && !is_item_file(name, kKernelSuffix) &&
           !is_left_over(name);
  });
}

std::vector<fs::path> RunDir::files(const std::function<bool(const std::string&)>& wanted) const {
  std::vector<fs::path> found;
  std::error_code error;
  const auto folders = [&](const fs::path& parent) {
    std::vector<fs::path> below;
    for (fs::directory_iterator it(parent, error), end; !error && it != end; it.increment(error)) {
      if (is_itself(*it, &fs::directory_entry::is_directory) &&
          std::ranges::count(kOurs, it->path().filename().string()) == 0) {
        below.push_back(it->path());
      }
    }
    return below;
  };
  for (const fs::path& variant : folders(items_)) {
    for (const fs::path& model : folders(variant)) {
      for (fs::directory_iterator it(model, error), end; !error && it != end; it.increment(error)) {
        if (wanted(it->path().filename().string()) &&
            is_itself(*it, &fs::directory_entry::is_regular_file)) {
          found.push_back(it->path());
        }
      }
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

void RunDir::create() const {
  make_run_folder(folder_);
  make_run_folder(artifacts_folder());
  write_whole(folder_ / ".probe", "written to prove that this folder can be written\n");
  std::error_code ignored;
  fs::remove(folder_ / ".probe", ignored);
}

std::optional<std::string> RunDir::submission_of(const Trajectory& trajectory) const {
  std::optional<std::string> submitted;
  for (const Turn& turn : trajectory.turns) {
    submitted = turn.submitted_kernel ? turn.submitted_kernel : submitted;
  }
  // The trajectory cuts a long text, and holds no bytes that are not UTF-8.
  const std::string hash =
      submitted && trajectory.final_result ? trajectory.final_result->kernel_sha256 : "";
  std::error_code error;
  return is_sha256(hash) && fs::is_regular_file(artifacts_folder() / hash, error)
             ? Artifacts(artifacts_folder()).get(hash)
             : submitted;
}

void RunDir::save(const ItemName& item, const Trajectory& trajectory) const {
  const fs::path file = trajectory_file(item);
  make_run_folder(file.parent_path());
  if (const auto submitted = submission_of(trajectory)) {
    write_whole(kernel_file(item), kernel_text(*submitted));
  } else {
    std::error_code error;
    fs::remove(kernel_file(item), error);
    if (error) {
      errno = error.value();
      throw_write("unlink", kernel_file(item));
    }
  }
  write_whole(
      file,
      to_json(trajectory).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

Trajectory RunDir::load(const fs::path& trajectory_file) const {
  return parse_trajectory(read_whole(trajectory_file), trajectory_file.string());
}

RunLock::RunLock(const RunDir& run, bool shared) {
  fd_ = util::Fd(::open(run.lock_file().c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!fd_) {
    throw_write("open", run.lock_file());
  }
  if (::flock(fd_.get(), (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) {
      throw_write("flock", run.lock_file());
    }
    throw util::UsageError({run.folder().string(),
                            "another sweep works on this run (" + holder_of(fd_.get()) + ")",
                            "wait for it, stop it with Ctrl-C, or use --run-name"},
                           "E_RUN_BUSY");
  }
  if (shared) {
    return;  // their signs of life name them
  }
  std::array<char, 128> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) {
    host[0] = '?';
  }
  const std::string text = "process " + std::to_string(::getpid()) + " on " + host.data() + "\n";
  if (::ftruncate(fd_.get(), 0) != 0 ||
      ::pwrite(fd_.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    throw_write("write", run.lock_file());
  }
}

bool lock_held(const RunDir& run) {
  const util::Fd fd = open_lock(run);
  return fd && ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

std::string lock_holder(const RunDir& run) {
  const util::Fd fd = open_lock(run);
  return fd && !lock_takers(fd.get()).empty() ? holder_of(fd.get()) : std::string();
}

bool lock_held_by(const RunDir& run, pid_t pid) {
  const util::Fd fd = open_lock(run);
  return fd && pid > 0 && std::ranges::count(lock_takers(fd.get()), pid) > 0;
}

}  // namespace sweep::record
