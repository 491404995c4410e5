#include "evaluate/seat.h"

#include "evaluate/library_use.h"
#include "evaluate/peers.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <span>
#include <utility>

namespace sweep::evaluate {
namespace {

// Beyond the edge of a buffer by at most this much counts as running over it: guards are at least a
// page, on the GPU a granule of 2 MiB.
constexpr device::Address kNear = device::Address{1} << 21U;

// Names what a plan depends on beside the dims of the bench: its arguments and the order of ranks.
std::string scalars_text(const submission::Signature& signature,
                         const problem::Draw& draw,
                         std::uint64_t rank_order) {
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
  return signature.ranked ? text + std::to_string(rank_order) : text;
}

std::vector<std::int64_t> bytes_of(const std::vector<submission::ScratchBuffer>& buffers) {
  std::vector<std::int64_t> bytes;
  for (const submission::ScratchBuffer& buffer : buffers) {
    bytes.push_back(buffer.bytes);
  }
  return bytes;
}

}  // namespace

Seat::Seat(Arm& arm,
           const Bench& bench,
           const problem::Problem& problem,
           std::int64_t sm_count,
           device::Access inputs)
    : arm_(arm), bench_(bench), problem_(problem), sm_count_(sm_count), inputs_(inputs) {
  std::vector<std::vector<Region>> made(bench.slots().size());
  for (std::size_t i = 0; i < made.size(); ++i) {
    const std::size_t number = (bench.first_mapped() + i) % made.size();
    const Bench::Slot& slot = bench.slots()[number];
    for (const Window& window : slot.shared) {
      made[number].push_back(
          mapped(window.buffer(), slot.is_input() ? inputs : device::Access::read_write));
      made[number].back().writable = !slot.is_input();
    }
  }
  for (const std::vector<Region>& of_slot : made) {
    regions_.insert(regions_.end(), of_slot.begin(), of_slot.end());
  }
  follow();
}

Seat::Region Seat::mapped(const device::Buffer& buffer, device::Access access) {
  const Arm::Mapped made = arm_.map(buffer, access);
  return {made.buffer,
          made.address,
          buffer.bytes(),
          false,
          made.address + Window::padded(buffer.bytes())};
}

// The mappings stay; where the contents begin in them has changed.
void Seat::follow() {
  version_ = bench_.version();
  ready_for_.clear();
  std::size_t i = 0;
  for (const Bench::Slot& slot : bench_.slots()) {
    for (const Window& window : slot.shared) {
      regions_[i].bytes = window.span();
      regions_[i].address = regions_[i].end - window.span();
      ++i;
    }
  }
  for (auto& [number, region] : peers_) {
    region.bytes = regions_[number].bytes;
    region.address = region.end - region.bytes;
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
    for (const auto& [number, region] : peers_) {
      arm_.unmap(region.buffer);
    }
    if (tables_ != nullptr) {
      arm_.unmap(table_region_.buffer);
    }
  } catch (const std::exception&) {
    // The runner is gone, and with it all of this.
    return;
  }
}

submission::Expansion Seat::expanded(const problem::Draw& draw, std::uint64_t rank_order) {
  const Code& code = arm_.code();
  auto made = expand_for(
      code.submission,
      code.signature,
      draw,
      sm_count_,
      [this](const std::string& kernel, std::int64_t threads, std::int64_t shared) {
        return arm_.occupancy(kernel, threads, shared);
      },
      problem_.limits.launches,
      true,
      rank_order);
  if (auto* error = std::get_if<submission::PlanError>(&made)) {
    throw PlanFault(std::move(*error));
  }
  return std::get<submission::Expansion>(std::move(made));
}

std::vector<device::Step> Seat::bound(const submission::Expansion& expansion,
                                      const std::vector<device::Address>& buffers) const {
  auto steps = bind_steps(arm_.code(), expansion, arm_.facts(), buffers);
  if (auto* error = std::get_if<submission::PlanError>(&steps)) {
    throw PlanFault(std::move(*error));
  }
  return std::get<0>(std::move(steps));
}

// Of tensors and scratch, in the order of an expansion.
std::vector<device::Address> Seat::own_buffers() const {
  std::vector<device::Address> buffers;
  for (const Region& region : regions_) {
    buffers.push_back(region.address);
  }
  for (const Region& region : scratch_regions_) {
    buffers.push_back(region.address);
  }
  return buffers;
}

void Seat::ready(const problem::Draw& draw, std::uint32_t poison, std::uint64_t rank_order) {
  settle();
  if (version_ != bench_.version()) {
    follow();
  }
  const Code& code = arm_.code();
  std::string wanted = scalars_text(code.signature, draw, rank_order);
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
  submission::Expansion expansion = expanded(draw, rank_order);
  take_scratch(expansion.scratch, poison);
  std::vector<device::Address> buffers = own_buffers();
  show_peers(expansion, buffers);
  load(bound(expansion, buffers));
  step_ranks_ = std::move(expansion.step_ranks);
  ready_for_ = std::move(wanted);
}

void Seat::foresee(const problem::Draw& next) {
  settle();
  const Code& code = arm_.code();
  std::string wanted = scalars_text(code.signature, next, 0);
  if (ready_for_.empty() || wanted == ready_for_ || version_ != bench_.version() ||
      sequence_ == 0 || code.library || code.signature.ranked) {
    return;
  }
  try {
    submission::Expansion expansion = expanded(next, 0);
    if (bytes_of(expansion.scratch) != scratch_bytes_) {
      return;
    }
    std::vector<device::Step> steps = bound(expansion, own_buffers());
    auto patches = patches_between(steps_, steps);
    if (!patches || patches->empty()) {
      return;
    }
    arm_.update_after_run(sequence_, std::move(*patches));
    foreseen_ = {std::move(wanted), std::move(steps), std::move(expansion.step_ranks)};
  } catch (const PlanFault&) {
    // ready() will say so where it counts.
    return;
  }
}

// Takes over what the runner has made of what was foreseen.
void Seat::settle() {
  if (!foreseen_) {
    return;
  }
  Foreseen plan = *std::exchange(foreseen_, std::nullopt);
  if (!arm_.take_update(sequence_)) {
    return;
  }
  steps_ = std::move(plan.steps);
  step_ranks_ = std::move(plan.step_ranks);
  ready_for_ = std::move(plan.ready_for);
}

void Seat::load_library(const LibraryUse& use, const problem::Draw& draw) {
  std::vector<NamedBuffer> buffers;
  std::size_t first = 0;
  for (const Bench::Slot& slot : bench_.slots()) {
    buffers.push_back({slot.tensor.name, regions_[first].address});
    first += slot.shared.size();
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
  std::vector<std::int64_t> bytes = bytes_of(wanted);
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

// Where other ranks read what lies in the region: outputs have a mapping for that.
device::Address Seat::peer_address(std::size_t region) {
  if (!regions_[region].writable) {
    return regions_[region].address;
  }
  auto found = peers_.find(region);
  if (found == peers_.end()) {
    std::size_t i = region;
    auto slot = bench_.slots().begin();
    for (; i >= slot->shared.size(); ++slot) {
      i -= slot->shared.size();
    }
    found = peers_.emplace(region, mapped(slot->shared[i].buffer(), inputs_)).first;
    found->second.bytes = regions_[region].bytes;
    found->second.address = found->second.end - found->second.bytes;
  }
  return found->second.address;
}

// Adds the addresses of the tables of peers to `buffers`, which has tensors and scratch.
void Seat::show_peers(const submission::Expansion& expansion,
                      std::vector<device::Address>& buffers) {
  if (expansion.peers.empty()) {
    return;
  }
  std::vector<device::Address> reached = buffers;
  for (const submission::PeerTable& table : expansion.peers) {
    for (const std::size_t buffer : table.buffers) {
      reached.at(buffer) = buffer < regions_.size() ? peer_address(buffer) : buffers.at(buffer);
    }
  }
  const PeerWords tables = peer_words(expansion, reached);
  put_tables(tables.words);
  for (const std::size_t begin : tables.begins) {
    buffers.push_back(table_region_.address + begin);
  }
}

void Seat::put_tables(const std::vector<std::uint64_t>& words) {
  if (words == table_words_) {
    return;
  }
  if (tables_ == nullptr || words.size() != table_words_.size()) {
    if (tables_ != nullptr) {
      arm_.unmap(table_region_.buffer);
    }
    tables_ = bench_.device().allocate(words.size() * sizeof(std::uint64_t));
    table_region_ = mapped(*tables_, device::Access::read);
  }
  bench_.device().upload(tables_->address(), std::as_bytes(std::span(words)));
  bench_.device().synchronize();
  table_words_ = words;
}

device::RunTime Seat::run(double seconds, std::uint32_t poison) {
  return arm_.run(sequence_, seconds, poison, sets_);
}

void Seat::step_through(double seconds,
                        std::uint32_t poison,
                        const std::function<void(std::size_t rank)>& after) {
  for (std::size_t i = 0; i < step_ranks_.size(); ++i) {
    const std::int64_t one = arm_.prepare({steps_[i]});
    (void)arm_.run(one, seconds, poison, {});
    arm_.forget(one);
    after(step_ranks_[i]);
  }
  arm_.wash(poison, sets_);
}

std::optional<std::vector<device::Step>> Seat::steps_on(
    const problem::Draw& draw, const std::vector<device::Address>& tensors) {
  const Code& code = arm_.code();
  if (code.library || code.signature.ranked) {
    return std::nullopt;
  }
  const submission::Expansion expansion = expanded(draw, 0);
  if (bytes_of(expansion.scratch) != scratch_bytes_) {
    return std::nullopt;
  }
  std::vector<device::Address> buffers = tensors;
  for (const Region& region : scratch_regions_) {
    buffers.push_back(region.address);
  }
  return bound(expansion, buffers);
}

device::RunTime Seat::run_other(std::int64_t sequence, double seconds, std::uint32_t poison) {
  return arm_.run(sequence, seconds, poison, sets_);
}

double Seat::row(int calls, bool flush, double seconds, std::uint32_t poison) {
  return arm_.row(sequence_, calls, flush, seconds, poison, sets_);
}

std::int64_t Seat::scratch_bytes() const {
  return std::accumulate(scratch_bytes_.begin(), scratch_bytes_.end(), std::int64_t{0});
}

Seat::Place Seat::place(device::Address address) const {
  const auto inside = [address](const Region& region) {
    return !region.writable && address >= region.address && address - region.address < region.bytes;
  };
  if (std::ranges::any_of(regions_, inside) || inside(table_region_) ||
      std::ranges::any_of(peers_, [&](const auto& item) { return inside(item.second); })) {
    return Place::inside_input;
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
