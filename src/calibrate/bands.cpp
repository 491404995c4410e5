#include "calibrate/bands.h"

#include "evaluate/json_fields.h"
#include "evaluate/verdict.h"
#include "stats/stats.h"
#include "timing/statistics.h"
#include "util/sha256.h"
#include "wire/channel.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sweep::calibrate {
namespace {

using evaluate::Interval;
using nlohmann::json;
using wire::field;

constexpr int kBandRuns = 15;
// A call is as long as its band from two thirds to one and a half of it.
constexpr double kShortest = 2.0 / 3, kLongest = 1.5;
// A measurement that other work on the machine stretched sends a bisection the wrong way.
constexpr int kSearches = 4;
constexpr std::size_t kMostReplicates = 100;
// What is allowed of the device's memory for the buffers of a band: the judge needs several copies.
constexpr double kMemoryShare = 1.0 / 24;

// Rows that the device's memory allows.
std::int64_t most_rows(const Rig& rig, Kind kind) {
  const double bytes = kMemoryShare * static_cast<double>(rig.info().total_bytes);
  constexpr double kRow = 16;
  constexpr std::int64_t kTiles = 128;  // 16384 each way
  constexpr std::int64_t kLeast = std::int64_t{1} << 20U;
  constexpr std::int64_t kMost = std::int64_t{1} << 28U;
  return kind == Kind::gemm ? kTiles
                            : std::clamp(static_cast<std::int64_t>(bytes / kRow), kLeast, kMost);
}

// Time grows with the rows, in steps: bisection on their logarithm.
SizedBand bisect(const std::function<double(std::int64_t)>& seconds,
                 const Band& band,
                 RowRange range) {
  auto [low, high] = range;
  SizedBand best{band, low, seconds(low)};
  if (best.seconds > kLongest * band.seconds) {
    return best;
  }
  const auto off = [&band](double s) { return std::abs(std::log(s / band.seconds)); };
  while (high - low > std::max<std::int64_t>(low / 100, 1)) {
    const auto middle = static_cast<std::int64_t>(
        std::round(std::sqrt(static_cast<double>(low) * static_cast<double>(high))));
    const std::int64_t at = std::clamp(middle, low + 1, high - 1);
    const double found = seconds(at);
    if (off(found) < off(best.seconds)) {
      best = {band, at, found};
    }
    (found < band.seconds ? low : high) = at;
  }
  return best;
}

double half_width(const Interval& interval) {
  return (std::log(interval.high) - std::log(interval.low)) / 2;
}

// Student's t over one replicate says nothing.
Interval interval_of(const std::vector<double>& logs) {
  const double point = stats::mean(logs);
  if (logs.size() < 2) {
    return {std::exp(point), std::exp(point), std::exp(point)};
  }
  const stats::Interval found = stats::mean_interval(logs, 0.95);
  return {std::exp(found.low), std::exp(point), std::exp(found.high)};
}

}  // namespace

std::optional<SizedBand> size_by(const std::function<double(std::int64_t)>& seconds,
                                 const Band& band,
                                 RowRange range) {
  for (int i = 0; i < kSearches; ++i) {
    const SizedBand found = bisect(seconds, band, range);
    if (found.seconds >= kShortest * band.seconds && found.seconds <= kLongest * band.seconds) {
      return found;
    }
  }
  return std::nullopt;
}

std::optional<SizedBand> size_band(Rig& rig, const Material& material, const Band& band) {
  const auto module = rig.load(material.seed.image);
  const auto seconds = [&](std::int64_t rows) {
    const Rig::Prepared call =
        rig.prepare(*module, material.seed, material.problem, dims_of(band.kind, rows));
    return rig.median(call, kBandRuns, true);
  };
  const std::int64_t least = band.kind == Kind::gemm ? 1 : 256;
  return size_by(seconds, band, {least, most_rows(rig, band.kind)});
}

