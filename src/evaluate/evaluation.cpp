#include "evaluate/evaluation.h"

#include "evaluate/argument_check.h"
#include "evaluate/baselines.h"
#include "evaluate/compilers.h"
#include "evaluate/conclusion.h"
#include "evaluate/confirmation.h"
#include "evaluate/evaluation_json.h"
#include "evaluate/judge_client.h"
#include "evaluate/metrics.h"
#include "evaluate/preparation.h"
#include "evaluate/signature.h"
#include "evaluate/spares.h"
#include "evaluate/static_memory.h"
#include "problem/ranks.h"
#include "util/clock.h"
#include "util/sha256.h"

#include <nlohmann/json.hpp>

#include <future>

namespace sweep::evaluate {
namespace {

using nlohmann::json;

class Run {
 public:
  Run(const EvaluationRequest& request,
      const Services& services,
      const Progress& progress,
      Spares& spares)
      : request_(request), services_(services), progress_(progress), spares_(spares) {}

  Evaluation evaluate() {
    const double begin = clock_.monotonic();
    result_ = begun(request_);
    try {
      stages();
    } catch (const util::UsageError&) {
      throw;
    } catch (const util::Interrupted&) {
      throw;
    } catch (const util::Error& error) {
      result_.verdict = infra_verdict(error);
      result_.infra = error.what();
      result_.headline = result_.infra;
    }
    result_.seconds = clock_.monotonic() - begin;
    conclude(request_, result_);
    return std::move(result_);
  }

  // What a spare judge for the next one may work at; null where it did not come that far.
  [[nodiscard]] const JudgeTask* task() const { return task_ ? &*task_ : nullptr; }

 private:
  void stages() {
    if (!run_screen()) {
      return;
    }
    result_.verdict = Verdict::pass_inconclusive;
    result_.headline = "the plan is sound; nothing was compiled or run";
    if (request_.only == Stage::screen || !run_compile()) {
      return;
    }
    result_.headline =
        request_.only == Stage::compile ? "compiles; nothing was run" : "correct, not timed";
    if (wanted(Stage::check) && !run_check()) {
      return;
    }
    if ((wanted(Stage::stress) && !run_stress()) || (wanted(Stage::time) && !run_time())) {
      return;
    }
    if (wanted(Stage::heldout)) {
      run_heldout();
    }
    if (confirmation_due(request_, result_)) {
      run_confirmation();
    }
  }

  [[nodiscard]] bool wanted(Stage stage) const { return wants(request_, stage); }

  void say(Stage stage,
           ProgressEvent::State state,
           bool ok,
           const std::string& text,
           std::size_t done = 0,
           std::size_t total = 0) const {
    if (progress_) {
      progress_({stage, state, ok, text, done, total});
    }
  }

  // Runs `body`, which says whether the stage passed; books its time.
  template <class Body>
  bool stage(Stage which, const Body& body) {
    const double begin = clock_.monotonic();
    say(which, ProgressEvent::State::started, true, "");
    const bool ok = body();
    const double seconds = clock_.monotonic() - begin;
    result_.stages.push_back({which, seconds});
    say(which, ProgressEvent::State::finished, ok, result_.headline);
    return ok;
  }

  void fail(Verdict verdict, const std::string& headline) {
    result_.verdict = verdict;
    result_.headline = headline;
  }

  bool run_screen() {
    return stage(Stage::screen, [this] {
      const double begin = clock_.monotonic();
      auto parsed =
          submission::parse(request_.submission.file, request_.submission.text, request_.overrides);
      std::string id = request_.problem;
      if (auto* made = std::get_if<submission::Submission>(&parsed);
          made != nullptr && id.empty()) {
        id = made->plan.problem;
      }
      if (!id.empty()) {
        problem_ = find_problem(services_, id);
        require_supported(*problem_);
        result_.problem = problem_->id;
        result_.title = problem_->title;
        if (problem::ranked(*problem_)) {
          result_.flags.emplace_back("virtual ranks");
        }
      }
      if (auto* error = std::get_if<submission::PlanError>(&parsed)) {
        result_.screen.emplace();
        result_.screen->bytes = request_.submission.text.size();
        result_.screen->errors.push_back(*error);
      } else if (!problem_) {
        throw util::UsageError({request_.submission.file,
                                "names no problem",
                                "add `//@ problem ID` or give --problem ID"},
                               "E_EVALUATE_PROBLEM");
      } else {
        submission_ = std::get<submission::Submission>(std::move(parsed));
        result_.screen = screen(*problem_, *submission_, request_.device.kind, &result_.plan);
      }
      result_.screen->seconds = clock_.monotonic() - begin;
      if (!result_.screen->errors.empty()) {
        fail(Verdict::plan_error, result_.screen->errors.front().text(request_.submission.text));
        return false;
      }
      return true;
    });
  }

