#include "cli/command.h"
#include "cli/installation.h"
#include "cli/options.h"
#include "cli/selftest.h"
#include "cli/selftest_view.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <mutex>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

namespace sweep::cli {

namespace {

constexpr int kMostJobs = 8;
// On the cpu device nothing is timed for its own sake: two pairs of processes are enough to see
// timed calls judged.
constexpr int kCpuReplicates = 2;

struct SelftestOptions {
  std::string device = "cuda";
  std::string only;
  std::vector<std::string> filters;
  bool off_in_turn = false;
  int jobs = 0;
  GlobalOptions global;
};

void declare(CLI::App& app, SelftestOptions& o) {
  app.add_option("--device", o.device, "cpu, cuda or cuda:N")->capture_default_str();
  app.add_option("--only", o.only, "one half of the corpus")
      ->check(CLI::IsMember({"exploits", "honest"}));
  app.add_option("--filter", o.filters, "kernels whose name contains this (repeatable)");
  app.add_flag("--off-in-turn",
               o.off_in_turn,
               "then judge again with each defence switched off: what does it alone catch?");
  app.add_option(
         "--jobs", o.jobs, "kernels judged at a time (default: half of the cores, at most 8)")
      ->check(CLI::Range(1, 64));
  add_global_options(app, o.global);
}

int default_jobs() {
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()) / 2, 1, kMostJobs);
}

// The kernel begun last, on one line of a terminal that later rows replace.
class BusyLine {
 public:
  explicit BusyLine(bool on) : on_(on && ::isatty(STDERR_FILENO) == 1) {}

  void set_total(std::size_t total) {
    const std::scoped_lock guard(mutex_);
    total_ = total;
    begun_ = 0;
  }

  void show(const std::string& what) {
    const std::scoped_lock guard(mutex_);
    ++begun_;
    if (on_) {
      std::cerr << "\r\x1b[K" << fmt::format(" {}/{} {}", begun_, total_, what) << std::flush;
    }
  }

  // Prints `text` on standard output in place of the line.
  void print(const std::string& text) {
    const std::scoped_lock guard(mutex_);
    clear();
    std::cout << text << std::flush;
  }

  void clear() const {
    if (on_) {
      std::cerr << "\r\x1b[K" << std::flush;
    }
  }

 private:
  bool on_;
  std::mutex mutex_;
  std::size_t begun_ = 0, total_ = 0;
};

std::vector<const Specimen*> chosen(const std::vector<Specimen>& corpus, const SelftestOptions& o) {
  std::vector<const Specimen*> all;
  for (const Specimen& specimen : corpus) {
    const bool half = o.only.empty() || (o.only == "exploits") == specimen.exploit;
    const bool named =
        o.filters.empty() || std::ranges::any_of(o.filters, [&](const std::string& part) {
          return specimen.name.find(part) != std::string::npos;
        });
    if (half && named) {
      all.push_back(&specimen);
    }
  }
  if (all.empty()) {
    throw util::UsageError({"sweep selftest", "no kernel of the corpus is meant", "see --filter"},
                           "E_CLI_SELFTEST");
  }
  return all;
}

class Selftest {
 public:
  Selftest(const SelftestOptions& options, std::vector<const Specimen*> specimens)
      : options_(options),
        specimens_(std::move(specimens)),
        view_(specimens_, Style::for_stdout(), output_columns()),
        busy_(!options.global.quiet && !options.global.json) {
    bench_.device = device::parse_id(options.device);
    bench_.services = evaluation_services();
    bench_.services.more_problems.push_back(corpus_folder() / "data/problems");
    bench_.allow_unsandboxed = options.global.allow_unsandboxed;
    bench_.jobs = options.jobs > 0 ? options.jobs : default_jobs();
    if (bench_.device.kind == device::Kind::cpu) {
      bench_.effort.replicates = kCpuReplicates;
    }
  }

  int run() {
    util::RealClock clock;
    const double begin = clock.monotonic();
    result_.device = device::text(bench_.device);
    result_.version = SWEEP_VERSION;
    result_.device_name = device_name();
    say(view_.head(result_.device, result_.device_name));
    result_.findings = examine(specimens_, {}, true);
    if (options_.off_in_turn) {
      take_turns();
    }
    result_.seconds = clock.monotonic() - begin;
    busy_.clear();
    if (options_.global.json) {
      std::cout << to_json(result_).dump(2) << '\n';
    } else {
      std::cout << view_.totals(result_);
    }
    return exit_code();
  }

 private:
  [[nodiscard]] std::string device_name() const {
    for (const device::Listed& listed : device::list()) {
      if (device::text(listed.id) == result_.device) {
        if (!listed.usable) {
          throw util::UsageError({result_.device, listed.reason, "see `sweep doctor`"},
                                 "E_CLI_DEVICE");
        }
        return listed.info.name;
      }
    }
    throw util::UsageError({result_.device, "no such device", "see `sweep doctor`"},
                           "E_CLI_DEVICE");
  }

  void say(const std::string& text) {
    if (!options_.global.json) {
      busy_.print(text);
    }
  }

  std::vector<Finding> examine(const std::vector<const Specimen*>& specimens,
                               const evaluate::DefenceSet& off,
                               bool rows) {
    busy_.set_total(specimens.size());
    std::optional<bool> half;
    return examine_all(
        specimens,
        bench_,
        off,
        [&](const Finding& finding) {
          const bool loud = !options_.global.quiet || finding.bad();
          if (rows && loud && half != finding.specimen->exploit) {
            half = finding.specimen->exploit;
            say(view_.columns(*half));
          }
          if (rows && loud) {
            say(view_.row(finding));
          }
        },
        [&](const Specimen& specimen) {
          busy_.show((off.empty() ? "" : evaluate::names(off).front() + " off: ") + specimen.name);
        });
  }

  void take_turns() {
    say("\n " + std::string("with each defence off: exploits that then pass") + "\n");
    for (const evaluate::DefenceInfo& info : evaluate::defences()) {
      if (!info.can_be_off) {
        continue;
      }
      const auto again = caught_or_named(result_.findings, info.defence);
      if (again.empty()) {
        continue;
      }
      result_.off_in_turn.push_back({info.defence, examine(again, {info.defence}, false)});
      say(view_.without(result_.off_in_turn.back()));
    }
  }

  [[nodiscard]] int exit_code() const {
    const auto has = [this](auto test) { return std::ranges::any_of(result_.findings, test); };
    if (has([](const Finding& finding) { return finding.fate == Fate::broken; })) {
      return kInfra;
    }
    return has([](const Finding& finding) { return finding.bad(); }) ? kNotCorrect : kDone;
  }

  const SelftestOptions& options_;
  std::vector<const Specimen*> specimens_;
  SelftestView view_;
  BusyLine busy_;
  SelftestBench bench_;
  SelftestResult result_;
};

}  // namespace

int run_selftest(const std::vector<std::string>& arguments) {
  SelftestOptions options;
  CLI::App app{
      "Judges kernels that cheat, which must not pass, and unusual honest ones, which must.",
      "sweep selftest"};
  declare(app, options);
  parse(app, arguments);
  const std::vector<Specimen> corpus =
      load_corpus(corpus_folder(), device::parse_id(options.device).kind);
  return Selftest(options, chosen(corpus, options)).run();
}

}  // namespace sweep::cli
