#include "child.h"

#include "kernels.h"
#include "util/error.h"
#include "util/fd.h"
#include "util/lock_down.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace sweep::gpu {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what);
}

const char* word(device::Fault::Kind kind) {
  switch (kind) {
    case device::Fault::Kind::launch:
      return "launch";
    case device::Fault::Kind::memory:
      return "memory";
    case device::Fault::Kind::timeout:
      return "timeout";
    case device::Fault::Kind::out_of_memory:
      return "out_of_memory";
    case device::Fault::Kind::other:
      return "other";
  }
  return "?";
}

// Loads, prepares and runs one launch; prints "ok" or "fault KIND: TEXT".
int run_one(device::Device& on, const device::Image& image, device::Launch launch) {
  const auto report = [](const device::Fault& fault) {
    std::printf("fault %s: %s\n", word(fault.kind), fault.text.c_str());
    return 0;
  };
  auto module = on.load(image);
  if (const auto* fault = std::get_if<device::Fault>(&module)) {
    return report(*fault);
  }
  const std::vector<device::Step> steps{std::move(launch)};
  auto sequence = on.prepare(*std::get<0>(module), steps);
  if (const auto* fault = std::get_if<device::Fault>(&sequence)) {
    return report(*fault);
  }
  const auto ran = on.run(*std::get<0>(sequence));
  if (const auto* fault = std::get_if<device::Fault>(&ran)) {
    return report(*fault);
  }
  std::printf("ok\n");
  return 0;
}

// poke|peek BYTES r|rw|r+rw OFFSET: one thread stores to or loads from a byte of the imported
// buffer; r+rw: through the read-only one of two mappings.
int touch_imported(const std::string& name, const std::vector<std::string>& arguments) {
  const auto on = device::cuda::open(0);
  const std::size_t bytes = std::stoull(arguments.at(0));
  const auto beside = arguments.at(1) == "r+rw"
                          ? on->import(util::Fd(dup(kChildFd)), bytes, device::Access::read_write)
                          : nullptr;
  const auto access = arguments.at(1) == "rw" ? device::Access::read_write : device::Access::read;
  const auto buffer = on->import(util::Fd(kChildFd), bytes, access);
  const auto sink = on->allocate(4);
  const auto at = static_cast<std::int64_t>(buffer->address()) + std::stoll(arguments.at(2));
  return run_one(*on,
                 compile(kTouch, {"poke", "peek"}),
                 {name, {1, 1, 1}, {1, 1, 1}, 0, {bytes_of(at), bytes_of(sink->address())}});
}

// wash: flushes and washes with the device code that came through the descriptor. Prints "ok" and
// whether this process has opened NVRTC.
int wash_with_given_code() {
  const util::Fd fd(kChildFd);
  const auto on = device::cuda::open(0, read_image(fd.get()));
  on->wash();
  const bool flushed = on->flush_cache().value_or(0) > 0.9;
  std::ifstream maps("/proc/self/maps");
  const std::string all{std::istreambuf_iterator<char>(maps), {}};
  std::printf("%s, nvrtc %s\n",
              flushed ? "ok" : "not flushed",
              all.find("libnvrtc") == std::string::npos ? "not opened" : "opened");
  return 0;
}

// runner: what a runner does, given device code and the judge's buffer of 4096 bytes.
int run_as_runner() {
  const util::Fd code(kChildFd);
  const auto on = device::cuda::open(0, read_image(code.get()));
  const auto buffer = on->import(util::Fd(kChildFd + 1), 4096, device::Access::read_write);
  on->fill_words(buffer->address(), 4096, 0x2a2a2a2aU);
  on->wash();
  on->reset_persisting_cache();
  on->synchronize();
  util::lock_down(util::MemoryFiles::allow);
  on->fill_words(buffer->address(), 4096, 0x2a2a2a2aU);
  on->synchronize();
  std::printf("ok\n");
  return 0;
}

