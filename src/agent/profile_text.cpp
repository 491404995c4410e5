#include "agent/profile_text.h"

#include "profile/previous.h"
#include "util/excerpt.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace sweep::agent {
namespace {

using nlohmann::json;
using profile::KernelProfile;
using profile::Metric;

constexpr std::size_t kMostKernels = 5;
constexpr std::size_t kMostShares = 8;
// Of its peak: above it a unit is what bounds the kernel, as Nsight Compute's own rules say.
constexpr double kBusy = 60;

std::optional<double> value(const KernelProfile& kernel, std::string_view key) {
  const Metric* metric = kernel.metric(key);
  return metric == nullptr ? std::nullopt : metric->value;
}

double or_zero(const KernelProfile& kernel, std::string_view key) {
  return value(kernel, key).value_or(0);
}

// "81.3%", with "(was 60.1%)" where there was another value.
std::string figure(const KernelProfile& kernel, std::string_view key, std::string_view unit) {
  const Metric* metric = kernel.metric(key);
  if (metric == nullptr || !metric->value) {
    return "-";
  }
  // Counts are whole; ratios and shares are not.
  const auto shown = [unit](double number) {
    return number == std::floor(number) && unit.empty() ? fmt::format("{:.0f}", number)
                                                        : fmt::format("{:.1f}{}", number, unit);
  };
  std::string text = shown(*metric->value);
  if (metric->before) {
    const std::string before = shown(*metric->before);
    text += before == text ? "" : " (was " + before + ")";
  }
  return text;
}

std::string change(double now, double before) {
  return before > 0 ? fmt::format(" ({:+.1f}% against the last profile)", 100 * (now / before - 1))
                    : "";
}

std::string shares(const std::vector<profile::Share>& list) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kMostShares, list.size()); ++i) {
    text += fmt::format(
        "{}{} {:.0f}%", i == 0 ? "" : ", ", util::printable(list[i].name), list[i].percent);
  }
  return text.empty() ? "-" : text;
}

std::string joined(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& one : list) {
    text += (text.empty() ? "" : ", ") + util::printable(one);
  }
  return text.empty() ? "-" : text;
}

std::string bottleneck(const KernelProfile& kernel) {
  const double dram = or_zero(kernel, "dram_percent");
  const double cache = std::max(or_zero(kernel, "l2_percent"), or_zero(kernel, "l1_percent"));
  const double sm = or_zero(kernel, "sm_percent");
  if (!value(kernel, "dram_percent") && !value(kernel, "sm_percent")) {
    return "unknown";
  }
  if (std::max({dram, cache, sm}) < kBusy) {
    return "latency";
  }
  return dram >= std::max(cache, sm) ? "DRAM bandwidth" : cache > sm ? "caches" : "compute";
}

struct Stall {
  std::string_view name;  // a part of ncu's
  std::string_view hint;
};

constexpr std::array kStalls = {
    Stall{"long_scoreboard",
          "warps wait for global or local memory: issue more loads before their use (unroll, "
          "cp.async or TMA with several stages), reuse data in shared memory"},
    Stall{"short_scoreboard",
          "warps wait for shared memory or special functions: fewer and wider shared accesses, "
          "values kept in registers"},
    Stall{"barrier",
          "warps wait at __syncthreads: less work between barriers on one side, smaller "
          "blocks, or named barriers"},
    Stall{"math_pipe", "an arithmetic pipe is full: cheaper operations or tensor cores"},
    Stall{"lg_throttle", "too many small global accesses: use 128-bit loads and stores"},
    Stall{"mio_throttle", "too many shared-memory or special instructions: wider accesses"},
    Stall{"wait", "dependent instructions follow each other: interleave independent work"},
    Stall{"no_instruction", "instructions are fetched too slowly: unroll less"},
    Stall{"membar", "warps wait at memory fences: fewer or narrower ones"},
    Stall{"gmma", "warps wait for wgmma: keep more groups in flight"},
};

std::string stall_hint(const KernelProfile& kernel) {
  for (const Stall& stall : kStalls) {
    if (!kernel.stalls.empty() && kernel.stalls[0].percent >= 25 &&
        kernel.stalls[0].name.find(stall.name) != std::string::npos) {
      return std::string(stall.hint);
    }
  }
  return {};
}

