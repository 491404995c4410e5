#pragma once

#include "util/fd.h"
#include "util/process.h"

#include <filesystem>
#include <string>
#include <utility>

namespace sweep::queue {

// The live report as a child process (`sweep __web`) that ends with this object.
class WebProcess {
 public:
  // Starts it and waits for its port (at most 10 s). InfraError E_WEB_START when it does not come
  // up.
  WebProcess(const std::filesystem::path& program,
             const std::filesystem::path& run_folder,
             const std::string& host,
             std::int64_t port,
             int refresh_seconds);

  [[nodiscard]] int port() const { return port_; }

 private:
  explicit WebProcess(std::pair<util::Fd, util::Process> started);

  util::Fd lifeline_;  // the child ends when this closes
  util::Process process_;
  int port_ = 0;
};

}  // namespace sweep::queue
