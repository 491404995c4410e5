#include "calibrate/sessions.h"

#include "evaluate/evaluation_json.h"
#include "evaluate/judge_client.h"
#include "util/error.h"

#include <nlohmann/json.hpp>

namespace sweep::calibrate {
namespace {

// All sessions of a judge; a study may take long.
constexpr double kDeadlineSeconds = 6 * 3600;

}  // namespace

Sessions::Sessions(const Setup& setup,
                   const Material& material,
                   const evaluate::Code& kernel,
                   const evaluate::HarnessImages& harness)
    : setup_(setup), digest_(kernel.digest) {
  evaluate::JudgeSpec spec;
  spec.program = setup.program;
  spec.locks = setup.locks;
  spec.device = setup.device;
  spec.allow_unsandboxed = setup.allow_unsandboxed;
  spec.deadline_seconds = kDeadlineSeconds;
  spec.runners = 0;
  judge_ = std::make_unique<evaluate::JudgeClient>(spec);
  judge_->begin();
  judge_->open(material.problem,
               {&material.reference, &material.seed, &kernel},
               harness,
               1,
               [](const std::string&, std::size_t, std::size_t) {});
}

Sessions::~Sessions() = default;

evaluate::TimeResult Sessions::run(std::span<const SizedBand> bands,
                                   std::uint64_t number,
                                   std::span<const std::int64_t> extra) {
  evaluate::StageOptions options;
  options.seed = number;
  options.replicates = setup_.replicates;
  options.blocks = setup_.blocks;
  options.pilot = setup_.pilot;
  options.session = digest_ + ' ' + std::to_string(number);
  for (std::size_t i = 0; i < bands.size(); ++i) {
    options.places.push_back(
        {std::string(bands[i].band.name),
         dims_of(bands[i].band.kind, bands[i].rows, i < extra.size() ? extra[i] : 1)});
  }
  evaluate::TimeResult result = evaluate::time_from_json(
      judge_->stage("time", options, [](const std::string&, std::size_t, std::size_t) {}));
  if (result.failure) {
    throw util::InfraError(
        {"calibrate", "a copy was judged wrong: " + result.failure->text, "run `sweep selftest`"},
        "E_CALIBRATE_WRONG");
  }
  return result;
}

}  // namespace sweep::calibrate
