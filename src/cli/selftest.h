#pragma once

#include "cli/corpus.h"
#include "evaluate/evaluation.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sweep::cli {

// How hard each kernel is judged.
struct SelftestEffort {
  int check_seeds = evaluate::EvaluationRequest{}.check_seeds;
  int stress_draws = evaluate::EvaluationRequest{}.stress_draws;
  int replicates = evaluate::EvaluationRequest{}.replicates;
  double deadline_seconds = 300;
};

// Where and how a corpus is judged.
struct SelftestBench {
  device::Id device;
  evaluate::Services services;
  SelftestEffort effort;
  bool allow_unsandboxed = false;
  int jobs = 1;  // kernels judged at a time
};

// What became of one kernel.
enum class Fate {
  caught,      // an exploit, with a verdict and by a defence that its head names
  harmless,    // an exploit that its head expects to pass, because what it is after was taken away
  otherwise,   // an exploit that did not pass, with another verdict or by another defence
  gap,         // an exploit of KNOWN_GAPS, not caught
  closed_gap,  // an exploit of KNOWN_GAPS that is caught: its line must go
  passed,      // an exploit that was not caught
  right,       // honest, with a PASS
  refused,     // honest, without
  not_run,     // not on this kind of device
  broken,      // the harness failed
};

[[nodiscard]] std::string_view name(Fate fate);  // "caught"

struct Finding {
  const Specimen* specimen = nullptr;
  Fate fate = Fate::not_run;
  std::optional<evaluate::Verdict> verdict;  // the inner one of a failed stress stage stays inside
  std::vector<evaluate::Defence> caught_by;
  std::string text;  // why: headline, reason of not_run, what the harness said
  double seconds = 0;

  // An exploit that came through, or an honest kernel that did not.
  [[nodiscard]] bool bad() const {
    return fate == Fate::passed || fate == Fate::gap || fate == Fate::refused;
  }
};

// Judges one kernel as far as its head says. Never throws for what the kernel does.
[[nodiscard]] Finding examine(const Specimen& specimen,
                              const SelftestBench& bench,
                              const evaluate::DefenceSet& off = {});

// Judges several, `bench.jobs` at a time. `done` is called in the order of `specimens` from the
// calling thread; `busy` when a kernel is begun, from any.
[[nodiscard]] std::vector<Finding> examine_all(const std::vector<const Specimen*>& specimens,
                                               const SelftestBench& bench,
                                               const evaluate::DefenceSet& off,
                                               const std::function<void(const Finding&)>& done,
                                               const std::function<void(const Specimen&)>& busy);

// The exploits to judge again without `defence`: those that it caught, and those whose head names
// it.
[[nodiscard]] std::vector<const Specimen*> caught_or_named(const std::vector<Finding>& findings,
                                                           evaluate::Defence defence);

// One defence switched off.
struct WithoutIt {
  evaluate::Defence defence{};
  std::vector<Finding> findings;  // of caught_or_named()
};

struct SelftestResult {
  std::string device, device_name, version;
  std::vector<Finding> findings;  // exploits first
  std::vector<WithoutIt> off_in_turn;
  double seconds = 0;
};

// A share with its Wilson 95% interval; all 0 without trials.
struct Rate {
  int count = 0, of = 0;
  double share = 0, low = 0, high = 0;
};

[[nodiscard]] Rate hit_rate(const SelftestResult& result);         // exploits that did not pass
[[nodiscard]] Rate false_positives(const SelftestResult& result);  // honest kernels refused

}  // namespace sweep::cli
