#include "evaluate/harness.h"

#include "problem/compare.h"
#include "problem/fill.h"
#include "util/error.h"

namespace sweep::evaluate {
namespace {

device::Image compiled(compile::Compiler& compiler,
                       const compile::Target& target,
                       device::OwnSource source,
                       bool contract) {
  compile::Request request;
  request.file = std::move(source.file);
  request.source = std::move(source.text);
  request.target = target;
  request.kernels = std::move(source.kernels);
  request.contract = contract;
  compile::Result result = compiler.compile_trusted(request);
  if (result.status != compile::Result::Status::ok) {
    throw util::InfraError({"the harness's " + request.file,
                            "does not compile for " + target.arch + ": " + result.log,
                            "run `sweep doctor`"},
                           "E_HARNESS_KERNELS");
  }
  return std::move(result.image);
}

}  // namespace

HarnessImages harness_images(compile::Compiler& compiler, const compile::Target& target) {
  HarnessImages images;
  if (target.kind != device::Kind::cuda) {
    return images;
  }
  images.own = compiled(compiler, target, device::own_source(target.kind), true);
  // No contraction of a * b + c: fills have the host's bits.
  images.engine.fill = compiled(compiler,
                                target,
                                {"fill.cu",
                                 problem::fill_device_source(),
                                 {problem::kFillKernels.begin(), problem::kFillKernels.end()}},
                                false);
  std::vector<std::string> passes;
  for (const char* name : {"units", "rows", "tensor", "components", "finish"}) {
    passes.push_back(std::string("sweep_compare_") + name);
  }
  images.engine.compare = compiled(
      compiler, target, {"compare.cu", problem::compare_device_source(), std::move(passes)}, false);
  return images;
}

}  // namespace sweep::evaluate
