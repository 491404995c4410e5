#pragma once

#include "queue/budget.h"
#include "queue/device_probe.h"
#include "queue/duplicates.h"
#include "queue/endings.h"
#include "queue/item_watch.h"
#include "queue/lane_health.h"
#include "queue/live.h"
#include "queue/prepare.h"
#include "queue/run_log.h"
#include "queue/scheduler.h"
#include "queue/share.h"
#include "queue/signals.h"
#include "queue/view.h"
#include "queue/worker.h"
#include "util/process.h"
#include "wire/channel.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sweep::queue {

// Drives the items of one run to their end: starts workers, hands out items, is the ledger's only
// writer, requeues the item of a dead worker once, stops on SIGINT, SIGTERM and SIGHUP.
// Single-threaded; its workers die with it.
class Supervisor {
 public:
  struct Setup {
    std::vector<Task> tasks;  // all of the run; finished ones are counted, not run
    std::vector<WorkerSetup> workers;
    std::vector<std::string> worker_env;
    std::map<std::string, std::int64_t> priorities;  // by model; 0 where there is none
    std::optional<double> budget_usd;
    std::optional<std::int64_t> budget_tokens;
    double item_timeout = 0;  // seconds of one item at work; 0: none. Its worker ends it then
    double grace = 60;        // after which a worker that does not do so is killed
    std::string url;
    std::string config;  // the file, as its user named it
    std::filesystem::path program;
    // Looks at a device that failed; unset: probe_device() of `program`.
    std::function<std::unique_ptr<LaneProbe>(const device::Id&)> probe;
    // All rows of a run whose ledger does not have them all, in order; empty: it has.
    std::vector<record::Row> before;
    // This task's part of a run that several tasks share; null: nobody else works on it. Outlives
    // the supervisor. Then `before` are the rows of all, and `spent` those that the budget counts.
    Share* share = nullptr;
    std::optional<std::vector<record::Row>> spent;
    RunLog* log = nullptr;  // null: what is said is kept nowhere. Outlives the supervisor
  };

  Supervisor(Setup setup,
             const record::RunDir& run,
             record::Ledger& ledger,
             StopSignals& signals,
             View& view);
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;
  ~Supervisor();

  // refused: some model's first requests were all refused for its key, account or address, so that
  // none of its items goes on. devices: every device failed again and again.
  enum class End { done, interrupted, budget, refused, devices };

  // Returns when nothing runs and nothing may start. InfraError when the run's folder
  // cannot be written, by this process or a worker.
  End run();

  [[nodiscard]] const ViewState& state() const { return state_; }

  // Those whose first requests were all refused.
  [[nodiscard]] const std::set<std::string>& stopped_models() const { return stopped_models_; }

  // Items of a shared run that other tasks had.
  [[nodiscard]] std::size_t elsewhere() const { return elsewhere_; }

  // Why it ended before its items did; empty: it did not.
  [[nodiscard]] const std::string& stop_text() const { return stop_text_; }

 private:
  static constexpr int kMostDeaths = 3;  // of a worker; then its place stays empty

  struct Worker {
    int id = 0;
    std::optional<util::Process> process;
    std::optional<wire::Channel> channel;
    std::size_t lane = 0;
    bool retired = false;  // told to stop, or given up after repeated deaths
    bool parked = false;   // asked for an item while its device is being probed
    bool idle = false;     // asked for an item while other tasks may leave some
    int deaths = 0;
    ItemWatch watch;
    bool limited = false;          // waits for its model's limits
    std::int64_t open_wait = 0;    // number of the last wait that was begun
    std::int64_t closed_wait = 0;  // of the last that ended, from there or from here

    struct Asked {
      record::Spend most;
      double since = 0;
    };

    std::optional<Asked> asked;  // for money that others may use
  };

