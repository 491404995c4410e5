// What it costs a GPU to turn from one process to another: a few bytes are set and waited for, in
// this process and in a child by turns, against the same in this process alone. It bounds what a
// judged call can cost, as judge and runner are two processes. usage: bench_switch [DEVICE]
#include "device/device.h"
#include "stats/stats.h"
#include "util/error.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace sweep;

constexpr int kRounds = 2000;

// A process's share of a turn.
class Turn {
 public:
  explicit Turn(device::Id id) : device_(device::open(id)), buffer_(device_->allocate(4096)) {}

  void take() {
    device_->fill_words(buffer_->address(), 4096, ++value_);
    device_->synchronize();
  }

 private:
  std::unique_ptr<device::Device> device_;
  std::unique_ptr<device::Buffer> buffer_;
  std::uint32_t value_ = 0;
};

// Without sleeping: waking up would be measured.
char next(int fd) {
  char byte = 0;
  ssize_t got = -1;
  while (got < 0) {
    got = ::recv(fd, &byte, 1, MSG_DONTWAIT);
  }
  return got == 1 ? byte : 'q';
}

void say(int fd, char byte) {
  if (::send(fd, &byte, 1, MSG_NOSIGNAL) != 1) {
    throw std::runtime_error("the other process has ended");
  }
}

int child(int fd, device::Id id) {
  Turn turn(id);
  say(fd, 'r');
  for (char what = next(fd); what != 'q'; what = next(fd)) {
    if (what == 'd') {
      turn.take();
    }
    say(fd, 'a');
  }
  return 0;
}

// Median microseconds of a round in which the child does `what`.
double round_us(Turn& turn, int fd, char what) {
  std::vector<double> all;
  for (int i = 0; i < kRounds; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    turn.take();
    say(fd, what);
    (void)next(fd);
    all.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() *
                  1e6);
  }
  return stats::median(all);
}

int run(device::Id id) {
  std::array<int, 2> pair{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) {
    throw std::runtime_error("socketpair failed");
  }
  const pid_t other = ::fork();  // before either opens the device
  if (other < 0) {
    throw std::runtime_error("fork failed");
  }
  if (other == 0) {
    ::close(pair[0]);
    ::_exit(child(pair[1], id));
  }
  ::close(pair[1]);
  Turn turn(id);
  (void)next(pair[0]);
  (void)round_us(turn, pair[0], 'd');
  const double idle = round_us(turn, pair[0], 'i'), busy = round_us(turn, pair[0], 'd');
  std::printf("a 4 KiB set and a message to a process that does nothing: %.1f us\n", idle);
  std::printf(
      "the same with a set in the other process as well: %.1f us; two turns of the device and a "
      "set cost %.1f us\n",
      busy,
      busy - idle);
  say(pair[0], 'q');
  (void)::waitpid(other, nullptr, 0);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(device::parse_id(argc > 1 ? argv[1] : "cuda:0"));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_switch: %s\n", error.what());
    return 3;
  }
}
