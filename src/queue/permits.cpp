#include "queue/permits.h"

#include "util/error.h"
#include "util/file.h"
#include "util/sha256.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sweep::queue {

namespace fs = std::filesystem;

namespace {

// A change of LimitState's layout or meaning needs another number: states of two kinds lie in two
// files.
constexpr int kVersion = 2;
constexpr off_t kCopyBytes = off_t{1} << 20;
constexpr off_t kSeatLocks = off_t{1} << 40;  // one byte a seat, far behind the content

struct Header {
  std::uint64_t sequence = 0;  // 0: never written
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;
  std::array<char, 40> boot{};
};

constexpr std::size_t kCopies = 2;
static_assert(sizeof(Header) + sizeof(LimitState) < static_cast<std::size_t>(kCopyBytes));

// FNV-1a: guards against a torn write, not against an enemy; the folder is the user's own.
std::uint64_t checksum(const Header& header, const char* bytes) {
  std::uint64_t hash = 0xcbf29ce484222325U ^ header.sequence;
  for (std::size_t i = 0; i < header.bytes; ++i) {
    hash = (hash ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3U;
  }
  return hash;
}

std::array<char, 40> boot_id() {
  std::array<char, 40> id{};
  std::ifstream("/proc/sys/kernel/random/boot_id").read(id.data(), 36);
  return id;
}

double random_unit() {
  const std::string bytes = util::random_bytes(4);
  std::uint32_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof number);
  return static_cast<double>(number) * 0x1p-32;
}

struct flock seat_range(std::int64_t seat) {
  struct flock range {};

  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = kSeatLocks + seat;
  range.l_len = 1;
  return range;
}

// The random secret of a folder, made on first use by whoever is first.
std::string secret_of(const fs::path& folder) {
  const fs::path file = folder / "secret";
  std::error_code error;
  if (!fs::exists(file, error)) {
    const fs::path mine = folder / fmt::format("secret.{}", ::getpid());
    util::write_file_atomic(mine, util::random_bytes(32), 0600);
    if (::link(mine.c_str(), file.c_str()) != 0 && errno != EEXIST) {
      util::throw_errno("link", file.string());
    }
    (void)::unlink(mine.c_str());
  }
  return util::read_file(file, 1024, util::Links::refuse);
}

Waiting waiting_of(const LimitState::Turn& turn, const LimitState& state, double now) {
  Waiting out;
  out.hold = turn.hold;
  out.seconds = std::isinf(turn.seconds) ? -1 : turn.seconds;
  if (turn.hold == Hold::paused) {
    out.seconds = state.next_try(now);
    out.trouble = state.cause().trouble();
    out.text = state.cause().text();
  }
  return out;
}

std::string origin_of(const std::string& base_url) {
  const std::size_t scheme = base_url.find("://");
  return base_url.substr(0, base_url.find('/', scheme == std::string::npos ? 0 : scheme + 3));
}

}  // namespace

fs::path limits_folder(const fs::path& lock_folder) {
  const fs::path folder = lock_folder / fmt::format("limits-{}", ::geteuid());
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    util::throw_errno("mkdir", folder.string());
  }

  struct stat info {};

  if (::lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != ::geteuid() ||
      (info.st_mode & 0077U) != 0) {
    throw util::InfraError({folder.string(),
                            "is not a folder of this user alone",
                            "remove it, or set SWEEP_LOCK_DIR to a folder of yours"},
                           "E_LIMITS_DIR");
  }
  return folder;
}

std::string limits_key(const fs::path& folder,
                       const std::string& base_url,
                       const std::string& api_key,
                       const std::string& model,
                       const std::string& group) {
  std::string shared = "group\n" + group;
  if (group.empty()) {
    const std::string secret = secret_of(folder);
    const std::string credential =
        api_key.empty() ? "none" : util::to_hex(util::hmac_sha256(secret, api_key)).substr(0, 16);
    shared = "model\n" + origin_of(base_url) + "\n" + credential + "\n" + model;
  }
  return util::sha256_hex(shared).substr(0, 32);
}

LimitWait poll_wait() {
  return [](int fd, double seconds, const Waiting&) {
    pollfd bell{fd, POLLIN, 0};
    (void)::poll(&bell, 1, static_cast<int>(std::ceil(seconds * 1000)));
    return true;
  };
}

