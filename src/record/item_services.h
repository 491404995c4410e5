#pragma once

#include "record/trajectory.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace sweep::record {

// A finished request or tool call of an item, as its ledger row tells it; the texts are artifacts.
struct Finished {
  std::int64_t index = 0;    // requests and tool calls are counted apart, each from 0
  std::string key_sha256;    // what was asked: hash of the request body without secrets, or of tool
                             // name and arguments
  std::string input_sha256;  // artifact: prompt, or tool arguments
  std::string output_sha256;  // artifact: response, or result; empty: failed without one
  nlohmann::json facts = nlohmann::json::object();  // status, usage, cost, latency, error, success:
                                                    // enough to go on without asking again
};

struct Progress {
  std::int64_t turn = 0;
  std::string state;        // "waiting", "model", "compile_kernel", "submit_kernel", "429: 38 s"
  std::string event;        // one line worth showing, or empty
  std::int64_t tokens = 0;  // spent by the item so far
  std::optional<double> cost_usd;  // likewise
};

// What the runner of one item may ask of the queue; the queue's worker implements it over its
// channel to the supervisor, tests implement it in memory. All calls block; InfraError when the
// supervisor is gone or the disk fails.
class ItemServices {
 public:
  virtual ~ItemServices() = default;

  // Stores bytes in the run's artifacts and returns their hash.
  [[nodiscard]] virtual std::string put_artifact(std::string_view bytes) = 0;
  [[nodiscard]] virtual std::string get_artifact(const std::string& sha256) = 0;

  // Finished work of an interrupted item, in order. Replay: before asking for request `index`, take
  // it if present and its key equals; if the key differs, stop replaying (the rest is abandoned)
  // and ask anew.
  [[nodiscard]] virtual std::optional<Finished> finished_request(std::int64_t index) = 0;
  [[nodiscard]] virtual std::optional<Finished> finished_tool(std::int64_t index) = 0;

  // Appends the terminal row; returns its hash once it is fsynced.
  virtual std::string record_request(const Finished& request) = 0;
  virtual std::string record_tool(const Finished& tool) = 0;

  // Atomically rewrites the item's trajectory file (and kernel file).
  virtual void save(const Trajectory& trajectory) = 0;

  // Holds one of the model's permits (and a global one) while alive; blocks until free. Release it
  // during back-off.
  class Permit {
   public:
    virtual ~Permit() = default;
  };

  [[nodiscard]] virtual std::unique_ptr<Permit> permit() = 0;

  virtual void progress(const Progress& progress) = 0;

  // Asked before each request. False once the run has spent its [run] budget_usd: ask nothing more,
  // leave the item in_progress and return; it goes on when the budget is raised.
  [[nodiscard]] virtual bool within_budget() = 0;

  // True once the sweep stops: finish writes, leave the item in_progress and return.
  [[nodiscard]] virtual bool stopping() = 0;
};

}  // namespace sweep::record
