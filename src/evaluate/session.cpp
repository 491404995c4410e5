#include "evaluate/session.h"

#include "evaluate/watchdog.h"
#include "util/text.h"

#include <algorithm>
#include <set>

namespace sweep::evaluate {
namespace {

// Bounds stress, edge and held-out draws on the cpu device, in bytes of all buffers of the judge.
constexpr double kCpuDrawBytes = 4 << 20;

// Kept by the store from one draw's dims to the next.
constexpr std::size_t kIdleBytes = std::size_t{256} << 20U;

// What a judge keeps of results that it computes ahead: of a GPU an eighth at most, beside what
// lock_device() hands out. Draws of the cpu device are small.
constexpr std::size_t kKeptShare = 8;
constexpr std::size_t kKeptOnCpu = std::size_t{64} << 20U;

std::size_t kept_bytes(device::Kind kind, const device::Info& info) {
  return kind == device::Kind::cpu ? kKeptOnCpu : info.total_bytes / kKeptShare;
}

}  // namespace

Session::Session(SessionOptions options,
                 device::Device& device,
                 const EngineImages& images,
                 problem::Problem problem,
                 Code reference,
                 Code seed)
    : options_(std::move(options)),
      problem_(std::move(problem)),
      reference_code_(std::move(reference)),
      seed_code_(std::move(seed)),
      device_(&device),
      store_(*device_),
      engine_(options_.arm.device.kind == device::Kind::cpu
                  ? make_host_engine(*device_)
                  : make_device_engine(*device_, store_, images)),
      comparer_(*device_, *engine_, store_, problem_, options_.off),
      oracle_(std::make_unique<Oracle>(*device_, store_, problem_, reference_code_)),
      kept_(kept_bytes(options_.arm.device.kind, device_->info())) {
  seed_.code = &seed_code_;
}

void Session::take_candidate(Code candidate, std::optional<Code> versus) {
  candidate_code_ = std::move(candidate);
  versus_code_ = std::move(versus);
  candidate_.code = &*candidate_code_;
  versus_.code = versus_code_ ? &*versus_code_ : nullptr;
  clear_bench();
  if (seed_.arm != nullptr && !seed_.arm->alive()) {
    seed_.reset();  // it died while the judge waited
  }
}

Session::~Session() {
  // The judge ends after its session. Seats refer to benches.
  for (Player* player : {&seed_, &candidate_, &versus_}) {
    player->abandon();
  }
  for (std::vector<Player>* players : {&ahead_, &retired_}) {
    for (Player& player : *players) {
      player.abandon();
    }
  }
}

problem::Machine Session::machine() const {
  problem::Machine machine;
  machine.cpu = options_.arm.device.kind == device::Kind::cpu;
  // A million threads of a kernel with barriers take the cpu device longer than a call may last.
  machine.device_bytes =
      machine.cpu ? kCpuDrawBytes : 0.9 * static_cast<double>(device_->info().total_bytes);
  machine.sm_count = device_->info().sm_count;
  return machine;
}

void Session::start(Player& player) {
  while (!spares_.empty() && !spares_.back().alive()) {
    spares_.pop_back();  // it died while it waited
  }
  if (spares_.empty() || player.code->library) {
    player.arm = std::make_unique<Arm>(options_.arm, *player.code);
  } else {
    player.arm = std::make_unique<Arm>(std::move(spares_.back()), options_.arm, *player.code);
    spares_.pop_back();
  }
  protections_ = player.arm->protections();
}

void Session::start_ahead(const Player& like, int count) {
  for (int i = 0; i < count; ++i) {
    Player player;
    player.code = like.code;
    start(player);
    ahead_.push_back(std::move(player));
  }
}

Player Session::fresh(const Player& like) {
  const auto found = std::ranges::find(ahead_, like.code, &Player::code);
  if (found != ahead_.end()) {
    Player player = std::move(*found);
    ahead_.erase(found);
    return player;
  }
  Player player;
  player.code = like.code;
  start(player);
  return player;
}

void Session::retire(Player player) {
  player.end();
  player.seats.clear();
  retired_.push_back(std::move(player));
}

void Session::start_players(int pairs) {
  for (Player* player : {&seed_, &candidate_}) {
    if (player->arm == nullptr) {
      start(*player);
    }
  }
  for (int i = 0; i < pairs; ++i) {
    start_ahead(versus_code_ ? versus_ : seed_, 1);
    start_ahead(candidate_, 1);
  }
}

void Session::lock(util::LockMode mode, double bytes) {
  lock_.reset();
  lock_mode_ = mode;
  lock_ = lock_device(options_, device_->info(), mode, bytes);
}

std::unique_ptr<Bench> Session::make_bench(const problem::Draw& draw) {
  return std::make_unique<Bench>(*device_, *engine_, problem_, draw);
}

void Session::clear_bench() {
  const auto leave = [this](Player& player) {
    std::erase_if(player.seats, [this](const auto& seat) { return seat.first == bench_.get(); });
  };
  leave(seed_);
  leave(candidate_);
  leave(versus_);
  bench_.reset();
  bench_dims_.clear();
  store_.trim(0);
}

bool Session::same_bits(const Tensors& a, const Tensors& b) {
  std::vector<device::Claim> claims;
  for (const auto& [name, piece] : a) {
    const Store::Piece& other = b.at(name);
    if (piece.bytes() != other.bytes()) {
      return false;
    }
    if (piece.bytes() > 0) {
      claims.push_back({piece.address(), piece.bytes(), other.address()});
    }
  }
  return std::ranges::all_of(engine_->holds(claims), [](bool held) { return held; });
}

Bench& Session::bench_for(const problem::Draw& draw) {
  if (bench_ == nullptr || bench_dims_ != draw.dims) {
    if (bench_ == nullptr || !bench_->reshape(draw)) {
      clear_bench();
      bench_ = make_bench(draw);
    }
    store_.trim(kIdleBytes);
    bench_dims_ = draw.dims;
  }
  return *bench_;
}

Truth Session::truth(Bench& bench, const problem::Draw& draw) {
  return watched(draw, [&] { return oracle_->run(bench, draw); });
}

Truth Session::truth(const std::map<std::string, std::vector<std::byte>, std::less<>>& inputs,
                     const problem::Draw& draw) {
  return watched(draw, [&] { return oracle_->run(inputs, draw); });
}

Truth Session::watched(const problem::Draw& draw, const std::function<Truth()>& run) {
  const double seconds = std::max(10.0, 10 * problem_.limits.seconds);
  const Watchdog watchdog(seconds, [&] {
    if (options_.overdue) {
      options_.overdue(util::InfraError(
          {problem_.id + "/reference.cu",
           "did not end within " + util::human_seconds(seconds) + " on " + draw.shape,
           "correct it: an endless loop, or far too slow for a reference"},
          "E_ORACLE_TIMEOUT"));
    }
  });
  return run();
}

Seat& Session::seat(Player& player, Bench& bench, const problem::Draw& draw, bool timed) {
  if (player.arm == nullptr) {
    start(player);
  }
  auto found = std::ranges::find(
      player.seats, &bench, &std::pair<const Bench*, std::unique_ptr<Seat>>::first);
  if (found == player.seats.end()) {
    player.seats.emplace_back(
        &bench,
        std::make_unique<Seat>(
            *player.arm,
            bench,
            problem_,
            device_->info().sm_count,
            has(Defence::read_only_inputs) ? device::Access::read : device::Access::read_write));
    found = std::prev(player.seats.end());
  }
  if (player.code->library) {
    // It makes its call once when it gets ready: the content must have arrived.
    device_->synchronize();
  }
  found->second->ready(draw, poison_word(~poison_number(++calls_)), timed ? 0 : draw.key.word(0));
  return *found->second;
}

}  // namespace sweep::evaluate
