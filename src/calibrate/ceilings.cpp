#include "calibrate/ceilings.h"

#include "stats/stats.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

namespace sweep::calibrate {
namespace {

using evaluate::Figure;

constexpr int kRuns = 10;
constexpr std::uint32_t kThreads = 256;
constexpr std::uint32_t kBlocksPerSm = 8;
// Long enough that what events add is below 0.1%.
constexpr double kLeastSeconds = 4e-3;

class Ceilings {
 public:
  Ceilings(Rig& rig, const device::Image& kernels)
      : rig_(rig),
        module_(rig.load(kernels)),
        sink_(rig.buffer(256)),
        sms_(static_cast<std::uint32_t>(rig.info().sm_count)) {}

  std::vector<Figure> measure() {
    overhead();
    memory();
    caches();
    pipe("fp32 FMA", "fp32_fma", 2 * kChainOps, "op/s", "two a fused multiply-add");
    pipe("fp64 FMA", "fp64_fma", 2 * kChainOps, "op/s", "two a fused multiply-add");
    pipe("int32 multiply-add", "int32_mad", 2 * kChainOps, "op/s", "two a multiply-add");
    // Of a warp's instruction: 2 m n k operations, over 32 threads.
    const auto mma = [this](const char* name, const char* kernel, double k) {
      pipe(name, kernel, kMmas * 2 * 16 * 8 * k / 32, "op/s", "mma.sync; wgmma reaches more");
    };
    mma("bf16 tensor", "bf16_mma", 16);
    mma("fp16 tensor", "fp16_mma", 16);
    mma("tf32 tensor", "tf32_mma", 8);
    mma("int8 tensor", "int8_mma", 32);
    return std::move(figures_);
  }

 private:
  static constexpr double kChainOps = 8.0 * 64;  // of a thread and pass
  static constexpr double kMmas = 8.0 * 16;      // of a warp and pass

  device::Launch launch(const char* kernel,
                        std::uint32_t blocks,
                        std::uint32_t threads,
                        std::vector<std::vector<std::byte>> arguments) const {
    return {kernel, {blocks, 1, 1}, {threads, 1, 1}, 0, std::move(arguments), {}, {}};
  }

  double best(const device::Launch& what, bool cold) {
    const Rig::Prepared prepared = rig_.prepare(*module_, {what});
    double least = rig_.run(prepared, cold);
    for (int i = 0; i < kRuns; ++i) {
      least = std::min(least, rig_.run(prepared, cold));
    }
    return least;
  }

  void add(std::string name, double value, std::string unit, std::string note) {
    figures_.push_back({std::move(name), value, std::move(unit), std::move(note)});
  }

  void overhead() {
    constexpr int kCount = 101;
    const Rig::Prepared empty = rig_.prepare(*module_, {launch("nothing", 1, 1, {})});
    add("empty kernel by events", rig_.median(empty, kCount, false), "s", "median of 101");
  }

  void memory() {
    const std::size_t most = std::size_t{2} << 30U;
    const std::size_t bytes = std::min(most, rig_.free_bytes() / 8) / 4096 * 4096;
    const std::uint64_t count = bytes / 16;
    const auto blocks = static_cast<std::uint32_t>(count / kThreads);
    const auto from = rig_.buffer(bytes), to = rig_.buffer(bytes);
    const auto size = static_cast<double>(bytes);
    add("DRAM read",
        size /
            best(launch("dram_read",
                        sms_ * kBlocksPerSm,
                        kThreads,
                        {argument(from->address()), argument(count), argument(sink_->address())}),
                 true),
        "B/s",
        "");
    add("DRAM write",
        size /
            best(launch("dram_write", blocks, kThreads, {argument(to->address()), argument(count)}),
                 true),
        "B/s",
        "");
    add("DRAM copy",
        2 * size /
            best(launch("dram_copy",
                        blocks,
                        kThreads,
                        {argument(from->address()), argument(to->address()), argument(count)}),
                 true),
        "B/s",
        "read and written");
  }

  // Runs with more passes until a run lasts long enough; returns a pass's best time.
  double pass_seconds(const std::function<device::Launch(std::uint32_t)>& with) {
    std::uint32_t passes = 16;
    double seconds = best(with(passes), false);
    while (seconds < kLeastSeconds && passes < (1U << 24U)) {
      passes *= seconds < kLeastSeconds / 8 ? 8 : 2;
      seconds = best(with(passes), false);
    }
    return seconds / passes;
  }

