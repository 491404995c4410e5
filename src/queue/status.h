#pragma once

#include "record/ledger.h"
#include "record/run_dir.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sweep::queue {

// Where a run stands by its ledger alone, so that any process can tell while another one writes it,
// however many items there are.
struct RunStatus {
  enum class State {
    running,      // a sweep holds the run's lock
    finished,     // every planned item has an end
    stopped,      // the last sweep ended by itself before its items did (signal, budget, refusal)
    interrupted,  // the last sweep died without a last word
  };

  struct Model {
    std::string name;
    std::size_t items = 0, ended = 0;
    std::map<std::string, std::size_t> outcomes;  // of items that have an end
    std::int64_t requests = 0, tokens = 0;        // answered ones; of prompts and answers
    std::int64_t nano_usd = 0;                    // answers that counted and answers that were lost
    bool price_known = true;
  };

  // An item that has a beginning and no end.
  struct Open {
    std::string item;            // id
    std::string since;           // when it was begun last
    std::string last;            // "request 3", "tool 2", of its newest row; empty: nothing yet
    std::string at;              // when that was recorded
    std::string state;           // what it does or waits for now: "waiting: rpm"; empty: not known
    std::optional<double> next;  // seconds until that ends with a request
  };

  // A task that said that it works on the run, or died without a goodbye.
  struct Task {
    std::string name, host;
    std::int64_t pid = 0;
    bool alive = false;
    double age_s = 0;  // since its last sign of life, by this machine's clock
  };

  State state = State::interrupted;
  bool imported = false;  // others' results; their outcome is "foreign" here
  std::string holder;     // "process 12 on HOST"; empty: none, or it cannot be told
  std::size_t rows = 0;
  std::string problem;      // of a chain; empty: none. Figures are those of the rows before it
  std::vector<Task> tasks;  // of a run that several tasks share
  std::size_t chains = 0;   // of tasks, beside the root
  std::string begun, last;  // times of the first and the last row
  int starts = 0;           // processes that worked on it
  std::size_t items = 0, ended = 0;
  std::map<std::string, std::size_t> outcomes;
  std::vector<Model> models;  // by name
  std::vector<Open> open;     // in the order of their beginnings; of tasks by chain
};

// Reads the ledger and the artifact with the plan. InfraError where the ledger cannot be read.
[[nodiscard]] RunStatus status_of(const record::RunDir& run);

// The same from rows; `lock_held`: a sweep works on the run now.
[[nodiscard]] RunStatus status_of(const std::vector<record::Row>& rows,
                                  const std::vector<record::ItemName>& planned,
                                  bool lock_held);

[[nodiscard]] nlohmann::json to_json(const RunStatus& status, const record::RunDir& run);

[[nodiscard]] std::string_view name(RunStatus::State state);

}  // namespace sweep::queue
