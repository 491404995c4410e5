#include "record/claims.h"

#include "record/claim_files.h"
#include "record/run_dir.h"
#include "util/error.h"
#include "util/file.h"
#include "util/sha256.h"

#include <cerrno>

#include <sys/stat.h>
#include <unistd.h>

namespace sweep::record {

namespace fs = std::filesystem;

namespace {

// A lease is renewed this often in its length, and is thought lost after this part of it without
// a renewal, so that the one who holds it gives up before others may take it.
constexpr double kRenewals = 4;
constexpr double kFence = 0.75;
// A claim that looks too old was watched for this part of its lease before it is taken over: the
// file server's clock may have been set forward.
constexpr double kWatched = 0.5;
constexpr std::int64_t kMostEpochs = 100000;

}  // namespace

Claims::Claims(fs::path folder, Owner owner, double lease_s, util::Clock& clock)
    : folder_(std::move(folder)), owner_(std::move(owner)), lease_s_(lease_s), clock_(clock) {
  make_run_folder(folder_);
  write_whole(folder_ / sign_name(owner_.task),
              sign_text({owner_.task, owner_.host, owner_.pid, lease_s_, 0}));
  signed_ = clock_.monotonic();
}

fs::path Claims::file(const std::string& item, std::int64_t epoch) const {
  return folder_ / (claim_stem(item) + "." + std::to_string(epoch));
}

double Claims::now() const {
  const auto time = touch(folder_ / sign_name(owner_.task));
  return time ? *time : server_time(folder_);
}

bool Claims::make(const std::string& item, std::int64_t epoch) {
  // The nonce tells this claim from any other of its name, also from one of an earlier array.
  const std::string text = sign_text({owner_.task, owner_.host, owner_.pid, lease_s_, 0}, item);
  if (!write_new(file(item, epoch), text)) {
    return false;
  }
  held_[item] = {epoch, text, clock_.monotonic()};
  return true;
}

bool Claims::ended(const std::string& item, std::int64_t epoch, const FileState& claim) {
  if (claim.changed_ns == 0) {
    return true;  // released
  }
  const double time = clock_.monotonic();
  Seen& seen = seen_[item];
  if (seen.epoch != epoch || seen.changed_ns != claim.changed_ns) {
    seen = {epoch, claim.changed_ns, time};
  }
  const double lease = lease_of(claim.text);
  const double watched = time - seen.since;
  return watched >= lease || (watched >= lease * kWatched && now() - claim.changed >= lease);
}

Claims::Attempt Claims::claim(const std::string& item) {
  std::int64_t epoch = 0;
  std::optional<FileState> last;
  while (epoch < kMostEpochs) {
    std::optional<FileState> next = look(file(item, epoch + 1));
    if (!next) {
      break;
    }
    last = std::move(next);
    ++epoch;
  }
  if (last) {
    std::error_code error;
    if (fs::exists(file(item, epoch).string() + kResult, error)) {
      return {State::finished, epoch, 0};
    }
    if (!ended(item, epoch, *last)) {
      return {State::busy, epoch, last->changed_ns};
    }
  }
  if (make(item, epoch + 1)) {
    seen_.erase(item);
    // The holder before may have published between the look above and the new claim.
    if (last && adopt(item, epoch)) {
      held_.erase(item);
      return {State::finished, epoch + 1, 0};
    }
    return {State::mine, epoch + 1, 0};
  }
  return {State::busy, epoch + 1, 0};
}

bool Claims::adopt(const std::string& item, std::int64_t epoch) {
  const std::string from = file(item, epoch).string();
  const std::string to = file(item, epoch + 1).string();
  // Each link asks the server, whatever this machine remembers of the folder. A publisher that
  // gives way removes its result before its kernel.
  const bool kernel = ::link((from + kKernel).c_str(), (to + kKernel).c_str()) == 0;
  if (::link((from + kResult).c_str(), (to + kResult).c_str()) == 0) {
    util::sync_folder(folder_);
    return true;
  }
  if (kernel) {
    (void)::unlink((to + kKernel).c_str());
  }
  return false;
}

bool Claims::untouched(const std::string& item, const Held& held) const {
  const auto claim = look(file(item, held.epoch));
  return claim && claim->text == held.text && !look(file(item, held.epoch + 1));
}

bool Claims::still_mine(const std::string& item, Held& held) {
  const fs::path mine = file(item, held.epoch);
  std::error_code error;
  if (fs::exists(file(item, held.epoch + 1), error)) {
    return false;
  }
  const auto found = look(mine);
  if (found && found->readable && found->text != held.text) {
    return false;
  }
  if (found && touch(mine)) {
    held.renewed = clock_.monotonic();
  } else if (!found && errno == ENOENT) {
    return false;
  }
  // What cannot be reached now may be reached later, until others may think it is free.
  return clock_.monotonic() - held.renewed < lease_s_ * kFence;
}

std::vector<std::string> Claims::renew() {
  const double time = clock_.monotonic();
  if (time - signed_ >= lease_s_ / kRenewals) {
    if (touch(folder_ / sign_name(owner_.task))) {
      signed_ = time;
    } else if (errno == ENOENT) {
      open_ = false;
    }
  }
  std::vector<std::string> lost;
  for (auto& [item, held] : held_) {
    if (time - held.renewed >= lease_s_ / kRenewals && !still_mine(item, held)) {
      lost.push_back(item);
    }
  }
  for (const std::string& item : lost) {
    held_.erase(item);
  }
  return lost;
}

bool Claims::publish(const std::string& item,
                     const fs::path& trajectory,
                     const std::optional<fs::path>& kernel) {
  const auto found = held_.find(item);
  if (found == held_.end()) {
    return false;
  }
  Held held = found->second;
  held_.erase(found);
  // Whoever slept longer than the lease must not publish on the strength of a look before it.
  if (clock_.monotonic() - held.renewed >= lease_s_ * kFence || !still_mine(item, held)) {
    return false;
  }
  const std::string claim = file(item, held.epoch).string();
  try {
    if (kernel) {
      link_file(*kernel, claim + kKernel);
    }
    link_file(trajectory, claim + kResult);
  } catch (const util::InfraError&) {
    // The run was joined, or begun anew by others, while this process slept.
    if (!untouched(item, held)) {
      return false;
    }
    throw;
  }
  util::sync_folder(folder_);
  if (untouched(item, held)) {
    return true;
  }
  // Whoever slept between the look above and the link is too late. Nobody may take what it linked
  // for a result of the claim that has the name now.
  (void)::unlink((claim + kResult).c_str());
  if (kernel) {
    (void)::unlink((claim + kKernel).c_str());
  }
  return false;
}

std::int64_t Claims::epoch_of(const std::string& item) const {
  const auto found = held_.find(item);
  return found == held_.end() ? 0 : found->second.epoch;
}

void Claims::release() {
  for (auto& [item, held] : held_) {
    if (still_mine(item, held)) {
      expire(file(item, held.epoch));
    }
  }
  held_.clear();
  std::error_code ignored;
  fs::remove(folder_ / sign_name(owner_.task), ignored);
}

}  // namespace sweep::record
