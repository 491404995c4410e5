#pragma once

#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace sweep::util {

enum class LogLevel { debug, info, warning, error };

// Where a part of the harness says what it does; passed as an object, cheap to copy, thread-safe.
// Control characters in the text are shown as \xNN, so that model text cannot drive the terminal.
class Log {
 public:
  // Drops everything.
  Log();

  // Lines "sweep: warning: text" on standard error, from `level` up.
  [[nodiscard]] static Log to_stderr(LogLevel level);

  // Lines with time and level, appended to a file. InfraError when it cannot be opened.
  [[nodiscard]] static Log to_file(const std::filesystem::path& path, LogLevel level);

  template <typename... Args>
  void debug(fmt::format_string<Args...> format, Args&&... args) const {
    write_format(LogLevel::debug, format, std::forward<Args>(args)...);
  }

  template <typename... Args>
  void info(fmt::format_string<Args...> format, Args&&... args) const {
    write_format(LogLevel::info, format, std::forward<Args>(args)...);
  }

  template <typename... Args>
  void warning(fmt::format_string<Args...> format, Args&&... args) const {
    write_format(LogLevel::warning, format, std::forward<Args>(args)...);
  }

  template <typename... Args>
  void error(fmt::format_string<Args...> format, Args&&... args) const {
    write_format(LogLevel::error, format, std::forward<Args>(args)...);
  }

  [[nodiscard]] bool enabled(LogLevel level) const;

  // One line of ready text.
  void write(LogLevel level, std::string_view text) const;

 private:
  struct Impl;
  explicit Log(std::shared_ptr<const Impl> impl);

  template <typename... Args>
  void write_format(LogLevel level, fmt::format_string<Args...> format, Args&&... args) const {
    if (enabled(level)) {
      write(level, fmt::format(format, std::forward<Args>(args)...));
    }
  }

  std::shared_ptr<const Impl> impl_;
};

}  // namespace sweep::util
