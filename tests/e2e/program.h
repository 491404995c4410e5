#pragma once

#include "util/process.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace sweep::e2e {

// A sweep named r of one item: the model that makes a mistake, mends it and wins. Ends in the
// model's table, so that a test may add keys.
inline constexpr const char* kOneItem = R"([run]
name = "r"
problems = ["level1/3"]
device = "cpu"
num_correct_trials = 1
submit_num_correct_trials = 1
[report]
serve = false
[[models]]
name = "demo-fixer"
api_kind = "openai_chat"
base_url = "builtin:demo"
)";

// What a user sees of one run of the built program.
struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
};

// A folder of its own for a test, removed afterwards; the program's cache is shared by all tests of
// a build.
class Workspace {
 public:
  Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace();

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

  // Writes a file below the folder and returns its path.
  std::filesystem::path write(const std::string& name, const std::string& text) const;

  // Runs `sweep ARGUMENTS...` in the folder as a user would (a plain environment in which `env`
  // replaces and adds), at most `seconds`.
  [[nodiscard]] Outcome sweep(const std::vector<std::string>& arguments,
                              const std::vector<std::string>& env = {},
                              double seconds = 240) const;

  // Any other program in the folder, with the same environment.
  [[nodiscard]] Outcome command(const std::vector<std::string>& argv, double seconds = 240) const;

  // The same on a machine that lacks something; `what` is as tests/support/without.cpp takes it.
  // Code kCannot when this machine does not let a test take it away.
  static constexpr int kCannot = 77;
  [[nodiscard]] Outcome sweep_without(const std::vector<std::string>& what,
                                      const std::vector<std::string>& arguments) const;
  [[nodiscard]] Outcome run_without(const std::vector<std::string>& what,
                                    const std::vector<std::string>& command) const;

  [[nodiscard]] static std::string program() { return SWEEP_BINARY; }

  // The same with --json, parsed. Fails the test when standard output is no JSON document.
  [[nodiscard]] nlohmann::json sweep_json(std::vector<std::string> arguments) const;

  // How many rows of a kind the ledger of a run has.
  [[nodiscard]] int rows(const std::string& run, const std::string& kind) const;

 private:
  [[nodiscard]] Outcome start(const std::string& program,
                              const std::vector<std::string>& argv,
                              const std::vector<std::string>& env,
                              double seconds) const;

  std::filesystem::path folder_;
};

}  // namespace sweep::e2e
