#include "evaluate/bench.h"

#include "device/reach.h"
#include "util/error.h"

#include <algorithm>

namespace sweep::evaluate {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kWord = 4;

std::size_t padded(std::size_t bytes) {
  return std::max((bytes + kAlignment - 1) / kAlignment, std::size_t{1}) * kAlignment;
}

// First whole word behind the tensor; up to three bytes before it are not watched.
std::size_t slack_begin(const problem::ConcreteTensor& tensor) {
  return (static_cast<std::size_t>(tensor.bytes) + kWord - 1) / kWord * kWord;
}

void poison_all(device::Device& device, const device::Buffer& buffer, std::uint32_t poison) {
  const device::Reach all = device::reach(buffer, device.info());
  device.fill_words(all.begin, all.bytes, poison);
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
    const std::size_t bytes = padded(static_cast<std::size_t>(slot.tensor.bytes));
    const bool filled = tensor.role != problem::Role::output;
    if (device.free_bytes() < bytes * (filled ? 2 : 1)) {
      throw util::InfraError(
          {"judge",
           "the buffers of " + draw.shape + " do not fit the device's free memory",
           "free the device"},
          "E_JUDGE_MEMORY");
    }
    slot.shared = device.allocate(bytes);
    if (slot.is_input()) {
      // Zeros around an input would make a sum that runs over its edge right.
      poison_all(device, *slot.shared, poison_word(slots_.size()));
    }
    if (filled) {
      slot.pristine = device.allocate(bytes);
    }
    slots_.push_back(std::move(slot));
  }
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
    engine_.fill(plan, i, target.pristine->address());
    engine_.copy(target.shared->address(),
                 target.pristine->address(),
                 static_cast<std::size_t>(target.tensor.bytes));
  }
}

void Bench::before_call(std::uint32_t poison) {
  poison_ = poison;
  for (const Slot& slot : slots_) {
    if (slot.is_input()) {
      continue;
    }
    poison_all(device_, *slot.shared, poison);
    if (slot.pristine && slot.tensor.bytes > 0) {
      device_.synchronize();
      engine_.copy(slot.shared->address(),
                   slot.pristine->address(),
                   static_cast<std::size_t>(slot.tensor.bytes));
    }
  }
  device_.synchronize();
}

Bench::Damage Bench::damage() {
  Damage damage;
  for (const Slot& slot : slots_) {
    const auto bytes = static_cast<std::size_t>(slot.tensor.bytes);
    if (slot.is_input()) {
      if (bytes > 0 && damage.input.empty() &&
          !engine_.equal(slot.shared->address(), slot.pristine->address(), bytes)) {
        damage.input = slot.tensor.name;
      }
      continue;
    }
    const std::size_t begin = slack_begin(slot.tensor);
    const std::size_t end = padded(bytes);
    if (begin < end && damage.slack.empty() &&
        !engine_.all_words(slot.shared->address() + begin, end - begin, poison_)) {
      damage.slack = slot.tensor.name;
    }
    const std::size_t front = device::reach(*slot.shared, device_.info()).front;
    if (front > 0 && damage.front.empty() &&
        !engine_.all_words(slot.shared->address() - front, front, poison_)) {
      damage.front = slot.tensor.name;
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
    const auto bytes = static_cast<std::size_t>(slot.tensor.bytes);
    Store::Piece piece = store.take(bytes);
    if (bytes > 0) {
      engine_.copy(piece.address(), slot.shared->address(), bytes);
    }
    copies[slot.tensor.name] = std::move(piece);
  }
  return copies;
}

bool Bench::outputs_equal(const Tensors& copy) {
  return std::ranges::all_of(slots_, [&](const Slot& slot) {
    return slot.is_input() || slot.tensor.bytes == 0 ||
           engine_.equal(slot.shared->address(),
                         copy.at(slot.tensor.name).address(),
                         static_cast<std::size_t>(slot.tensor.bytes));
  });
}

std::vector<std::byte> Bench::read_pristine(const Slot& slot) {
  return download(device_, slot.pristine->address(), static_cast<std::size_t>(slot.tensor.bytes));
}

}  // namespace sweep::evaluate
