#include "evaluate/seat.h"

#include "evaluate/library_use.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <utility>

namespace sweep::evaluate {
namespace {

// Beyond the edge of a buffer by at most this much counts as running over it: guards are at least a
// page, on the GPU a granule of 2 MiB.
constexpr device::Address kNear = device::Address{1} << 21U;

// Names the arguments that a plan depends on beside the dims of the bench.
std::string scalars_text(const submission::Signature& signature, const problem::Draw& draw) {
  std::string text = "=";
  for (const submission::Scalar& scalar : signature.scalars) {
    const auto found = draw.scalars.find(scalar.name);
    if (found == draw.scalars.end()) {
      continue;
    }
    const auto* whole = std::get_if<std::int64_t>(&found->second);
    char real[40];
    std::snprintf(
        real, sizeof real, "%a", whole == nullptr ? std::get<double>(found->second) : 0.0);
    text +=
        scalar.name + ':' + (whole != nullptr ? std::to_string(*whole) : std::string(real)) + ';';
  }
  return text;
}

}  // namespace

Seat::Seat(Arm& arm,
           const Bench& bench,
           const problem::Problem& problem,
           std::int64_t sm_count,
           device::Access inputs)
    : arm_(arm), bench_(bench), problem_(problem), sm_count_(sm_count) {
  for (const Bench::Slot& slot : bench.slots()) {
    const auto access = slot.is_input() ? inputs : device::Access::read_write;
    const Arm::Mapped mapped = arm.map(slot.shared.buffer(), access);
    const device::Address end = mapped.address + Window::padded(slot.shared.buffer().bytes());
    regions_.push_back({mapped.buffer, 0, 0, !slot.is_input(), end});
  }
  follow();
}

// The mappings stay; where the contents begin in them has changed.
void Seat::follow() {
  version_ = bench_.version();
  ready_for_.clear();
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    regions_[i].bytes = bench_.slots()[i].shared.span();
    regions_[i].address = regions_[i].end - regions_[i].bytes;
  }
}

Seat::~Seat() {
  let_go();
}

void Seat::let_go() noexcept {
  try {
    if (sequence_ != 0) {
      arm_.forget(sequence_);
    }
    for (const std::int64_t set : sets_) {
      arm_.drop(set);
    }
    for (const Region& region : regions_) {
      arm_.unmap(region.buffer);
    }
  } catch (const std::exception&) {
    // The runner is gone, and with it all of this.
    return;
  }
}

void Seat::ready(const problem::Draw& draw, std::uint32_t poison) {
  if (version_ != bench_.version()) {
    follow();
  }
  const Code& code = arm_.code();
  std::string wanted = scalars_text(code.signature, draw);
  if (wanted == ready_for_) {
    return;
  }
  ready_for_.clear();
  if (code.library) {
    take_scratch({}, poison);
    load_library(*code.library, draw);
    ready_for_ = std::move(wanted);
    return;
  }
  auto expanded = expand_for(
      code.submission,
      code.signature,
      draw,
      sm_count_,
      [this](const std::string& kernel, std::int64_t threads, std::int64_t shared) {
        return arm_.occupancy(kernel, threads, shared);
      },
      problem_.limits.launches);
  if (auto* error = std::get_if<submission::PlanError>(&expanded)) {
    throw PlanFault(std::move(*error));
  }
  const auto& expansion = std::get<submission::Expansion>(expanded);
  std::vector<device::Address> buffers;
  for (const Region& region : regions_) {
    buffers.push_back(region.address);
  }
  take_scratch(expansion.scratch, poison);
  for (const Region& region : scratch_regions_) {
    buffers.push_back(region.address);
  }
  auto steps = bind_steps(code, expansion, arm_.facts(), buffers);
  if (auto* error = std::get_if<submission::PlanError>(&steps)) {
    throw PlanFault(std::move(*error));
  }
  load(std::get<0>(std::move(steps)));
  ready_for_ = std::move(wanted);
}

void Seat::load_library(const LibraryUse& use, const problem::Draw& draw) {
  std::vector<NamedBuffer> buffers;
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    buffers.push_back({bench_.slots()[i].tensor.name, regions_[i].address});
  }
  auto bound = bind_library(use, problem_, draw, buffers);
  if (auto* error = std::get_if<submission::PlanError>(&bound)) {
    throw PlanFault(std::move(*error));
  }
  load({std::get<device::Launch>(std::move(bound))});
}

void Seat::load(std::vector<device::Step> steps) {
  const auto patches = sequence_ == 0 ? std::nullopt : patches_between(steps_, steps);
  if (patches && !patches->empty()) {
    arm_.update(sequence_, *patches);
  } else if (!patches) {
    if (sequence_ != 0) {
      arm_.forget(std::exchange(sequence_, 0));
    }
    sequence_ = arm_.prepare(steps);
  }
  steps_ = std::move(steps);
}

void Seat::take_scratch(const std::vector<submission::ScratchBuffer>& wanted,
                        std::uint32_t poison) {
  std::vector<std::int64_t> bytes;
  for (const submission::ScratchBuffer& buffer : wanted) {
    bytes.push_back(buffer.bytes);
  }
  if (bytes == scratch_bytes_ && washed_) {
    return;
  }
  for (const std::int64_t set : sets_) {
    arm_.drop(set);
  }
  sets_.clear();
  scratch_regions_.clear();
  scratch_bytes_.clear();
  if (!wanted.empty()) {
    const Arm::Scratch made = arm_.scratch(wanted);
    sets_.push_back(made.set);
    for (std::size_t i = 0; i < made.addresses.size(); ++i) {
      scratch_regions_.push_back(
          {0, made.addresses[i], static_cast<std::size_t>(bytes[i]), true, 0});
    }
  }
  scratch_bytes_ = std::move(bytes);
  arm_.wash(poison, sets_);
  washed_ = true;
}

device::RunTime Seat::run(double seconds, std::uint32_t poison) {
  return arm_.run(sequence_, seconds, poison, sets_);
}

double Seat::row(int calls, bool flush, double seconds, std::uint32_t poison) {
  return arm_.row(sequence_, calls, flush, seconds, poison, sets_);
}

std::int64_t Seat::scratch_bytes() const {
  return std::accumulate(scratch_bytes_.begin(), scratch_bytes_.end(), std::int64_t{0});
}

Seat::Place Seat::place(device::Address address) const {
  for (const Region& region : regions_) {
    if (!region.writable && address >= region.address && address - region.address < region.bytes) {
      return Place::inside_input;
    }
  }
  const auto near = [address](const Region& region) {
    const device::Address begin = region.address > kNear ? region.address - kNear : 0;
    return address >= begin && address < region.address + region.bytes + kNear;
  };
  return std::ranges::any_of(regions_, near) || std::ranges::any_of(scratch_regions_, near)
             ? Place::near_buffer
             : Place::elsewhere;
}

}  // namespace sweep::evaluate
