#include "profile/ncu_page.h"

#include "profile/csv.h"
#include "util/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace sweep::profile {
namespace {

constexpr std::size_t kMostKernels = 64;
constexpr std::size_t kMostShares = 8;
constexpr std::size_t kMostName = 512;

struct Known {
  const char* key;
  std::array<const char*, 2> names;  // of ncu, the second for other versions
};

constexpr std::array kKnown = {
    Known{"duration_seconds", {"gpu__time_duration.sum", "gpu__time_duration.avg"}},
    Known{"sm_percent", {"sm__throughput.avg.pct_of_peak_sustained_elapsed", nullptr}},
    Known{"memory_percent",
          {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", nullptr}},
    Known{"dram_percent",
          {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
           "dram__throughput.avg.pct_of_peak_sustained_elapsed"}},
    Known{"dram_bytes_per_second", {"dram__bytes.sum.per_second", nullptr}},
    Known{"l2_percent", {"lts__throughput.avg.pct_of_peak_sustained_elapsed", nullptr}},
    Known{"l2_hit_percent", {"lts__t_sector_hit_rate.pct", nullptr}},
    Known{"l1_percent", {"l1tex__throughput.avg.pct_of_peak_sustained_active", nullptr}},
    Known{"l1_hit_percent", {"l1tex__t_sector_hit_rate.pct", nullptr}},
    Known{"occupancy_percent", {"sm__warps_active.avg.pct_of_peak_sustained_active", nullptr}},
    Known{"occupancy_limit_percent", {"sm__maximum_warps_per_active_cycle_pct", nullptr}},
    Known{"eligible_warps", {"smsp__warps_eligible.avg.per_cycle_active", nullptr}},
    Known{"threads_per_instruction",
          {"smsp__thread_inst_executed_per_inst_executed.ratio",
           "smsp__thread_inst_executed_per_inst_executed.pct"}},
    Known{"registers", {"launch__registers_per_thread", nullptr}},
    Known{"shared_bytes_per_block",
          {"launch__shared_mem_per_block", "launch__shared_mem_per_block_allocated"}},
    Known{"load_sectors_per_request",
          {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", nullptr}},
    Known{"store_sectors_per_request",
          {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", nullptr}},
    // Of all global accesses as the instructions ask for them, and had each warp's bytes lain
    // together.
    Known{"global_sectors", {"memory_l2_theoretical_sectors_global", nullptr}},
    Known{"global_sectors_ideal", {"memory_l2_theoretical_sectors_global_ideal", nullptr}},
    Known{"shared_load_conflicts",
          {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", nullptr}},
    Known{"shared_store_conflicts",
          {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", nullptr}},
};

// A ratio that a page may give as its two parts.
struct Ratio {
  const char* key;
  const char* above;
  const char* below;
};

constexpr std::array kRatios = {
    Ratio{"load_sectors_per_request",
          "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
          "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"},
    Ratio{"store_sectors_per_request",
          "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
          "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"},
};

// The part of `name` between a prefix and a suffix; empty where it has them not.
std::string middle(std::string_view name, std::string_view prefix, std::string_view suffix) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix) ||
      name.size() <= prefix.size() + suffix.size()) {
    return {};
  }
  return std::string(
      name.substr(prefix.size(), name.size() - prefix.size() - suffix.size()).substr(0, 64));
}

class Row {
 public:
  Row(const std::vector<std::string>& names,
      const std::vector<std::string>& units,
      const std::vector<std::string>& cells)
      : names_(names), units_(units), cells_(cells) {}

  [[nodiscard]] std::string text(std::string_view name) const {
    const auto found = std::ranges::find(names_, name);
    return found == names_.end()
               ? std::string()
               : util::printable(cells_.at(static_cast<std::size_t>(found - names_.begin()))
                                     .substr(0, kMostName));
  }

  [[nodiscard]] bool has(std::string_view name) const {
    return std::ranges::find(names_, name) != names_.end();
  }

  [[nodiscard]] std::optional<double> number(std::string_view name) const {
    const auto found = std::ranges::find(names_, name);
    if (found == names_.end()) {
      return std::nullopt;
    }
    const auto at = static_cast<std::size_t>(found - names_.begin());
    const auto value = ncu_number(cells_.at(at));
    return value ? std::optional(*value * ncu_unit(units_.at(at))) : std::nullopt;
  }

  // Names between prefix and suffix with their numbers, the largest first.
  [[nodiscard]] std::vector<Share> family(std::string_view prefix, std::string_view suffix) const {
    std::vector<Share> all;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      std::string part = middle(names_[i], prefix, suffix);
      const auto value = part.empty() ? std::nullopt : ncu_number(cells_[i]);
      if (value && *value >= 0) {
        all.push_back({util::printable(part), *value});
      }
    }
    std::ranges::stable_sort(all,
                             [](const Share& a, const Share& b) { return a.percent > b.percent; });
    return all;
  }

 private:
  const std::vector<std::string>& names_;
  const std::vector<std::string>& units_;
  const std::vector<std::string>& cells_;
};

void cut(std::vector<Share>& shares) {
  std::erase_if(shares, [](const Share& share) { return share.percent <= 0; });
  shares.resize(std::min(shares.size(), kMostShares));
}

// Shares of the cycles in which a warp waited, by what it waited for.
std::vector<Share> stalls_of(const Row& row) {
  std::vector<Share> all =
      row.family("smsp__average_warps_issue_stalled_", "_per_issue_active.ratio");
  if (all.empty()) {
    all = row.family("smsp__average_warp_latency_issue_stalled_", ".ratio");
  }
  if (all.empty()) {
    all = row.family("smsp__average_warps_issue_stalled_", "_per_issue_active.pct");
  }
  // A warp that was chosen did not wait; the others' parts come a second time.
  std::erase_if(all, [](const Share& share) {
    return share.name == "selected" || share.name.ends_with("_not_issued");
  });
  double sum = 0;
  for (const Share& share : all) {
    sum += share.percent;
  }
  for (Share& share : all) {
    share.percent = sum > 0 ? 100 * share.percent / sum : 0;
  }
  cut(all);
  return all;
}

std::vector<Share> pipes_of(const Row& row) {
  std::vector<Share> all =
      row.family("sm__inst_executed_pipe_", ".avg.pct_of_peak_sustained_active");
  for (Share& share : row.family("sm__pipe_", "_cycles_active.avg.pct_of_peak_sustained_active")) {
    share.name += " (cycles)";
    all.push_back(std::move(share));
  }
  std::ranges::stable_sort(all,
                           [](const Share& a, const Share& b) { return a.percent > b.percent; });
  cut(all);
  return all;
}

std::vector<std::string> limits_of(const Row& row) {
  std::vector<Share> all = row.family("launch__occupancy_limit_", "");
  std::vector<std::string> least;
  for (const Share& share : all) {
    if (share.percent == all.back().percent) {
      least.push_back(share.name);
    }
  }
  return least;
}

Metric metric_of(const Row& row, const Known& known) {
  Metric metric;
  metric.key = known.key;
  for (const char* name : known.names) {
    if (name == nullptr || metric.value) {
      continue;
    }
    metric.value = row.number(name);
    if (!metric.value && metric.reason.empty()) {
      metric.reason = row.has(name) ? "ncu gives '" + row.text(name) + "' for " + name
                                    : std::string("this version of ncu gives no ") + name + " here";
    }
  }
  for (const Ratio& ratio : kRatios) {
    const auto above = metric.key == ratio.key ? row.number(ratio.above) : std::nullopt;
    const auto below = metric.key == ratio.key ? row.number(ratio.below) : std::nullopt;
    if (!metric.value && above && below) {
      if (*below > 0) {
        metric.value = *above / *below;
      } else {
        metric.reason = "no such request was made";
      }
    }
  }
  if (metric.value) {
    metric.reason.clear();
  }
  return metric;
}

KernelProfile kernel_of(const Row& row) {
  KernelProfile kernel;
  kernel.kernel = row.text("Kernel Name");
  kernel.grid = row.text("Grid Size");
  kernel.block = row.text("Block Size");
  for (const Known& known : kKnown) {
    kernel.metrics.push_back(metric_of(row, known));
  }
  kernel.stalls = stalls_of(row);
  kernel.pipes = pipes_of(row);
  kernel.limits = limits_of(row);
  return kernel;
}

}  // namespace

const Metric* KernelProfile::metric(std::string_view key) const {
  const auto found = std::ranges::find(metrics, key, &Metric::key);
  return found == metrics.end() ? nullptr : &*found;
}

std::vector<std::string> metric_keys() {
  std::vector<std::string> keys;
  for (const Known& known : kKnown) {
    keys.emplace_back(known.key);
  }
  return keys;
}

std::optional<double> ncu_number(std::string_view text) {
  std::string plain;
  constexpr std::size_t kMostDigits = 64;
  for (const char c : util::trim(text).substr(0, kMostDigits)) {
    if (c == ' ') {
      break;
    }
    if (c != ',') {
      plain += c;
    }
  }
  // strtod also takes words and hexadecimal.
  if (plain.find_first_not_of("0123456789.+-eE") != std::string::npos ||
      plain.find_first_of("0123456789") == std::string::npos) {
    return std::nullopt;
  }
  char* end = nullptr;
  const double value = std::strtod(plain.c_str(), &end);
  return *end == '\0' && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

double ncu_unit(std::string_view unit) {
  struct Unit {
    std::string_view name;
    double factor;
  };

  constexpr std::array kTimes = {Unit{"ns", 1e-9},
                                 Unit{"nsecond", 1e-9},
                                 Unit{"us", 1e-6},
                                 Unit{"usecond", 1e-6},
                                 Unit{"ms", 1e-3},
                                 Unit{"msecond", 1e-3},
                                 Unit{"s", 1.0},
                                 Unit{"second", 1.0}};
  for (const Unit& time : kTimes) {
    if (unit == time.name) {
      return time.factor;
    }
  }
  if (unit.substr(0, unit.find('/')).find("byte") == std::string_view::npos) {
    return 1;
  }
  double rate = 1;
  if (const std::size_t slash = unit.find('/'); slash != std::string_view::npos) {
    for (const Unit& time : kTimes) {
      rate = unit.substr(slash + 1) == time.name ? 1 / time.factor : rate;
    }
  }
  constexpr std::array kPrefixes = {
      Unit{"Kbyte", 1e3}, Unit{"Mbyte", 1e6}, Unit{"Gbyte", 1e9}, Unit{"Tbyte", 1e12}};
  for (const Unit& prefix : kPrefixes) {
    if (unit.starts_with(prefix.name)) {
      return prefix.factor * rate;
    }
  }
  return rate;
}

std::optional<Unavailable> ncu_error(std::string_view text) {
  constexpr std::string_view kMark = "==ERROR==";
  const std::size_t at = text.find(kMark);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view rest = text.substr(at + kMark.size());
  const std::string said =
      util::printable(util::trim(rest.substr(0, rest.find('\n')).substr(0, kMostName)));
  const auto says = [&said](std::string_view part) { return said.find(part) != std::string::npos; };
  return Unavailable{"ncu: " + said,
                     says("ERR_NVGPUCTRPERM") || says("permission")
                         ? "run as root, or let all users read counters: options nvidia "
                           "NVreg_RestrictProfilingToAdminUsers=0 in /etc/modprobe.d, then reboot"
                     : says("LibraryNotLoaded") || says("not supported")
                         ? "this driver or virtual machine does not give out the GPU's counters"
                     : says("another") || says("Lock")
                         ? "another profiler uses the GPU; wait for its end"
                         : "see docs/profiling.md"};
}

Result<std::vector<KernelProfile>> parse_ncu_page(std::string_view text) {
  // What ncu says about itself comes before the table.
  std::string table;
  for (const std::string_view line : util::split(text, '\n')) {
    if (!line.starts_with("==")) {
      table += std::string(line) + "\n";
    }
  }
  const Csv csv = parse_csv(table);
  const auto header = std::ranges::find_if(
      csv.rows, [](const auto& row) { return std::ranges::find(row, "Kernel Name") != row.end(); });
  if (header == csv.rows.end() || csv.rows.end() - header < 3) {
    if (auto error = ncu_error(text)) {
      return *error;
    }
    return Unavailable{"ncu printed no table of kernels", "its version may be unknown here"};
  }
  std::vector<KernelProfile> kernels;
  for (auto row = header + 2; row != csv.rows.end() && kernels.size() < kMostKernels; ++row) {
    if (row->size() == header->size() && (header + 1)->size() == header->size()) {
      kernels.push_back(kernel_of(Row(*header, *(header + 1), *row)));
    }
  }
  if (kernels.empty()) {
    return Unavailable{"no row of ncu's table fits its header", "its version may be unknown here"};
  }
  return kernels;
}

}  // namespace sweep::profile
