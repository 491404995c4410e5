#pragma once

#include "util/file.h"
#include "util/text.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

namespace sweep::test {

struct Running {
  int pid = 0;
  int parent = 0;
  std::string start;  // with the number it names a process for ever
  std::string command;

  bool operator==(const Running& other) const { return pid == other.pid && start == other.start; }
};

inline std::string read_proc(const std::string& pid, const char* file) {
  try {
    return util::read_file(std::filesystem::path("/proc") / pid / file, 1 << 16);
  } catch (const std::exception&) {
    return "";  // it has ended meanwhile
  }
}

// All processes of this machine that have not ended.
inline std::vector<Running> processes() {
  std::vector<Running> list;
  std::error_code error;
  for (std::filesystem::directory_iterator it("/proc", error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    const std::string stat = read_proc(name, "stat");
    const std::size_t after = stat.rfind(") ");
    if (name.find_first_not_of("0123456789") != std::string::npos || after == std::string::npos) {
      continue;
    }
    const auto fields = util::split(std::string_view(stat).substr(after + 2), ' ');
    if (fields.size() > 19 && fields[0] != "Z" && fields[0] != "X") {
      std::string command = read_proc(name, "cmdline");
      std::ranges::replace(command, '\0', ' ');
      list.push_back({std::stoi(name),
                      std::stoi(std::string(fields[1])),
                      std::string(fields[19]),
                      std::move(command)});
    }
  }
  return list;
}

// Those that `of` started, and that these started, as far as their starters live.
inline std::vector<Running> descendants(int of) {
  const std::vector<Running> all = processes();
  std::vector<Running> found;
  std::vector<int> parents = {of};
  for (std::size_t i = 0; i < parents.size(); ++i) {
    for (const Running& one : all) {
      if (one.parent == parents[i]) {
        found.push_back(one);
        parents.push_back(one.pid);
      }
    }
  }
  return found;
}

// Environments of our descendants whose command line has `part`.
inline std::vector<std::string> environments(const std::string& part) {
  std::vector<std::string> list;
  for (const Running& one : descendants(::getpid())) {
    if (one.command.find(part) != std::string::npos) {
      std::string environment = read_proc(std::to_string(one.pid), "environ");
      std::ranges::replace(environment, '\0', '\n');
      list.push_back(std::move(environment));
    }
  }
  return list;
}

}  // namespace sweep::test
