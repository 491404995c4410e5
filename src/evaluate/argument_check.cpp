#include "evaluate/argument_check.h"

#include "submission/ranks.h"

#include <algorithm>

namespace sweep::evaluate {
namespace {

bool all_typed(const Code& code, const submission::Expansion& expansion) {
  return std::ranges::all_of(expansion.steps, [&code](const submission::Step& step) {
    const auto* launch = std::get_if<submission::Launch>(&step);
    const auto kernel =
        launch == nullptr
            ? code.kernels.end()
            : std::ranges::find(code.kernels, launch->kernel, &compile::CompiledKernel::name);
    return launch == nullptr || (kernel != code.kernels.end() && kernel->parameters.has_value());
  });
}

}  // namespace

std::optional<submission::PlanError> argument_error(const Code& code,
                                                    const problem::Problem& problem,
                                                    int sm_count) {
  // Nothing is read or written there: only that arguments can be bound counts.
  constexpr device::Address kApart = device::Address{1} << 40U;
  if (code.library) {
    return std::nullopt;
  }
  for (const problem::Shape& shape : problem.shapes) {
    const problem::Draw draw =
        problem::visible_draw(problem, shape, "default", problem::Key::from_seed(0));
    const auto expanded = expand_for(
        code.submission,
        code.signature,
        draw,
        sm_count,
        [](const std::string&, std::int64_t, std::int64_t) { return std::int64_t{1}; },
        problem.limits.launches,
        false);
    const auto* expansion = std::get_if<submission::Expansion>(&expanded);
    if (expansion == nullptr || !all_typed(code, *expansion)) {
      continue;
    }
    std::vector<device::Address> buffers;
    const std::size_t tensors =
        submission::widened(code.signature, expansion->ranks).tensors.size();
    const std::size_t count = tensors + expansion->scratch.size() + expansion->peers.size();
    for (std::size_t i = 0; i < count; ++i) {
      buffers.push_back(kApart * (i + 1));
    }
    auto steps = bind_steps(code, *expansion, {}, buffers);
    if (auto* error = std::get_if<submission::PlanError>(&steps)) {
      error->file = code.submission.file;
      return std::move(*error);
    }
  }
  return std::nullopt;
}

}  // namespace sweep::evaluate