Usual usual_method(Rig& rig, const Material& material, const SizedBand& band) {
  constexpr int kCalls = 100;
  const expr::IntEnv free = dims_of(band.band.kind, band.rows);
  std::array<std::vector<double>, 2> seconds;
  for (std::vector<double>& arm : seconds) {
    const auto module = rig.load(material.seed.image);
    const Rig::Prepared call = rig.prepare(*module, material.seed, material.problem, free);
    (void)rig.run(call, true);
    for (int i = 0; i < kCalls; ++i) {
      arm.push_back(rig.run(call, true));
    }
  }
  const double a = stats::mean(seconds[0]), b = stats::mean(seconds[1]);
  const double va = stats::variance(seconds[0]) / kCalls;
  const double vb = stats::variance(seconds[1]) / kCalls;
  const double degrees =
      (va + vb) * (va + vb) / std::max((va * va + vb * vb) / (kCalls - 1), 1e-300);
  const double limit =
      stats::student_t_quantile(0.975, std::max(degrees, 1.0)) * std::sqrt(va + vb);
  return {a / b, std::abs(a - b) > limit};
}

namespace {

constexpr double kMillion = 1e6;
constexpr std::size_t kMostKeptBlocks = 1000;
constexpr std::int64_t kMostMillionths = 10'000'000;

std::int64_t millionths(double log) {
  return std::llround(kMillion * std::clamp(log, -9.0, 9.0));
}

double median_of(const std::vector<std::int64_t>& blocks) {
  std::vector<double> logs;
  for (const std::int64_t block : blocks) {
    logs.push_back(static_cast<double>(block) / kMillion);
  }
  return stats::median(logs);
}

std::vector<std::int64_t> blocks_from(const json& list) {
  const auto fine = [](const json& one) {
    return one.is_number_integer() && one >= -kMostMillionths && one <= kMostMillionths;
  };
  if (!list.is_array() || list.empty() || list.size() > kMostKeptBlocks ||
      !std::ranges::all_of(list, fine)) {
    evaluate::broken("blocks are not those of a session");
  }
  return list.get<std::vector<std::int64_t>>();
}

// Replicates are what the blocks give, where a line has blocks.
void take_blocks(const json& body, BandSession& session) {
  if (!body.contains("blocks")) {
    return;
  }
  session.uneven = field<bool>(body, "uneven");
  for (const json& replicate : evaluate::list_in(body, "blocks")) {
    session.blocks.push_back(blocks_from(replicate));
  }
  if (session.blocks.size() != session.log_ratios.size()) {
    evaluate::broken("blocks are of other replicates");
  }
  for (std::size_t i = 0; i < session.blocks.size() && !session.uneven; ++i) {
    const double now = median_of(session.blocks[i]);
    if (std::abs(session.log_ratios[i] - now) > 1e-9) {
      evaluate::broken("log_ratios are not what the blocks give");
    }
    session.log_ratios[i] = now;
  }
}

}  // namespace

json to_json(const BandSession& session) {
  json usual;
  if (session.usual) {
    usual = {{"ratio", session.usual->ratio}, {"differs", session.usual->differs}};
  }
  json body = {{"band", session.band},
               {"seconds", session.seconds},
               {"log_ratios", session.log_ratios},
               {"low", session.ratio.low},
               {"point", session.ratio.point},
               {"high", session.ratio.high},
               {"verdict", session.verdict},
               {"samples_sha256", session.samples_sha256},
               {"usual", std::move(usual)}};
  if (!session.blocks.empty()) {
    body["blocks"] = session.blocks;
    body["uneven"] = session.uneven;
  }
  return body;
}

BandSession session_from_json(const json& body) {
  BandSession session;
  session.band = field<std::string>(body, "band");
  session.seconds = field<double>(body, "seconds");
  session.log_ratios = field<std::vector<double>>(body, "log_ratios");
  if (session.log_ratios.empty() || session.log_ratios.size() > kMostReplicates ||
      !std::ranges::all_of(session.log_ratios, [](double v) { return std::abs(v) < 10; })) {
    evaluate::broken("log_ratios are not those of a session");
  }
  take_blocks(body, session);
  session.ratio = interval_of(session.log_ratios);
  session.verdict = field<std::string>(body, "verdict");
  session.samples_sha256 = field<std::string>(body, "samples_sha256");
  if (const auto usual = body.find("usual"); usual != body.end() && !usual->is_null()) {
    session.usual = {field<double>(*usual, "ratio"), field<bool>(*usual, "differs")};
  }
  return session;
}

