#include "queue/live.h"

#include "record/json.h"
#include "util/error.h"
#include "util/fd.h"
#include "util/file.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <fcntl.h>
#include <unistd.h>

namespace sweep::queue {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostLive = std::size_t{1} << 20;

std::string live_text(const ViewState& state, double wall_seconds) {
  nlohmann::json items = nlohmann::json::array();
  for (const LaneRow& lane : state.lanes) {
    if (lane.id.empty()) {
      continue;
    }
    nlohmann::json one{{"item", lane.id}, {"state", lane.state}};
    if (lane.next_try) {
      // As an instant, so that a text that is a minute old says the same.
      one["next_at"] = std::round(wall_seconds + *lane.next_try - state.seconds);
    }
    items.push_back(std::move(one));
  }
  return items.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Live::~Live() {
  (void)::unlink(file_.c_str());
}

void Live::say(const ViewState& state, double wall_seconds) {
  if (wall_seconds >= at_ && wall_seconds - at_ < 1) {
    return;
  }
  at_ = wall_seconds;
  std::string text = live_text(state, wall_seconds);
  if (text == said_) {
    return;
  }
  const std::string beside = file_.string() + ".new";
  (void)::unlink(beside.c_str());
  const util::Fd fd(
      ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      std::rename(beside.c_str(), file_.c_str()) == 0) {
    said_ = std::move(text);
  }
}

fs::path live_file(const fs::path& items_folder) {
  return items_folder / ".live.json";
}

std::map<std::string, LiveItem> read_live(const fs::path& file, double now) {
  std::map<std::string, LiveItem> out;
  try {
    const nlohmann::json items = record::parse_bounded(
        util::read_file(file, kMostLive, util::Links::refuse), "live", kMostLive, 4);
    for (const nlohmann::json& one : items) {
      const std::string item = one.at("item").get<std::string>();
      LiveItem& live = out[item];
      live.state = util::printable(one.at("state").get<std::string>().substr(0, 200));
      if (one.contains("next_at") && std::isfinite(one["next_at"].get<double>())) {
        live.next = std::max(0.0, one["next_at"].get<double>() - now);
      }
    }
  } catch (const util::Error&) {
    return {};
  } catch (const nlohmann::json::exception&) {
    return {};
  }
  return out;
}

}  // namespace sweep::queue
