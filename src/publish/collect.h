#pragma once

#include "publish/redact.h"
#include "record/run_dir.h"

#include <string>
#include <vector>

namespace sweep::publish {

// What the publishing process knows of its surroundings that must not leave.
struct Surroundings {
  std::vector<std::string> hosts;  // its own name, long and short
  std::vector<std::string> users;  // its own name, as the system and the environment have it
  std::vector<std::string> paths;  // home, working folder, the run's folder
};

[[nodiscard]] Surroundings surroundings_of_process(const record::RunDir& run);

struct CollectOptions {
  std::vector<std::string> given;  // --redact: taken out wherever they stand
  bool reveal_held_out = false;    // shapes of held-out draws stay
};

// All that the run's files and the surroundings name: hosts, users, private endpoints and their
// deployments, values of the run's key variables that are set now, GPUs, shapes of held-out draws.
[[nodiscard]] std::vector<Secret> secrets_of(const record::RunDir& run,
                                             const Surroundings& surroundings,
                                             const CollectOptions& options);

// False for the services that everybody can call; their addresses stay.
[[nodiscard]] bool is_private_endpoint(const std::string& base_url);

// "gpu7.lab:8000" of "http://gpu7.lab:8000/v1"; empty: no URL.
[[nodiscard]] std::string authority_of(const std::string& base_url);

}  // namespace sweep::publish