namespace {

// What `sweep eval` says of an interval where m is 1%.
std::string verdict_of(const timing::Estimate& ratio, bool gpu) {
  timing::Result result;
  result.ratio = ratio;
  timing::Rule rule;
  rule.guarded = false;
  rule.may_say_faster = gpu;
  using evaluate::Verdict;
  switch (timing::decide(result, rule)) {
    case timing::Decision::faster:
      return std::string(evaluate::name(Verdict::pass_faster));
    case timing::Decision::slower:
      return std::string(evaluate::name(Verdict::pass_slower));
    case timing::Decision::equivalent:
      return std::string(evaluate::name(Verdict::pass_equivalent));
    default:
      return std::string(evaluate::name(Verdict::pass_inconclusive));
  }
}

}  // namespace

BandSession band_session(const evaluate::TimeResult& time, std::size_t index, const Band& band) {
  BandSession made;
  made.band = band.name;
  std::vector<timing::Call> calls;
  std::string text;
  for (const evaluate::Sample& s : time.samples) {
    if (s.shape != static_cast<int>(index)) {
      continue;
    }
    calls.push_back({s.replicate,
                     0,
                     s.block,
                     s.position,
                     s.candidate ? timing::Arm::candidate : timing::Arm::seed,
                     s.device_seconds,
                     s.host_seconds});
    text += fmt::format("{} {} {} {} {:a}\n",
                        s.replicate,
                        s.block,
                        s.position,
                        s.candidate ? 1 : 0,
                        s.device_seconds);
  }
  const timing::ShapeResult shape = timing::analyse(calls, 1, 0).shapes.at(0);
  made.seconds = shape.seed_seconds;
  made.log_ratios = shape.replicate_logs;
  made.uneven = shape.uneven;
  for (std::size_t i = 0; i < shape.block_logs.size(); ++i) {
    std::vector<std::int64_t>& blocks = made.blocks.emplace_back();
    for (const double log : shape.block_logs[i]) {
      blocks.push_back(millionths(log));
    }
    // So that a line gives the very interval again.
    made.log_ratios[i] = shape.uneven ? made.log_ratios[i] : median_of(blocks);
  }
  made.ratio = made.log_ratios.size() < 2
                   ? Interval{shape.ratio.low, shape.ratio.point, shape.ratio.high}
                   : interval_of(made.log_ratios);
  made.verdict =
      verdict_of({made.ratio.point, made.ratio.low, made.ratio.high}, time.clock == "cuda events");
  made.samples_sha256 = util::sha256_hex(text);
  return made;
}

evaluate::CalibratedBand summarise(const Band& band, std::span<const BandSession> sessions) {
  evaluate::CalibratedBand made;
  made.name = band.name;
  made.seconds = band.seconds;
  made.sessions = static_cast<int>(sessions.size());
  std::vector<double> points, sizes, widths, seconds;
  double squares = 0, width_of_one = 0;
  for (const BandSession& session : sessions) {
    const double point = std::log(session.ratio.point);
    points.push_back(point);
    sizes.push_back(std::abs(point));
    widths.push_back(half_width(session.ratio));
    seconds.push_back(session.seconds);
    made.excludes_one += session.ratio.low > 1 || session.ratio.high < 1 ? 1 : 0;
    ++made.verdicts[session.verdict];
    const auto n = static_cast<double>(session.log_ratios.size());
    if (n > 1) {
      squares += stats::variance(session.log_ratios) / n;
      width_of_one = std::max(width_of_one, stats::student_t_quantile(0.975, n - 1));
    }
  }
  made.measured_seconds = stats::median(seconds);
  made.half_width = std::abs(stats::mean(points)) +
                    width_of_one * std::sqrt(squares / static_cast<double>(sessions.size()));
  made.half_width = std::min(made.half_width, 1.0);
  made.ratio_q95 = std::min(stats::quantile(sizes, 0.95), 1.0);
  made.half_width_q95 = std::min(stats::quantile(widths, 0.95), 1.0);
  return made;
}

}  // namespace sweep::calibrate
