#pragma once

#include "queue/budget.h"
#include "queue/duplicates.h"
#include "queue/prepare.h"
#include "queue/scheduler.h"
#include "queue/signals.h"
#include "queue/view.h"
#include "queue/worker.h"
#include "util/process.h"
#include "wire/channel.h"

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
    std::optional<double> budget_usd;
    std::optional<std::int64_t> budget_tokens;
    double item_timeout = 0;  // seconds of one item, waiting included; 0: none
    std::string url;
    std::string config;  // the file, as its user named it
    std::filesystem::path program;
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
  // none of its items goes on.
  enum class End { done, interrupted, budget, refused };

  // Returns when nothing runs and nothing may start. InfraError when the run's folder
  // cannot be written, by this process or a worker.
  End run();

  [[nodiscard]] const ViewState& state() const { return state_; }

  // Those whose first requests were all refused.
  [[nodiscard]] const std::set<std::string>& stopped_models() const { return stopped_models_; }

  // Why it ended before its items did; empty: it did not.
  [[nodiscard]] const std::string& stop_text() const { return stop_text_; }

 private:
  struct Worker {
    int id = 0;
    std::optional<util::Process> process;
    std::optional<wire::Channel> channel;
    bool retired = false;  // told to stop, or given up after repeated deaths
    int deaths = 0;
    double item_since = 0;  // moved on by what it waited
    std::optional<double> wait_since;
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
  void handle(Worker& worker, const nlohmann::json& body);
  void hand_out(Worker& worker);
  void done(Worker& worker, const nlohmann::json& body);
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
  void record_end(const config::WorkItem& item, const std::string& outcome);
  void say(const std::string& line);

  Setup setup_;
  const record::RunDir& run_;
  record::Ledger& ledger_;
  StopSignals& signals_;
  View& view_;
  Scheduler scheduler_;
  std::set<std::string> begun_;  // items handed out by this process
  util::Self self_;
  std::vector<std::unique_ptr<Worker>> workers_;
  ViewState state_;
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
