#include "calibrate/material.h"

#include "embedded_calibrate_kernels.h"
#include "evaluate/preparation.h"
#include "evaluate/signature.h"
#include "util/error.h"

#include <algorithm>

namespace sweep::calibrate {
namespace {

std::string text_of(const std::string& name) {
  const auto files = embedded::calibrate_kernels();
  const auto found = std::ranges::find(files, std::string_view(name), &embedded::File::name);
  if (found == files.end()) {
    throw util::InfraError({name, "is not built into this program", "build it again"},
                           "E_CALIBRATE_TEXT");
  }
  return std::string(found->text);
}

constexpr std::int64_t kTile = 128;  // of the gemm

}  // namespace

Material material(Kind kind, compile::Compiler& compiler, const compile::Target& target) {
  const std::string name = kind == Kind::copy ? "copy" : "gemm";
  const std::string reference = text_of(name + "_reference.cu");
  problem::Loaded loaded = problem::parse(text_of(name + ".toml"), {{"reference.cu", reference}});
  if (!loaded.problem) {
    throw util::InfraError({name + ".toml", loaded.mistakes.front().text(), ""},
                           "E_CALIBRATE_TEXT");
  }
  const auto code = [&](const std::string& part, bool oracle) {
    const auto signature = oracle ? evaluate::reference_signature(*loaded.problem)
                                  : evaluate::candidate_signature(*loaded.problem);
    const std::string file = name + "_" + part + ".cu";
    return evaluate::trusted_code(
        compiler, target, {"calibrate/" + file, text_of(file)}, signature, oracle);
  };
  Material made{*loaded.problem, code("reference", true), code("seed", false), std::nullopt};
  if (kind == Kind::copy) {
    made.slower = code("slower", false);
  }
  return made;
}

device::Image ceiling_kernels(compile::Compiler& compiler, const compile::Target& target) {
  compile::Request request;
  request.file = "ceilings.cu";
  request.source = text_of("ceilings.cu");
  request.target = target;
  request.kernels = {"dram_read",
                     "dram_write",
                     "dram_copy",
                     "l2_read",
                     "shared_read",
                     "fp32_fma",
                     "fp64_fma",
                     "int32_mad",
                     "bf16_mma",
                     "fp16_mma",
                     "tf32_mma",
                     "int8_mma",
                     "nothing",
                     "hoard"};
  compile::Result result = compiler.compile_trusted(request);
  if (result.status != compile::Result::Status::ok) {
    throw util::InfraError({"ceilings.cu",
                            "does not compile for " + target.arch + ": " + result.log,
                            "run `sweep doctor`"},
                           "E_HARNESS_KERNELS");
  }
  return std::move(result.image);
}

expr::IntEnv dims_of(Kind kind, std::int64_t rows, std::int64_t extra) {
  if (kind == Kind::gemm) {
    return {{"m", kTile * rows}};
  }
  return {{"quads", rows}, {"extra", extra}};
}

}  // namespace sweep::calibrate
