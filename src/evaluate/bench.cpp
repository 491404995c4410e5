#include "evaluate/bench.h"

#include "evaluate/peers.h"
#include "util/error.h"

#include <algorithm>
#include <utility>

namespace sweep::evaluate {
namespace {

constexpr std::size_t kWord = 4;

// First whole word behind `bytes`; up to three bytes before it are not watched.
std::size_t slack_begin(std::size_t bytes) {
  return (bytes + kWord - 1) / kWord * kWord;
}

void poison_edges(device::Device& device,
                  const Window& window,
                  std::size_t slack,
                  std::uint32_t poison) {
  if (window.front() > 0) {
    device.fill_words(window.begin(), window.front(), poison);
  }
  if (const std::size_t behind = window.span() - slack; behind > 0) {
    device.fill_words(window.address() + slack, behind, poison);
  }
}

void poison_all(device::Device& device, const Window& window, std::uint32_t poison) {
  device.fill_words(window.begin(), window.reachable(), poison);
}

Window window_for(device::Device& device, std::size_t bytes) {
  return {device.allocate(Window::padded(bytes)), bytes};
}

}  // namespace

std::uint32_t poison_word(std::uint64_t number) {
  // SplitMix64's finaliser (Steele, Lea, Flood 2014).
  std::uint64_t z = number + 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  z ^= z >> 31U;
  const auto bits = static_cast<std::uint32_t>(z);
  // Halves 0x7Exx or 0xFExx with xx >= 2.
  return 0x7e027e02U | (bits & 0x80fd80fdU);
}

Bench::Bench(device::Device& device,
             Engine& engine,
             const problem::Problem& problem,
             const problem::Draw& draw)
    : device_(device), engine_(engine), problem_(problem) {
  for (const problem::Tensor& tensor : problem.tensors) {
    if (tensor.role == problem::Role::aux) {
      continue;
    }
    Slot slot;
    slot.tensor = problem::concrete(problem, tensor, draw);
    const auto bytes = static_cast<std::size_t>(slot.tensor.bytes);
    const std::size_t parts = parts_of(slot.tensor);
    const bool filled = tensor.role != problem::Role::output;
    if (device.free_bytes() < Window::padded(bytes) * (filled ? 2 : 1)) {
      throw util::InfraError(
          {"judge",
           "the buffers of " + draw.shape + " do not fit the device's free memory",
           "free the device"},
          "E_JUDGE_MEMORY");
    }
    for (std::size_t i = 0; i < parts; ++i) {
      slot.shared.push_back(window_for(device, bytes / parts));
    }
    if (filled) {
      slot.pristine = window_for(device, bytes);
    }
    surround(slot, slots_.size());
    slots_.push_back(std::move(slot));
  }
}

// Zeros around an input would make a sum that runs over its edge right.
void Bench::surround(const Slot& slot, std::size_t number) {
  if (slot.is_input()) {
    for (const Window& window : slot.shared) {
      poison_all(device_, window, poison_word(number));
    }
  }
}

// The runners' copies become what is pristine.
void Bench::share(const Slot& slot) {
  device::Address from = slot.pristine.address();
  for (const Window& window : slot.shared) {
    engine_.copy(window.address(), from, slot.part());
    from += slot.part();
  }
}

bool Bench::reshape(const problem::Draw& draw) {
  std::vector<problem::ConcreteTensor> tensors;
  for (const Slot& slot : slots_) {
    tensors.push_back(problem::concrete(problem_, *problem_.tensor(slot.tensor.name), draw));
    const auto bytes = static_cast<std::size_t>(tensors.back().bytes);
    const std::size_t parts = parts_of(tensors.back());
    if (parts != slot.shared.size() || !slot.shared.front().fits(bytes / parts) ||
        (slot.pristine && !slot.pristine.fits(bytes))) {
      return false;
    }
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    slot.tensor = std::move(tensors[i]);
    const auto bytes = static_cast<std::size_t>(slot.tensor.bytes);
    for (Window& window : slot.shared) {
      window.resize(slot.part());
    }
    if (slot.pristine) {
      slot.pristine.resize(bytes);
    }
    surround(slot, i);
  }
  ++version_;
  return true;
}

const Bench::Slot& Bench::slot(std::string_view name) const {
  const auto found = std::ranges::find(
      slots_, name, [](const Slot& s) -> std::string_view { return s.tensor.name; });
  if (found == slots_.end()) {
    throw util::InfraError({"judge", "no tensor '" + std::string(name) + "'", ""},
                           "E_JUDGE_PROTOCOL");
  }
  return *found;
}

void Bench::fill(const problem::Draw& draw) {
  fill(problem::FillPlan(problem_, draw));
}

void Bench::fill(const problem::FillPlan& plan) {
  for (std::size_t i = 0; i < plan.tensors().size(); ++i) {
    const Slot& target = slot(plan.tensors()[i].tensor.name);
    if (plan.tensors()[i].tensor.bytes != target.tensor.bytes) {
      throw util::InfraError(
          {"judge", "contents of '" + target.tensor.name + "' for buffers of another shape", ""},
          "E_JUDGE_PROTOCOL");
    }
    if (target.tensor.bytes == 0) {
      continue;
    }
    engine_.fill(plan, i, target.pristine.address());
    share(target);
  }
}

void Bench::perturb(const Perturbation& change) {
  const Slot& target = slot(change.tensor);
  const auto size = static_cast<std::size_t>(target.tensor.bytes / target.tensor.count);
  const auto at = [size](std::int64_t element) { return static_cast<std::size_t>(element) * size; };
  engine_.copy(
      target.pristine.address() + at(change.to), target.pristine.address() + at(change.from), size);
  const std::size_t window = at(change.to) / target.part();
  engine_.copy(target.shared[window].address() + at(change.to) % target.part(),
               target.pristine.address() + at(change.to),
               size);
}

void Bench::before_call(std::uint32_t poison, bool keep_outputs) {
  poison_ = poison;
  for (const Slot& slot : slots_) {
    if (slot.is_input()) {
      continue;
    }
    for (const Window& window : slot.shared) {
      if (keep_outputs && !slot.pristine) {
        poison_edges(device_, window, slack_begin(slot.part()), poison);
      } else {
        poison_all(device_, window, poison);
      }
    }
    if (slot.pristine && slot.tensor.bytes > 0) {
      device_.synchronize();
      share(slot);
    }
  }
  device_.synchronize();
}

Bench::Damage Bench::damage() {
  Damage damage;
  std::vector<device::Claim> claims;
  std::vector<std::pair<std::string*, std::string>> meanings;  // what a claim that fails says
  const auto claim = [&](const device::Claim& of, std::string& field, const std::string& tensor) {
    if (of.bytes > 0) {
      claims.push_back(of);
      meanings.emplace_back(&field, tensor);
    }
  };
  for (const Slot& slot : slots_) {
    const std::string& name = slot.tensor.name;
    const std::size_t begin = slack_begin(slot.part());
    for (std::size_t i = 0; i < slot.shared.size(); ++i) {
      const Window& window = slot.shared[i];
      if (slot.is_input()) {
        claim({window.address(), slot.part(), slot.pristine.address() + i * slot.part()},
              damage.input,
              name);
        continue;
      }
      claim({window.address() + begin, window.span() - begin, 0, poison_}, damage.slack, name);
      claim({window.begin(), window.front(), 0, poison_}, damage.front, name);
    }
  }
  const std::vector<bool> held = engine_.holds(claims);
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (!held[i] && meanings[i].first->empty()) {
      *meanings[i].first = meanings[i].second;
    }
  }
  return damage;
}

