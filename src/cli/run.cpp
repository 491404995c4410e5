#include "cli/command.h"
#include "cli/options.h"
#include "util/error.h"
#include "util/fd.h"
#include "util/text.h"

#include <array>
#include <csignal>
#include <filesystem>
#include <iostream>

namespace sweep::cli {

namespace {

constexpr std::array kCommands = {
    Command{
        "quickstart", "one model, three turns on one problem: check, run, report", run_quickstart},
    Command{"new", "print a starter kernel for a problem that compiles and passes", run_new},
    Command{"eval", "judge one kernel: correct? faster than the seed? how sure?", run_eval},
    Command{"problems", "list, show, check, admit or start problems", run_problems},
    Command{
        "probe", "ask each model for an answer, a stream and a tool call before a run", run_probe},
    Command{"replay",
            "re-check a finished run offline: its conversations and its verdicts",
            run_replay},
    Command{"reeval", "judge a run's kernels again, into a copy of the run", run_reeval},
    Command{"import", "copy PopcornBench's trajectories into a run, for reading", run_import},
    Command{"submit", "run a sweep as a job array of Slurm", run_submit},
    Command{"join", "end what the tasks of an array left, and build the report", run_join},
    Command{"status", "say where a run stands, also while it runs", run_status},
    Command{"stop", "end the sweep that works on a run; it goes on later", run_stop},
    Command{"report", "build the pages of a run, and its tables as files", run_report},
    Command{"compare", "hold runs against each other on the same problems", run_compare},
    Command{"publish", "write a copy of a run without private names, to be shown", run_publish},
    Command{"verify", "check a run's ledger and artifacts byte by byte", run_verify},
    Command{"gc", "delete what no run needs any more", run_gc},
    Command{
        "selftest", "judge cheats and honest kernels: does the judge still hold?", run_selftest},
    Command{
        "calibrate", "measure what this device reaches and how much it scatters", run_calibrate},
    Command{"baseline",
            "time seeds and vendor libraries on this GPU, or show their times",
            run_baseline},
    Command{"doctor", "say what this machine can do and what it lacks", run_doctor},
};

constexpr std::string_view kVersion = SWEEP_VERSION;

void print_help() {
  std::cout
      << "sweep " << kVersion << ": how well language models write GPU kernels\n\n"
      << "usage:\n"
      << "  sweep CONFIG.toml [--dry-run] [options]   run or resume a sweep (sweep run --help)\n";
  for (const Command& command : kCommands) {
    std::cout << "  sweep " << command.name << std::string(12 - command.name.size(), ' ')
              << command.summary << '\n';
  }
  std::cout << "\nexit codes: 0 done (eval: correct), 1 not correct, 2 usage or config, 3 "
               "infrastructure, 4 correct but not as --require asks, 130 interrupted\n"
            << "each command has its own --help; sweep --help config lists every key of a config\n";
}

[[noreturn]] void unknown_command(const std::string& word) {
  std::vector<std::string> known;
  for (const Command& command : kCommands) {
    known.emplace_back(command.name);
  }
  std::string next = "see `sweep --help`";
  if (const auto near = util::closest(word, known)) {
    next = "did you mean `sweep " + *near + "`? (" + next + ")";
  }
  const bool file = word.find('.') != std::string::npos || word.find('/') != std::string::npos;
  throw util::UsageError({util::printable(word.substr(0, 80)) + (word.size() > 80 ? "..." : ""),
                          file ? "no such config file" : "unknown command",
                          next},
                         file ? "E_CLI_NO_CONFIG" : "E_CLI_UNKNOWN_COMMAND");
}

// After the program's name, which a message about its options begins with already.
std::string named(const std::string& text) {
  return text.starts_with("sweep: ") || text.starts_with("sweep ") ? text : "sweep: " + text;
}

int dispatch(const std::vector<std::string>& arguments) {
  if (arguments.size() == 2 && arguments[0] == "help") {
    return dispatch({arguments[1], "--help"});
  }
  if (arguments == std::vector<std::string>{"--help", "config"}) {
    return run_sweep(arguments);
  }
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" ||
      arguments[0] == "help") {
    print_help();
    return arguments.empty() ? kUsage : kDone;
  }
  if (arguments[0] == "--version") {
    std::cout << "sweep " << kVersion << '\n';
    return kDone;
  }
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  for (const Command& command : kCommands) {
    if (command.name == arguments[0]) {
      return command.run(rest);
    }
  }
  if (arguments[0] == "run") {
    return run_sweep(rest);
  }
  const bool config = arguments[0].ends_with(".toml") || arguments[0].starts_with("-");
  std::error_code error;
  if (!config && !std::filesystem::exists(arguments[0], error)) {
    unknown_command(arguments[0]);
  }
  return run_sweep(arguments);
}

}  // namespace

std::span<const Command> commands() {
  return kCommands;
}

int run(std::string_view program, const std::vector<std::string>& arguments) {
  // A file that outgrows a limit must be an error of the write, not a silent death.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    util::occupy_standard_fds();
    const bool probe = std::filesystem::path(program).filename() == "probe";
    const int code = probe ? run_probe(arguments) : dispatch(arguments);
    if (!std::cout.flush()) {
      throw util::InfraError({"standard output",
                              "the result could not be written",
                              "free space where it goes, or send it elsewhere"},
                             "E_CLI_OUTPUT");
    }
    return code;
  } catch (const HelpShown&) {
    return kDone;
  } catch (const util::Interrupted& error) {
    std::cerr << named(error.what()) << '\n';
    return kInterrupted;
  } catch (const util::UsageError& error) {
    std::cerr << named(error.what()) << " [" << error.code() << "]\n";
    return kUsage;
  } catch (const util::Error& error) {
    std::cerr << named(error.what()) << " [" << error.code() << "]\n";
    return kInfra;
  } catch (const std::bad_alloc&) {
    std::cerr << "sweep: out of memory [E_MEMORY]\n";
    return kInfra;
  } catch (const std::exception& error) {
    std::cerr << "sweep: internal error: " << error.what()
              << "; please report it with the command [E_INTERNAL]\n";
    return kInfra;
  }
}

}  // namespace sweep::cli
