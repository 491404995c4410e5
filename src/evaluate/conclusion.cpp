#include "evaluate/conclusion.h"

#include "evaluate/confirmation.h"
#include "util/sha256.h"
#include "util/text.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace sweep::evaluate {
namespace {

// Why a candidate on a GPU that passes is neither faster nor slower for certain.
std::string inconclusive_step(const EvaluationRequest& request, const Evaluation& result) {
  // Where held-out shapes were timed, they decide; their names and dims are nobody's to see.
  const TimeResult* hidden = result.heldout && result.heldout->time.for_archive()
                                 ? &*result.heldout->time.for_archive()
                                 : nullptr;
  const TimeResult* time = hidden != nullptr ? hidden : result.time ? &*result.time : nullptr;
  if (time == nullptr) {
    return "";
  }
  const double limit = 1 + time->margin;
  const auto slower = std::ranges::find_if(
      time->shapes, [limit](const ShapeTiming& shape) { return shape.ratio.high < 1 / limit; });
  if (time->ratio.low > limit && slower != time->shapes.end()) {
    return "faster on the whole, but slower on " +
           (hidden != nullptr ? std::string("a held-out shape") : slower->shape) +
           ": FASTER asks that no shape is";
  }
  if (request.depth == Depth::fast) {
    return "a quick look has one replicate: leave out --fast";
  }
  return "the interval crosses the margin: more replicates narrow it (--replicates)";
}

// "pid 12 (python), pid 13 (a.out)": those that computed.
std::string neighbours_text(const device::Conditions& conditions) {
  std::vector<std::string> names;
  for (const device::Neighbour& one : conditions.neighbours) {
    if (one.busy) {
      names.push_back(fmt::format("pid {} ({})", one.pid, one.name));
    }
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// Why a correct kernel got no better word, and what would change that.
std::string next_after_pass(const EvaluationRequest& request, const Evaluation& result) {
  if (!result.time) {
    return request.only ? "leave --only out for the other stages" : "";
  }
  const TimeResult* deciding = deciding_time(result);
  if (result.verdict == Verdict::unstable && deciding != nullptr &&
      deciding->conditions.disturbed()) {
    return neighbours_text(deciding->conditions) +
           " computed on the GPU while it was locked for timing: end it, or use another GPU; other "
           "sweeps keep off where they have the same SWEEP_LOCK_DIR";
  }
  const bool faster = result.time->ratio.low > 1 + result.time->margin;
  if (request.device.kind == device::Kind::cpu) {
    return faster
               ? "the cpu device never says FASTER: its times are no GPU times; use --device cuda"
               : "times of the cpu device are no GPU times; use --device cuda to judge speed";
  }
  return result.verdict == Verdict::pass_inconclusive ? inconclusive_step(request, result) : "";
}

std::string next_after_plan_error(const Evaluation& result) {
  const std::string code =
      result.screen && !result.screen->errors.empty() ? result.screen->errors.front().code : "";
  if (code == "E_PLAN_OVERRIDE") {
    return "correct -D, or declare `//@ const` in the plan";
  }
  if (code == "E_PLAN_EMPTY") {
    return "`sweep new PROBLEM` prints a starter; docs/submission.md describes plans";
  }
  return "correct the plan's //@ line above; docs/submission.md describes plans";
}

std::string next_step(const EvaluationRequest& request, const Evaluation& result) {
  if (result.outcome() == Outcome::correct) {
    return next_after_pass(request, result);
  }
  return result.verdict == Verdict::plan_error ? next_after_plan_error(result) : "";
}

// A word of a command line, quoted for a POSIX shell where it has to be.
std::string shell_word(const std::string& text) {
  const bool plain = !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("._-/=,:+@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) {
    return text;
  }
  std::string quoted = "'";
  for (const char c : text) {
    quoted += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return quoted + "'";
}

// Which refusal of the compiler role it was, by its first words (compile/refuse.h).
Defence refused_by(const CompileResult& compile) {
  const auto says = [&compile](std::string_view words) {
    return compile.log.find(words) < compile.log.find('\n');
  };
  if (compile.status != "forbidden") {
    return Defence::compiler_limits;
  }
  const bool state = says("is a writable module variable") ||         // cpu
                     says("is a module variable that is written") ||  // cuda
                     says("variable has an initialiser") || says("managed variable");
  return says("__TIME__")       ? Defence::build_time
         : state                ? Defence::module_state
         : says("at load time") ? Defence::load_code
                                : Defence::forbidden_symbols;
}

}  // namespace

std::string dims_text(const expr::IntEnv& dims) {
  std::string text;
  for (const auto& [name, value] : dims) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, value);
  }
  return text;
}

bool wants(const EvaluationRequest& request, Stage stage) {
  return request.only ? *request.only == stage
         : stage == Stage::stress
             ? request.depth != Depth::fast && !request.off.contains(Defence::stress)
         : stage == Stage::heldout
             ? request.depth == Depth::full && !request.off.contains(Defence::heldout)
             : true;
}

Evaluation begun(const EvaluationRequest& request) {
  Evaluation made;
  made.file = request.submission.file;
  made.versus = request.versus ? request.versus->file : "";
  made.source_sha256 = util::sha256_hex(request.submission.text);
  made.seed = request.seed;
  made.depth = request.depth;
  made.device = device::text(request.device);
  made.version = SWEEP_VERSION;
  made.problem = request.problem;
  return made;
}

Verdict infra_verdict(const util::Error& error) {
  const std::string& code = error.code();
  if (code == "E_JUDGE_LOST") {
    return Verdict::infra_lost;
  }
  if (code.starts_with("E_DEVICE") || code.starts_with("E_CUDA") || code == "E_SEED_FAULT") {
    return Verdict::infra_device;
  }
  return error.message().what.find("No space left") != std::string::npos ? Verdict::infra_disk
                                                                         : Verdict::infra_judge;
}

Protections protections_of(const std::vector<util::Protection>& list,
                           device::Kind kind,
                           bool pageable) {
  const auto active = [&list](std::string_view name) {
    return std::ranges::any_of(
        list, [name](const util::Protection& item) { return item.active && item.name == name; });
  };
  Protections p;
  p.landlock = active("landlock");
  p.seccomp = active("seccomp");
  p.network = active("network namespace");
  p.pids = active("process limit");
  p.user = std::ranges::any_of(list, [](const util::Protection& item) {
    return item.active && item.name.find("user") != std::string::npos;
  });
  const bool all = p.landlock && p.seccomp && p.network && p.pids;
  p.sealed = all && kind == device::Kind::cuda;
  p.note = !all ? "run without a sandbox" : !p.sealed ? "unsealed" : pageable ? "sealed: weak" : "";
  return p;
}

std::string speedup_text(const TimeResult& time, std::string_view which) {
  const auto [low, high] = util::human_bounds(time.ratio.low, time.ratio.high);
  return fmt::format("{}  [{}, {}]  geometric mean over {} {} shape{}",
                     util::human_ratio(time.ratio.point),
                     low,
                     high,
                     time.shapes.size(),
                     which,
                     time.shapes.size() == 1 ? "" : "s");
}

std::string guard_text(const TimeResult& result) {
  if (result.decision == Verdict::rejected_carryover) {
    return fmt::format(
        "the seed runs {:.1f}% slower after this kernel than after itself, beyond what this kernel "
        "loses after the seed (at least {:.1f}%; {:.1f}% is allowed): what the kernel leaves "
        "behind would pass for a speedup",
        100 * result.carryover.point,
        100 * result.carryover.low,
        100 * result.carryover.limit);
  }
  if (result.decision == Verdict::rejected_timer && result.slope.low > result.slope.limit) {
    return fmt::format(
        "by the judge's own clock one more call takes {:.1f} us more than its events say, beyond "
        "what one of the seed does (at least {:.1f} us; {:.1f} us is allowed)",
        1e6 * result.slope.point,
        1e6 * result.slope.low,
        1e6 * result.slope.limit);
  }
  if (result.decision == Verdict::rejected_timer) {
    return fmt::format(
        "by the host's clock a call takes {:.1f} us more than its events say, beyond what a call "
        "of "
        "the seed does (at least {:.1f} us; {:.1f} us is allowed)",
        1e6 * result.hidden.point,
        1e6 * result.hidden.low,
        1e6 * result.hidden.limit);
  }
  return "";
}

std::string compile_text(const CompileResult& compile) {
  for (const std::string_view line : util::split(compile.log, '\n')) {
    if (line.find("error") != std::string_view::npos) {
      return std::string(util::trim(line));
    }
  }
  return "does not compile: " + compile.status;
}

std::string_view stress_text(bool checked) {
  return checked ? "correct on the visible shapes, wrong on one that was not shown"
                 : "wrong on a shape that was not shown; the visible ones were not checked";
}

std::vector<Defence> caught_by(const Evaluation& evaluation) {
  std::vector<Defence> caught;
  const auto add = [&caught](const std::optional<Failure>& failure) {
    if (failure && failure->defence) {
      caught.push_back(*failure->defence);
    }
  };
  if (evaluation.verdict == Verdict::plan_error && !evaluation.judged()) {
    return {Defence::plan_rules};
  }
  if (evaluation.compile && evaluation.compile->status != "ok") {
    return {refused_by(*evaluation.compile)};
  }
  if (evaluation.verdict == Verdict::out_of_memory && !evaluation.judged()) {
    return {Defence::memory_limit};
  }
  if (evaluation.check) {
    add(evaluation.check->failure);
  }
  if (evaluation.stress && !evaluation.stress->passed) {
    caught.push_back(Defence::stress);
    add(evaluation.stress->inner.for_archive());
  }
  if (evaluation.time) {
    add(evaluation.time->failure);
  }
  if (evaluation.heldout && !evaluation.heldout->passed) {
    caught.push_back(Defence::heldout);
    add(evaluation.heldout->inner.for_archive());
  }
  if (evaluation.verdict == Verdict::rejected_carryover ||
      evaluation.verdict == Verdict::rejected_timer) {
    caught.push_back(Defence::timing_rules);
  }
  return caught;
}

void conclude(const EvaluationRequest& request, Evaluation& result) {
  result.weakened = names(request.off);
  if (!request.off.empty()) {
    result.flags.emplace_back("weakened");
    if (result.verdict == Verdict::pass_faster) {
      result.verdict = Verdict::pass_inconclusive;
    }
  }
  if (request.depth == Depth::fast) {
    result.flags.emplace_back("quick look");
  }
  if (!result.protections.note.empty()) {
    result.flags.push_back(result.protections.note);
  }
  result.reproduce =
      "sweep eval " + shell_word(request.submission.file) + " --device " + result.device;
  if (!request.problem.empty()) {
    result.reproduce += " --problem " + shell_word(request.problem);
  }
  for (const auto& [name, value] : request.overrides) {
    result.reproduce += fmt::format(" -D {}={}", name, value);
  }
  if (!request.stress_gates) {
    result.reproduce += " --no-stress-gate";
  }
  if (request.allow_unsandboxed) {
    result.reproduce += " --allow-unsandboxed";
  }
  result.reproduce += " --seed " + std::to_string(request.seed);
  if (result.check && result.check->failure && !result.check->calls.empty()) {
    result.reproduce += " --only check --shape " + dims_text(result.check->calls.back().dims);
  }
  result.next = next_step(request, result);
}

}  // namespace sweep::evaluate
