#pragma once

#include "util/fd.h"
#include "util/process.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <poll.h>
#include <unistd.h>

namespace sweep::e2e {

// A server of tests/peers under node, which ends with this object.
class Peer {
 public:
  // Waits until its output, both streams, holds `ready`; `seconds` at most.
  Peer(const std::vector<std::string>& arguments, std::string ready, double seconds = 60) {
    const auto node = util::find_program("node");
    if (!node) {
      return;
    }
    util::Pipe input = util::make_pipe();
    util::Pipe output = util::make_pipe();
    util::SpawnSpec spec;
    spec.argv = {"node"};
    spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
    spec.env = util::basic_environment();
    spec.work_folder = SWEEP_PEERS;
    spec.fds = {{input.read.get(), 0}, {output.write.get(), 1}, {output.write.get(), 2}};
    spec.deadline = 600;
    process_ = std::make_unique<util::Process>(util::Process::start_program(*node, spec));
    input_ = std::move(input.write);
    output_ = std::move(output.read);
    output.write.reset();
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (text_.find(ready) == std::string::npos && std::chrono::steady_clock::now() < end) {
      pollfd item{output_.get(), POLLIN, 0};
      char buffer[4096];
      if (::poll(&item, 1, 200) <= 0) {
        continue;
      }
      const ssize_t got = ::read(output_.get(), buffer, sizeof buffer);
      if (got <= 0) {
        break;
      }
      text_.append(buffer, static_cast<std::size_t>(got));
    }
    up_ = text_.find(ready) != std::string::npos;
  }

  [[nodiscard]] bool up() const { return up_; }

  // What it wrote until it was ready.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::unique_ptr<util::Process> process_;
  util::Fd input_;
  util::Fd output_;
  std::string text_;
  bool up_ = false;
};

// Why peers cannot run here; empty: they can.
inline std::string no_peers() {
  const auto node = util::find_program("node");
  if (!node) {
    return "node is not installed";
  }
  util::SpawnSpec spec;
  spec.argv = {"node", "--version"};
  spec.env = util::basic_environment();
  spec.deadline = 30;
  const util::Captured said = util::run_program(*node, spec, {}, 1024);
  const int major = said.out.starts_with('v') ? std::atoi(said.out.c_str() + 1) : 0;
  return major >= 20 ? "" : "node 20 or later is needed by the peers, here is " + said.out;
}

}  // namespace sweep::e2e
