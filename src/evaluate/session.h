#pragma once

#include "evaluate/evaluation.h"
#include "evaluate/expected.h"
#include "evaluate/judging.h"
#include "evaluate/oracle.h"
#include "evaluate/seat.h"
#include "util/error.h"
#include "util/lock.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sweep::evaluate {

// One arm's process and its seats, made when first needed. Seats end before the arm.
struct Player {
  const Code* code = nullptr;
  std::unique_ptr<Arm> arm;
  std::vector<std::pair<const Bench*, std::unique_ptr<Seat>>> seats;
  int calls = 0;  // of the process

  // Kills the process without waiting for its end.
  void end() noexcept {
    if (arm != nullptr) {
      arm->end();
    }
  }

  // Ends the process and leaves the wait for its end to init.
  void abandon() noexcept {
    if (arm != nullptr) {
      arm->abandon();
    }
    seats.clear();
  }

  // Ends the process: the next call starts a fresh one.
  void reset() {
    if (arm != nullptr) {
      arm->end();
    }
    seats.clear();
    arm.reset();
    calls = 0;
  }
};

struct Played {
  device::RunTime time;
  Tensors outputs;  // a copy
  double flushed = -1;
  std::optional<Failure> damage;  // an input or slack changed
  CallCosts costs;
};

struct SessionOptions {
  ArmOptions arm;
  std::uint64_t seed = 1;
  DefenceSet off;  // the arm has its own copy
  std::filesystem::path locks;
  int holder = 0;  // process that a person finds as the holder of our locks; 0: this one
  // Called about ten times a second while a lock is waited for, with those who have it, and once
  // with null when it is ours after that.
  std::function<void(const std::vector<util::Holder>*)> waiting;
  // Other programs that have the device open, once it is locked for timing: at the begin, and after
  // the calls those that were there then. Null: nobody looks.
  std::function<std::vector<device::Neighbour>(bool begin)> neighbours;
  // Ends the process with this reason; on another thread, while the session's is busy. Null: the
  // reference may take for ever.
  std::function<void(const util::Error&)> overdue;
};

// The device's lock. A shared one also waits until `bytes` of device memory, the most that will be
// in use, fit beside those of other holders in 3/4 of the device: the rest is for processes that
// wait with the device open, and for what judges keep between locks (Session::prepare).
[[nodiscard]] util::FileLock lock_device(const SessionOptions& options,
                                         const device::Info& info,
                                         util::LockMode mode,
                                         double bytes);

// What a player will be asked for after a call, so that its runner may change its plan in the same
// turn of the device. Null: not known.
struct NextCall {
  const Bench* bench = nullptr;
  const problem::Draw* draw = nullptr;
};

// The judge's state for one evaluation: buffers, oracle and arms. One thread. The process ends soon
// after the session: runners are killed and left to init.
class Session {
 public:
  // Without a candidate at first. The device must outlive the session.
  Session(SessionOptions options,
          device::Device& device,
          const EngineImages& images,
          problem::Problem problem,
          Code reference,
          Code seed);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  // Runners that were started ahead, with these options: the first players take them.
  void adopt(std::vector<RunnerProcess> runners) { spares_ = std::move(runners); }

  // Those of them that nobody has taken.
  [[nodiscard]] std::vector<RunnerProcess> release_runners() { return std::exchange(spares_, {}); }

  // Computes what judge() holds the candidate's call on this content against and keeps it for
  // `uses` such calls, if the budget allows (ExpectedStore) and 3/4 of a GPU's memory are free.
  // False: it was not kept. `plan`: of the draw. Throws what judge() throws for a reference or seed
  // that fails. Under the device's lock. What judge() finds does not depend on it.
  [[nodiscard]] bool prepare(const problem::Draw& draw,
                             const Perturbation* change,
                             std::shared_ptr<const problem::FillPlan> plan,
                             int uses);

  // Ends what prepare() has kept.
  void forget_prepared() { kept_.clear(); }

  // Device memory that prepare() may keep.
  [[nodiscard]] std::size_t prepared_budget() const { return kept_.budget(); }

  // Whom the session judges, and perhaps what it is timed against; once, before the stages. Buffers
  // are made anew: nothing that a runner maps has held another content.
  void take_candidate(Code candidate, std::optional<Code> versus);

  [[nodiscard]] const problem::Problem& problem() const { return problem_; }

  [[nodiscard]] const SessionOptions& options() const { return options_; }

  [[nodiscard]] device::Device& device() { return *device_; }

  [[nodiscard]] problem::Machine machine() const;

  [[nodiscard]] const std::vector<util::Protection>& protections() const { return protections_; }

  [[nodiscard]] Player& seed() { return seed_; }

  [[nodiscard]] Player& candidate() { return candidate_; }