Tensors Bench::outputs(Store& store) {
  Tensors copies;
  for (const Slot& slot : slots_) {
    if (slot.is_input()) {
      continue;
    }
    Store::Piece piece = store.take(static_cast<std::size_t>(slot.tensor.bytes));
    for (std::size_t i = 0; i < slot.shared.size() && slot.part() > 0; ++i) {
      engine_.copy(piece.address() + i * slot.part(), slot.shared[i].address(), slot.part());
    }
    copies[slot.tensor.name] = std::move(piece);
  }
  return copies;
}

bool Bench::outputs_equal(const Tensors& copy) {
  std::vector<device::Claim> claims;
  for (const Slot& slot : slots_) {
    for (std::size_t i = 0; i < slot.shared.size() && !slot.is_input() && slot.part() > 0; ++i) {
      claims.push_back({slot.shared[i].address(),
                        slot.part(),
                        copy.at(slot.tensor.name).address() + i * slot.part()});
    }
  }
  return std::ranges::all_of(engine_.holds(claims), [](bool held) { return held; });
}

std::string Bench::changed_beside(std::size_t rank, const Tensors& copy) {
  std::vector<device::Claim> claims;
  std::vector<std::string> names;
  for (const Slot& slot : slots_) {
    for (std::size_t i = 0; i < slot.shared.size() && !slot.is_input() && slot.part() > 0; ++i) {
      if (i != rank) {
        claims.push_back({slot.shared[i].address(),
                          slot.part(),
                          copy.at(slot.tensor.name).address() + i * slot.part()});
        names.push_back(slot.tensor.name);
      }
    }
  }
  const std::vector<bool> held = engine_.holds(claims);
  const auto other = std::ranges::find(held, false);
  return other == held.end() ? "" : names[static_cast<std::size_t>(other - held.begin())];
}

std::vector<std::byte> Bench::read_pristine(const Slot& slot) {
  return download(device_, slot.pristine.address(), static_cast<std::size_t>(slot.tensor.bytes));
}

}  // namespace sweep::evaluate
