#include "cli/profile_view.h"

#include "util/text.h"

#include <algorithm>

#include <fmt/format.h>

namespace sweep::cli {

namespace {

using profile::KernelProfile;
using profile::Metric;

constexpr std::size_t kShownKernels = 4;
constexpr std::size_t kShownShares = 5;

// " (-8.1%)" where the file was profiled before.
std::string change(const Metric& metric) {
  if (!metric.value || !metric.before || *metric.before == 0) {
    return {};
  }
  return fmt::format(" ({:+.1f}%)", 100 * (*metric.value / *metric.before - 1));
}

std::string figure(const KernelProfile& kernel, std::string_view key, const char* unit) {
  const Metric* metric = kernel.metric(key);
  return metric == nullptr || !metric->value
             ? "-"
             : fmt::format("{:.1f}{}", *metric->value, unit) + change(*metric);
}

std::string count(const KernelProfile& kernel, std::string_view key) {
  const Metric* metric = kernel.metric(key);
  return metric == nullptr || !metric->value
             ? "-"
             : fmt::format("{:.0f}", *metric->value) + change(*metric);
}

std::string duration(const KernelProfile& kernel) {
  const Metric* metric = kernel.metric("duration_seconds");
  return metric == nullptr || !metric->value
             ? "-"
             : util::human_seconds(*metric->value) + change(*metric);
}

std::string shares(const std::vector<profile::Share>& list) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(kShownShares, list.size()); ++i) {
    parts.push_back(fmt::format("{} {:.0f}%", list[i].name, list[i].percent));
  }
  return parts.empty() ? "-" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string line(const char* label, const std::string& text, std::size_t width) {
  return "    " + pad_right(label, 12) + wrapped(text, 16, width).substr(16);
}

std::string kernel_text(const KernelProfile& kernel, std::size_t width) {
  std::string out = fmt::format("  {}  grid {} block {}: {}\n",
                                util::printable(kernel.kernel),
                                util::printable(kernel.grid),
                                util::printable(kernel.block),
                                duration(kernel));
  const auto percent = [&kernel](std::string_view key) { return figure(kernel, key, "%"); };
  out += line("throughput",
              fmt::format("SM {}, DRAM {}, L2 {}, L1 {}",
                          percent("sm_percent"),
                          percent("dram_percent"),
                          percent("l2_percent"),
                          percent("l1_percent")),
              width);
  out += line(
      "occupancy",
      fmt::format("{} of at most {}, limited by {}; {} registers",
                  percent("occupancy_percent"),
                  percent("occupancy_limit_percent"),
                  kernel.limits.empty() ? "-" : fmt::format("{}", fmt::join(kernel.limits, ", ")),
                  count(kernel, "registers")),
      width);
  out += line("stalls", shares(kernel.stalls), width);
  out += line("pipes", shares(kernel.pipes), width);
  out += line("memory",
              fmt::format("sectors/request {} load, {} store; hits L1 {}, L2 {}; shared conflicts "
                          "{} load, {} store",
                          figure(kernel, "load_sectors_per_request", ""),
                          figure(kernel, "store_sectors_per_request", ""),
                          percent("l1_hit_percent"),
                          percent("l2_hit_percent"),
                          count(kernel, "shared_load_conflicts"),
                          count(kernel, "shared_store_conflicts")),
              width);
  return out;
}

}  // namespace

std::string profile_text(const profile::NcuReport& report, const Style& style, std::size_t width) {
  std::string out =
      style.strong(" profile ") + style.dim("shape " + report.shape + ", " + report.tool) + "\n";
  for (std::size_t i = 0; i < std::min(kShownKernels, report.kernels.size()); ++i) {
    out += kernel_text(report.kernels[i], width);
  }
  if (report.kernels.size() > kShownKernels) {
    out += style.dim(fmt::format("  and {} further launches in --json",
                                 report.kernels.size() - kShownKernels)) +
           "\n";
  }
  if (report.launches > static_cast<std::int64_t>(report.kernels.size())) {
    out += style.dim(fmt::format(
               "  the first {} of {} launches", report.kernels.size(), report.launches)) +
           "\n";
  }
  if (report.compared) {
    out += style.dim("  in brackets: change since the last profile of this file") + "\n";
  }
  return out;
}

}  // namespace sweep::cli
