#include "profile/isa.h"

#include "evaluate/preparation.h"
#include "profile/sass_report.h"
#include "profile/subject.h"
#include "util/error.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace sweep::profile {
namespace {

using evaluate::IsaEvidence;
using evaluate::IsaResult;
using problem::IsaPolicy;

std::string without_comments(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t open = std::min(text.find("//"), text.find("/*"));
    out.append(text.substr(0, open));
    if (open == std::string_view::npos) {
      break;
    }
    const bool line = text[open + 1] == '/';
    const std::size_t close = text.find(line ? "\n" : "*/", open + 2);
    out += ' ';
    text = close == std::string_view::npos ? "" : text.substr(close + (line ? 0 : 2));
  }
  return out;
}

void look(const Subject& subject,
          const DisassembleOptions& options,
          const std::string& source,
          IsaResult& result) {
  if (subject.uncompiled) {
    result.not_compiled = subject.uncompiled->text();
    return;
  }
  const std::string& ptx = subject.compiled.ptx.empty() ? source : subject.compiled.ptx;
  for (IsaEvidence& one : result.families) {
    one.in_text = in_ptx(ptx, *problem::isa_family(one.family));
  }
  Result<SassReport> sass = Unavailable{};
  try {
    sass = sass_report(subject, options);
  } catch (const util::InfraError& error) {  // the disassembler's sandbox: no matter of the kernel
    sass = Unavailable{error.what(), ""};
  }
  if (const auto* missing = std::get_if<Unavailable>(&sass)) {
    result.not_compiled = missing->text();
    return;
  }
  const auto& report = std::get<SassReport>(sass);
  if (!report.complete) {
    result.not_compiled = "the listing of the machine code is longer than is read";
    return;
  }
  for (IsaEvidence& one : result.families) {
    one.compiled = compiled_count(report, result.kernels, *problem::isa_family(one.family));
  }
}

void apply_gate(evaluate::Evaluation& evaluation) {
  const IsaResult& isa = *evaluation.isa;
  if (isa.policy != IsaPolicy::gate || !evaluation.judged() ||
      evaluation.outcome() != evaluate::Outcome::correct) {
    return;
  }
  if (!isa.not_compiled.empty()) {
    evaluation.verdict = evaluate::Verdict::infra_judge;
    evaluation.infra =
        "instructions: the problem requires some, and the machine code could not be "
        "looked at: " +
        isa.not_compiled;
    return;
  }
  const std::vector<std::string> missing = isa.missing();
  if (missing.empty()) {
    return;
  }
  evaluation.verdict = evaluate::Verdict::incorrect_instructions;
  evaluation.headline = fmt::format(
      "the results are right, but no {} instruction is in the compiled code of {}, and this "
      "problem "
      "requires it",
      fmt::join(missing, ", no "),
      isa.kernels.empty() ? "the plan's kernels" : fmt::format("{}", fmt::join(isa.kernels, ", ")));
  evaluation.next = "use the instruction in a kernel that the plan launches on the visible shapes";
}

}  // namespace

std::vector<std::string> launched_kernels(const std::string& canonical_plan) {
  std::vector<std::string> out;
  const auto plan = nlohmann::json::parse(canonical_plan, nullptr, false);
  if (!plan.is_object()) {
    return out;
  }
  for (const auto& shape : plan.value("shapes", nlohmann::json::array())) {
    for (const auto& step : shape.at("plan").at("steps")) {
      const std::string kernel = step.value("launch", std::string());
      if (!kernel.empty() && std::ranges::find(out, kernel) == out.end()) {
        out.push_back(kernel);
      }
    }
  }
  return out;
}

bool in_ptx(std::string_view ptx, const problem::IsaFamily& family) {
  const std::string text = without_comments(ptx);
  return std::ranges::any_of(family.ptx, [&](std::string_view word) {
    return !word.empty() && text.find(word) != std::string::npos;
  });
}

std::int64_t compiled_count(const SassReport& sass,
                            const std::vector<std::string>& kernels,
                            const problem::IsaFamily& family) {
  std::int64_t count = 0;
  for (const KernelSass& kernel : sass.kernels) {
    if (!kernels.empty() && std::ranges::find(kernels, kernel.name) == kernels.end()) {
      continue;
    }
    for (const auto& [opcode, times] : kernel.code.opcodes) {
      count += family.has_opcode(opcode) ? times : 0;
    }
  }
  return count;
}

void judge_isa(const evaluate::EvaluationRequest& request,
               const evaluate::Services& services,
               evaluate::Evaluation& evaluation,
               const ToolSearch& search) {
  if (!evaluation.compile || evaluation.compile->status != "ok") {
    return;
  }
  const problem::Problem problem = evaluate::find_problem(
      services, request.problem.empty() ? evaluation.problem : request.problem);
  IsaResult result;
  result.policy = request.isa.value_or(problem.policy.isa);
  if (result.policy == IsaPolicy::off || problem.policy.isa_families.empty()) {
    return;
  }
  for (const std::string& family : problem.policy.isa_families) {
    result.families.push_back({family, false, {}, {}});
  }
  result.kernels = launched_kernels(evaluation.plan.text);
  if (request.device.kind == device::Kind::cpu) {
    result.not_compiled = "the cpu device has no such instructions; the policy is for GPUs";
    evaluation.isa = std::move(result);
    return;
  }
  const std::string& arch = evaluation.device_info.arch;
  const Result<Subject> subject =
      compile_subject(request, services, arch.empty() ? Wanted{}.arch : arch);
  if (const auto* missing = std::get_if<Unavailable>(&subject)) {
    result.not_compiled = missing->text();
  } else {
    DisassembleOptions options;
    options.search = search;
    options.allow_unsandboxed = request.allow_unsandboxed;
    look(std::get<Subject>(subject), options, request.submission.text, result);
  }
  evaluation.isa = std::move(result);
  apply_gate(evaluation);
}

evaluate::Evaluation evaluate_with_isa(const evaluate::EvaluationRequest& request,
                                       const evaluate::Services& services,
                                       const evaluate::Progress& progress,
                                       evaluate::Spares* spares) {
  evaluate::Evaluation made = evaluate::evaluate(request, services, progress, spares);
  judge_isa(request, services, made);
  return made;
}

void add_executed(const Report& report, evaluate::Evaluation& evaluation) {
  if (!evaluation.isa || !report.profile) {
    return;
  }
  IsaResult& isa = *evaluation.isa;
  if (const auto* missing = std::get_if<Unavailable>(&*report.profile)) {
    isa.not_executed = missing->text();
    return;
  }
  const auto& profile = std::get<NcuReport>(*report.profile);
  if (const auto* missing = std::get_if<Unavailable>(&profile.executed)) {
    isa.not_executed = missing->text();
    return;
  }
  isa.not_executed.clear();
  for (IsaEvidence& one : isa.families) {
    const problem::IsaFamily& family = *problem::isa_family(one.family);
    one.executed = 0;
    for (const auto& [opcode, threads] : std::get<ExecutedOpcodes>(profile.executed)) {
      *one.executed += family.has_opcode(opcode) ? threads : 0;
    }
  }
}

}  // namespace sweep::profile
