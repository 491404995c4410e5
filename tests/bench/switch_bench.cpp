// What it costs a GPU to turn from one process to another: a few bytes are set and waited for, in
// this process and in a child by turns, against the same in this process alone; then the parts of a
// judged call, alone and in the child's turn. It bounds what a judged call can cost, as judge and
// runner are two processes. usage: bench_switch [DEVICE]
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

constexpr int kRounds = 1000;
constexpr std::size_t kBytes = 4096;

// What a process may do in its turn, each waited for.
enum class Part : char {
  nothing = 'i',
  set = 'd',
  copy = 'c',
  download = 'l',
  holds = 'h',
  wash = 'w',
  reset = 'r',
  flush = 'f',
};

struct Named {
  Part part;
  const char* name;
};

constexpr std::array<Named, 6> kParts{{{Part::copy, "a copy of 4 KiB"},
                                       {Part::download, "a download of 4 KiB"},
                                       {Part::holds, "a comparison of 4 KiB"},
                                       {Part::reset, "a reset of persisting lines"},
                                       {Part::wash, "a wash"},
                                       {Part::flush, "a flush with its probe"}}};

// A process's share of a turn.
class Turn {
 public:
  explicit Turn(device::Id id)
      : device_(device::open(id)),
        buffer_(device_->allocate(kBytes)),
        other_(device_->allocate(kBytes)),
        host_(kBytes) {}

  void take(Part part) {
    switch (part) {
      case Part::nothing:
        return;
      case Part::set:
        device_->fill_words(buffer_->address(), kBytes, ++value_);
        break;
      case Part::copy:
        device_->copy(other_->address(), buffer_->address(), kBytes);
        break;
      case Part::download:
        device_->download(host_, buffer_->address());
        break;
      case Part::holds:
        (void)device_->all_words(buffer_->address(), kBytes, value_);
        break;
      case Part::wash:
        device_->wash();
        break;
      case Part::reset:
        device_->reset_persisting_cache();
        break;
      case Part::flush:
        (void)device_->flush_cache();
        break;
    }
    device_->synchronize();
  }

  // Median microseconds of a part in this process alone.
  double alone_us(Part part) {
    std::vector<double> all;
    for (int i = 0; i < kRounds; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      take(part);
      all.push_back(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() * 1e6);
    }
    return stats::median(all);
  }

 private:
  std::unique_ptr<device::Device> device_;
  std::unique_ptr<device::Buffer> buffer_, other_;
  std::vector<std::byte> host_;
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
    turn.take(static_cast<Part>(what));
    say(fd, 'a');
  }
  return 0;
}

// Median microseconds of a round in which this process sets and the child does `what`.
double round_us(Turn& turn, int fd, Part what) {
  std::vector<double> all;
  for (int i = 0; i < kRounds; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    turn.take(Part::set);
    say(fd, static_cast<char>(what));
    (void)next(fd);
    all.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() *
                  1e6);
  }
  return stats::median(all);
}

void print_parts(Turn& turn, int fd) {
  std::printf("a 4 KiB set alone: %.1f us\n", turn.alone_us(Part::set));
  (void)round_us(turn, fd, Part::set);
  const double idle = round_us(turn, fd, Part::nothing), busy = round_us(turn, fd, Part::set);
  std::printf("a 4 KiB set and a message to a process that does nothing: %.1f us\n", idle);
  std::printf(
      "the same with a set in the other process as well: %.1f us; two turns of the device and a "
      "set cost %.1f us\n",
      busy,
      busy - idle);
  for (const Named& named : kParts) {
    (void)turn.alone_us(named.part);
    std::printf("%s: alone %.1f us", named.name, turn.alone_us(named.part));
    (void)round_us(turn, fd, named.part);
    std::printf("; in the other process in place of its set %+.1f us\n",
                round_us(turn, fd, named.part) - busy);
  }
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
  print_parts(turn, pair[0]);
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
