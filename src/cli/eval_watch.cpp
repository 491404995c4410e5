#include "cli/command.h"
#include "cli/eval_run.h"
#include "cli/watch_view.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/file_watch.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <array>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

namespace sweep::cli {

namespace fs = std::filesystem;

namespace {

void end_quietly(int /*signal*/) {
  ::_exit(kDone);
}

// Behind the terminal's own "^C" and the line of progress.
void end_on_new_line(int /*signal*/) {
  (void)!::write(STDERR_FILENO, "\n", 1);
  ::_exit(kDone);
}

// Ctrl-C is how watching ends, also where the shell started it in the background with SIGINT
// ignored. Everything printed was flushed, and judge and runners end with this process.
void end_on_interrupt() {
  struct sigaction action {};

  action.sa_handler = ::isatty(STDERR_FILENO) == 1 ? end_on_new_line : end_quietly;
  if (::sigaction(SIGINT, &action, nullptr) != 0) {
    util::throw_errno("sigaction", "--watch");
  }
}

bool clears_screen(const EvalOptions& options) {
  const char* term = std::getenv("TERM");
  return !options.global.quiet && !options.global.json && ::isatty(STDOUT_FILENO) == 1 &&
         term != nullptr && std::string_view(term) != "dumb";
}

class Watching {
 public:
  Watching(const EvalOptions& options, const EvalTask& task, const evaluate::Services& services)
      : options_(options),
        task_(task),
        services_(services),
        clears_(clears_screen(options)),
        watch_(files(options)) {}

  [[noreturn]] void run() {
    show(judge_once(options_, task_, services_));
    while (true) {
      say("watching " + options_.file + "; Ctrl-C ends");
      wait();
      std::optional<Judged> judged;
      try {
        judged = judge_once(options_, task_, services_);
      } catch (const util::Error& error) {
        complain(error);
        continue;
      }
      show(*judged);
    }
  }

 private:
  static std::vector<fs::path> files(const EvalOptions& options) {
    std::vector<fs::path> out{options.file};
    if (!options.versus.empty()) {
      out.emplace_back(options.versus);
    }
    return out;
  }

  void wait() {
    constexpr double kPatience = 1;  // seconds; an editor's rename takes less
    bool told = false;
    while (!watch_.wait(kPatience)) {
      if (const auto missing = watch_.missing(); missing && !told) {
        say(missing->string() + " is gone; waiting for it");
        told = true;
      }
    }
  }

  void show(const Judged& judged) {
    ++count_;
    forget_after_new_opponent();
    std::cout << (options_.global.json ? line(judged) : page(judged)) << std::flush;
    if (!std::cout) {
      throw util::InfraError({"standard output",
                              "the result could not be written",
                              "free space where it goes, or send it elsewhere"},
                             "E_CLI_OUTPUT");
    }
    remember(past_, judged.evaluation);
    if (judged.broken) {
      try {
        std::rethrow_exception(judged.broken);
      } catch (const util::Error& error) {
        complain(error);
      }
    }
  }

  // Speedups over two texts of --vs are not compared.
  void forget_after_new_opponent() {
    std::error_code error;
    const auto saved = fs::last_write_time(options_.versus, error);
    if (saved != opponent_saved_) {
      past_ = {};
      opponent_saved_ = saved;
    }
  }

  [[nodiscard]] std::string line(const Judged& judged) const {
    nlohmann::json body = to_json(judged, task_);
    body["watch"] = {{"evaluation", count_}, {"time", util::iso_time(util::RealClock().wall())}};
    return body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }

  [[nodiscard]] std::string page(const Judged& judged) const {
    const std::string change =
        change_text(past_, judged.evaluation, Style::for_stdout(), output_columns());
    const std::string head =
        clears_ ? "\x1b[H\x1b[2J"
        : options_.global.quiet
            ? ""
            : fmt::format("---- {}   {}\n", count_, util::iso_time(util::RealClock().wall()));
    return head + judged_text(judged, options_) + change;
  }

  // For whoever sits before a terminal; never into a file or pipe.
  void say(const std::string& text) const {
    if (!options_.global.quiet && ::isatty(STDERR_FILENO) == 1) {
      std::cerr << Style::for_stderr().dim(" " + util::printable(text)) << '\n';
    }
  }

  static void complain(const util::Error& error) {
    std::cerr << "sweep: " << error.what() << " [" << error.code() << "]\n";
  }

  const EvalOptions& options_;
  const EvalTask& task_;
  const evaluate::Services& services_;
  bool clears_;
  util::FileWatch watch_;
  WatchPast past_;
  fs::file_time_type opponent_saved_;
  int count_ = 0;
};

}  // namespace

void run_watch(const EvalOptions& options,
               const EvalTask& task,
               const evaluate::Services& services) {
  end_on_interrupt();
  Watching(options, task, services).run();
}

}  // namespace sweep::cli