// Blocks of "(132, 1, 1)"; 0: not such a text.
double blocks_of(const std::string& grid) {
  double product = 1;
  std::size_t at = 0;
  for (int i = 0; i < 3; ++i) {
    at = grid.find_first_of("0123456789", at);
    if (at == std::string::npos) {
      return 0;
    }
    product *= std::strtod(grid.c_str() + at, nullptr);
    at = grid.find_first_not_of("0123456789", at);
  }
  return product;
}

// Sectors of a request say nothing alone: 128-bit accesses of a warp need 16, 32-bit ones 4.
std::string coalescing_hint(const KernelProfile& kernel) {
  constexpr const char* kDo = "neighbouring threads should touch neighbouring addresses";
  constexpr double kTooMany = 1.5;
  const auto asked = value(kernel, "global_sectors"),
             needed = value(kernel, "global_sectors_ideal");
  if (asked && needed && *needed > 0) {
    return *asked / *needed > kTooMany
               ? fmt::format(
                     "global accesses touch {:.1f} times the sectors that their bytes need: {}",
                     *asked / *needed,
                     kDo)
               : std::string();
  }
  // Where the profiler does not say what was needed: no width of access needs more than 16, and a
  // little is lost to rows that begin anywhere.
  constexpr double kWidest = 20;
  return std::max(or_zero(kernel, "load_sectors_per_request"),
                  or_zero(kernel, "store_sectors_per_request")) > kWidest
             ? std::string("global accesses are not coalesced: ") + kDo
             : std::string();
}

std::vector<std::string> hints_of(const KernelProfile& kernel, int sm_count) {
  std::vector<std::string> hints;
  const std::string bound = bottleneck(kernel);
  if (bound == "DRAM bandwidth") {
    hints.emplace_back("close to what DRAM gives: move fewer bytes (fuse, reuse, narrower types)");
  } else if (bound == "latency") {
    hints.emplace_back(
        "neither memory nor arithmetic is busy: more warps or more independent work a warp");
  }
  const double blocks = blocks_of(kernel.grid);
  if (sm_count > 0 && blocks > 0 && blocks < sm_count) {
    hints.push_back(fmt::format("{:.0f} blocks leave {:.0f} of {} SMs idle: split the work",
                                blocks,
                                sm_count - blocks,
                                sm_count));
  }
  if (const std::string hint = coalescing_hint(kernel); !hint.empty()) {
    hints.push_back(hint);
  }
  if (or_zero(kernel, "shared_load_conflicts") + or_zero(kernel, "shared_store_conflicts") > 0 &&
      bound != "DRAM bandwidth") {
    hints.emplace_back("shared memory has bank conflicts: pad or swizzle its rows");
  }
  if (const auto threads = value(kernel, "threads_per_instruction"); threads && *threads < 24) {
    hints.push_back(
        fmt::format("{:.0f} of 32 threads work in an average instruction: branches "
                    "diverge, or blocks are no multiple of 32",
                    *threads));
  }
  if (const auto occupancy = value(kernel, "occupancy_limit_percent");
      occupancy && *occupancy < 30 && bound == "latency") {
    hints.push_back("few warps are resident, limited by " + joined(kernel.limits));
  }
  if (std::string stall = stall_hint(kernel); !stall.empty()) {
    hints.push_back(std::move(stall));
  }
  return hints;
}