// The state under the file's lock; read whole, written whole by save().
class SharedLimits::Locked {
 public:
  explicit Locked(SharedLimits& owner)
      : fd_(owner.file_.get()), now_(owner.clock_.monotonic()), boot_(boot_id()) {
    // Held for microseconds by anybody, and dropped by the dead.
    while (::flock(fd_, LOCK_EX) != 0) {
      if (errno != EINTR) {
        util::throw_errno("flock", owner.file().string());
      }
    }
    read(owner.file());
  }

  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

  ~Locked() { (void)::flock(fd_, LOCK_UN); }

  [[nodiscard]] LimitState& state() { return *state_; }

  [[nodiscard]] double now() const { return now_; }

  void save(const fs::path& file) {
    Header header;
    header.sequence = sequence_ + 1;
    header.bytes = state_->used_bytes();
    header.boot = boot_;
    const char* bytes = reinterpret_cast<const char*>(state_.get());
    header.checksum = checksum(header, bytes);
    std::string whole(sizeof header + header.bytes, '\0');
    std::memcpy(whole.data(), &header, sizeof header);
    std::memcpy(whole.data() + sizeof header, bytes, header.bytes);
    // The copy that is not the newest one, so that one is whole at any instant.
    const off_t at = static_cast<off_t>(header.sequence % kCopies) * kCopyBytes;
    if (::pwrite(fd_, whole.data(), whole.size(), at) != static_cast<ssize_t>(whole.size())) {
      util::throw_errno("pwrite", file.string(), "free some disk space in the lock folder");
    }
    sequence_ = header.sequence;
  }

 private:
  void read(const fs::path& file) {
    for (std::size_t copy = 0; copy < kCopies; ++copy) {
      const off_t at = static_cast<off_t>(copy) * kCopyBytes;
      Header header;
      const ssize_t got = ::pread(fd_, &header, sizeof header, at);
      if (got < 0) {
        util::throw_errno("pread", file.string());
      }
      const bool fits = got == static_cast<ssize_t>(sizeof header) && header.sequence > sequence_ &&
                        header.bytes <= sizeof(LimitState);
      auto next = std::make_unique<LimitState>();
      if (!fits || ::pread(fd_, next.get(), header.bytes, at + static_cast<off_t>(sizeof header)) !=
                       static_cast<ssize_t>(header.bytes)) {
        continue;
      }
      if (checksum(header, reinterpret_cast<const char*>(next.get())) == header.checksum) {
        sequence_ = header.sequence;
        // Times of another start of the machine mean nothing now.
        state_ = header.boot == boot_ && next->sound() ? std::move(next)
                                                       : std::make_unique<LimitState>();
      }
    }
  }

  int fd_;
  double now_;
  std::array<char, 40> boot_;
  std::uint64_t sequence_ = 0;
  std::unique_ptr<LimitState> state_ = std::make_unique<LimitState>();
};

SharedLimits::SharedLimits(fs::path folder,
                           std::string key,
                           LimitSettings settings,
                           util::Clock& clock)
    : folder_(std::move(folder)), key_(std::move(key)), settings_(settings), clock_(clock) {
  file_ = util::Fd(::open(file().c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file_) {
    util::throw_errno("open", file().string());
  }
}

SharedLimits::~SharedLimits() = default;

fs::path SharedLimits::file() const {
  return folder_ / fmt::format("{}.v{}", key_, kVersion);
}

util::Fd SharedLimits::bell(std::int64_t seat) const {
  const fs::path path = folder_ / fmt::format("{}.bell{}", key_, seat);
  if (::mkfifo(path.c_str(), 0600) != 0 && errno != EEXIST) {
    util::throw_errno("mkfifo", path.string());
  }
  util::Fd fd(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) {
    util::throw_errno("open", path.string());
  }
  return fd;
}

void SharedLimits::wake(const LimitState& state) {
  const Seat* next = state.first();
  if (next == nullptr || next->number == seat_) {
    return;
  }
  const fs::path path = folder_ / fmt::format("{}.bell{}", key_, next->number);
  // Nobody behind it: it will look by itself.
  if (const util::Fd fd(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)); fd) {
    (void)!::write(fd.get(), "!", 1);
  }
}