  [[nodiscard]] static double now();  // monotonic seconds
  void start(Worker& worker);
  void poll_once();
  void read(Worker& worker);
  void commit_rows();
  void note_request(Worker& worker, const record::Row& row);
  void handle(Worker& worker, const nlohmann::json& body);
  void hand_out(Worker& worker);
  void hand_out(Worker& worker, const config::WorkItem& item);
  // The next item for the worker that no other task has.
  [[nodiscard]] std::optional<config::WorkItem> take(Worker& worker);
  void tick_share();
  void ask_for_deferred();
  void abandon(Worker& worker);
  [[nodiscard]] std::vector<record::Row> rows_of(const config::WorkItem& item) const;
  void done(Worker& worker, const nlohmann::json& body);
  void held(Worker& worker, const std::string& why);
  void fault(Worker& worker, const std::string& why);
  void check_probe(bool ended);
  void start_probe();
  void take_out(std::size_t lane, const std::string& why);
  void revive();
  [[nodiscard]] bool no_device() const;  // every lane is out, and items are left
  void lost(Worker& worker, const std::string& why);
  void give_up(const config::WorkItem& item, const std::string& why);
  static void tell(Worker& worker, const nlohmann::json& body);  // nothing if it is gone
  void check_budget();
  void ask_budget(Worker& worker);
  void tell_judged(Worker& worker, const nlohmann::json& body);
  void ask_again();
  void answer_budget(Worker& worker, bool allowed);
  void wait(Worker& worker, const nlohmann::json& body);
  void trouble(Worker& worker, const nlohmann::json& body, bool paused);
  void tell_trouble(const std::string& model, const std::string& trouble, const std::string& line);
  void recovered(const std::string& model);
  // The view's time in so many seconds; none: they are not known.
  [[nodiscard]] std::optional<double> view_time(double seconds) const;
  void end_wait(Worker& worker);
  void refused(Worker& worker, const std::string& text);
  void stop_model(const std::string& model, const std::string& text);
  [[nodiscard]] std::string model_of(const Worker& worker) const;
  [[nodiscard]] std::string label_of(const Worker& worker) const;
  void begin_stop();
  void check_stop();
  void check_deadlines();
  [[nodiscard]] const Task* task_of(const config::WorkItem& item) const;
  [[nodiscard]] ModelRow& row_of(const std::string& model);
  void count(const config::WorkItem& item, const std::string& outcome);
  [[nodiscard]] std::string file_of(const config::WorkItem& item) const;  // in the run's folder
  void count_finished(const Task& task, const Endings& endings);
  [[nodiscard]] std::string lane_name(std::size_t lane) const;
  // False: the item went to another task, and nothing counts.
  bool record_end(const config::WorkItem& item, const Ending& ending);
  void say(const std::string& line);

  Setup setup_;
  const record::RunDir& run_;
  record::Ledger& ledger_;
  StopSignals& signals_;
  View& view_;
  Scheduler scheduler_;
  std::set<std::string> begun_;             // items handed out by this process
  std::size_t first_row_ = 0;               // of the ledger that `before` does not have
  std::vector<config::WorkItem> deferred_;  // claimed by a task that may be dead
  std::size_t elsewhere_ = 0;               // items that other tasks have or had
  double asked_deferred_ = 0;
  util::Self self_;
  std::vector<std::unique_ptr<Worker>> workers_;

  struct Staged {
    Worker* worker = nullptr;
    record::Row row;
  };

  std::vector<Staged> staged_;          // rows to be told of once they are on the disk
  std::vector<device::Id> lane_names_;  // by lane
  LaneHealth health_;

  struct Probe {
    std::size_t lane = 0;
    std::unique_ptr<LaneProbe> probe;
    double since = 0;
  };

  std::optional<Probe> probe_;  // one at a time
  ViewState state_;
  Live live_;
  double started_ = 0;
  double stop_since_ = -1;
  Budget budget_;
  Duplicates duplicates_;
  bool over_budget_ = false;
  std::map<std::string, int> refusals_;  // of models that never answered
  std::set<std::string> answered_;       // models
  std::set<std::string> stopped_models_;
  std::map<std::string, std::string> told_;  // by model: the trouble that its user knows of
  std::string stop_text_;
};

}  // namespace sweep::queue