  void caches() {
    const std::size_t bytes = rig_.info().l2_bytes / 4 / 4096 * 4096;
    const auto lines = rig_.buffer(bytes);
    const auto count = static_cast<std::uint32_t>(bytes / 16);
    const double l2 = pass_seconds([&](std::uint32_t passes) {
      return launch("l2_read",
                    sms_ * kBlocksPerSm,
                    kThreads,
                    {argument(lines->address()),
                     argument(count),
                     argument(passes),
                     argument(sink_->address())});
    });
    add("L2 read", static_cast<double>(bytes) / l2, "B/s", "a quarter of L2, again and again");
    constexpr std::uint32_t kWide = 1024;
    const double shared = pass_seconds([&](std::uint32_t passes) {
      return launch("shared_read", 2 * sms_, kWide, {argument(passes), argument(sink_->address())});
    });
    constexpr double kBytesOfPass = 8.0 * 16;  // of a thread
    add("shared memory read",
        kBytesOfPass * kWide * 2 * sms_ / shared,
        "B/s",
        "all multiprocessors");
  }

  void pipe(const char* name, const char* kernel, double ops, const char* unit, const char* note) {
    const std::uint32_t blocks = sms_ * kBlocksPerSm;
    const double seconds = pass_seconds([&](std::uint32_t passes) {
      return launch(kernel, blocks, kThreads, {argument(passes), argument(sink_->address())});
    });
    add(name, ops * kThreads * blocks / seconds, unit, note);
  }

  Rig& rig_;
  std::unique_ptr<device::Module> module_;
  std::unique_ptr<device::Buffer> sink_;
  std::uint32_t sms_;
  std::vector<Figure> figures_;
};

}  // namespace

std::vector<Figure> measure_ceilings(Rig& rig, const device::Image& kernels) {
  return Ceilings(rig, kernels).measure();
}

namespace {

// Of a copy of 10 us, 120 blocks gave half-widths of 0.3 to 0.9% on H200s: the widest do not fit
// within 1% beside any difference. So a pilot of as many says how many are enough for 0.35%; it is
// not used again, and at most 2000 are 3 s.
constexpr int kPilotBlocks = 120;
constexpr int kMostBlocks = 2000;
constexpr double kHalfWidth = 0.0035;

int blocks_after(const std::vector<double>& pilot) {
  constexpr double kNormal = 1.96;
  const double wanted = kNormal * kNormal * stats::variance(pilot) / (kHalfWidth * kHalfWidth);
  return static_cast<int>(std::clamp(std::ceil(wanted), double{kPilotBlocks}, double{kMostBlocks}));
}

}  // namespace

evaluate::ControlResult hostile_neighbour(Rig& rig,
                                          const device::Image& kernels,
                                          const Material& copies,
                                          std::int64_t rows) {
  constexpr double kWithin = 0.01;
  const auto module = rig.load(kernels);
  const auto seed = rig.load(copies.seed.image);
  const auto memory = rig.buffer(rig.info().l2_bytes / 2), sink = rig.buffer(256);
  const Rig::Prepared hoard =
      rig.prepare(*module,
                  {device::Launch{"hoard",
                                  {static_cast<std::uint32_t>(rig.info().sm_count), 1, 1},
                                  {1024, 1, 1},
                                  0,
                                  {argument(memory->address()),
                                   argument(std::uint64_t{memory->bytes() / 16}),
                                   argument(sink->address())},
                                  {},
                                  {}}});
  const Rig::Prepared copy =
      rig.prepare(*seed, copies.seed, copies.problem, dims_of(Kind::copy, rows));
  const auto call = [&](bool hoarded) {
    if (hoarded) {
      (void)rig.run(hoard, false);
    }
    return std::log(rig.run(copy, true));
  };
  (void)call(true);
  stats::KeyedRandom random(1, "hostile neighbour");
  const auto blocks = [&](int count) {
    std::vector<double> ratios;
    for (int i = 0; i < count; ++i) {
      const bool first = random.below(2) == 1;
      const double a = call(first), b = call(!first), c = call(!first), d = call(first);
      const double difference = (b + c - a - d) / 2;
      ratios.push_back(first ? difference : -difference);
    }
    return ratios;
  };
  const int count = blocks_after(blocks(kPilotBlocks));
  const std::vector<double> ratios = blocks(count);
  const stats::Interval found = stats::mean_interval(ratios, 0.95);
  evaluate::ControlResult result;
  result.name = "hostile neighbour";
  result.ratio = {std::exp(found.low), std::exp(stats::mean(ratios)), std::exp(found.high)};
  result.passed = result.ratio.low >= 1 - kWithin && result.ratio.high <= 1 + kWithin;
  result.text = fmt::format("a copy without / after a kernel that hoards L2, {} blocks", count);
  return result;
}

}  // namespace sweep::calibrate
