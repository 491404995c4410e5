#pragma once

#include "util/file.h"

#include <csignal>
#include <filesystem>
#include <random>
#include <string>

#include <sys/resource.h>

namespace sweep::record::testing {

// One random edit of `text`: a byte changed, cut out, doubled, or the tail cut off.
inline std::string mutate(std::string text, std::mt19937& random) {
  if (text.empty()) {
    return text;
  }
  const std::size_t at = random() % text.size();
  switch (random() % 4) {
    case 0:
      text[at] = static_cast<char>(random() % 256);
      break;
    case 1:
      text.erase(at, 1 + random() % 8);
      break;
    case 2:
      text.insert(at, text.substr(at, 1 + random() % 8));
      break;
    default:
      text.resize(at);
  }
  return text;
}

// While alive, no file can grow above `bytes`: the nearest thing to a full disk that needs no
// mount.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) {
    before_handler_ = ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &now);
  }

  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, before_handler_);
  }

 private:
  rlimit before_{};
  void (*before_handler_)(int) = nullptr;
};

}  // namespace sweep::record::testing
