#include "evaluate/recompute.h"

#include "evaluate/confirmation.h"
#include "evaluate/evaluation_json.h"
#include "evaluate/metrics.h"
#include "evaluate/time_summary.h"
#include "util/error.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace sweep::evaluate {
namespace {

using nlohmann::json;

constexpr double kTolerance = 1e-9;

std::string shown(const json& value) {
  return value.is_number_float() ? fmt::format("{:.10g}", value.get<double>())
                                 : value.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool same(const json& a, const json& b) {
  if (!a.is_number() || !b.is_number()) {
    return a == b;
  }
  const auto x = a.get<double>(), y = b.get<double>();
  return x == y || std::abs(x - y) <= kTolerance * std::max(std::abs(x), std::abs(y));
}

// What becomes of the numbers of one session.
struct SessionPlace {
  std::string where;  // "time.earlier.0"
  bool may_say_faster;
  Recomputed& out;
};

// Every number of `now` against the one at the same place in `stored`; `differ` is told of the
// others.
using Differ = std::function<void(const std::string& path, const json& stored, const json& now)>;

void compare(const std::string& path, const json& stored, const json& now, const Differ& differ) {
  if (!now.is_structured()) {
    if (!same(stored, now)) {
      differ(path, stored, now);
    }
    return;
  }
  for (const auto& [key, value] : now.items()) {
    const json* part = nullptr;
    if (stored.is_object() && stored.contains(key)) {
      part = &stored.at(key);
    } else if (stored.is_array()) {
      part = &stored.at(std::stoul(key));  // as long as `now`: it was read from it
    }
    // Older results lack the guards.
    if (part != nullptr) {
      compare(path.empty() ? key : path + '.' + key, *part, value, differ);
    }
  }
}

std::string difference(const std::string& where,
                       const json& stored,
                       const json& now,
                       std::string_view who = "the samples give") {
  return fmt::format("{} is {}, {} {}", where, shown(stored), who, shown(now));
}

// Where nothing of it depends on rules.
void compare(const std::string& where,
             const json& stored,
             const json& now,
             std::vector<std::string>& findings) {
  compare(where, stored, now, [&](const std::string& path, const json& was, const json& is) {
    findings.push_back(difference(path, was, is));
  });
}

void compare_session(const SessionPlace& place, const json& stored, const json& now) {
  compare("", stored, now, [&](const std::string& path, const json& was, const json& is) {
    const std::string where = place.where + '.' + path;
    if (changed_since(place.out.rules, path)) {
      place.out.otherwise.push_back(difference(where, was, is, "today's rules give"));
    } else {
      place.out.findings.push_back(difference(where, was, is));
    }
  });
}

// Of a session; and of one shape in one replicate, whose calls are compared in pairs.
constexpr std::size_t kMostSamples = 200'000;
constexpr int kMostOfReplicate = 1000;

// Samples come from a file. What is wrong with them; empty: nothing. `all`: every replicate has
// every shape.
std::string unusable(const std::vector<Sample>& samples, std::size_t shapes, bool all) {
  if (samples.size() > kMostSamples) {
    return "more samples than a session has";
  }
  std::map<std::pair<int, int>, int> counts;
  std::set<int> replicates;
  for (const Sample& sample : samples) {
    if (sample.shape < 0 || static_cast<std::size_t>(sample.shape) >= shapes ||
        sample.position < 0 || sample.position > 3 || sample.block < 0 ||
        sample.block >= kMostOfReplicate) {
      return "a sample is of no shape, block or position that there is";
    }
    replicates.insert(sample.replicate);
    if (++counts[{sample.replicate, sample.shape}] > kMostOfReplicate) {
      return "more samples than a replicate has";
    }
  }
  // Memory is taken for all of them.
  return all && counts.size() < replicates.size() * shapes ? "a replicate lacks a shape" : "";
}

std::string unusable(const TimeResult& time) {
  const auto no_shape = [&time](const SlopeSample& slope) {
    return slope.shape < 0 || slope.shape >= static_cast<int>(time.shapes.size());
  };
  if (time.slopes.size() > kMostSamples || std::ranges::any_of(time.slopes, no_shape)) {
    return "slopes of no shape that there is";
  }
  const std::string wrong = unusable(time.samples, time.shapes.size(), true);
  return wrong.empty() ? unusable(time.graphs, time.shapes.size(), false) : wrong;
}

int blocks_of(const std::vector<Sample>& samples) {
  int blocks = 0;
  for (const Sample& sample : samples) {
    blocks = std::max(blocks, sample.block + 1);
  }
  return blocks;
}

// A decision by other rules than today's is held against the numbers beside it.
void check_decision(const SessionPlace& place, const json& stored, const TimeResult& written) {
  const int rules = place.out.rules;
  if (!changed_since(rules, "decision") || !decides_alike(rules) || !stored.contains("guards") ||
      !written.decision) {
    return;
  }
  const Verdict own = decision_by_own_guards(written, place.may_say_faster);
  if (own != *written.decision) {
    place.out.findings.push_back(difference(place.where + ".decision",
                                            name(*written.decision),
                                            name(own),
                                            "its own ratio and guards give"));
  }
}

void check(const SessionPlace& place, const json& stored) {
  std::vector<std::string>& findings = place.out.findings;
  const TimeResult written = time_from_json(stored);
  if (written.samples.empty() || written.failure) {
    // Nothing is computed of a session that a wrong call ended.
    if (!written.shapes.empty() || written.decision) {
      findings.push_back(place.where + (written.failure ? ": has times beside a failed call"
                                                        : ": has times, and no samples"));
    }
    return;
  }
  if (const std::string wrong = unusable(written); !wrong.empty()) {
    findings.push_back(place.where + ".samples: " + wrong);
    return;
  }
  TimeResult now = written;
  compute_statistics(now, place.may_say_faster);
  now.blocks = blocks_of(now.samples);
  json again = to_json(now);
  // Not computed from samples.
  for (const char* key : {"samples", "slopes", "graphs", "pilot", "earlier", "phases"}) {
    again.erase(key);
  }
  compare_session(place, stored, again);
  check_decision(place, stored, written);
  if (stored.contains("earlier")) {
    std::size_t number = 0;
    for (const json& session : stored.at("earlier")) {
      check({fmt::format("{}.earlier.{}", place.where, number++), place.may_say_faster, place.out},
            session);
    }
  }
}

// Words that rest on times alone.
bool about_speed(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass_faster:
    case Verdict::pass_equivalent:
    case Verdict::pass_slower:
    case Verdict::pass_inconclusive:
    case Verdict::unstable:
    case Verdict::rejected_timer:
    case Verdict::rejected_carryover:
      return true;
    default:
      return false;
  }
}

// Nothing where no times decide, or those of held-out shapes are not in the file.
std::optional<Verdict> decided(const Evaluation& e) {
  if (!e.time || e.time->failure || !e.time->decision) {
    return std::nullopt;
  }
  const auto& again = e.confirmation.for_archive();
  if (again && again->failure) {
    return again->failure->verdict;
  }
  if (again && (again->decision == Verdict::rejected_timer ||
                again->decision == Verdict::rejected_carryover)) {
    return again->decision;
  }
  // `--no-stress-gate`: visible shapes decide, whatever was timed besides.
  const bool visible = !e.heldout || e.reproduce.find(" --no-stress-gate") != std::string::npos;
  const std::optional<TimeResult> none;
  const auto& hidden = e.heldout ? e.heldout->time.for_archive() : none;
  const std::optional<Verdict> found = visible  ? e.time->decision
                                       : hidden ? hidden->decision
                                                : std::nullopt;
  return !e.weakened.empty() && found == Verdict::pass_faster ? Verdict::pass_inconclusive : found;
}

void check_verdict(const Evaluation& e, std::vector<std::string>& findings) {
  const std::optional<Verdict> now = decided(e);
  const bool timed = e.verdict != Verdict::pass_inconclusive && about_speed(e.verdict);
  if (timed && (!e.time || (!e.time->failure && !e.time->decision))) {
    findings.push_back(fmt::format("verdict is {}, and nothing was timed", name(e.verdict)));
  }
  if (now && about_speed(e.verdict) && *now != e.verdict) {
    findings.push_back(
        fmt::format("verdict is {}, the sessions give {}", name(e.verdict), name(*now)));
  }
}

// Against the times as stored, which check() holds against the samples. A result does not hold the
// ceilings that `roofline` was made with.
void check_metrics(const Evaluation& e, std::vector<std::string>& findings) {
  if (!e.time || e.metrics.empty()) {
    return;
  }
  const std::vector<Metric> now =
      metrics_of(*e.time, device::parse_id(e.device).kind, Ceilings{{}, "not in a result"});
  for (const Metric& metric : now) {
    const Metric* stored = find_metric(e.metrics, metric.name, metric.shape);
    if (stored != nullptr && metric.name != "roofline") {
      compare("metrics." + metric.name + " of " + metric.shape,
              stored->value ? json(*stored->value) : json(nullptr),
              metric.value ? json(*metric.value) : json(nullptr),
              findings);
    }
  }
}

// What an evaluation says of its sessions.
void check_conclusions(const json& evaluation, std::vector<std::string>& findings) {
  try {
    const Evaluation e = evaluation_from_json(evaluation);
    if (e.rules > kRules) {
      return;  // its words may follow in another way
    }
    const std::optional<bool> now = practical_win(e);
    compare("practical_win",
            evaluation.value("practical_win", json(nullptr)),
            now ? json(*now) : json(nullptr),
            findings);
    compare("outcome",
            evaluation.value("outcome", json(name(e.outcome()))),
            name(e.outcome()),
            findings);
    check_verdict(e, findings);
    check_metrics(e, findings);
  } catch (const std::exception& error) {
    findings.push_back(std::string("evaluation: ") + error.what());
  }
}

const json* object_in(const json& parent, const char* key) {
  const auto found = parent.is_object() ? parent.find(key) : parent.end();
  return found != parent.end() && found->is_object() ? &*found : nullptr;
}

}  // namespace

Recomputed recompute(const json& evaluation) {
  Recomputed out;
  const json* stages = object_in(evaluation, "stages");
  if (stages == nullptr) {
    return out;
  }
  try {
    out.rules = rules_from_json(evaluation);
  } catch (const util::Error& error) {
    out.findings.push_back(std::string("evaluation: ") + error.what());
    return out;
  }
  const auto depth = evaluation.find("depth");
  const json weakened = evaluation.value("weakened", json::array());
  const bool may_say_faster = (depth == evaluation.end() || *depth != "fast") && weakened.empty();
  const json* heldout = object_in(*stages, "heldout");
  const std::pair<const char*, const json*> places[] = {
      {"time", object_in(*stages, "time")},
      {"heldout.time", heldout == nullptr ? nullptr : object_in(*heldout, "time")},
      {"confirmation", object_in(*stages, "confirmation")}};
  for (const auto& [where, time] : places) {
    if (time == nullptr) {
      continue;
    }
    try {
      check({where, may_say_faster, out}, *time);
    } catch (const std::exception& error) {
      out.findings.push_back(std::string(where) + ": " + error.what());
    }
  }
  check_conclusions(evaluation, out.findings);
  return out;
}

}  // namespace sweep::evaluate
