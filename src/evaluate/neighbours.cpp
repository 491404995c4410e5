#include "evaluate/neighbours.h"

#include "util/clock.h"
#include "util/file.h"
#include "util/lock.h"
#include "util/text.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <unistd.h>

namespace sweep::evaluate {
namespace {

constexpr std::size_t kMostStatus = 65536;
constexpr int kMostParents = 64;
constexpr std::string_view kMps = "nvidia-cuda-mps";

std::optional<int> number_from(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 0
             ? std::optional(value)
             : std::nullopt;
}

// What stands behind "KEY:" on its line.
std::string_view value_of(std::string_view text, std::string_view key) {
  for (const std::string_view line : util::split(text, '\n')) {
    if (line.starts_with(key) && line.substr(key.size()).starts_with(":")) {
      return util::trim(line.substr(key.size() + 1));
    }
  }
  return {};
}

std::string proc_text(int pid, const char* file) {
  try {
    return util::read_file(std::filesystem::path("/proc") / std::to_string(pid) / file,
                           kMostStatus);
  } catch (const util::Error&) {
    return "";
  }
}

// One that is about to end has no command line any more, but may still have the device open.
std::optional<ProcessFacts> look_up(int pid) {
  return proc_text(pid, "cmdline").empty() ? std::nullopt
                                           : facts_from_status(proc_text(pid, "status"));
}

bool shares(int pid, const std::set<int>& sharing, const LookUp& look) {
  // Number 1 here started everybody.
  for (int hops = 0; pid > 1 && hops < kMostParents; ++hops) {
    const auto facts = look(pid);
    if (!facts) {
      return false;
    }
    if (std::ranges::any_of(facts->numbers, [&](int one) { return sharing.contains(one); })) {
      return true;
    }
    pid = facts->parent;
  }
  return false;
}

}  // namespace

std::optional<ProcessFacts> facts_from_status(std::string_view text) {
  const auto parent = number_from(value_of(text, "PPid"));
  const auto own = number_from(value_of(text, "Pid"));
  if (!parent || !own) {
    return std::nullopt;
  }
  ProcessFacts facts{*parent, {*own}, std::string(value_of(text, "Name"))};
  for (const std::string_view part : util::split(value_of(text, "NSpid"), '\t')) {
    if (const auto number = number_from(part)) {
      facts.numbers.push_back(*number);
    }
  }
  return facts;
}

std::vector<device::Neighbour> neighbours_of(std::span<const unsigned> computing,
                                             std::span<const unsigned> busy,
                                             const std::set<int>& sharing,
                                             const LookUp& look_up) {
  std::vector<device::Neighbour> found;
  for (const unsigned one : computing) {
    const int pid = static_cast<int>(std::min(one, unsigned{INT32_MAX}));
    const auto facts = look_up(pid);
    if (!facts || facts->name == kMps || shares(pid, sharing, look_up)) {
      continue;
    }
    found.push_back(
        {pid, util::to_valid_utf8(facts->name), std::ranges::find(busy, one) != busy.end()});
  }
  return found;
}

Neighbours::Neighbours(device::Id id, const device::Info& info, std::filesystem::path locks)
    : monitor_(id, info), uuid_(info.uuid), locks_(std::move(locks)) {}

void Neighbours::begin() {
  since_ = util::RealClock().wall();
}

std::vector<device::Neighbour> Neighbours::look() {
  const auto computing = monitor_.processes();
  if (!computing || computing->empty()) {
    return {};
  }
  std::set<int> sharing{::getpid()};
  try {
    for (const util::Holder& holder : util::holders(locks_, uuid_)) {
      sharing.insert(holder.pid);
    }
    for (const int pid : util::announced(locks_, uuid_)) {
      sharing.insert(pid);
    }
  } catch (const util::Error&) {
    return {};  // nobody can be told from those who share
  }
  return neighbours_of(*computing, monitor_.busy_since(since_), sharing, evaluate::look_up);
}

}  // namespace sweep::evaluate