  void start_judge() {
    Spares::Taken taken = spares_.take(judge_spec(request_, services_));
    judge_ = std::move(taken.judge);
    spare_ = taken.spare;
    result_.device_info = judge_->info();
    floors_ = noise_floors(services_.cache, request_.device.kind, judge_->info(), clock_.wall());
  }

  bool run_compile() {
    return stage(Stage::compile, [this] {
      auto place = compiler_place(services_, tick_of(Stage::compile));
      start_judge();
      const compile::Target target{request_.device.kind, result_.device_info.arch};
      // The problem's and the harness's own code meanwhile: mostly from the cache.
      std::future<Trusted> trusted = std::async(std::launch::async, [this, &target] {
        Trusted made =
            compile_trusted(compile_options(request_, services_), target, *problem_, services_);
        task_.emplace(judge_task(request_, *problem_, made));
        judge_->prepare(*task_);
        return made;
      });
      compile::Compiler compiler(compile_options(request_, services_));
      const bool printing = request_.device_printf && request_.depth != Depth::full;
      compile::Request wanted = compile_request(*submission_, target, printing);
      wanted.may_keep_state = request_.off.contains(Defence::module_state);
      wanted.nvcc = request_.nvcc;
      const compile::Result compiled = compiler.compile(wanted);
      result_.compile = describe(compiled, compiler_used(wanted, compiler.toolchain()));
      const Trusted ours = trusted.get();
      place.reset();
      if (compiled.status != compile::Result::Status::ok) {
        fail(verdict_of(compiled.status), compile_text(*result_.compile));
        return false;
      }
      if (const std::string why =
              over_memory(*problem_, *submission_, compiled, result_.device_info.sm_count);
          !why.empty()) {
        fail(Verdict::out_of_memory, why);
        return false;
      }
      const Code candidate = make_code(
          std::move(*submission_), request_.overrides, candidate_signature(*problem_), compiled);
      if (auto error = argument_error(candidate, *problem_, result_.device_info.sm_count)) {
        fail(Verdict::plan_error, error->text(request_.submission.text));
        result_.screen->errors.push_back(*std::move(error));
        return false;
      }
      std::vector<const Code*> codes = {&candidate};
      std::optional<Code> versus;
      if (request_.versus) {
        versus = versus_code(compiler, target, *request_.versus, *problem_, request_.nvcc);
        codes.push_back(&*versus);
      }
      session_ =
          util::sha256_hex(candidate.digest + ours.seed.digest + std::to_string(request_.seed));
      open(codes, ours);
      return true;
    });
  }

  // A judge may have met trouble while it waited or worked ahead; a new one that has done neither
  // tells whether it lasts.
  void open(std::vector<const Code*> codes, const Trusted& ours) {
    try {
      judge_->open(codes, tick_of(Stage::compile));
    } catch (const util::InfraError&) {
      if (!spare_ && !request_.prepare) {
        throw;
      }
      start_judge();
      codes.insert(codes.begin(), {&ours.reference, &ours.seed});
      judge_->open(*problem_, codes, ours.harness, request_.seed, tick_of(Stage::compile));
    }
  }

  [[nodiscard]] StageOptions options() const {
    StageOptions made = stage_options(request_, *problem_);
    made.session = session_;
    made.floors = floors_;
    return made;
  }

  [[nodiscard]] Tick tick_of(Stage which) const {
    return [this, which](const std::string& text, std::size_t done, std::size_t total) {
      say(which, ProgressEvent::State::running, true, text, done, total);
    };
  }

  json ask(Stage which, const char* what, const StageOptions& with) {
    json body = judge_->stage(what, with, tick_of(which));
    result_.lock_wait_seconds = judge_->waited();
    result_.protections =
        protections_of(judge_->protections(), request_.device.kind, judge_->pageable_memory());
    return body;
  }

  bool run_check() {
    return stage(Stage::check, [this] {
      StageOptions with = options();
      if (wanted(Stage::time) && request_.device.kind == device::Kind::cuda) {
        with.pairs_ahead = std::min(with.replicates, kPairsAtOnce);
      }
      result_.check = check_from_json(ask(Stage::check, "check", with));
      if (result_.check->failure) {
        fail(result_.check->failure->verdict, result_.check->failure->text);
        return false;
      }
      return true;
    });
  }

