#include "agent/tool_look.h"

#include "agent/profile_text.h"
#include "agent/tool_judge.h"
#include "agent/tool_texts.h"
#include "profile/previous.h"
#include "util/error.h"
#include "util/excerpt.h"
#include "util/text.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace sweep::agent {
namespace {

using nlohmann::json;
using profile::Unavailable;

// A report of Nsight Compute that is kept for people.
constexpr std::size_t kMostReport = std::size_t{64} << 20U;

// One line with the cure for whoever runs the sweep.
ToolOutcome unavailable(const std::string& tool, const Unavailable& why) {
  ToolOutcome out;
  out.metadata = {{"unavailable", util::to_valid_utf8(why.what)},
                  {"next", util::to_valid_utf8(why.next)}};
  out.text = tool_text(tool,
                       false,
                       "not available here: " + why.text(),
                       "next: go on without it; this says nothing about the kernel");
  return out;
}

ToolOutcome no_meaning(const std::string& tool, const std::vector<std::string>& tools) {
  struct Instead {
    std::string_view tool, what, instead;
  };

  constexpr std::array kInstead = {
      Instead{"profile_kernel",
              "counters of a GPU",
              "; use instead: reason about memory traffic and occupancy"},
      Instead{"disassemble_kernel",
              "machine code of a GPU",
              "{compile_kernel:; use instead: read compile_kernel's answer}"},
      Instead{"sanitize_kernel",
              "accesses on a GPU",
              "{run_correctness:; use instead: run_correctness, which guards buffers and names the "
              "first wrong element}"},
      Instead{
          "ert_roofline", "what a GPU reaches", "{get_gpu_specs:; use instead: get_gpu_specs}"}};
  const auto* const found = std::ranges::find(kInstead, tool, &Instead::tool);
  ToolOutcome out;
  const std::string what = fmt::format(
      "no meaning on the cpu device: it shows {}{}", found->what, for_tools(found->instead, tools));
  out.metadata = {{"unavailable", what}, {"next", "use --device cuda"}};
  out.text = tool_text(tool, false, what);
  return out;
}

// The judge's answer where the tool cannot look at the kernel.
ToolOutcome refused(const std::string& tool,
                    const std::string& kernel,
                    const evaluate::Evaluation& evaluation,
                    const std::vector<std::string>& tools) {
  ToolOutcome out = judged(tool, kernel, evaluation, tools);
  out.success = false;
  return out;
}

void keep(ToolOutcome& out, std::string name, const std::string& bytes) {
  if (!bytes.empty() && bytes.size() <= kMostReport) {
    out.attachments.push_back({std::move(name), bytes});
  }
}

void add_profile(ToolOutcome& out,
                 const std::string& tool,
                 profile::NcuReport report,
                 const evaluate::Evaluation& evaluation,
                 const ToolSettings& settings) {
  profile::compare_with(settings.last_profile, report);
  const json facts = profile_facts(report);
  const bool wrong = evaluation.check && evaluation.check->failure;
  out.success = true;
  out.text = tool_text(
      tool,
      true,
      fmt::format("{} bounds the slowest of {} launch{}",
                  facts.value("bottleneck", "unknown"),
                  report.kernels.size(),
                  report.kernels.size() == 1 ? "" : "es"),
      (wrong
           ? for_tools(
                 "WARNING: its results are wrong{run_correctness: (run_correctness says where)}\n",
                 settings.tools)
           : std::string()) +
          profile_text(report, evaluation.device_info.sm_count, settings.last_profile));
  out.metadata["profile"] = facts;
  keep(out, "profile.ncu-rep", report.report);
}

void add_sass(ToolOutcome& out, const std::string& tool, const profile::SassReport& report) {
  const json facts = sass_facts(report);
  out.success = true;
  out.text = tool_text(
      tool,
      true,
      fmt::format(
          "{} kernel{}, {}, {}",
          report.kernels.size(),
          report.kernels.size() == 1 ? "" : "s",
          facts.at("has_register_spills").get<bool>() ? "with spills" : "no spills",
          facts.at("has_tensor_core_ops").get<bool>() ? "tensor cores used" : "no tensor cores"),
      sass_text(report));
  out.metadata["sass"] = facts;
  keep(out, "kernel.sass", report.text);
}

void add_findings(ToolOutcome& out,
                  const std::string& tool,
                  const profile::SanitizerReport& report,
                  const std::vector<std::string>& tools) {
  out.success = nothing_found(report);
  std::size_t kinds = 0, worked = 0;
  for (const profile::CheckerResult& checker : report.checkers) {
    if (const auto* log = std::get_if<profile::SanitizerLog>(&checker.log)) {
      ++worked;
      kinds += log->findings.size();
    }
  }
  out.metadata["findings"] = kinds;
  if (worked == 0) {
    out.metadata["unavailable"] = "no checker gave a result";
  }
  out.text = tool_text(
      tool,
      out.success,
      kinds > 0 ? fmt::format("{} kind{} of finding", kinds, kinds == 1 ? "" : "s")
      : worked > 0
          ? fmt::format("nothing found by {} of {} checkers", worked, report.checkers.size())
          : "no checker gave a result",
      sanitizer_text(report) +
          (kinds > 0 ? for_tools("next: correct the first finding; findings are a diagnosis"
                                 "{run_correctness:, run_correctness decides}",
                                 tools)
                     : ""));
}

// The profiler needs a kernel that ends; the sanitizer one that compiles.
bool can_look(const std::string& tool, const evaluate::Evaluation& evaluation) {
  if (!evaluation.compile || evaluation.compile->status != "ok") {
    return false;
  }
  if (tool == "profile_kernel") {
    return evaluation.outcome() == evaluate::Outcome::correct ||
           evaluation.outcome() == evaluate::Outcome::incorrect;
  }
  return tool == "disassemble_kernel" || evaluation.check.has_value();
}

profile::Report inspect(const std::string& tool,
                        const evaluate::EvaluationRequest& request,
                        const evaluate::Evaluation& evaluation,
                        Evaluator& evaluator) {
  profile::Wanted wanted;
  wanted.search = profile::default_search();
  wanted.compare = false;
  wanted.profile = tool == "profile_kernel";
  wanted.sass = tool == "disassemble_kernel";
  wanted.sanitize = tool == "sanitize_kernel";
  return evaluator.inspect(request, evaluation, wanted);
}

template <class T, class Add>
void add_or_say(ToolOutcome& out,
                const std::string& tool,
                std::optional<profile::Result<T>>& result,
                const Add& add) {
  if (!result) {
    return;
  }
  if (const auto* missing = std::get_if<Unavailable>(&*result)) {
    ToolOutcome none = unavailable(tool, *missing);
    out.metadata.update(none.metadata);
    out.text = std::move(none.text);
    return;
  }
  add(std::get<T>(std::move(*result)));
}

ToolOutcome roofline(const std::string& tool, Evaluator& evaluator) {
  const evaluate::FoundCalibration found = evaluator.calibration();
  if (!found.calibration || found.calibration->figures.empty()) {
    return unavailable(tool,
                       {found.calibration ? "this GPU's calibration has no ceilings" : found.reason,
                        "run `sweep calibrate` on it"});
  }
  ToolOutcome out;
  out.success = true;
  out.metadata = roofline_facts(*found.calibration);
  out.text = tool_text(tool,
                       true,
                       "measured on " + found.calibration->device.name,
                       roofline_text(*found.calibration));
  return out;
}

}  // namespace

