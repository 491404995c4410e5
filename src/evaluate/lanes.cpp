#include "evaluate/lanes.h"

#include "util/error.h"

#include <algorithm>
#include <utility>

namespace sweep::evaluate {
namespace {

constexpr std::size_t kWord = 4;

device::Address at(const Lanes::Slot& slot, const device::Buffer& buffer, int lane) {
  return buffer.address() + slot.stride * static_cast<std::size_t>(lane);
}

}  // namespace

std::size_t Lanes::bytes_of(const Bench& bench) {
  std::size_t sum = 0;
  for (const Bench::Slot& slot : bench.slots()) {
    const std::size_t copies = slot.is_input() ? 1 : slot.pristine ? 4 : 3;
    sum += copies * Window::padded(static_cast<std::size_t>(slot.tensor.bytes));
  }
  return sum;
}

Lanes::Lanes(device::Device& device, const Bench& bench, int count, std::uint32_t poison)
    : device_(device), count_(count), poison_(poison) {
  for (const Bench::Slot& from : bench.slots()) {
    Slot slot;
    slot.name = from.tensor.name;
    slot.input = from.is_input();
    slot.bytes = static_cast<std::size_t>(from.tensor.bytes);
    slot.stride = Window::padded(slot.bytes);
    slot.shared = device.allocate(span(slot));
    if (!slot.input && from.pristine) {
      slot.pristine = device.allocate(span(slot));
    }
    if (slot.input) {
      device.fill_words(
          slot.shared->address() - slot.shared->front(), slot.shared->front() + span(slot), poison);
    }
    slots_.push_back(std::move(slot));
  }
}

void Lanes::take(int lane, const Bench& bench) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    const device::Buffer* to = slot.input ? slot.shared.get() : slot.pristine.get();
    if (to != nullptr && slot.bytes > 0) {
      device_.copy(at(slot, *to, lane), bench.slots()[i].pristine.address(), slot.bytes);
    }
  }
}

void Lanes::before_calls() {
  for (const Slot& slot : slots_) {
    if (slot.input) {
      continue;
    }
    device_.fill_words(
        slot.shared->address() - slot.shared->front(), slot.shared->front() + span(slot), poison_);
    for (int lane = 0; lane < count_ && slot.pristine != nullptr && slot.bytes > 0; ++lane) {
      device_.copy(at(slot, *slot.shared, lane), at(slot, *slot.pristine, lane), slot.bytes);
    }
  }
  device_.synchronize();
}

void Lanes::keep(Arm arm) {
  for (Slot& slot : slots_) {
    if (slot.input) {
      continue;
    }
    auto& kept = arm == Arm::seed ? slot.seed : slot.own;
    if (kept == nullptr) {
      kept = device_.allocate(span(slot));
    }
    device_.copy(kept->address(), slot.shared->address(), span(slot));
  }
  device_.synchronize();
}

bool Lanes::as_kept(int calls) {
  std::vector<device::Claim> claims;
  for (const Slot& slot : slots_) {
    if (slot.input) {
      continue;
    }
    if (slot.own == nullptr) {
      return false;
    }
    claims.push_back({slot.shared->address(),
                      slot.stride * static_cast<std::size_t>(calls),
                      slot.own->address()});
    if (slot.shared->front() > 0) {
      claims.push_back(
          {slot.shared->address() - slot.shared->front(), slot.shared->front(), 0, poison_});
    }
  }
  return std::ranges::all_of(device_.holds(claims), [](bool held) { return held; });
}

std::string Lanes::written_from(int first) {
  for (const Slot& slot : slots_) {
    if (slot.input) {
      continue;
    }
    std::vector<device::Claim> claims;
    for (int lane = first; lane < count_; ++lane) {
      const std::size_t kept = slot.pristine != nullptr ? slot.bytes / kWord * kWord : 0;
      if (kept > 0) {
        claims.push_back({at(slot, *slot.shared, lane), kept, at(slot, *slot.pristine, lane)});
      }
      // A last part of a word of an inout is left out.
      const std::size_t begin =
          slot.pristine != nullptr ? (slot.bytes + kWord - 1) / kWord * kWord : 0;
      if (slot.stride > begin) {
        claims.push_back({at(slot, *slot.shared, lane) + begin, slot.stride - begin, 0, poison_});
      }
    }
    if (!std::ranges::all_of(device_.holds(claims), [](bool held) { return held; })) {
      return slot.name;
    }
  }
  return "";
}

std::string Lanes::damaged() {
  std::vector<device::Claim> claims;
  std::vector<const std::string*> names;
  const auto claim = [&](const Slot& slot, device::Address from, std::size_t bytes) {
    if (bytes > 0) {
      claims.push_back({from, bytes, 0, poison_});
      names.push_back(&slot.name);
    }
  };
  for (const Slot& slot : slots_) {
    if (slot.input) {
      continue;
    }
    claim(slot, slot.shared->address() - slot.shared->front(), slot.shared->front());
    const std::size_t begin = (slot.bytes + kWord - 1) / kWord * kWord;
    for (int lane = 0; lane < count_; ++lane) {
      claim(slot, at(slot, *slot.shared, lane) + begin, slot.stride - begin);
    }
  }
  const std::vector<bool> held = device_.holds(claims);
  const auto broken = std::ranges::find(held, false);
  return broken == held.end() ? "" : *names[static_cast<std::size_t>(broken - held.begin())];
}

Tensors Lanes::copies(int lane, Store& store, std::unique_ptr<device::Buffer> Slot::*from) {
  Tensors made;
  for (const Slot& slot : slots_) {
    if (slot.input) {
      continue;
    }
    Store::Piece piece = store.take(slot.bytes);
    if (slot.bytes > 0) {
      device_.copy(piece.address(), at(slot, *(slot.*from), lane), slot.bytes);
    }
    made[slot.name] = std::move(piece);
  }
  return made;
}

Tensors Lanes::outputs(int lane, Store& store) {
  return copies(lane, store, &Slot::shared);
}

Tensors Lanes::seeds(int lane, Store& store) {
  return copies(lane, store, &Slot::seed);
}

}  // namespace sweep::evaluate
