#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::cli {

// Process exit codes; scripts rely on them.
inline constexpr int kDone = 0;
inline constexpr int kNotCorrect = 1;  // eval: the outcome is not `correct`
inline constexpr int kUsage = 2;       // usage, config, bad input
inline constexpr int kInfra = 3;       // the machine, the device or an endpoint failed
inline constexpr int kNotMet = 4;      // eval: correct, but not what --require asks
inline constexpr int kOtherRules =
    5;  // verify: nothing is wrong, but today's rules give other numbers
inline constexpr int kInterrupted = 130;

// A word after `sweep`, e.g. "eval". `run` gets the arguments after the word and returns the exit
// code; it throws util::Error for everything that a user must be told.
struct Command {
  std::string_view name;
  std::string_view summary;  // one line for --help
  int (*run)(const std::vector<std::string>& arguments);
};

[[nodiscard]] std::span<const Command> commands();

int run_baseline(const std::vector<std::string>& arguments);
int run_calibrate(const std::vector<std::string>& arguments);
int run_eval(const std::vector<std::string>& arguments);
int run_gc(const std::vector<std::string>& arguments);
int run_import(const std::vector<std::string>& arguments);
int run_join(const std::vector<std::string>& arguments);
int run_new(const std::vector<std::string>& arguments);
int run_problems(const std::vector<std::string>& arguments);
int run_compare(const std::vector<std::string>& arguments);
int run_doctor(const std::vector<std::string>& arguments);
int run_sweep(const std::vector<std::string>& arguments);  // `sweep CONFIG.toml ...`
int run_quickstart(const std::vector<std::string>& arguments);
int run_probe(const std::vector<std::string>& arguments);
int run_publish(const std::vector<std::string>& arguments);
int run_replay(const std::vector<std::string>& arguments);
int run_reeval(const std::vector<std::string>& arguments);
int run_report(const std::vector<std::string>& arguments);
int run_selftest(const std::vector<std::string>& arguments);
int run_status(const std::vector<std::string>& arguments);
int run_stop(const std::vector<std::string>& arguments);
int run_submit(const std::vector<std::string>& arguments);
int run_verify(const std::vector<std::string>& arguments);

// The whole program: picks the command, prints errors as "sweep: where: what; next" on stderr,
// returns the exit code. `program` is argv[0]: under the name `probe` the program is `sweep probe`.
int run(std::string_view program, const std::vector<std::string>& arguments);

}  // namespace sweep::cli
