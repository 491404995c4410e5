#include "cli/selftest.h"

#include "evaluate/conclusion.h"
#include "stats/stats.h"
#include "util/clock.h"
#include "util/error.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <future>
#include <memory>
#include <thread>

namespace sweep::cli {
namespace {

using evaluate::Defence;
using evaluate::Evaluation;
using evaluate::Outcome;
using evaluate::Stage;

constexpr double kConfidence = 0.95;

evaluate::EvaluationRequest request_for(const Specimen& specimen,
                                        const SelftestBench& bench,
                                        const evaluate::DefenceSet& off,
                                        Stage stage) {
  evaluate::EvaluationRequest request;
  request.submission = {
      specimen.name + specimen.source.file.substr(specimen.source.file.rfind('.')),
      specimen.source.text};
  request.device = bench.device;
  request.only = stage;
  request.check_seeds = bench.effort.check_seeds;
  request.stress_draws = bench.effort.stress_draws;
  request.replicates = bench.effort.replicates;
  request.deadline_seconds = bench.effort.deadline_seconds;
  request.allow_unsandboxed = bench.allow_unsandboxed;
  request.off = off;
  return request;
}

// Check, then the stage that the head names; a kernel that fails check goes no further.
Evaluation judge(const Specimen& specimen,
                 const SelftestBench& bench,
                 const evaluate::DefenceSet& off) {
  Evaluation result =
      evaluate::evaluate(request_for(specimen, bench, off, Stage::check), bench.services);
  const bool without = specimen.last == Stage::stress && off.contains(Defence::stress);
  if (specimen.last == Stage::check || without || result.outcome() != Outcome::correct) {
    return result;
  }
  return evaluate::evaluate(request_for(specimen, bench, off, specimen.last), bench.services);
}

bool expected(const Specimen& specimen, evaluate::Verdict verdict) {
  return std::ranges::find(specimen.expected, verdict) != specimen.expected.end();
}

Fate fate_of_exploit(const Specimen& specimen, const Finding& finding) {
  const bool correct = evaluate::outcome_of(*finding.verdict) == Outcome::correct;
  const bool wanted = expected(specimen, *finding.verdict);
  if (specimen.known_gap) {
    return correct && !wanted ? Fate::gap : Fate::closed_gap;
  }
  if (correct) {
    return wanted ? Fate::harmless : Fate::passed;
  }
  const bool named = std::ranges::any_of(finding.caught_by, [&](Defence defence) {
    return std::ranges::find(specimen.defences, defence) != specimen.defences.end();
  });
  return wanted && named ? Fate::caught : Fate::otherwise;
}

Rate rate(const SelftestResult& result,
          bool exploits,
          const std::function<bool(const Finding&)>& counts) {
  Rate made;
  for (const Finding& finding : result.findings) {
    if (finding.specimen->exploit == exploits && finding.fate != Fate::not_run &&
        finding.fate != Fate::broken) {
      ++made.of;
      made.count += counts(finding) ? 1 : 0;
    }
  }
  if (made.of > 0) {
    const auto interval = stats::wilson_interval(
        static_cast<std::uint64_t>(made.count), static_cast<std::uint64_t>(made.of), kConfidence);
    made.share = static_cast<double>(made.count) / made.of;
    made.low = interval.low;
    made.high = interval.high;
  }
  return made;
}

}  // namespace

std::string_view name(Fate fate) {
  constexpr std::array<std::string_view, 10> kNames = {"caught",
                                                       "harmless",
                                                       "otherwise",
                                                       "gap",
                                                       "closed gap",
                                                       "PASSED",
                                                       "right",
                                                       "REFUSED",
                                                       "n/a",
                                                       "broken"};
  return kNames.at(static_cast<std::size_t>(fate));
}

Finding examine(const Specimen& specimen,
                const SelftestBench& bench,
                const evaluate::DefenceSet& off) {
  Finding finding;
  finding.specimen = &specimen;
  if (!specimen.runs) {
    finding.text =
        bench.device.kind == device::Kind::cpu ? "needs a GPU" : "host code of the cpu device";
    return finding;
  }
  util::RealClock clock;
  const double begin = clock.monotonic();
  try {
    const Evaluation result = judge(specimen, bench, off);
    finding.verdict = result.verdict;
    finding.caught_by = evaluate::caught_by(result);
    finding.text = result.headline;
    if (result.outcome() == Outcome::infra_error) {
      finding.fate = Fate::broken;
    } else if (specimen.exploit) {
      finding.fate = fate_of_exploit(specimen, finding);
    } else {
      finding.fate = result.outcome() == Outcome::correct ? Fate::right : Fate::refused;
    }
  } catch (const util::Interrupted&) {
    throw;
  } catch (const util::Error& error) {
    finding.fate = Fate::broken;
    finding.text = error.what();
  }
  finding.seconds = clock.monotonic() - begin;
  return finding;
}

std::vector<Finding> examine_all(const std::vector<const Specimen*>& specimens,
                                 const SelftestBench& bench,
                                 const evaluate::DefenceSet& off,
                                 const std::function<void(const Finding&)>& done,
                                 const std::function<void(const Specimen&)>& busy) {
  std::vector<std::promise<Finding>> promises(specimens.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < specimens.size(); i = next++) {
      busy(*specimens[i]);
      try {
        promises[i].set_value(examine(*specimens[i], bench, off));
      } catch (...) {
        promises[i].set_exception(std::current_exception());
      }
    }
  };
  std::vector<std::jthread> threads;
  const auto jobs =
      std::min<std::size_t>(static_cast<std::size_t>(std::max(bench.jobs, 1)), specimens.size());
  for (std::size_t i = 0; i < jobs; ++i) {
    threads.emplace_back(work);
  }
  std::vector<Finding> findings;
  for (std::promise<Finding>& promise : promises) {
    findings.push_back(promise.get_future().get());
    done(findings.back());
  }
  return findings;
}

std::vector<const Specimen*> caught_or_named(const std::vector<Finding>& findings,
                                             Defence defence) {
  std::vector<const Specimen*> chosen;
  for (const Finding& finding : findings) {
    const auto has = [defence](const std::vector<Defence>& list) {
      return std::ranges::find(list, defence) != list.end();
    };
    const bool stopped = finding.fate == Fate::caught || finding.fate == Fate::otherwise ||
                         finding.fate == Fate::harmless;
    if (finding.specimen->exploit && stopped &&
        (has(finding.caught_by) || has(finding.specimen->defences))) {
      chosen.push_back(finding.specimen);
    }
  }
  return chosen;
}

Rate hit_rate(const SelftestResult& result) {
  return rate(result, true, [](const Finding& finding) { return !finding.bad(); });
}

Rate false_positives(const SelftestResult& result) {
  return rate(result, false, [](const Finding& finding) { return finding.bad(); });
}

}  // namespace sweep::cli