  [[nodiscard]] Player* versus() { return versus_code_ ? &versus_ : nullptr; }

  // Starts the processes of check and stress, and `pairs` pairs for a later time stage, and waits
  // for none. Under the device's lock.
  void start_players(int pairs);

  // A further process for the same code (time), started and not waited for.
  [[nodiscard]] Player fresh(const Player& like);

  // Kills the player's process and does not wait: the end of a process that has a GPU open takes a
  // while.
  void retire(Player player);

  // Lets go of the lock that the session holds and takes another, as lock_device(). Waiting counts
  // against no deadline.
  void lock(util::LockMode mode, double bytes = 0);

  void unlock() { lock_.reset(); }

  // Between two pieces of work under a shared lock: who waits to time alone goes first. Else four
  // agents on one H200 waited for each other's whole stages, 30 of 40 s of a time stage. Not while
  // a process of the session's own gets ready; whoever took one by fresh() answers for it.
  void give_way();

  // Buffers for the draw's dims; the last one is kept.
  [[nodiscard]] Bench& bench_for(const problem::Draw& draw);
  [[nodiscard]] std::unique_ptr<Bench> make_bench(const problem::Draw& draw);
  // Ends the kept bench and the seats on it, to make room.
  void clear_bench();

  [[nodiscard]] Comparer& comparer() { return comparer_; }

  // Whether two calls gave the same bits.
  [[nodiscard]] bool same_bits(const Tensors& a, const Tensors& b);

  // reference.cu runs in this process: where it takes ten times as long as a call of the candidate
  // may, and 10 s at least, options.overdue is called.
  [[nodiscard]] Truth truth(Bench& bench, const problem::Draw& draw);
  // The same on inputs given as host bytes by name.
  [[nodiscard]] Truth truth(
      const std::map<std::string, std::vector<std::byte>, std::less<>>& inputs,
      const problem::Draw& draw);

  // Process, seat and plan, ready for the draw. Throws ArmFault, PlanFault or util::InfraError.
  // `timed`: ranks take each step in the order of their numbers, so that a plan is prepared once;
  // else in one that follows from the draw's key, so that what relies on an order fails.
  Seat& seat(Player& player, Bench& bench, const problem::Draw& draw, bool timed = true);

  // Whether the defence is in force: tests and `sweep selftest` switch some off.
  [[nodiscard]] bool has(Defence defence) const { return !options_.off.contains(defence); }

  // Whether timed calls flush caches before them; true at the start.
  void set_flush(bool flush) { flush_ = flush; }

  // One call on the content that the bench holds. `timed`: caches are flushed before it.
  // `next`: what the player will be asked for after that.
  [[nodiscard]] Played play(Player& player,
                            Bench& bench,
                            const problem::Draw& draw,
                            bool timed,
                            const NextCall& next = {});

  // The same for seed and other trusted code: a fault is util::InfraError "E_SEED_FAULT".
  [[nodiscard]] Played play_trusted(Player& player,
                                    Bench& bench,
                                    const problem::Draw& draw,
                                    bool timed,
                                    const NextCall& next = {});

  // Seconds that one more call adds to a round trip to the player's runner, by this process's
  // clock: rows of `few` and of `many` calls on the content that the bench holds, flushed as timed
  // calls are. A row before them is not timed. Throws as play().
  struct RowSizes {
    int few = 1, many = 2;
  };

  struct Slope {
    double seconds = 0;
    Tensors outputs;  // a copy
  };

  [[nodiscard]] Slope slope(Player& player,
                            Bench& bench,
                            const problem::Draw& draw,
                            RowSizes sizes);

  // The same for seed and other trusted code, as play_trusted().
  [[nodiscard]] Slope slope_trusted(Player& player,
                                    Bench& bench,
                                    const problem::Draw& draw,
                                    RowSizes sizes);

  // Several calls as one graph, each on buffers of its own, beside the plan of a bench.
  struct Graph {
    std::int64_t sequence = 0;  // of the player's arm; 0: its plan cannot be had this way
    int calls = 0;
  };

  // A call for each of the draws, on the buffers at `lanes` (Seat::steps_on()): one after another,
  // none before the one before has ended. Throws as play().
  [[nodiscard]] Graph make_graph(Player& player,
                                 Bench& bench,
                                 const std::vector<problem::Draw>& draws,
                                 const std::vector<std::vector<device::Address>>& lanes);

  // Runs it, after a flush as before a timed call where `timed`. Outputs are the caller's. Throws
  // as play().
  struct GraphRun {
    device::RunTime time;
    double flushed = -1;
  };

  [[nodiscard]] GraphRun run_graph(
      Player& player, Bench& bench, const problem::Draw& first, const Graph& graph, bool timed);

