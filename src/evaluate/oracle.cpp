#include "evaluate/oracle.h"

#include "util/error.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace sweep::evaluate {
namespace {

using problem::Role;

[[noreturn]] void fail(const problem::Problem& problem, const std::string& what) {
  throw util::InfraError(
      {problem.id + "/reference.cu", what, "run `sweep problems check " + problem.id + "`"},
      "E_ORACLE");
}

template <class T>
T at(const std::vector<std::byte>& values, std::size_t index) {
  T value;
  std::memcpy(&value, values.data() + index * sizeof value, sizeof value);
  return value;
}

// IEEE 754 value of `bits` with the given numbers of exponent and mantissa bits. `finite_top`: the
// largest exponent holds numbers, and only all ones is NaN (e4m3).
double decode(std::uint32_t bits, int exponent_bits, int mantissa_bits, bool finite_top) {
  const std::uint32_t mantissa = bits & ((1U << mantissa_bits) - 1U);
  const int top = (1 << exponent_bits) - 1;
  const int exponent = static_cast<int>(bits >> mantissa_bits) & top;
  const bool negative = ((bits >> (exponent_bits + mantissa_bits)) & 1U) != 0;
  const int bias = top / 2;
  double value = 0;
  if (exponent == top && !finite_top) {
    value = mantissa == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == top && mantissa == (1U << mantissa_bits) - 1U) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<double>(mantissa), 1 - bias - mantissa_bits);
  } else {
    value = std::ldexp(static_cast<double>(mantissa | (1U << mantissa_bits)),
                       exponent - bias - mantissa_bits);
  }
  return negative ? -value : value;
}

double widen_one(expr::DType type, const std::vector<std::byte>& values, std::size_t index) {
  switch (type) {
    case expr::DType::f32:
    case expr::DType::c64:
      return static_cast<double>(at<float>(values, index));
    case expr::DType::f16:
      return decode(at<std::uint16_t>(values, index), 5, 10, false);
    case expr::DType::bf16:
      return decode(at<std::uint16_t>(values, index), 8, 7, false);
    case expr::DType::e4m3:
      return decode(at<std::uint8_t>(values, index), 4, 3, true);
    case expr::DType::e5m2:
      return decode(at<std::uint8_t>(values, index), 5, 2, false);
    default:
      return 0;
  }
}

}  // namespace

std::vector<std::byte> widen(expr::DType type, const std::vector<std::byte>& values) {
  if (problem::oracle_type(type) == type) {
    return values;
  }
  const std::size_t size = type == expr::DType::c64 ? sizeof(float) : expr::size_of(type);
  const std::size_t count = values.size() / size;
  std::vector<std::byte> wide(count * sizeof(double));
  for (std::size_t i = 0; i < count; ++i) {
    const double value = widen_one(type, values, i);
    std::memcpy(wide.data() + i * sizeof value, &value, sizeof value);
  }
  return wide;
}

// Addresses in the order of reference_signature(), then scratch; `owned` keeps what was taken for
// the call only.
struct Oracle::Buffers {
  std::map<std::string, device::Address, std::less<>> inputs;
  std::map<std::string, std::vector<std::byte>, std::less<>> inout;  // as the candidate sees them
  std::vector<Store::Piece> owned;
  std::vector<device::Address> addresses;
  Truth truth;
};

std::size_t Truth::bytes() const {
  std::size_t sum = 0;
  for (const Tensors* tensors : {&outputs, &aux}) {
    for (const auto& [name, piece] : *tensors) {
      sum += piece.bytes();
    }
  }
  return sum;
}

Oracle::Oracle(device::Device& device,
               Store& store,
               const problem::Problem& problem,
               const Code& reference)
    : device_(device), store_(store), problem_(problem), code_(reference) {
  auto loaded = device.load(reference.image);
  if (const auto* fault = std::get_if<device::Fault>(&loaded)) {
    fail(problem, "does not load: " + fault->text);
  }
  module_ = std::get<0>(std::move(loaded));
  for (const device::Kernel& kernel : reference.image.kernels) {
    facts_[kernel.name] = module_->facts(kernel.name);
  }
}

Oracle::~Oracle() = default;

