#ifdef SWEEP_HAVE_CUDA
#include "device/cuda/harness.h"

#include "util/error.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

namespace sweep::device::cuda {
namespace {

// Probe: 8 blocks of one thread with 8 lines each, 16.1 KiB apart, so that they fall on different
// L2 slices; all within one 2 MiB page.
constexpr unsigned kProbeBlocks = 8;
constexpr unsigned kProbeLines = 8;
constexpr std::size_t kProbeCount = std::size_t{kProbeBlocks} * kProbeLines;
constexpr std::uint64_t kProbeStride = 16 * 1024 + 128;
constexpr std::size_t kProbeWarm = std::size_t{1536} << 10;  // beyond the last probe line
constexpr std::size_t kProbeBytes = std::size_t{2} << 20;
static_assert(kProbeCount * kProbeStride < kProbeWarm);

// A line counts as evicted from halfway between the two costs; they must differ by this many
// cycles.
constexpr int kLeastGap = 100;

// Layout of `words_`, in 4-byte words.
constexpr std::size_t kFirst = 0;
constexpr std::size_t kSecond = kProbeCount;
constexpr std::size_t kSink = 2 * kProbeCount;
constexpr std::size_t kArrived = kSink + 32;
constexpr std::size_t kFound = kArrived + 32;
constexpr std::size_t kFoundWords = 32;

// A claim as find_contradictions takes it.
struct Search {
  std::uint64_t at = 0, other = 0, bytes = 0;
  std::uint32_t pattern = 0, by_word = 0;
};

using Searches = std::array<Search, kFoundWords>;
static_assert(sizeof(Searches) == 32 * kFoundWords);

constexpr std::size_t kWordBytes = 4 * (kFound + kFoundWords);

// Washer: rounds of 56 multiply-adds a thread, about 20 us on 132 multiprocessors at 1.98 GHz.
constexpr unsigned kWashRounds = 24;

// Variants of wash_local in harness_image(), smallest first. The first covers the driver's default
// stack limit (1 KiB), which a kernel with indirect calls may use although its own frame is empty.
struct Variant {
  const char* kernel;
  std::size_t bytes;
};

constexpr std::array<Variant, 8> kVariants{{{"wash_local<256>", 1024},
                                            {"wash_local<1024>", 4096},
                                            {"wash_local<2048>", 8192},
                                            {"wash_local<4096>", 16384},
                                            {"wash_local<8192>", 32768},
                                            {"wash_local<16384>", 65536},
                                            {"wash_local<32768>", 131072},
                                            {"wash_local<65536>", 262144}}};
static_assert(kVariants.back().bytes == Harness::kMaxLocalBytes);

int median(std::vector<int> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

Harness::Harness(std::shared_ptr<const Driver> driver,
                 int ordinal,
                 const Info& info,
                 CUstream stream,
                 const Image& image)
    : driver_(std::move(driver)),
      ordinal_(ordinal),
      stream_(stream),
      sm_count_(static_cast<unsigned>(info.sm_count)),
      max_shared_bytes_(info.max_shared_bytes),
      l2_bytes_(info.l2_bytes) {
  auto loaded = CudaModule::load(driver_, image);
  if (const auto* fault = std::get_if<Fault>(&loaded)) {
    throw util::InfraError({"cuda", "the harness's kernels do not load: " + fault->text, ""},
                           "E_HARNESS_KERNELS");
  }
  module_ = std::move(std::get<std::unique_ptr<CudaModule>>(loaded));
  for (const Variant& variant : kVariants) {
    if (module_->facts(variant.kernel).local_bytes < variant.bytes) {
      throw util::InfraError({"cuda", std::string(variant.kernel) + " lost its local memory", ""},
                             "E_HARNESS_KERNELS");
    }
  }
  words_ = zeroed(kWordBytes);
  driver_->check(driver_->cuFuncSetAttribute_(module_->find("wash_shared"),
                                              CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                              static_cast<int>(max_shared_bytes_)),
                 "cuFuncSetAttribute");
}

std::unique_ptr<VmmBuffer> Harness::zeroed(std::size_t bytes) const {
  auto out = VmmBuffer::create(driver_, ordinal_, bytes);
  driver_->check(driver_->cuMemsetD32Async_(out->address(), 0, bytes / 4, stream_),
                 "cuMemsetD32Async");
  return out;
}

const Harness::ProbeFacts& Harness::probe_facts() {
  if (!facts_) {
    flush_ = zeroed(std::max<std::size_t>(l2_bytes_, 1U << 20U) / 2 * 5 / 256 * 256);
    probe_ = zeroed(kProbeBytes);
    facts_ = calibrate();
  }
  return *facts_;
}

void Harness::launch(const char* kernel,
                     Grid grid,
                     unsigned block,
                     std::size_t shared_bytes,
                     std::span<void*> arguments) {
  driver_->check(driver_->cuLaunchKernel_(module_->find(kernel),
                                          grid.x,
                                          grid.y,
                                          1,
                                          block,
                                          1,
                                          1,
                                          static_cast<unsigned>(shared_bytes),
                                          stream_,
                                          arguments.data(),
                                          nullptr),
                 kernel);
}

void Harness::touch_probe(bool hostile) {
  Address base = probe_->address();
  unsigned lines = kProbeLines;
  std::uint64_t stride = kProbeStride;
  unsigned mark = hostile ? 1 : 0;
  Address sink = words_->address() + 4 * kSink;
  std::array<void*, 5> arguments{&base, &lines, &stride, &mark, &sink};
  launch("probe_touch", {kProbeBlocks}, 1, 0, arguments);
}

std::vector<int> Harness::time_probe() {
  Address base = probe_->address();
  Address warm = base + kProbeWarm;
  unsigned lines = kProbeLines;
  std::uint64_t stride = kProbeStride;
  Address first = words_->address() + 4 * kFirst;
  Address second = words_->address() + 4 * kSecond;
  Address sink = words_->address() + 4 * kSink;
  std::array<void*, 7> arguments{&base, &warm, &lines, &stride, &first, &second, &sink};
  launch("probe_time", {kProbeBlocks}, 1, 0, arguments);
  std::array<std::uint32_t, 2 * kProbeCount> cycles{};
  driver_->check(
      driver_->cuMemcpyDtoHAsync_(cycles.data(), words_->address(), sizeof(cycles), stream_),
      "cuMemcpyDtoHAsync");
  driver_->check(driver_->cuStreamSynchronize_(stream_), "cuStreamSynchronize");
  std::vector<int> out;
  for (std::size_t i = 0; i < kProbeCount; ++i) {
    out.push_back(static_cast<int>(cycles[kFirst + i]) - static_cast<int>(cycles[kSecond + i]));
  }
  return out;
}

void Harness::write_and_read() {
  Address at = flush_->address();
  std::uint64_t count = flush_->bytes() / 16;
  std::uint32_t value = ++call_ * 0x9e3779b1U;
  Address sink = words_->address() + 4 * kSink;
  std::array<void*, 3> write{&at, &count, &value};
  launch("flush_write", {2 * sm_count_}, 1024, 0, write);
  std::array<void*, 4> read{&at, &count, &value, &sink};
  launch("flush_read", {2 * sm_count_}, 1024, 0, read);
}

// Warm: touched and timed at once. Cold: touched without priority, flushed, then timed.
Harness::ProbeFacts Harness::calibrate() {
  std::vector<int> warm;
  std::vector<int> cold;
  for (int round = 0; round < 3; ++round) {
    touch_probe(false);
    const std::vector<int> kept = time_probe();
    touch_probe(false);
    write_and_read();
    const std::vector<int> flushed = time_probe();
    if (round > 0) {  // the first launch of each kernel is slow
      warm.insert(warm.end(), kept.begin(), kept.end());
      cold.insert(cold.end(), flushed.begin(), flushed.end());
    }
  }
  ProbeFacts out{median(warm), median(cold), false};
  out.usable = out.cold_cycles - out.warm_cycles >= kLeastGap;
  return out;
}

std::optional<double> Harness::flush(bool reset) {
  const ProbeFacts& facts = probe_facts();
  // Half the probe lines are marked evict_last, as a hostile kernel may mark its input: they show
  // that the reset works.
  touch_probe(true);
  driver_->check(driver_->cuStreamSynchronize_(stream_), "cuStreamSynchronize");
  if (reset) {
    driver_->check(driver_->cuCtxResetPersistingL2Cache_(), "cuCtxResetPersistingL2Cache");
  }
  write_and_read();
  const std::vector<int> extra = time_probe();
  if (!facts.usable) {
    return std::nullopt;
  }
  const int threshold = (facts.warm_cycles + facts.cold_cycles) / 2;
  const auto evicted =
      std::count_if(extra.begin(), extra.end(), [&](int cycles) { return cycles > threshold; });
  return static_cast<double>(evicted) / static_cast<double>(kProbeCount);
}

unsigned Harness::search_blocks(std::size_t items) const {
  return static_cast<unsigned>(
      std::clamp<std::size_t>(items / 1024, 1, 2 * std::size_t{sm_count_}));
}

std::vector<bool> Harness::holds(std::span<const Claim> claims) {
  std::vector<bool> held;
  while (!claims.empty()) {
    const auto part = claims.first(std::min(claims.size(), kFoundWords));
    claims = claims.subspan(part.size());
    Searches searches{};
    unsigned blocks = 1;
    for (std::size_t i = 0; i < part.size(); ++i) {
      const Claim& claim = part[i];
      searches.at(i) = {
          claim.at, claim.other, claim.bytes, claim.pattern.value_or(0), claim.pattern ? 1U : 0U};
      blocks = std::max(blocks, search_blocks(claim.bytes / (claim.pattern ? 4 : 16)));
    }
    Address found = words_->address() + 4 * kFound;
    driver_->check(driver_->cuMemsetD32Async_(found, 0, part.size(), stream_), "cuMemsetD32Async");
    std::array<void*, 2> arguments{&searches, &found};
    launch("find_contradictions", {blocks, static_cast<unsigned>(part.size())}, 1024, 0, arguments);
    std::array<std::uint32_t, kFoundWords> words{};
    driver_->check(driver_->cuMemcpyDtoHAsync_(words.data(), found, 4 * part.size(), stream_),
                   "cuMemcpyDtoHAsync");
    driver_->check(driver_->cuStreamSynchronize_(stream_), "cuStreamSynchronize");
    for (std::size_t i = 0; i < part.size(); ++i) {
      held.push_back(words.at(i) == 0);
    }
  }
  return held;
}

void Harness::wash(std::size_t local_bytes) {
  const auto* variant = std::find_if(
      kVariants.begin(), kVariants.end(), [&](const Variant& v) { return v.bytes >= local_bytes; });
  if (variant == kVariants.end()) {
    throw util::InfraError({"cuda", "local memory beyond what the washer overwrites", ""},
                           "E_DEVICE");
  }
  std::uint32_t value = ++call_ * 0x9e3779b1U;
  unsigned words = static_cast<unsigned>(max_shared_bytes_ / 4);
  unsigned rounds = kWashRounds;
  Address sink = words_->address() + 4 * kSink;
  Address arrived = words_->address() + 4 * kArrived;
  const int resident = module_->occupancy(variant->kernel, 1024, 0);
  driver_->check(driver_->cuMemsetD32Async_(arrived, 0, 1, stream_), "cuMemsetD32Async");
  std::array<void*, 3> local{&value, &arrived, &sink};
  launch(variant->kernel, {static_cast<unsigned>(resident) * sm_count_}, 1024, 0, local);
  std::array<void*, 4> shared{&words, &value, &rounds, &sink};
  launch("wash_shared", {sm_count_}, 1024, max_shared_bytes_, shared);
}

}  // namespace sweep::device::cuda
#endif
