#include "evaluate/session.h"

#include "util/error.h"

#include <algorithm>
#include <set>

namespace sweep::evaluate {
namespace {

// Bounds stress, edge and held-out draws on the cpu device, in bytes of all buffers of the judge.
constexpr double kCpuDrawBytes = 4 << 20;

// Above any device's memory and exact as an integer.
constexpr double kMostBytes = 1e15;

expr::IntEnv free_dims(const problem::Problem& problem, const expr::IntEnv& dims) {
  expr::IntEnv free;
  for (const problem::Dim& dim : problem.dims) {
    const auto found = dims.find(dim.name);
    if (dim.kind != problem::Dim::Kind::derived && found != dims.end()) {
      free[dim.name] = found->second;
    }
  }
  return free;
}

std::optional<Failure> damage_failure(const Bench::Damage& damage) {
  Failure failure;
  if (!damage.input.empty()) {
    failure.verdict = Verdict::incorrect_input_mutated;
    failure.tensor = damage.input;
    failure.text = "input '" + damage.input + "' changed during the call";
    failure.hint = "inputs are read-only; use `scratch` for work space";
    return failure;
  }
  if (!damage.slack.empty()) {
    failure.verdict = Verdict::incorrect_out_of_bounds;
    failure.tensor = damage.slack;
    failure.text = "something was written behind the last element of '" + damage.slack + "'";
    failure.hint = "guard the last threads: is the index compared with the size?";
    return failure;
  }
  if (!damage.front.empty()) {
    failure.verdict = Verdict::incorrect_out_of_bounds;
    failure.tensor = damage.front;
    failure.text = "something was written before the first element of '" + damage.front + "'";
    failure.hint = "can an index be negative?";
    return failure;
  }
  return std::nullopt;
}

}  // namespace

Session::Session(SessionOptions options,
                 std::unique_ptr<device::Device> device,
                 const EngineImages& images,
                 problem::Problem problem,
                 Code reference,
                 Code seed,
                 Code candidate,
                 std::optional<Code> versus)
    : options_(std::move(options)),
      problem_(std::move(problem)),
      reference_code_(std::move(reference)),
      seed_code_(std::move(seed)),
      candidate_code_(std::move(candidate)),
      versus_code_(std::move(versus)),
      device_(std::move(device)),
      store_(*device_),
      engine_(options_.arm.device.kind == device::Kind::cpu
                  ? make_host_engine(*device_)
                  : make_device_engine(*device_, store_, images)),
      comparer_(*device_, *engine_, store_, problem_),
      oracle_(std::make_unique<Oracle>(*device_, store_, problem_, reference_code_)) {
  seed_.code = &seed_code_;
  candidate_.code = &candidate_code_;
  versus_.code = versus_code_ ? &*versus_code_ : nullptr;
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
  player.arm = std::make_unique<Arm>(options_.arm, *player.code);
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
  const std::filesystem::path folder =
      options_.locks.empty() ? util::lock_folder() : options_.locks;
  const std::string& name = device_->info().uuid;
  const util::LockUse use{mode,
                          static_cast<std::uint64_t>(std::clamp(bytes, 0.0, kMostBytes)),
                          device_->info().total_bytes / 10 * 9,
                          options_.holder};
  bool waited = false;
  lock_ = util::acquire(folder, name, use, [&](double) {
    waited = true;
    if (options_.waiting) {
      const std::vector<util::Holder> holders = util::holders(folder, name);
      options_.waiting(&holders);
    }
    return true;
  });
  if (waited && options_.waiting) {
    options_.waiting(nullptr);
  }
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
  store_.trim();
}

bool Session::same_bits(const Tensors& a, const Tensors& b) {
  return std::ranges::all_of(a, [&](const auto& item) {
    const Store::Piece& other = b.at(item.first);
    return item.second.bytes() == other.bytes() &&
           (other.bytes() == 0 ||
            engine_->equal(item.second.address(), other.address(), other.bytes()));
  });
}

Bench& Session::bench_for(const problem::Draw& draw) {
  if (bench_ == nullptr || bench_dims_ != draw.dims) {
    clear_bench();
    bench_ = make_bench(draw);
    bench_dims_ = draw.dims;
  }
  return *bench_;
}

Seat& Session::seat(Player& player, Bench& bench, const problem::Draw& draw) {
  if (player.arm == nullptr) {
    start(player);
  }
  auto found = std::ranges::find(
      player.seats, &bench, &std::pair<const Bench*, std::unique_ptr<Seat>>::first);
  if (found == player.seats.end()) {
    player.seats.emplace_back(
        &bench, std::make_unique<Seat>(*player.arm, bench, problem_, device_->info().sm_count));
    found = std::prev(player.seats.end());
  }
  found->second->ready(draw, poison_word(~poison_number(++calls_)));
  return *found->second;
}

std::uint64_t Session::poison_number(std::uint64_t call) const {
  return problem::Key::from_seed(options_.seed).derive("poison").word(0) + call;
}

Played Session::play(Player& player, Bench& bench, const problem::Draw& draw, bool timed) {
  Seat& place = seat(player, bench, draw);
  const std::uint64_t number = poison_number(++calls_);
  Played played;
  bench.before_call(poison_word(number));
  if (timed && flush_) {
    played.flushed = device_->flush_cache().value_or(-1);
    device_->synchronize();
  }
  played.time = place.run(problem_.limits.seconds, poison_word(~number));
  played.outputs = bench.outputs(store_);
  played.damage = damage_failure(bench.damage());
  return played;
}

Played Session::play_trusted(Player& player, Bench& bench, const problem::Draw& draw, bool timed) {
  try {
    return play(player, bench, draw, timed);
  } catch (const ArmFault& fault) {
    throw util::InfraError(
        {player.code->submission.file,
         "fails on " + draw.shape + ": " + fault.what(),
         "the device or the seed is broken: run `sweep doctor` and `sweep problems check`"},
        "E_SEED_FAULT");
  } catch (const PlanFault& fault) {
    throw util::InfraError({player.code->submission.file,
                            std::string("its plan fails: ") + fault.what(),
                            "run `sweep problems check`"},
                           "E_SEED_FAULT");
  }
}

Failure Session::failure_of(const ArmFault& fault, const Player& player) const {
  auto place = Seat::Place::elsewhere;
  if (fault.fault().address) {
    for (const auto& [bench, seat] : player.seats) {
      const Seat::Place here = seat->place(*fault.fault().address);
      place = here != Seat::Place::elsewhere ? here : place;
    }
  }
  Failure failure;
  failure.verdict = verdict_of(
      fault.fault(), place == Seat::Place::inside_input, place == Seat::Place::near_buffer);
  failure.text = fault.fault().text;
  if (failure.verdict == Verdict::incorrect_input_mutated) {
    failure.hint = "a kernel wrote to an input; inputs are read-only, use `scratch` for work space";
  } else if (failure.verdict == Verdict::incorrect_out_of_bounds) {
    failure.hint = "an access left its buffer: is the index compared with the size?";
  } else if (failure.verdict == Verdict::timeout) {
    failure.hint = "the limit of a call is set by the problem";
  }
  return failure;
}

Failure Session::failure_of(const PlanFault& fault, const Player& player) {
  Failure failure;
  failure.verdict = Verdict::plan_error;
  submission::PlanError error = fault.error();
  if (error.file.empty()) {
    error.file = player.code->submission.file;
  }
  failure.text = error.text(player.code->submission.source);
  return failure;
}

std::variant<Played, Failure> Session::attempt(Player& player,
                                               Bench& bench,
                                               const problem::Draw& draw) {
  try {
    return play(player, bench, draw, false);
  } catch (const PlanFault& fault) {
    return failure_of(fault, player);
  } catch (const ArmFault& fault) {
    const bool crowded = fault.fault().kind == device::Fault::Kind::timeout ||
                         fault.fault().kind == device::Fault::Kind::out_of_memory;
    player.reset();
    if (crowded) {
      lock(util::LockMode::exclusive);
    }
  }
  // The content is made again: the device may have lost it.
  bench.fill(draw);
  (void)play_trusted(seed_, bench, draw, false);
  try {
    return play(player, bench, draw, false);
  } catch (const ArmFault& fault) {
    Failure failure = failure_of(fault, player);
    player.reset();
    bench.fill(draw);
    (void)play_trusted(seed_, bench, draw, false);
    return failure;
  }
}

void Session::check_seed(const problem::Draw& draw,
                         const Truth& truth,
                         Bench& bench,
                         const Tensors& outputs) {
  const Judgement own = comparer_.with_oracle(draw, truth, bench, outputs, outputs);
  if (own.failure) {
    throw util::InfraError({seed_code_.submission.file,
                            "is wrong on " + draw.shape + ": " + own.failure->text,
                            "run `sweep problems check " + problem_.id + "`"},
                           "E_SEED_WRONG");
  }
}

// A wrong output that is right for the content before it was not computed from this call's inputs.
void Session::explain_stale(Failure& failure,
                            const problem::Draw& draw,
                            Bench& bench,
                            const Tensors& got) {
  if (failure.verdict != Verdict::incorrect_value &&
      failure.verdict != Verdict::incorrect_precision) {
    return;
  }
  if (!earlier_ || earlier_->dims != draw.dims) {
    return;
  }
  const Judgement before = comparer_.with_oracle(draw, earlier_->truth, bench, got, earlier_->seed);
  if (!before.failure) {
    failure.verdict = Verdict::rejected_stale;
    failure.hint =
        "the output is right for the inputs of the call before: it was kept, not computed";
  }
}

Call Session::judge(Player& player, const problem::Draw& draw) {
  Call call;
  call.shape = draw.shape;
  call.dims = free_dims(problem_, draw.dims);
  call.content = draw.content;
  Bench& bench = bench_for(draw);
  bench.fill(draw);
  Truth expected = truth(bench, draw);
  Played by_seed = play_trusted(seed_, bench, draw, false);
  check_seed(draw, expected, bench, by_seed.outputs);
  auto tried = attempt(player, bench, draw);
  if (auto* failure = std::get_if<Failure>(&tried)) {
    call.failure = std::move(*failure);
    return call;
  }
  Played& played = std::get<Played>(tried);
  call.device_seconds = played.time.device_seconds;
  Judgement judgement =
      comparer_.with_oracle(draw, expected, bench, played.outputs, by_seed.outputs);
  call.worst_share = judgement.worst_share;
  call.failure = played.damage ? std::move(played.damage) : std::move(judgement.failure);
  if (call.failure) {
    explain_stale(*call.failure, draw, bench, played.outputs);
  } else if (!bench.outputs_equal(played.outputs)) {
    call.failure = Failure{};
    call.failure->verdict = Verdict::rejected_late_store;
    call.failure->text = "outputs changed after the call had ended";
  }
  earlier_ = Earlier{draw.dims, std::move(expected), std::move(by_seed.outputs)};
  return call;
}

}  // namespace sweep::evaluate