bool SharedLimits::alive(std::int64_t seat) const {
  struct flock range = seat_range(seat);
  if (::fcntl(file_.get(), F_OFD_GETLK, &range) != 0) {
    util::throw_errno("fcntl", file().string(), "put the lock folder on a local file system");
  }
  return range.l_type != F_UNLCK;
}

std::int64_t SharedLimits::sit() {
  for (std::int64_t seat = 0; seat < static_cast<std::int64_t>(LimitState::kSeats); ++seat) {
    struct flock range = seat_range(seat);
    if (::fcntl(file_.get(), F_OFD_SETLK, &range) == 0) {
      return seat;
    }
    if (errno != EAGAIN && errno != EACCES) {
      util::throw_errno("fcntl", file().string(), "put the lock folder on a local file system");
    }
  }
  throw util::InfraError({file().string(),
                          fmt::format("{} requests wait already", LimitState::kSeats),
                          "lower agents_per_gpu"},
                         "E_LIMITS_FULL");
}

void SharedLimits::stand(std::int64_t seat) {
  struct flock range = seat_range(seat);
  range.l_type = F_UNLCK;
  (void)::fcntl(file_.get(), F_OFD_SETLK, &range);
  seat_ = -1;
}

void SharedLimits::reap(LimitState& state, double now) {
  for (std::size_t i = state.seats(); i-- > 0;) {
    const std::int64_t number = state.seat(i).number;
    if (number != seat_ && !alive(number)) {
      state.leave(number, now, settings_);
    }
  }
}

std::unique_ptr<SharedLimits::Grant> SharedLimits::take(const record::Need& need,
                                                        bool begun,
                                                        const LimitWait& wait) {
  {
    Locked locked(*this);
    reap(locked.state(), locked.now());
    const std::int64_t tokens = locked.state().estimate(need, settings_.reserve_full);
    seat_ = sit();
    (void)locked.state().join(seat_, tokens, begun);
    locked.save(file());
  }
  const util::Fd bell = this->bell(seat_);
  while (true) {
    LimitState::Turn turn;
    Waiting why;
    {
      Locked locked(*this);
      LimitState& state = locked.state();
      reap(state, locked.now());
      Seat* mine = state.find(seat_);
      if (mine == nullptr) {  // the file was lost
        mine = state.join(seat_, state.estimate(need, settings_.reserve_full), begun);
      }
      turn = state.turn(*mine, locked.now(), settings_);
      if (turn.hold == Hold::none) {
        state.grant(*mine, locked.now(), settings_);
      }
      why = waiting_of(turn, state, locked.now());
      locked.save(file());
      wake(state);
    }
    if (turn.hold == Hold::none) {
      return std::unique_ptr<Grant>(new Grant(*this, seat_));
    }
    // Others who die ring no bell; who is not first has more time.
    const double most = turn.hold == Hold::queue ? 5 * kNotice : kNotice;
    const double seconds = std::isinf(turn.seconds) ? most : turn.seconds;
    if (!wait(bell.get(), seconds, why)) {
      const Grant given_up(*this, seat_);
      return nullptr;
    }
    std::array<char, 64> rung{};
    (void)!::read(bell.get(), rung.data(), rung.size());
  }
}

bool SharedLimits::Grant::settle(const record::TryEnd& end) {
  settled_ = true;
  Locked locked(owner_);
  LimitState& state = locked.state();
  bool paused = false;
  if (Seat* seat = state.find(seat_)) {
    paused = state.settle(*seat, end, locked.now(), owner_.settings_, random_unit());
  }
  locked.save(owner_.file());
  owner_.stand(seat_);
  owner_.wake(state);
  return paused;
}

SharedLimits::Grant::~Grant() {
  if (settled_) {
    return;
  }
  try {
    Locked locked(owner_);
    locked.state().leave(seat_, locked.now(), owner_.settings_);
    locked.save(owner_.file());
    owner_.stand(seat_);
    owner_.wake(locked.state());
  } catch (const util::Error&) {
    owner_.stand(seat_);  // the others see that nobody sits there
  }
}

void SharedLimits::try_now() {
  Locked locked(*this);
  locked.state().breaker().try_now(locked.now());
  locked.save(file());
  wake(locked.state());
}

LimitState SharedLimits::look() {
  Locked locked(*this);
  reap(locked.state(), locked.now());
  return locked.state();
}

}  // namespace sweep::queue
