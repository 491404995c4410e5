#include "evaluate/recompute.h"

#include "evaluate/confirmation.h"
#include "evaluate/evaluation_json.h"
#include "evaluate/time_summary.h"
#include "util/error.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
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

// Every number of `now` against the one at the same place in `stored`.
void compare(const std::string& where,
             const json& stored,
             const json& now,
             std::vector<std::string>& findings) {
  if (!now.is_structured()) {
    if (!same(stored, now)) {
      findings.push_back(
          fmt::format("{} is {}, the samples give {}", where, shown(stored), shown(now)));
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
      compare(where + '.' + key, *part, value, findings);
    }
  }
}

// Of a session; and of one shape in one replicate, whose calls are compared in pairs.
constexpr std::size_t kMostSamples = 200'000;
constexpr int kMostOfReplicate = 1000;

// Samples come from a file. What is wrong with them; empty: nothing.
std::string unusable(const TimeResult& time) {
  if (time.samples.size() > kMostSamples) {
    return "more samples than a session has";
  }
  const auto no_shape = [&time](const SlopeSample& slope) {
    return slope.shape < 0 || slope.shape >= static_cast<int>(time.shapes.size());
  };
  if (time.slopes.size() > kMostSamples || std::ranges::any_of(time.slopes, no_shape)) {
    return "slopes of no shape that there is";
  }
  std::map<std::pair<int, int>, int> counts;
  for (const Sample& sample : time.samples) {
    if (sample.shape < 0 || sample.shape >= static_cast<int>(time.shapes.size()) ||
        sample.position < 0 || sample.position > 3) {
      return "a sample is of no shape or position that there is";
    }
    if (++counts[{sample.replicate, sample.shape}] > kMostOfReplicate) {
      return "more samples than a replicate has";
    }
  }
  return "";
}

void check(const std::string& where,
           const json& stored,
           bool may_say_faster,
           std::vector<std::string>& findings) {
  const TimeResult written = time_from_json(stored);
  if (written.samples.empty() || written.failure) {
    return;
  }
  if (const std::string wrong = unusable(written); !wrong.empty()) {
    findings.push_back(where + ".samples: " + wrong);
    return;
  }
  TimeResult now = written;
  compute_statistics(now, may_say_faster);
  json again = to_json(now);
  // Not computed from samples.
  for (const char* key : {"samples", "slopes", "pilot", "earlier", "phases"}) {
    again.erase(key);
  }
  compare(where, stored, again, findings);
  if (stored.contains("earlier")) {
    std::size_t number = 0;
    for (const json& session : stored.at("earlier")) {
      check(fmt::format("{}.earlier.{}", where, number++), session, may_say_faster, findings);
    }
  }
}

void check_win(const json& evaluation, std::vector<std::string>& findings) {
  try {
    const std::optional<bool> now = practical_win(evaluation_from_json(evaluation));
    compare("practical_win",
            evaluation.value("practical_win", json(nullptr)),
            now ? json(*now) : json(nullptr),
            findings);
  } catch (const std::exception& error) {
    findings.push_back(std::string("practical_win: ") + error.what());
  }
}

const json* object_in(const json& parent, const char* key) {
  const auto found = parent.is_object() ? parent.find(key) : parent.end();
  return found != parent.end() && found->is_object() ? &*found : nullptr;
}

}  // namespace

std::vector<std::string> recompute(const json& evaluation) {
  std::vector<std::string> findings;
  const json* stages = object_in(evaluation, "stages");
  if (stages == nullptr) {
    return findings;
  }
  const auto depth = evaluation.find("depth");
  const bool may_say_faster = depth == evaluation.end() || *depth != "fast";
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
      check(where, *time, may_say_faster, findings);
    } catch (const std::exception& error) {
      findings.push_back(std::string(where) + ": " + error.what());
    }
  }
  if (object_in(*stages, "confirmation") != nullptr) {
    check_win(evaluation, findings);
  }
  return findings;
}

}  // namespace sweep::evaluate
