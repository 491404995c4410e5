#pragma once

#include "queue/view.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace sweep::queue {

// What an item does now, as its supervisor said.
struct LiveItem {
  std::string state;           // "turn 2 submit_kernel", "waiting: rpm"
  std::optional<double> next;  // seconds from now until a request is tried
};

// Of a supervisor at work, by item id; another process reads it for `sweep status`. The file is
// replaced whole; it is not fsynced, since it says nothing about the past.
class Live {
 public:
  // Removed at the end.
  explicit Live(std::filesystem::path file) : file_(std::move(file)) {}

  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;
  ~Live();

  // At most once a second, and only what is new. A file that cannot be written is passed over.
  void say(const ViewState& state, double wall_seconds);

 private:
  std::filesystem::path file_;
  std::string said_;
  double at_ = 0;
};

[[nodiscard]] std::filesystem::path live_file(const std::filesystem::path& items_folder);

// Nothing where there is no such file, or a hostile one; `now` in seconds since 1970.
[[nodiscard]] std::map<std::string, LiveItem> read_live(const std::filesystem::path& file,
                                                        double now);

}  // namespace sweep::queue
