#pragma once

#include "util/clock.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Rights to work on the items of a run that tasks on several machines share: files below `claims/`.
// `ITEM.EPOCH` is made O_EXCL by the task that works on the item; its time of change is the lease's
// beginning, which the task renews. After the lease's end any task may make ITEM.(EPOCH+1).
// `ITEM.EPOCH.result` is a hard link to the finished trajectory; it counts only while no higher
// epoch is there. `task.NAME` says that a task is at work and is renewed likewise; `stop` asks all
// of them to end. Nothing here needs flock, which does not span machines, nor clocks that agree:
// ages are differences between times of change, which the file server sets. Where its clock was set
// forward or back, what counts is how long a time of change stood still before the observer's eyes.
namespace sweep::record {

// Seconds that a claim or a task may go without a sign of life.
inline constexpr double kLease = 120;

// A task that said that it is at work, as its file tells it; the text is hostile.
struct TaskSign {
  std::string task;
  std::string host;
  std::int64_t pid = 0;
  double lease_s = kLease;
  double age_s = 0;             // since its last sign of life
  std::int64_t changed_ns = 0;  // its time of change, to be compared only

  [[nodiscard]] bool alive() const { return age_s < lease_s; }
};

// The tasks that have not said goodbye, by name. `now`: seconds since 1970 on the clock that the
// file's times are on. Reads only.
[[nodiscard]] std::vector<TaskSign> task_signs(const std::filesystem::path& claims, double now);

// Now on the clock of the file server that has the folder; writes a file `.now` there. InfraError
// E_RUN_WRITE.
[[nodiscard]] double server_time(const std::filesystem::path& claims);

// The finished result of an item that counts: none where a higher epoch was claimed.
struct Published {
  std::string stem;  // claim_stem() of its item
  std::filesystem::path trajectory;
  std::optional<std::filesystem::path> kernel;
};

[[nodiscard]] std::vector<Published> published_of(const std::filesystem::path& claims);

// An item's name as the first part of its claims' names.
[[nodiscard]] std::string claim_stem(const std::string& item);

// Puts a second hard link of `source` in the place of `target`, in one step. InfraError
// E_CLAIM_LINK where the file system has no hard links, E_RUN_WRITE.
void put_in_place(const std::filesystem::path& source, const std::filesystem::path& target);

// Asks every task of the run to end, and says whether that was asked. Text: "stop" or "now".
void ask_stop(const std::filesystem::path& claims, bool now);
enum class StopAsked { no, stop, now };
[[nodiscard]] StopAsked stop_asked(const std::filesystem::path& claims);

struct FileState;

// The claims of one task. One thread.
class Claims {
 public:
  struct Owner {
    std::string task;  // is_task_name, of no other process
    std::string host;
    std::int64_t pid = 0;
  };

  // Makes the folder and the task's sign of life. `lease_s` >= 1. InfraError E_RUN_WRITE.
  Claims(std::filesystem::path folder, Owner owner, double lease_s, util::Clock& clock);
  Claims(const Claims&) = delete;
  Claims& operator=(const Claims&) = delete;
  ~Claims() = default;

  enum class State {
    mine,      // from now on
    busy,      // another task's lease runs
    finished,  // has a result; also one that came in the moment of a takeover
  };

  struct Attempt {
    State state = State::busy;
    std::int64_t epoch = 0;    // of the claim that decides
    std::int64_t renewed = 0;  // busy: its time of change, to be compared only
  };

  [[nodiscard]] Attempt claim(const std::string& item);

  // To be called often: renews what is due. Returns the items that are lost: taken over, or not
  // renewed for so long that they may be. They are held no more.
  [[nodiscard]] std::vector<std::string> renew();

  // Publishes the result of a held item and gives the claim up. False: the item is lost, and
  // nothing counts; the one exception: who took the item over in that very moment may have adopted
  // the result, which then is that of its claim. InfraError E_CLAIM_LINK, E_RUN_WRITE.
  [[nodiscard]] bool publish(const std::string& item,
                             const std::filesystem::path& trajectory,
                             const std::optional<std::filesystem::path>& kernel);

  // 0: not held.
  [[nodiscard]] std::int64_t epoch_of(const std::string& item) const;

  // False once the sign of life was taken away: the run was closed meanwhile.
  [[nodiscard]] bool open() const { return open_; }

  // Ends all leases now, so that others need not wait, and says goodbye. Errors are ignored: leases
  // end by themselves.
  void release();

 private:
  struct Held {
    std::int64_t epoch = 0;
    std::string text;    // of the claim, which nobody else writes
    double renewed = 0;  // monotonic seconds
  };

  // A claim of another task since its time of change was another one.
  struct Seen {
    std::int64_t epoch = 0;
    std::int64_t changed_ns = 0;
    double since = 0;  // monotonic seconds
  };

  [[nodiscard]] std::filesystem::path file(const std::string& item, std::int64_t epoch) const;
  [[nodiscard]] bool make(const std::string& item, std::int64_t epoch);
  // Makes the result of an epoch, if it has one, that of the next one, which this task holds.
  [[nodiscard]] bool adopt(const std::string& item, std::int64_t epoch);
  // Whether the claim is there as this task wrote it, and none of a higher epoch.
  [[nodiscard]] bool untouched(const std::string& item, const Held& held) const;
  [[nodiscard]] bool still_mine(const std::string& item, Held& held);
  [[nodiscard]] bool ended(const std::string& item, std::int64_t epoch, const FileState& claim);
  [[nodiscard]] double now() const;

  std::filesystem::path folder_;
  Owner owner_;
  double lease_s_;
  util::Clock& clock_;
  std::map<std::string, Held> held_;
  std::map<std::string, Seen> seen_;  // others' claims, by item
  double signed_ = 0;                 // monotonic seconds of the last sign of life
  bool open_ = true;
};

}  // namespace sweep::record