std::string kernel_text(const KernelProfile& kernel, int sm_count) {
  const Metric* time = kernel.metric("duration_seconds");
  const auto percent = [&kernel](std::string_view key) { return figure(kernel, key, "%"); };
  const auto plain = [&kernel](std::string_view key) { return figure(kernel, key, ""); };
  std::string out = fmt::format(
      "kernel {}  grid {} block {}: {}{}\n",
      util::narrowed(util::printable(kernel.kernel), 160),
      util::printable(kernel.grid),
      util::printable(kernel.block),
      time != nullptr && time->value ? util::human_seconds(*time->value) : "-",
      time != nullptr && time->value && time->before ? change(*time->value, *time->before) : "");
  out += fmt::format("  bound by   {}: SM {}, DRAM {}, L2 {}, L1 {}\n",
                     bottleneck(kernel),
                     percent("sm_percent"),
                     percent("dram_percent"),
                     percent("l2_percent"),
                     percent("l1_percent"));
  const auto rate = value(kernel, "dram_bytes_per_second");
  out +=
      fmt::format("  memory     DRAM {}; hits L1 {}, L2 {}; sectors a request: load {}, store {}\n",
                  rate ? fmt::format("{:.0f} GB/s", *rate * 1e-9) : "-",
                  percent("l1_hit_percent"),
                  percent("l2_hit_percent"),
                  plain("load_sectors_per_request"),
                  plain("store_sectors_per_request"));
  out += fmt::format("  shared     bank conflicts: load {}, store {}; {} a block\n",
                     plain("shared_load_conflicts"),
                     plain("shared_store_conflicts"),
                     value(kernel, "shared_bytes_per_block")
                         ? util::human_bytes(static_cast<std::uint64_t>(
                               std::max(0.0, or_zero(kernel, "shared_bytes_per_block"))))
                         : "-");
  out += fmt::format("  occupancy  {} of at most {}, limited by {}; {} registers a thread\n",
                     percent("occupancy_percent"),
                     percent("occupancy_limit_percent"),
                     joined(kernel.limits),
                     plain("registers"));
  out += fmt::format("  warps      {} of 32 threads active, {} warps eligible a cycle\n",
                     plain("threads_per_instruction"),
                     plain("eligible_warps"));
  out += "  pipes      " + shares(kernel.pipes) + "\n";
  out += "  stalls     " + shares(kernel.stalls) + "\n";
  for (const std::string& hint : hints_of(kernel, sm_count)) {
    out += "  hint: " + hint + "\n";
  }
  return out;
}

std::vector<const KernelProfile*> slowest_first(const profile::NcuReport& report) {
  std::vector<const KernelProfile*> order;
  for (const KernelProfile& kernel : report.kernels) {
    order.push_back(&kernel);
  }
  std::ranges::stable_sort(order, [](const KernelProfile* a, const KernelProfile* b) {
    return or_zero(*a, "duration_seconds") > or_zero(*b, "duration_seconds");
  });
  return order;
}

double total_seconds(const profile::NcuReport& report) {
  double sum = 0;
  for (const KernelProfile& kernel : report.kernels) {
    sum += or_zero(kernel, "duration_seconds");
  }
  return sum;
}

}  // namespace

std::string profile_text(const profile::NcuReport& report, int sm_count, const json& last) {
  const double total = total_seconds(report);
  const double before = last.is_object() && last.value("shape", "") == report.shape
                            ? last.value("total_seconds", 0.0)
                            : 0.0;
  std::string out = fmt::format("shape {}: {} in {} profiled launch{}{}\n",
                                report.shape,
                                util::human_seconds(total),
                                report.kernels.size(),
                                report.kernels.size() == 1 ? "" : "es",
                                change(total, before));
  if (report.launches > static_cast<std::int64_t>(report.kernels.size())) {
    out += fmt::format(
        "only the first {} of {} launches were profiled\n", report.kernels.size(), report.launches);
  }
  const std::vector<const KernelProfile*> order = slowest_first(report);
  for (std::size_t i = 0; i < std::min(kMostKernels, order.size()); ++i) {
    out += kernel_text(*order[i], sm_count);
  }
  if (order.size() > kMostKernels) {
    out += fmt::format("and {} faster launches\n", order.size() - kMostKernels);
  }
  return out +
         "Times under the profiler are of each kernel alone with cold caches: compare profiles "
         "with each other, not with run times.\n";
}

json profile_facts(const profile::NcuReport& report) {
  json facts = profile::summary_of(report);
  facts["shape"] = report.shape;
  facts["total_seconds"] = total_seconds(report);
  const std::vector<const KernelProfile*> order = slowest_first(report);
  if (!order.empty()) {
    facts["bottleneck"] = bottleneck(*order[0]);
    facts["top_stall"] = order[0]->stalls.empty() ? json() : json(order[0]->stalls[0].name);
  }
  return facts;
}

}  // namespace sweep::agent
