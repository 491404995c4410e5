#pragma once

#include "agent/agent.h"
#include "config/config.h"
#include "queue/signals.h"
#include "wire/channel.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <map>
#include <string>

namespace sweep::queue {

// What a worker is told once, before its first item.
struct WorkerSetup {
  std::string toml;  // the configuration's text as the supervisor read it
  std::string file;
  std::string root;
  std::string run_name;  // "" = as configured
  std::string run_folder;
  std::string items_folder;          // "" = run_folder; of a task: where its items' files lie
  std::string task;                  // whose part of the limits is its own; "": all of them
  std::int64_t tasks = 1;            // that share the limits of models
  agent::Surroundings surroundings;  // builtin_url is chosen by the item's model
  std::map<std::string, std::string> builtin_urls;  // "demo" -> "http://127.0.0.1:PORT/v1"
};

[[nodiscard]] nlohmann::json to_json(const WorkerSetup& setup);
[[nodiscard]] WorkerSetup setup_from_json(const nlohmann::json& json);  // throws wire::WireError

// The largest message between supervisor and worker.
inline constexpr std::size_t kMaxMessage = std::size_t{16} << 20;

// What leads one item; agent::run_item outside tests.
using ItemRunner = std::function<record::Trajectory(const config::SweepConfig&,
                                                    const config::WorkItem&,
                                                    const agent::Surroundings&,
                                                    record::ItemServices&)>;

// Takes items over `channel` until told to stop or a stop signal has come. A runner that throws
// leaves its item as infra_error; WireError when the supervisor is gone.
void serve(wire::Channel& channel, StopSignals& signals, const ItemRunner& runner);

// Body of `sweep __worker`: takes items from the supervisor on wire::Channel::kRoleFd until told to
// stop or the channel ends. SIGTERM: leaves the current item in_progress and ends. Returns the exit
// code.
[[nodiscard]] int worker_main();

}  // namespace sweep::queue