// judge: what a judge does, given device code: opens the device, allocates, and starts a sandboxed
// runner on its buffer. Prints the runner's output, then "wrote" when the runner's words arrived.
int run_as_judge() {
  const util::Fd image(kChildFd);
  const auto on = device::cuda::open(0, read_image(image.get()));
  const auto buffer = on->allocate(4096);
  on->fill_words(buffer->address(), 4096, 1);
  on->synchronize();
  const util::Fd memory = buffer->export_fd();
  util::SpawnSpec spec = sandboxed("runner");
  spec.sandbox->own_pids = false;
  spec.fds = {{image.get(), kChildFd}, {memory.get(), kChildFd + 1}};
  const util::Captured runner = util::run_self(util::Self::open(), spec);
  for (const util::Protection& protection : runner.protections) {
    std::printf("figure nested sandbox %s: %s %s\n",
                protection.name.c_str(),
                protection.active ? "on" : "off",
                protection.detail.c_str());
  }
  std::printf("figure nested_runner_life %.3f s\n", runner.status.seconds);
  std::printf("%s%s", runner.out.c_str(), runner.err.c_str());
  std::vector<std::uint32_t> words(1024);
  on->download(std::as_writable_bytes(std::span(words)), buffer->address());
  const bool wrote = std::ranges::all_of(words, [](auto word) { return word == 0x2a2a2a2aU; });
  std::printf("%s\n", wrote && util::sealed(runner.protections) ? "wrote" : "failed");
  return 0;
}

// fault NAME: runs that kernel of kFaults, which must not end well.
int run_fault(const std::vector<std::string>& arguments) {
  const auto on = device::cuda::open(0);
  const auto buffer = on->allocate(1024);
  return run_one(*on,
                 compile(kFaults, {arguments.at(0)}),
                 {arguments.at(0), {1, 1, 1}, {32, 1, 1}, 0, {bytes_of(buffer->address())}});
}

std::string read_to_end(int fd) {
  std::string out;
  std::array<char, 4096> chunk{};
  for (;;) {
    const ssize_t got = read(fd, chunk.data(), chunk.size());
    if (got <= 0) {
      return out;
    }
    out.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

util::SpawnSpec sandboxed(const std::string& name) {
  util::SpawnSpec spec;
  spec.argv = {"gpu_tests", "__child", name};
  spec.env = util::basic_environment();
  for (const std::string& variable : device::role_environment({device::Kind::cuda, 0})) {
    spec.env.push_back(variable);
  }
  util::SandboxPolicy policy = util::system_libraries();
  policy += util::nvidia_driver();
  spec.sandbox = policy;
  return spec;
}

int child_main(const std::string& name, const std::vector<std::string>& arguments) {
  try {
    if (name == "poke" || name == "peek") {
      return touch_imported(name, arguments);
    }
    if (name == "wash") {
      return wash_with_given_code();
    }
    if (name == "runner") {
      return run_as_runner();
    }
    if (name == "judge") {
      return run_as_judge();
    }
    if (name == "fault") {
      return run_fault(arguments);
    }
    fail("no child case " + name);
  } catch (const std::exception& error) {
    std::printf("error: %s\n", error.what());
    return 1;
  }
}

ChildResult run_child(const std::string& name, const std::vector<std::string>& arguments, int fd) {
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) {
    fail("pipe2");
  }
  util::Fd from(pipe_ends[0]);
  util::Fd to(pipe_ends[1]);
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0 ||
      posix_spawn_file_actions_adddup2(&actions, to.get(), 1) != 0 ||
      (fd >= 0 && posix_spawn_file_actions_adddup2(&actions, fd, kChildFd) != 0)) {
    fail("posix_spawn_file_actions");
  }
  std::vector<std::string> words{"gpu_tests", "__child", name};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& text : words) {
    argv.push_back(text.data());
  }
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int failed = posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    fail("posix_spawn");
  }
  to.reset();
  ChildResult out;
  out.output = read_to_end(from.get());
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) {
    fail("waitpid");
  }
  out.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return out;
}

}  // namespace sweep::gpu
