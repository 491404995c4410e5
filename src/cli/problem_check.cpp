#include "cli/problem_check.h"

#include "evaluate/library_use.h"
#include "evaluate/preparation.h"
#include "problem/check.h"
#include "submission/plan.h"
#include "util/error.h"

namespace sweep::cli {

namespace {

using problem::Location;
using problem::Mistake;

constexpr std::string_view kSeedHead =
    R"T(// An example to edit, an affine map. The seed: the 1.0x that speedups are measured against. Plain and right, in the problem's precision.
)T";

constexpr std::string_view kSeedBody =
    R"T(//@ affine<<<ceildiv(rows*cols, 256), 256>>>(x, bias, y, rows, cols, alpha)

__global__ void affine(const float* x, const float* bias, float* y, long long rows, long long cols, float alpha) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < rows * cols) {
    y[i] = alpha * x[i] + bias[i % cols];
  }
}
)T";

Mistake mistake_of(const submission::PlanError& error) {
  return {error.code, Location{error.file, error.line, error.column}, error.what, error.next};
}

void check_plan(const evaluate::Source& source, std::vector<Mistake>& out) {
  const auto parsed = submission::parse(source.file, source.text);
  if (const auto* error = std::get_if<submission::PlanError>(&parsed)) {
    out.push_back(mistake_of(*error));
  }
}

void check_seed(const evaluate::Services& services,
                const problem::Problem& problem,
                std::vector<Mistake>& out) {
  evaluate::Source seed;
  try {
    seed = evaluate::find_seed(services, problem);
  } catch (const util::Error& error) {
    out.push_back({error.code(),
                   Location{error.message().where, 0, 0},
                   error.message().what,
                   error.message().next});
    return;
  }
  auto parsed = submission::parse(seed.file, seed.text);
  if (const auto* error = std::get_if<submission::PlanError>(&parsed)) {
    out.push_back(mistake_of(*error));
    return;
  }
  const evaluate::ScreenResult screened =
      evaluate::screen(problem, std::get<submission::Submission>(parsed), device::Kind::cuda);
  for (const submission::PlanError& error : screened.errors) {
    out.push_back(mistake_of(error));
  }
}

// Calls that are not built in are left to a later version: the problem is sound without them.
void check_baselines(const problem::Problem& problem, std::vector<Mistake>& out) {
  for (const problem::Baseline& baseline : problem.baselines) {
    const std::string what =
        baseline.library.empty() ? "" : evaluate::library_mistake(problem, baseline);
    if (!what.empty()) {
      const bool unknown = device::find_library_function(baseline.library) == nullptr;
      out.push_back({"E_PROBLEM_BASELINE", {}, what, "", unknown});
    }
  }
}

}  // namespace

std::vector<Mistake> check_problem(const evaluate::Services& services,
                                   const std::filesystem::path& folder) {
  std::vector<Mistake> out = problem::check_folder(folder);
  const problem::Loaded loaded = problem::load(folder);
  if (!loaded.problem) {
    return out;
  }
  check_plan({(folder / "reference.cu").string(), loaded.problem->reference.text}, out);
  check_seed(services, *loaded.problem, out);
  check_baselines(*loaded.problem, out);
  return out;
}

std::string seed_template(const std::string& id) {
  return std::string(kSeedHead) + "//@ problem " + id + "\n" + std::string(kSeedBody);
}

}  // namespace sweep::cli
