#include "record/claim_files.h"

#include "record/fields.h"
#include "record/json.h"
#include "record/run_dir.h"
#include "util/error.h"
#include "util/fd.h"
#include "util/file.h"
#include "util/sha256.h"
#include "util/text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sweep::record {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostText = 4096;
constexpr double kLongestLease = 86400;
constexpr std::string_view kSignBegin = "task.";
constexpr const char* kStopName = "stop";
// A file's name has at most 255 bytes; a claim adds an epoch and a suffix.
constexpr std::size_t kMostStem = 180;

double seconds_of(const timespec& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

nlohmann::json parsed(const std::string& text) {
  try {
    nlohmann::json json = parse_bounded(text, "claim", kMostText, 4);
    return json.is_object() ? json : nlohmann::json::object();
  } catch (const util::Error&) {
    return nlohmann::json::object();
  }
}

std::string nonce() {
  return util::sha256_hex(util::random_bytes(16)).substr(0, 16);
}

double lease_in(const nlohmann::json& json) {
  const auto found = json.find("lease_s");
  const double lease = found != json.end() && found->is_number() ? found->get<double>() : kLease;
  return std::isfinite(lease) ? std::clamp(lease, 1.0, kLongestLease) : kLease;
}

}  // namespace

std::optional<FileState> look(const fs::path& file) {
  // Opening asks the server anew (close-to-open consistency); stat alone may answer from a cache.
  const util::Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));

  struct stat info {};

  // What bars the way of a name is a claim too; else nobody could take that item any more.
  if (fd ? ::fstat(fd.get(), &info) != 0 : ::lstat(file.c_str(), &info) != 0) {
    return std::nullopt;
  }
  FileState state;
  state.changed = seconds_of(info.st_mtim);
  state.changed_ns = std::int64_t{info.st_mtim.tv_sec} * 1000000000 + info.st_mtim.tv_nsec;
  std::array<char, kMostText> text{};
  const bool asked = fd && S_ISREG(info.st_mode);
  const ssize_t n = asked ? ::pread(fd.get(), text.data(), text.size(), 0) : -1;
  state.readable = n >= 0;
  state.text.assign(text.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  return state;
}

bool write_new(const fs::path& file, std::string_view text) {
  const util::Fd fd(
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!fd) {
    if (errno == EEXIST) {
      return false;
    }
    throw_write("open", file);
  }
  if (::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      (::fsync(fd.get()) != 0 && errno != EINVAL)) {
    throw_write("write", file);
  }
  return true;
}

std::optional<double> touch(const fs::path& file) {
  // Without a time the server's own clock is taken.
  if (::utimensat(AT_FDCWD, file.c_str(), nullptr, AT_SYMLINK_NOFOLLOW) != 0) {
    return std::nullopt;
  }
  const auto state = look(file);
  return state ? std::optional(state->changed) : std::nullopt;
}

void expire(const fs::path& file) {
  const std::array<timespec, 2> epoch{};
  (void)::utimensat(AT_FDCWD, file.c_str(), epoch.data(), AT_SYMLINK_NOFOLLOW);
}

void link_file(const fs::path& from, const fs::path& to) {
  if (::link(from.c_str(), to.c_str()) == 0) {
    return;
  }
  const int error = errno;
  std::error_code unknown;
  // A server's answer may be lost after the link was made.
  if (error == EEXIST && fs::equivalent(from, to, unknown)) {
    return;
  }
  if (error == EPERM || error == EOPNOTSUPP || error == EMLINK) {
    throw util::InfraError({to.string(),
                            "the file system makes no hard links, which tasks publish results by",
                            "put the run on another one with [run] runs_dir"},
                           "E_CLAIM_LINK");
  }
  errno = error;
  throw_write("link", to);
}

void put_in_place(const fs::path& source, const fs::path& target) {
  make_run_folder(target.parent_path());
  // Named as what a killed writer of the target leaves.
  const fs::path beside =
      target.parent_path() / ("." + target.filename().string() + "." + nonce().substr(0, 6));
  link_file(source, beside);
  if (::rename(beside.c_str(), target.c_str()) != 0) {
    const int error = errno;
    (void)::unlink(beside.c_str());
    errno = error;
    throw_write("rename", target);
  }
  // A rename of one link of a file onto another does nothing.
  (void)::unlink(beside.c_str());
  util::sync_folder(target.parent_path());
}

