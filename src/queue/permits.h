#pragma once

#include "queue/limits.h"
#include "util/clock.h"
#include "util/fd.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace sweep::queue {

// Where this user's limits lie: `limits-UID` in the lock folder, mode 0700.
[[nodiscard]] std::filesystem::path limits_folder(const std::filesystem::path& lock_folder);

// Name of what shares limits: origin ("https://host:port") of `base_url`, API key and model; or
// `group` alone where one is given. 32 hex digits. The key goes in as an HMAC under a random secret
// of `folder`, so that nobody can try keys against the name.
[[nodiscard]] std::string limits_key(const std::filesystem::path& folder,
                                     const std::string& base_url,
                                     const std::string& api_key,
                                     const std::string& model,
                                     const std::string& group);

// What is waited for.
struct Waiting {
  Hold hold = Hold::none;
  double seconds = -1;              // until a request is tried; < 0: when others have moved on
  Trouble trouble = Trouble::none;  // paused: why
  std::string text{};               // paused: what happened
};

// Sleeps until `fd` is readable or `seconds` have passed, whichever is first. False: the wait is
// given up.
using LimitWait = std::function<bool(int fd, double seconds, const Waiting& why)>;

// Plain poll.
[[nodiscard]] LimitWait poll_wait();

// The limits of one key, shared by all processes of this user on this machine through one file
// (mode 0600). Its state is written whole, twice in turn with a sequence number and a checksum, so
// that a process may die at any instant; what the dead held comes back, since each holder keeps a
// lock on its seat that the kernel drops. Who waits sleeps until a computed time or until another
// moves on; a dead holder is noticed within kNotice seconds. Start of a machine and a change of the
// layout begin a new state. One thread at a time; several objects may share a file.
class SharedLimits {
 public:
  static constexpr double kNotice = 2;

  // `key` is one path part. `clock` gives monotonic() seconds of the machine and outlives this.
  SharedLimits(std::filesystem::path folder,
               std::string key,
               LimitSettings settings,
               util::Clock& clock);
  SharedLimits(const SharedLimits&) = delete;
  SharedLimits& operator=(const SharedLimits&) = delete;
  ~SharedLimits();

  // A granted request. Destroyed without settle(), it gives its slot and tokens back.
  class Grant {
   public:
    Grant(const Grant&) = delete;
    Grant& operator=(const Grant&) = delete;
    ~Grant();

    // As LimitState::settle; once.
    bool settle(const record::TryEnd& end);

   private:
    friend class SharedLimits;

    Grant(SharedLimits& owner, std::int64_t seat) : owner_(owner), seat_(seat) {}

    SharedLimits& owner_;
    std::int64_t seat_;
    bool settled_ = false;
  };

  // Waits for a permit; `begun`: the conversation goes before those that have not begun. Null: the
  // wait was given up. At most one grant an object at a time. InfraError when the folder fails.
  [[nodiscard]] std::unique_ptr<Grant> take(const record::Need& need,
                                            bool begun,
                                            const LimitWait& wait);

  // An operator started a sweep: a paused key is tried at once.
  void try_now();

  // Only for looking: what is counted now.
  [[nodiscard]] LimitState look();

 private:
  class Locked;

  [[nodiscard]] std::filesystem::path file() const;
  [[nodiscard]] bool alive(std::int64_t seat) const;
  void reap(LimitState& state, double now);
  std::int64_t sit();  // takes a seat's lock; its number
  void stand(std::int64_t seat);
  void wake(const LimitState& state);
  [[nodiscard]] util::Fd bell(std::int64_t seat) const;

  std::filesystem::path folder_;
  std::string key_;
  LimitSettings settings_;
  util::Clock& clock_;
  util::Fd file_;
  std::int64_t seat_ = -1;
};

}  // namespace sweep::queue
