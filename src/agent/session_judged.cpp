// Submissions that this run has judged before: answered from its record, never run twice.
#include "agent/duplicates.h"
#include "agent/session.h"
#include "util/sha256.h"

namespace sweep::agent {
namespace {

// A verdict on the kernel. A time limit may have been the machine's fault, and --retry is there to
// find out.
bool settles(const ToolOutcome& outcome) {
  if (!outcome.evaluation.is_object())
    return false;
  switch (evaluate::evaluation_from_json(outcome.evaluation).outcome()) {
    case evaluate::Outcome::correct:
    case evaluate::Outcome::incorrect:
    case evaluate::Outcome::compile_fail:
    case evaluate::Outcome::rejected:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::vector<std::string> Session::keys_of(const std::string& kernel,
                                          const ToolSettings& settings) const {
  const record::Provenance& p = trajectory_.provenance;
  JudgedUnder under;
  under.settings = &settings;
  under.problem_sha256 = task_.sha256;
  under.seed_sha256 = task_.seed_sha256;
  under.device = p.gpu_name + " " + p.arch + " " + p.driver;
  under.version = p.sweep_version + " " + p.git_commit;
  under.epoch = config_.run.epoch;
  const auto code = codes_.find(util::sha256_hex(kernel));
  return judged_keys(kernel, code == codes_.end() ? std::string() : code->second, under);
}

void Session::note_code(const std::string& kernel, const ToolOutcome& outcome) {
  if (!outcome.evaluation.is_object())
    return;
  const evaluate::Evaluation evaluation = evaluate::evaluation_from_json(outcome.evaluation);
  if (evaluation.compile && !evaluation.compile->code_sha256.empty())
    codes_[util::sha256_hex(kernel)] = evaluation.compile->code_sha256;
}

std::optional<ToolOutcome> Session::judged_before(const std::string& kernel,
                                                  const ToolSettings& settings) {
  const auto known = services_.record->judged(keys_of(kernel, settings));
  if (!known)
    return std::nullopt;
  ToolOutcome outcome = outcome_from_text(services_.record->get_artifact(known->output_sha256));
  if (!outcome.metadata.contains("duplicate_of"))
    outcome.metadata["duplicate_of"] = known->item;
  return outcome;
}

ToolOutcome Session::record_outcome(const std::string& tool,
                                    const std::string& kernel,
                                    std::vector<std::string> keys,
                                    ToolOutcome outcome) {
  record::Finished finished;
  finished.index = tool_runs_++;
  finished.key_sha256 = util::sha256_hex(tool + "\n" + kernel);
  finished.input_sha256 = services_.record->put_artifact(kernel);
  finished.output_sha256 = services_.record->put_artifact(to_text(outcome));
  finished.facts = {{"tool", tool},
                    {"success", outcome.success},
                    {"verdict", outcome.metadata.value("verdict", "")}};
  if (outcome.metadata.contains("duplicate_of"))
    finished.facts["duplicate_of"] = outcome.metadata["duplicate_of"];
  else if (!keys.empty() && settles(outcome))
    finished.facts["keys"] = std::move(keys);
  (void)services_.record->record_tool(finished);
  return outcome;
}

}  // namespace sweep::agent