ToolOutcome look(const std::string& tool,
                 const std::string& kernel,
                 const ToolSettings& settings,
                 Evaluator& evaluator) {
  if (settings.device.kind == device::Kind::cpu) {
    return no_meaning(tool, settings.tools);
  }
  if (tool == "ert_roofline") {
    return roofline(tool, evaluator);
  }
  evaluate::EvaluationRequest request = request_for(kernel, settings);
  request.only = tool == "disassemble_kernel" ? evaluate::Stage::compile : evaluate::Stage::check;
  request.check_seeds = 1;
  const evaluate::Evaluation evaluation = evaluator.evaluate(request);
  if (evaluation.outcome() == evaluate::Outcome::infra_error || !can_look(tool, evaluation)) {
    return refused(tool, kernel, evaluation, settings.tools);
  }
  ToolOutcome out = refused(tool, kernel, evaluation, settings.tools);
  try {
    profile::Report report = inspect(tool, request, evaluation, evaluator);
    out.text = unavailable(tool, {"the tool gave nothing", ""}).text;
    add_or_say(out, tool, report.profile, [&](profile::NcuReport made) {
      add_profile(out, tool, std::move(made), evaluation, settings);
    });
    add_or_say(out, tool, report.sass, [&](const profile::SassReport& made) {
      add_sass(out, tool, made);
    });
    add_or_say(out, tool, report.sanitize, [&](const profile::SanitizerReport& made) {
      add_findings(out, tool, made, settings.tools);
    });
  } catch (const util::Interrupted&) {
    throw;
  } catch (const util::Error& error) {
    ToolOutcome none = unavailable(
        tool, {error.message().where + ": " + error.message().what, error.message().next});
    out.metadata.update(none.metadata);
    out.text = std::move(none.text);
  }
  return out;
}

}  // namespace sweep::agent
