#include "calibrate/rig.h"

#include "evaluate/timed_shape.h"
#include "problem/draw.h"
#include "problem/fill.h"
#include "stats/stats.h"
#include "util/error.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace sweep::calibrate {
namespace {

[[noreturn]] void failed(const std::string& what) {
  throw util::InfraError({"calibrate", what, "run `sweep doctor`"}, "E_CALIBRATE_DEVICE");
}

template <class T>
T good(std::variant<T, device::Fault> made) {
  if (const auto* fault = std::get_if<device::Fault>(&made)) {
    failed(fault->text);
  }
  return std::get<0>(std::move(made));
}

}  // namespace

Rig::Rig(device::Id id, const evaluate::HarnessImages& harness)
    : device_(device::open(id, harness.own)) {
  flush_ = id.kind == device::Kind::cuda || evaluate::flush_is_cheap(*device_);
}

std::unique_ptr<device::Module> Rig::load(const device::Image& image) {
  return good(device_->load(image));
}

std::unique_ptr<device::Buffer> Rig::buffer(std::size_t bytes, std::uint32_t word) {
  auto made = device_->allocate(std::max<std::size_t>((bytes + 3) / 4 * 4, 4));
  device_->fill_words(made->address(), made->bytes(), word);
  return made;
}

Rig::Prepared Rig::prepare(device::Module& module, const std::vector<device::Step>& steps) {
  return {{}, good(device_->prepare(module, steps))};
}

Rig::Prepared Rig::prepare(device::Module& module,
                           const evaluate::Code& code,
                           const problem::Problem& problem,
                           const expr::IntEnv& free) {
  const problem::Draw draw =
      problem::make_draw(problem, "calibrate", free, "default", problem::Key::from_seed(0));
  const auto occupancy = [&module](
                             const std::string& kernel, std::int64_t threads, std::int64_t shared) {
    return std::int64_t{
        module.occupancy(kernel, static_cast<int>(threads), static_cast<std::size_t>(shared))};
  };
  const auto expanded = evaluate::expand_for(
      code.submission, code.signature, draw, info().sm_count, occupancy, problem.limits.launches);
  if (const auto* error = std::get_if<submission::PlanError>(&expanded)) {
    failed(error->what);
  }
  const auto& expansion = std::get<submission::Expansion>(expanded);
  Prepared made;
  std::vector<device::Address> addresses;
  const auto add = [&](std::int64_t bytes) {
    // Words that differ as data do: constant data let a GPU run faster.
    constexpr std::uint32_t kWord = 0x3f9d3b12;
    made.buffers.push_back(buffer(static_cast<std::size_t>(bytes), kWord));
    addresses.push_back(made.buffers.back()->address());
  };
  for (const problem::Tensor& tensor : problem.tensors) {
    add(problem::concrete(problem, tensor, draw).bytes);
  }
  for (const submission::ScratchBuffer& scratch : expansion.scratch) {
    add(scratch.bytes);
  }
  evaluate::Facts facts;
  for (const device::Kernel& kernel : code.image.kernels) {
    facts[kernel.name] = module.facts(kernel.name);
  }
  const auto steps = evaluate::bind_steps(code, expansion, facts, addresses);
  if (const auto* error = std::get_if<submission::PlanError>(&steps)) {
    failed(error->what);
  }
  made.sequence = good(device_->prepare(module, std::get<0>(steps)));
  return made;
}

double Rig::run(const Prepared& prepared, bool cold) {
  if (cold && flush_) {
    (void)device_->flush_cache();
  }
  return good(device_->run(*prepared.sequence)).device_seconds;
}

double Rig::median(const Prepared& prepared, int count, bool cold) {
  std::vector<double> seconds;
  (void)run(prepared, cold);
  for (int i = 0; i < count; ++i) {
    seconds.push_back(run(prepared, cold));
  }
  return stats::median(seconds);
}

}  // namespace sweep::calibrate
