#include "profile/subject.h"

#include "compile/compiler.h"
#include "evaluate/conclusion.h"
#include "evaluate/preparation.h"
#include "evaluate/signature.h"
#include "util/error.h"
#include "util/text.h"

#include <algorithm>

namespace sweep::profile {
namespace {

Unavailable broken_plan(const submission::PlanError& error) {
  return {"the plan has an error: " + error.what, "correct it first"};
}

// As evaluate() asks for it, so that the cache answers.
compile::Request request_for(const evaluate::EvaluationRequest& request,
                             const submission::Submission& submission,
                             const std::string& arch) {
  const bool printing = request.device_printf && request.depth != evaluate::Depth::full;
  compile::Request wanted =
      evaluate::compile_request(submission, {device::Kind::cuda, arch}, printing);
  wanted.nvcc = request.nvcc;
  return wanted;
}

// Free dims of a shape that the user gave; those that it leaves open as in `base`.
evaluate::Place place_for(const problem::Problem& problem,
                          const problem::Shape& base,
                          const expr::IntEnv& given) {
  const std::map<std::string, std::int64_t> values(given.begin(), given.end());
  const problem::Draw draw =
      problem::custom_draw(problem, base, values, "default", problem::Key::from_seed(0));
  expr::IntEnv free;
  for (const auto& [name, value] : base.free) {
    free[name] = draw.dims.at(name);
  }
  return {evaluate::dims_text(given), free};
}

}  // namespace

Result<Subject> compile_subject(const evaluate::EvaluationRequest& request,
                                const evaluate::Services& services,
                                const std::string& arch) {
  auto parsed =
      submission::parse(request.submission.file, request.submission.text, request.overrides);
  if (const auto* error = std::get_if<submission::PlanError>(&parsed)) {
    return broken_plan(*error);
  }
  auto submission = std::get<submission::Submission>(std::move(parsed));
  const std::string id = request.problem.empty() ? submission.plan.problem : request.problem;
  Subject subject;
  subject.problem = evaluate::find_problem(services, id);
  subject.arch = arch;
  compile::Options options;
  options.cache = services.cache;
  options.allow_unsandboxed = request.allow_unsandboxed;
  options.program = services.program;
  compile::Compiler compiler(options);
  try {
    subject.compiled = compiler.compile(request_for(request, submission, arch));
    if (subject.compiled.status != compile::Result::Status::ok) {
      const std::string why = evaluate::compile_text(evaluate::describe(subject.compiled));
      subject.uncompiled = {"it does not compile for " + arch + ": " + util::printable(why), ""};
    }
  } catch (const util::UsageError& error) {
    if (error.code() != "E_COMPILE_TOOLCHAIN") {
      throw;
    }
    subject.uncompiled = {"nothing here compiles for " + arch + ": " + error.message().what,
                          error.message().next};
  }
  subject.code = evaluate::make_code(std::move(submission),
                                     request.overrides,
                                     evaluate::candidate_signature(subject.problem),
                                     subject.compiled);
  return subject;
}

std::vector<VisibleShape> visible_shapes(const problem::Problem& problem,
                                         const evaluate::EvaluationRequest& request) {
  std::vector<evaluate::Place> places =
      evaluate::visible_places(problem, request.device.kind, false);
  if (!request.shapes.empty()) {
    const problem::Shape* base =
        problem.shape(places.empty() ? problem.shapes.front().name : places.front().name);
    places.clear();
    for (const expr::IntEnv& given : request.shapes) {
      places.push_back(place_for(problem, *base, given));
    }
  }
  std::vector<VisibleShape> shapes;
  for (evaluate::Place& place : places) {
    VisibleShape shape;
    shape.draw = problem::make_draw(
        problem, place.name, place.free, "default", problem::Key::from_seed(request.seed));
    const problem::Sizes sizes = problem::sizes_of(problem, shape.draw);
    shape.bytes = sizes.input_bytes + sizes.output_bytes;
    shape.place = std::move(place);
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

namespace {

const VisibleShape& some(const std::vector<VisibleShape>& shapes, bool most) {
  if (shapes.empty()) {
    throw util::UsageError(
        {"profile", "the problem has no visible shape", "give one: --shape n=..."},
        "E_PROFILE_SHAPE");
  }
  const auto less = [](const VisibleShape& a, const VisibleShape& b) { return a.bytes < b.bytes; };
  return most ? *std::ranges::max_element(shapes, less) : *std::ranges::min_element(shapes, less);
}

}  // namespace

const VisibleShape& smallest(const std::vector<VisibleShape>& shapes) {
  return some(shapes, false);
}

const VisibleShape& largest(const std::vector<VisibleShape>& shapes) {
  return some(shapes, true);
}

}  // namespace sweep::profile
