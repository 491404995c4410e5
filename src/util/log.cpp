#include "util/log.h"

#include "util/error.h"
#include "util/text.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace sweep::util {

namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

std::shared_ptr<spdlog::logger> make_logger(std::shared_ptr<spdlog::sinks::sink> sink,
                                            LogLevel level,
                                            const char* pattern) {
  auto logger = std::make_shared<spdlog::logger>("sweep", std::move(sink));
  logger->set_pattern(pattern, spdlog::pattern_time_type::utc);
  logger->set_level(to_spdlog(level));
  logger->flush_on(spdlog::level::trace);
  return logger;
}

}  // namespace

struct Log::Impl {
  std::shared_ptr<spdlog::logger> logger;
};

Log::Log() = default;

Log::Log(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Log Log::to_stderr(LogLevel level) {
  auto logger =
      make_logger(std::make_shared<spdlog::sinks::stderr_sink_mt>(), level, "sweep: %l: %v");
  return Log(std::make_shared<const Impl>(Impl{std::move(logger)}));
}

Log Log::to_file(const std::filesystem::path& path, LogLevel level) {
  try {
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path.string());
    auto logger = make_logger(std::move(sink), level, "%Y-%m-%dT%H:%M:%S.%eZ %l %v");
    return Log(std::make_shared<const Impl>(Impl{std::move(logger)}));
  } catch (const spdlog::spdlog_ex& failure) {
    throw InfraError({path.string(), failure.what(), "check the folder and its permissions"},
                     "E_LOG_FILE");
  }
}

bool Log::enabled(LogLevel level) const {
  return impl_ != nullptr && impl_->logger->should_log(to_spdlog(level));
}

void Log::write(LogLevel level, std::string_view text) const {
  if (impl_ != nullptr) {
    impl_->logger->log(to_spdlog(level), printable(text));
  }
}

}  // namespace sweep::util