Truth Oracle::run(Bench& bench, const problem::Draw& draw) {
  Buffers buffers;
  for (const Bench::Slot& slot : bench.slots()) {
    if (slot.is_input()) {
      buffers.inputs[slot.tensor.name] = slot.pristine.address();
    } else if (slot.pristine) {
      buffers.inout[slot.tensor.name] = bench.read_pristine(slot);
    }
  }
  return launch(buffers, draw);
}

Truth Oracle::run(const std::map<std::string, std::vector<std::byte>, std::less<>>& inputs,
                  const problem::Draw& draw) {
  Buffers buffers;
  for (const auto& [name, values] : inputs) {
    const problem::Tensor* tensor = problem_.tensor(name);
    if (tensor == nullptr) {
      fail(problem_, "has no tensor '" + name + "'");
    }
    if (tensor->role == Role::inout) {
      buffers.inout[name] = values;
      continue;
    }
    buffers.owned.push_back(store_.take(values.size()));
    buffers.inputs[name] = buffers.owned.back().address();
    if (!values.empty()) {
      device_.upload(buffers.inputs[name], values);
    }
  }
  return launch(buffers, draw);
}

void Oracle::add_own_buffers(Buffers& buffers, const problem::Draw& draw) {
  for (const problem::Tensor& tensor : problem_.tensors) {
    if (tensor.role == Role::input) {
      const auto found = buffers.inputs.find(tensor.name);
      if (found == buffers.inputs.end()) {
        fail(problem_, "input '" + tensor.name + "' is missing");
      }
      buffers.addresses.push_back(found->second);
      continue;
    }
    problem::ConcreteTensor made = problem::concrete(problem_, tensor, draw);
    made.type = problem::oracle_type(made.type);
    made.bytes = made.count * static_cast<std::int64_t>(expr::size_of(made.type));
    Store::Piece piece = store_.take(static_cast<std::size_t>(made.bytes));
    // All ones is a NaN: an element that the reference forgets cannot pass.
    device_.fill_words(piece.address(), (piece.bytes() + 3) / 4 * 4, 0xffffffffU);
    const auto initial = buffers.inout.find(tensor.name);
    if (initial != buffers.inout.end() && !initial->second.empty()) {
      device_.synchronize();
      device_.upload(piece.address(), widen(tensor.type, initial->second));
    }
    buffers.addresses.push_back(piece.address());
    Tensors& kind = tensor.role == Role::aux ? buffers.truth.aux : buffers.truth.outputs;
    kind[tensor.name] = std::move(piece);
  }
}

Truth Oracle::launch(Buffers& buffers, const problem::Draw& draw) {
  add_own_buffers(buffers, draw);
  const auto occupancy = [this](
                             const std::string& kernel, std::int64_t threads, std::int64_t shared) {
    return static_cast<std::int64_t>(
        module_->occupancy(kernel, static_cast<int>(threads), static_cast<std::size_t>(shared)));
  };
  auto expanded = expand_for(code_.submission,
                             code_.signature,
                             draw,
                             device_.info().sm_count,
                             occupancy,
                             problem_.limits.launches);
  if (const auto* error = std::get_if<submission::PlanError>(&expanded)) {
    fail(problem_, draw.shape + ": " + error->text(code_.submission.source));
  }
  const auto& expansion = std::get<submission::Expansion>(expanded);
  for (const submission::ScratchBuffer& scratch : expansion.scratch) {
    buffers.owned.push_back(store_.take(static_cast<std::size_t>(scratch.bytes)));
    buffers.addresses.push_back(buffers.owned.back().address());
  }
  auto steps = bind_steps(code_, expansion, facts_, buffers.addresses);
  if (const auto* error = std::get_if<submission::PlanError>(&steps)) {
    fail(problem_, error->text(code_.submission.source));
  }
  auto sequence = device_.prepare(*module_, std::get<0>(steps));
  if (const auto* fault = std::get_if<device::Fault>(&sequence)) {
    fail(problem_, draw.shape + ": " + fault->text);
  }
  const auto ran = device_.run(*std::get<0>(sequence));
  if (const auto* fault = std::get_if<device::Fault>(&ran)) {
    fail(problem_, draw.shape + ": " + fault->text);
  }
  return std::move(buffers.truth);
}

}  // namespace sweep::evaluate
