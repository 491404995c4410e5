#pragma once

#include "util/clock.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace sweep::queue {

// What a sweep said while it worked, for those who were not there: `log/NAME.log` in the run's
// folder, one line each with its time, whatever the text: control characters and line breaks are
// written as escapes. A file of kMostBytes becomes NAME.1.log and so on; kMostFiles are kept. A log
// that cannot be written is no reason to stop: the lines are lost.
class RunLog {
 public:
  static constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 20;
  static constexpr int kMostFiles = 4;
  static constexpr std::size_t kMostLine = 4000;  // bytes of one text; the rest is cut

  // `folder`/NAME.log; the folder is made. `clock` outlives this.
  RunLog(std::filesystem::path folder,
         std::string name,
         util::Clock& clock,
         std::uint64_t most_bytes = kMostBytes);

  void write(std::string_view text);

 private:
  [[nodiscard]] std::filesystem::path file(int age) const;
  void rotate();

  std::filesystem::path folder_;
  std::string name_;
  util::Clock& clock_;
  std::uint64_t most_bytes_;
};

// The line of a log for a text: "2026-01-31T12:00:00.123Z TEXT" and a line break.
[[nodiscard]] std::string log_line(double wall_seconds, std::string_view text);

}  // namespace sweep::queue
