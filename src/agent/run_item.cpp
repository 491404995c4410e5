#include "admit/admit.h"
#include "agent/agent.h"
#include "agent/session.h"
#include "agent/task.h"
#include "config/dotenv.h"
#include "endpoint/builtin.h"
#include "endpoint/json.h"
#include "endpoint/target.h"
#include "evaluate/preparation.h"
#include "profile/isa.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/sha256.h"

#include <algorithm>
#include <cmath>

namespace sweep::agent {
namespace {

class RealEvaluator final : public Evaluator {
 public:
  RealEvaluator(const evaluate::Services& services,
                device::Info info,
                evaluate::Spares* spares,
                Held held)
      : services_(services), info_(std::move(info)), spares_(spares), held_(std::move(held)) {}

  evaluate::Evaluation evaluate(const evaluate::EvaluationRequest& request) override {
    return profile::evaluate_with_isa(
        request,
        services_,
        [this](const evaluate::ProgressEvent& event) {
          const bool waits = event.state == evaluate::ProgressEvent::State::running &&
                             event.text.starts_with("waiting for ");
          if (held_ && (waits || waiting_)) {
            held_(waits ? event.text : "");
          }
          waiting_ = waits;
        },
        spares_);
  }

  profile::Report inspect(const evaluate::EvaluationRequest& request,
                          const evaluate::Evaluation& evaluation,
                          const profile::Wanted& wanted) override {
    return profile::inspect(request, services_, evaluation, wanted, nullptr);
  }

  evaluate::FoundCalibration calibration() override {
    return evaluate::find_calibration(services_.cache, info_);
  }

 private:
  const evaluate::Services& services_;
  device::Info info_;
  evaluate::Spares* spares_;
  Held held_;
  bool waiting_ = false;
};

class ItemPermits final : public endpoint::Permits {
 public:
  explicit ItemPermits(record::ItemServices& record) : record_(record) {}

  std::unique_ptr<endpoint::Permit> take(const record::Need& need) override {
    return record_.permit(need);
  }

 private:
  record::ItemServices& record_;
};

// UsageError E_KEY_MISSING.
endpoint::Target target_of(const config::Model& model, const Surroundings& surroundings) {
  if (!endpoint::builtin_name(model.base_url).empty())
    return endpoint::target_of(model, surroundings.builtin_url, {});
  if (model.api_key_env.empty())
    return endpoint::target_of(model, model.base_url, {});
  auto key = config::read_key_value(model.api_key_env, surroundings.dotenv);
  if (!key)
    throw util::UsageError({"models." + model.name,
                            "variable " + model.api_key_env + " is not set",
                            "set it, or put it into .env"},
                           "E_KEY_MISSING");
  return endpoint::target_of(model, model.base_url, endpoint::Secret(std::move(*key)));
}

}  // namespace

std::unique_ptr<Evaluator> real_evaluator(const evaluate::Services& services,
                                          evaluate::Spares* spares,
                                          const device::Info& info,
                                          Held held) {
  return std::make_unique<RealEvaluator>(services, info, spares, std::move(held));
}

endpoint::Retry retry_of(const config::SweepConfig& config, const config::WorkItem& item) {
  endpoint::Retry out;
  out.max_attempts =
      static_cast<int>(std::clamp<std::int64_t>(config.agent.llm_error_retries, 1, 100));
  if (config.parallelism.worker_timeout_s > 0)
    out.deadline = config.parallelism.worker_timeout_s;
  out.jitter_seed = util::leading_u64(util::sha256(item.id()));
  return out;
}

namespace {

record::Provenance provenance_of(const Surroundings& surroundings, const config::Model& model) {
  record::Provenance out = surroundings.provenance;
  out.device = device::text(surroundings.device);
  out.gpu_name = surroundings.device_info.name;
  out.gpu_uuid = surroundings.device_info.uuid;
  out.driver = surroundings.device_info.driver;
  out.arch = surroundings.device_info.arch;
  out.base_url = model.base_url;
  out.deployment_name = model.deployment_name;
  out.api_kind = std::string(config::name(model.api_kind));
  out.endpoint_profile = nlohmann::json::parse(
      endpoint::dump(endpoint::to_json(endpoint::resolve(model.endpoint, model.base_url))));
  return out;
}

}  // namespace

namespace {

std::string admission_of(const evaluate::Services& services, const problem::Problem& problem) {
  const admit::Status status = admit::standing_now(services, problem).status;
  return status == admit::Status::none ? "none" : std::string(admit::name(status));
}

}  // namespace

record::Trajectory run_item(const config::SweepConfig& config,
                            const config::WorkItem& item,
                            const Surroundings& surroundings,
                            record::ItemServices& record) {
  const config::Model& model = find_model(config, item.model);
  const problem::Problem problem =
      evaluate::find_problem(surroundings.evaluation, item.problem_id());
  const std::filesystem::path seed = evaluate::seed_file(surroundings.evaluation, problem);
  Task task = make_task(problem, surroundings.device_info, surroundings.device.kind, seed);
  task.admission = admission_of(surroundings.evaluation, problem);
  util::RealClock clock;
  ItemPermits permits(record);
  endpoint::Services needs;
  needs.clock = &clock;
  needs.permits = &permits;
  needs.cancelled = [&record] { return record.stopping(); };
  needs.waiting = [&record](const std::string& why, double seconds) {
    record::Progress progress;
    progress.state = why;
    std::ranges::replace(progress.state, '_', ' ');
    progress.next_try = seconds;
    record.progress(progress);
  };
  const auto endpoint =
      endpoint::connect(target_of(model, surroundings), retry_of(config, item), needs);
  const auto evaluator = real_evaluator(surroundings.evaluation,
                                        surroundings.spares,
                                        surroundings.device_info,
                                        [&record](const std::string& why) { record.held(why); });
  const Services services{
      &record, endpoint.get(), evaluator.get(), &clock, surroundings.allow_unsandboxed};
  return run(config, item, task, surroundings.device, provenance_of(surroundings, model), services);
}

}  // namespace sweep::agent