  bool run_stress() {
    return stage(Stage::stress, [this] {
      result_.stress = stress_from_json(ask(Stage::stress, "stress", options()));
      if (result_.stress->passed) {
        return true;
      }
      if (!request_.stress_gates) {
        result_.flags.emplace_back("fails stress");
        return true;
      }
      fail(Verdict::incorrect_generalisation, std::string(stress_text(result_.check.has_value())));
      return false;
    });
  }

  bool run_time() {
    return stage(Stage::time, [this] {
      result_.time =
          repeated_once([this] { return time_from_json(ask(Stage::time, "time", options())); },
                        [this] { clock_.sleep(kCoolingSeconds); });
      if (!result_.time->earlier.empty()) {
        result_.flags.emplace_back("repeated after UNSTABLE");
      }
      if (!result_.time->conditions.neighbours.empty()) {
        result_.flags.emplace_back("shared GPU");
      }
      if (result_.time->failure) {
        fail(result_.time->failure->verdict,
             "a timed call was wrong: " + result_.time->failure->text);
        return false;
      }
      result_.verdict = result_.time->decision.value_or(Verdict::pass_inconclusive);
      result_.headline = speedup_text(*result_.time, "visible");
      result_.metrics =
          metrics_of(*result_.time,
                     request_.device.kind,
                     ceilings_of(services_.cache, request_.device.kind, judge_->info()));
      if (!request_.versus && request_.device.kind == device::Kind::cuda) {
        result_.baselines =
            baselines_beside(services_, *problem_, judge_->info(), *result_.time, clock_.wall());
      }
      if (result_.time->uneven) {
        result_.flags.emplace_back("UNEVEN");
      }
      return settled(*result_.time);
    });
  }

  // False, with the reason as headline, where a session's guards reject the kernel.
  bool settled(const TimeResult& time) {
    const std::string reason = guard_text(time);
    result_.headline = reason.empty() ? result_.headline : reason;
    return reason.empty();
  }

  void run_heldout() {
    (void)stage(Stage::heldout, [this] {
      StageOptions with = options();
      with.salt = read_salt(services_.salt);
      with.places.clear();
      result_.heldout = heldout_from_json(ask(Stage::heldout, "heldout", with));
      if (!request_.stress_gates) {
        if (!result_.heldout->passed) {
          result_.flags.emplace_back("fails held-out");
        }
        return true;
      }
      if (!result_.heldout->passed) {
        fail(Verdict::incorrect_generalisation, "wrong on a held-out shape");
        return false;
      }
      const std::optional<TimeResult>& time = result_.heldout->time.for_archive();
      if (time && time->decision && result_.time) {
        result_.verdict = *time->decision;
        result_.headline = speedup_text(*time, "held-out");
        if (time->ratio.point < 0.8 * result_.time->ratio.point) {
          result_.flags.emplace_back("specialised");
        }
        return settled(*time);
      }
      return true;
    });
  }

  // Times what the headline quotes once more.
  void run_confirmation() {
    StageOptions with = confirming(options());
    if (!result_.heldout) {
      confirm(result_, time_from_json(ask(Stage::time, "time", with)));
      return;
    }
    with.salt = read_salt(services_.salt);
    with.places.clear();
    const HeldoutResult again = heldout_from_json(ask(Stage::heldout, "heldout", with));
    if (const auto& time = again.time.for_archive()) {
      confirm(result_, *time);
    }
  }

  const EvaluationRequest& request_;
  const Services& services_;
  const Progress& progress_;
  util::RealClock clock_;
  Evaluation result_;
  std::optional<problem::Problem> problem_;
  std::optional<submission::Submission> submission_;
  Spares& spares_;
  std::unique_ptr<JudgeClient> judge_;
  bool spare_ = false;
  std::optional<JudgeTask> task_;
  std::string session_;
  std::optional<NoiseFloors> floors_;
};

}  // namespace

Evaluation evaluate(const EvaluationRequest& request,
                    const Services& services,
                    const Progress& progress,
                    Spares* spares) {
  Spares none;
  Run run(request, services, progress, spares != nullptr ? *spares : none);
  Evaluation made = run.evaluate();
  if (spares != nullptr) {
    spares->refill(run.task());
  }
  return made;
}

}  // namespace sweep::evaluate
