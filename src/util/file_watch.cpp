#include "util/file_watch.h"

#include "util/clock.h"
#include "util/error.h"

#include <algorithm>
#include <array>

#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sweep::util {

namespace fs = std::filesystem;

namespace {

constexpr double kLook = 0.5;  // seconds between looks that no event asked for
constexpr int kPatience = 20;  // times `quiet` for a file that never rests

std::vector<fs::path> folders_of(const fs::path& file) {
  const auto folder = [](const fs::path& path) {
    return path.has_parent_path() ? path.parent_path() : fs::path(".");
  };
  std::vector<fs::path> folders{folder(file)};
  // A link is replaced in its own folder, its target in another.
  std::error_code error;
  if (const fs::path target = fs::canonical(file, error); !error) {
    folders.push_back(folder(target));
  }
  return folders;
}

bool all_exist(const auto& stamps) {
  return std::ranges::none_of(stamps, [](const auto& stamp) { return stamp.bytes < 0; });
}

}  // namespace

FileWatch::FileWatch(std::vector<fs::path> files, double quiet)
    : files_(std::move(files)), quiet_(quiet), inotify_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
  arm();
  seen_ = look();
}

FileWatch::Stamp FileWatch::stamp(const fs::path& file) {
  struct stat status {};

  if (::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return {};
  }
  constexpr std::int64_t kSecond = 1'000'000'000;
  return {status.st_dev,
          status.st_ino,
          status.st_size,
          status.st_mtim.tv_sec * kSecond + status.st_mtim.tv_nsec};
}

std::vector<FileWatch::Stamp> FileWatch::look() const {
  std::vector<Stamp> stamps;
  for (const fs::path& file : files_) {
    stamps.push_back(stamp(file));
  }
  return stamps;
}

// Watching a folder twice is one watch; one that was replaced gets a new watch this way.
void FileWatch::arm() {
  if (!inotify_) {
    return;
  }
  constexpr std::uint32_t kEvents = IN_CLOSE_WRITE | IN_MODIFY | IN_MOVED_TO | IN_MOVED_FROM |
                                    IN_CREATE | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF;
  for (const fs::path& file : files_) {
    for (const fs::path& folder : folders_of(file)) {
      (void)::inotify_add_watch(inotify_.get(), folder.c_str(), kEvents | IN_ONLYDIR);
    }
  }
}

void FileWatch::sleep_until_event(double seconds) {
  pollfd waiting{inotify_.get(), POLLIN, 0};  // a negative descriptor is passed over
  const int milliseconds = std::max(1, static_cast<int>(1000 * seconds));
  if (::poll(&waiting, 1, milliseconds) > 0) {
    std::array<char, 4096> events{};
    while (::read(inotify_.get(), events.data(), events.size()) > 0) {
    }
  }
}

std::vector<FileWatch::Stamp> FileWatch::settled(std::vector<Stamp> now) {
  RealClock clock;
  const double end = clock.monotonic() + kPatience * quiet_;
  while (clock.monotonic() < end) {
    clock.sleep(quiet_);
    std::vector<Stamp> later = look();
    if (later == now) {
      break;
    }
    now = std::move(later);
  }
  return now;
}

bool FileWatch::wait(double seconds) {
  RealClock clock;
  const double end = clock.monotonic() + seconds;
  while (true) {
    arm();
    std::vector<Stamp> now = look();
    if (now != seen_ && all_exist(now)) {
      now = settled(std::move(now));
      if (all_exist(now) && now != seen_) {
        seen_ = std::move(now);
        return true;
      }
    }
    const double left = end - clock.monotonic();
    if (left <= 0) {
      return false;
    }
    sleep_until_event(std::min(left, kLook));
  }
}

std::optional<fs::path> FileWatch::missing() const {
  const auto found =
      std::ranges::find_if(files_, [](const fs::path& file) { return stamp(file).bytes < 0; });
  return found == files_.end() ? std::nullopt : std::optional(*found);
}

}  // namespace sweep::util
