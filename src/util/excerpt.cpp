#include "util/excerpt.h"

#include "util/text.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

namespace sweep::util {
namespace {

constexpr std::size_t kLeastRoom = 512;
constexpr std::size_t kMarker = 40;  // "... N lines left out ...\n" and more
constexpr std::size_t kBehind = 2;   // lines kept after one that states an error

class Selection {
 public:
  Selection(std::string_view text, std::size_t max_bytes) : room_(max_bytes) {
    for (const std::string_view line : split(text, '\n')) {
      lines_.push_back(line);
    }
    taken_.resize(lines_.size());
    widest_ = max_bytes / 8;
  }

  // Errors get half of the room, the head two thirds of the rest.
  void choose() {
    spend(room_ / 2, [this](std::size_t room) { take_errors(room); });
    const std::size_t head = (room_ - used_) * 2 / 3;
    spend(head, [this](std::size_t room) { take_run(room, true); });
    spend(room_ - std::min(room_, used_), [this](std::size_t room) { take_run(room, false); });
  }

  [[nodiscard]] std::string text() const {
    std::string out;
    std::size_t skipped = 0;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (!taken_[i]) {
        ++skipped;
        continue;
      }
      out += gap(skipped) + narrowed(lines_[i], widest_) + "\n";
      skipped = 0;
    }
    out += gap(skipped);
    if (!out.empty()) {
      out.pop_back();
    }
    return out;
  }

 private:
  static std::string gap(std::size_t lines) {
    return lines == 0 ? ""
                      : fmt::format("... {} line{} left out ...\n", lines, lines == 1 ? "" : "s");
  }

  template <class Take>
  void spend(std::size_t room, const Take& take) {
    // The markers beside what is taken.
    if (room > 2 * kMarker) {
      take(room - 2 * kMarker);
      used_ += 2 * kMarker;
    }
  }

  // Bytes of line `i`, also once it is narrowed to the marker's length.
  [[nodiscard]] std::size_t cost(std::size_t i) const {
    return std::min(lines_[i].size(), widest_ + kMarker) + 1;
  }

  bool take(std::size_t i, std::size_t& room, std::size_t extra) {
    if (taken_[i]) {
      return true;
    }
    if (cost(i) + extra > room) {
      return false;
    }
    taken_[i] = true;
    room -= cost(i) + extra;
    used_ += cost(i) + extra;
    return true;
  }

  void take_errors(std::size_t room) {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (!states_error(lines_[i])) {
        continue;
      }
      if (!take(i, room, kMarker)) {
        return;
      }
      for (std::size_t j = i + 1; j <= i + kBehind && j < lines_.size(); ++j) {
        (void)take(j, room, 0);
      }
    }
  }

  void take_run(std::size_t room, bool front) {
    for (std::size_t k = 0; k < lines_.size(); ++k) {
      if (!take(front ? k : lines_.size() - 1 - k, room, 0)) {
        return;
      }
    }
  }

  std::size_t room_;
  std::size_t widest_ = 0;
  std::size_t used_ = 0;
  std::vector<std::string_view> lines_;
  std::vector<bool> taken_;
};

bool in_path(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("/._-+~@%").find(c) != std::string_view::npos;
}

}  // namespace

bool states_error(std::string_view line) {
  constexpr std::array kWords = {std::string_view("error:"),
                                 std::string_view("error :"),
                                 std::string_view("Error:"),
                                 std::string_view("error   :"),
                                 std::string_view("fatal   :"),
                                 std::string_view("fatal :"),
                                 std::string_view("catastrophic error"),
                                 std::string_view("undefined reference"),
                                 std::string_view("Unresolved extern")};
  return std::ranges::any_of(
      kWords, [line](std::string_view word) { return line.find(word) != std::string_view::npos; });
}

std::string narrowed(std::string_view line, std::size_t max_bytes) {
  std::string cut = head_and_tail(line, max_bytes);
  std::replace(cut.begin(), cut.end(), '\n', ' ');
  return cut;
}

std::string excerpt(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) {
    return std::string(text);
  }
  if (max_bytes < kLeastRoom) {
    return head_and_tail(text, max_bytes);
  }
  Selection selection(text, max_bytes);
  selection.choose();
  return selection.text();
}

std::string first_error(std::string_view text, std::size_t max_bytes) {
  for (const std::string_view line : split(text, '\n')) {
    if (states_error(line)) {
      return narrowed(trim(line), max_bytes);
    }
  }
  return {};
}

std::string without_folders(std::string_view text) {
  std::string out;
  std::size_t from = 0;
  for (std::size_t at = text.find('/'); at != std::string_view::npos; at = text.find('/', at + 1)) {
    if (at < from || (at > 0 && in_path(text[at - 1]))) {
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && in_path(text[end])) {
      ++end;
    }
    const std::string_view path = text.substr(at, end - at);
    const std::size_t last = path.rfind('/');
    if (path.size() > 3 && path[1] != '/' && last > 0) {
      out.append(text.substr(from, at - from)).append("...").append(path.substr(last));
      from = end;
    }
  }
  return out.append(text.substr(from));
}

}  // namespace sweep::util