  // The same for seed and other trusted code, as play_trusted().
  [[nodiscard]] Graph make_graph_trusted(Player& player,
                                         Bench& bench,
                                         const std::vector<problem::Draw>& draws,
                                         const std::vector<std::vector<device::Address>>& lanes);
  [[nodiscard]] GraphRun run_graph_trusted(
      Player& player, Bench& bench, const problem::Draw& first, const Graph& graph, bool timed);

  [[nodiscard]] Store& store() { return store_; }

  // Fills, runs oracle, seed and `player`, compares. A fault counts only if it recurs on a fresh
  // runner with the seed passing in between, TIMEOUT and OUT_OF_MEMORY alone on the device. A wrong
  // output that only appears after earlier calls of the same process is REJECTED_STATE.
  [[nodiscard]] Call judge(Player& player,
                           const problem::Draw& draw,
                           const Perturbation* change = nullptr);

  // Where judge() has spent its time since this was asked.
  [[nodiscard]] JudgeCosts take_costs() { return std::exchange(costs_, {}); }

  // CompareParameters::least_scale of each output that needs one for this draw; leaves other
  // contents in the bench.
  [[nodiscard]] ByOutput least_scales(Bench& bench, const problem::Draw& draw);

  // A failure where the outputs that the bench holds are no longer those that were copied after the
  // call.
  [[nodiscard]] std::optional<Failure> late_store(Bench& bench, const Tensors& outputs);

  // A failure where a step of one rank stores into an output of another: one more call, step by
  // step. Of plans with ranks and at most 256 steps; others are not looked at.
  [[nodiscard]] std::optional<Failure> stray_store(Player& player,
                                                   Bench& bench,
                                                   const problem::Draw& draw);

  // What to say of a fault in the last call of `player`.
  [[nodiscard]] Failure failure_of(const ArmFault& fault, const Player& player) const;
  [[nodiscard]] static Failure failure_of(const PlanFault& fault, const Player& player);

 private:
  [[nodiscard]] Truth watched(const problem::Draw& draw, const std::function<Truth()>& run);
  void start(Player& player);
  [[nodiscard]] bool starting();
  void start_ahead(const Player& like, int count);
  [[nodiscard]] std::uint64_t poison_number(std::uint64_t call) const;

  // What a call is made on.
  struct Content {
    const problem::Draw& draw;
    const Perturbation* change = nullptr;
  };

  // `plan`: of the draw, where it has been made already.
  static void put(Bench& bench, const Content& content, const problem::FillPlan* plan = nullptr);
  [[nodiscard]] bool crowded() const;  // the device
  [[nodiscard]] Expected expect(Bench& bench,
                                const Content& content,
                                const problem::FillPlan* plan = nullptr);
  [[nodiscard]] std::shared_ptr<const Expected> expected_for(Bench& bench, const Content& content);
  [[nodiscard]] std::variant<Played, Failure> attempt(Player& player,
                                                      Bench& bench,
                                                      const Content& content);
  void explain_stale(Failure& failure, const problem::Draw& draw, Bench& bench, const Tensors& got);
  void explain_state(Failure& failure,
                     Player& player,
                     Bench& bench,
                     const Content& content,
                     const Truth& truth,
                     const Tensors& seed);
  [[nodiscard]] bool right_after(int calls,
                                 Player& player,
                                 Bench& bench,
                                 const Content& content,
                                 const Truth& truth,
                                 const Tensors& seed);
  void check_seed(const problem::Draw& draw,
                  const Truth& truth,
                  Bench& bench,
                  const Tensors& outputs);

  SessionOptions options_;
  problem::Problem problem_;
  Code reference_code_, seed_code_;
  std::optional<Code> candidate_code_, versus_code_;
  device::Device* device_;
  Store store_;
  std::unique_ptr<Engine> engine_;
  Comparer comparer_;
  std::unique_ptr<Oracle> oracle_;
  ExpectedStore kept_;
  std::optional<util::FileLock> lock_;
  util::LockMode lock_mode_ = util::LockMode::shared;
  std::unique_ptr<Bench> bench_;
  expr::IntEnv bench_dims_;
  Player seed_, candidate_, versus_;
  std::vector<RunnerProcess> spares_;
  std::vector<Player> ahead_;    // started and not used yet
  std::vector<Player> retired_;  // killed and not waited for yet
  std::vector<util::Protection> protections_;
  JudgeCosts costs_;
  std::uint64_t calls_ = 0;
  bool flush_ = true;

  struct Earlier {
    expr::IntEnv dims;
    std::shared_ptr<const Expected> expected;
  };

  ByOutput least_;                  // of the draw that is being judged
  std::optional<Earlier> earlier_;  // of the last judged draw, to tell stale outputs
};

}  // namespace sweep::evaluate
