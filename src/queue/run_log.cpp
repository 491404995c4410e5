#include "queue/run_log.h"

#include "util/fd.h"
#include "util/text.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sweep::queue {

namespace fs = std::filesystem;

RunLog::RunLog(fs::path folder, std::string name, util::Clock& clock, std::uint64_t most_bytes)
    : folder_(std::move(folder)), name_(std::move(name)), clock_(clock), most_bytes_(most_bytes) {
  std::error_code ignored;
  fs::create_directory(folder_, ignored);
}

fs::path RunLog::file(int age) const {
  return folder_ / (age == 0 ? name_ + ".log" : fmt::format("{}.{}.log", name_, age));
}

void RunLog::rotate() {
  std::error_code ignored;
  fs::remove(file(kMostFiles - 1), ignored);
  for (int age = kMostFiles - 1; age > 0; --age) {
    fs::rename(file(age - 1), file(age), ignored);
  }
}

void RunLog::write(std::string_view text) {
  std::string line = log_line(clock_.wall(), text);
  std::error_code error;
  const auto bytes = fs::file_size(file(0), error);
  if (!error && bytes + line.size() > most_bytes_) {
    rotate();
  }
  // Opened anew each time: a line is seldom, and another process may have moved the file.
  const util::Fd fd(::open(
      file(0).c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644));

  struct stat info {};

  if (fd && ::fstat(fd.get(), &info) == 0 && S_ISREG(info.st_mode)) {
    // A full disk or a kill may have cut the line before.
    char last = '\n';
    if (info.st_size > 0 && ::pread(fd.get(), &last, 1, info.st_size - 1) == 1 && last != '\n') {
      line.insert(0, 1, '\n');
    }
    (void)!::write(fd.get(), line.data(), line.size());
  }
}

std::string log_line(double wall_seconds, std::string_view text) {
  std::string out = util::iso_time(wall_seconds) + " ";
  const std::string clean = util::to_valid_utf8(text.substr(0, RunLog::kMostLine));
  for (const char c : clean) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + (text.size() > RunLog::kMostLine ? " [cut]\n" : "\n");
}

}  // namespace sweep::queue