std::string sign_name(std::string_view task) {
  return std::string(kSignBegin) + std::string(task);
}

std::string sign_text(const TaskSign& sign, const std::string& item) {
  nlohmann::json json{{"task", sign.task},
                      {"host", util::to_valid_utf8(sign.host)},
                      {"pid", sign.pid},
                      {"lease_s", sign.lease_s},
                      {"nonce", nonce()}};
  if (!item.empty()) {
    json["item"] = item.substr(0, kMostText / 4);
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

double lease_of(const std::string& text) {
  return lease_in(parsed(text));
}

std::string claim_stem(const std::string& item) {
  const std::string name = util::encode_path_part(item);
  return name.size() <= kMostStem
             ? name
             : name.substr(0, kMostStem - 40) + "%" + util::sha256_hex(item).substr(0, 32);
}

double server_time(const fs::path& claims) {
  const fs::path file = claims / ".now";
  if (!touch(file)) {
    make_run_folder(claims);
    (void)write_new(file, "");
  }
  const auto time = touch(file);
  if (!time) {
    throw_write("utimensat", file);
  }
  return *time;
}

std::vector<TaskSign> task_signs(const fs::path& claims, double now) {
  std::vector<TaskSign> out;
  std::error_code error;
  for (fs::directory_iterator it(claims, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with(kSignBegin)) {
      continue;
    }
    const auto state = look(it->path());
    // One that ended between two looks.
    if (!state) {
      continue;
    }
    const nlohmann::json json = parsed(state->text);
    TaskSign sign;
    sign.task = name.substr(kSignBegin.size());
    sign.host = text_in(json, "host");
    const auto pid = json.find("pid");
    sign.pid = pid != json.end() && pid->is_number_integer() ? pid->get<std::int64_t>() : 0;
    sign.lease_s = lease_in(json);
    sign.changed_ns = state->changed_ns;
    sign.age_s = std::max(0.0, now - state->changed);
    out.push_back(std::move(sign));
  }
  std::ranges::sort(out, {}, &TaskSign::task);
  return out;
}

std::vector<Published> published_of(const fs::path& claims) {
  // By stem: the highest epoch that was claimed.
  std::map<std::string, std::int64_t> highest;
  std::error_code error;
  for (fs::directory_iterator it(claims, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos || dot == 0 || name.starts_with(kSignBegin)) {
      continue;
    }
    std::int64_t epoch = 0;
    const char* last = name.data() + name.size();
    const auto read = std::from_chars(name.data() + dot + 1, last, epoch);
    if (read.ec == std::errc{} && read.ptr == last && epoch > 0) {
      std::int64_t& known = highest[name.substr(0, dot)];
      known = std::max(known, epoch);
    }
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    throw util::InfraError({claims.string(), error.message(), "make it readable"}, "E_RUN_READ");
  }
  std::vector<Published> out;
  for (const auto& [stem, epoch] : highest) {
    const std::string claim = (claims / (stem + "." + std::to_string(epoch))).string();
    std::error_code unknown;
    if (fs::is_regular_file(fs::symlink_status(claim + kResult, unknown))) {
      Published one{stem, claim + kResult, std::nullopt};
      if (fs::is_regular_file(fs::symlink_status(claim + kKernel, unknown))) {
        one.kernel = claim + kKernel;
      }
      out.push_back(std::move(one));
    }
  }
  return out;
}

void ask_stop(const fs::path& claims, bool now) {
  write_whole(claims / kStopName, now ? "now\n" : "stop\n");
}

StopAsked stop_asked(const fs::path& claims) {
  const auto state = look(claims / kStopName);
  return !state ? StopAsked::no : state->text.starts_with("now") ? StopAsked::now : StopAsked::stop;
}

}  // namespace sweep::record
