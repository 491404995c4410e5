#pragma once

#include "../e2e/program.h"
#include "../integration/processes.h"
#include "endpoint/builtin.h"
#include "util/process.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace sweep::torture {

// Requests that reached the endpoint, in order, by the hash of their bodies. Safe from threads.
class Asked {
 public:
  void note(const std::string& body);
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::vector<std::string> from(std::size_t first) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> hashes_;
};

// One run of three scripted models on one problem that is disturbed and gone on with until every
// item has ended. The endpoint outlives all its sweeps and counts what is asked. Whatever is done
// to the sweeps, check() and finish() say with failures of the test if
// - an item that had ended changes by a byte,
// - a request is asked again whose answer was in the ledger,
// - the ledger is broken, or verify finds anything,
// - the final table differs from the undisturbed one.
class Campaign {
 public:
  // `name` is a folder below the temporary one; kernels differ from one campaign to the next, so
  // that each is compiled.
  explicit Campaign(unsigned number);
  Campaign(const Campaign&) = delete;
  Campaign& operator=(const Campaign&) = delete;
  ~Campaign();

  [[nodiscard]] const e2e::Workspace& place() const { return place_; }

  [[nodiscard]] std::filesystem::path run() const { return place_.folder() / "runs/r"; }

  // Put in front of the sweep's command line, and into its environment.
  std::vector<std::string> before;
  std::vector<std::string> environment;

  // Starts the sweep, unless it runs.
  void start();
  // The exit code once it has ended, within `seconds`; none: it runs still.
  [[nodiscard]] std::optional<int> ended(double seconds);
  // The sweep and all its processes that live.
  [[nodiscard]] std::vector<test::Running> tree() const;
  // SIGKILL for one process of the role ("" = the sweep itself). False: there is none.
  bool kill_one(const std::string& role, std::mt19937& random);
  // Kills the sweep and waits until nothing of it lives.
  void kill_all();

  // What must hold at any time, also while the sweep is at work.
  void check();
  // Runs the sweep undisturbed until no item is left, then checks everything.
  void finish();

  // Files of items that have ended so far.
  [[nodiscard]] std::size_t ended_items() const { return kept_.size(); }

  // A test took them away: what is made in their place may tell other times.
  void forget_files();

  // Hashes of the answers that the ledger has.
  [[nodiscard]] std::vector<std::string> answers() const;

  // Requests that were asked more often than the undisturbed run asks them: under way when
  // something was killed.
  [[nodiscard]] std::size_t lost_requests() const;

 private:
  [[nodiscard]] std::vector<std::string> variables() const;
  void keep_finished(const std::vector<nlohmann::json>& rows);
  void check_asked(const std::vector<nlohmann::json>& rows);
  [[nodiscard]] std::vector<nlohmann::json> rows() const;

  e2e::Workspace place_;
  Asked asked_;
  std::unique_ptr<endpoint::ScriptServer> server_;
  std::optional<util::Process> sweep_;
  std::map<std::string, std::string> kept_;  // files of ended items, by path: hash
  std::size_t forgotten_ = 0;                // rows that say nothing of files any more
  std::set<std::string> finished_;           // bodies whose answers are in the ledger
  std::size_t seen_ = 0;                     // of asked_, when finished_ was taken
  int session_ = 0;
};

}  // namespace sweep::torture
