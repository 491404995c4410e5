#include "queue/reeval_why.h"

#include "util/text.h"

#include <fmt/format.h>

namespace sweep::queue {

namespace {

Judgement judgement_of(const record::Trajectory& t) {
  Judgement out;
  out.outcome = t.outcome;
  if (t.final_result) {
    out.verdict = t.final_result->verdict;
    out.reason = t.outcome == "infra_error" ? t.error : t.final_result->reason;
    out.speedup = t.final_result->speedup;
  }
  return out;
}

nlohmann::json judgement_json(const Judgement& judgement) {
  nlohmann::json out{{"outcome", judgement.outcome},
                     {"verdict", judgement.verdict},
                     {"reason", judgement.reason},
                     {"speedup", nullptr}};
  if (judgement.speedup) {
    out["speedup"] = {{"point", judgement.speedup->point},
                      {"low", judgement.speedup->low},
                      {"high", judgement.speedup->high}};
  }
  return out;
}

std::string rules_of(const record::Trajectory& t) {
  const std::int64_t rules = t.final_result ? record::rules_of(*t.final_result) : 0;
  return rules == 0 ? "" : std::to_string(rules);
}

std::string short_hash(const std::string& hash) {
  return hash.empty() ? "(not recorded)" : hash.substr(0, 12);
}

bool passes(const std::string& verdict) {
  return verdict.starts_with("PASS");
}

std::string timing_text(const record::Trajectory& before, const record::Trajectory& now) {
  const auto& a = before.final_result->speedup;
  const auto& b = now.final_result->speedup;
  if (!a || !b) {
    return {};
  }
  const bool overlap = a->low <= b->high && b->low <= a->high;
  return fmt::format(
      "the speedups' intervals {}: {:.3f} to {:.3f} before, {:.3f} to {:.3f} now",
      overlap ? "overlap, so the times may be the same" : "do not overlap, so the times differ",
      a->low,
      a->high,
      b->low,
      b->high);
}

}  // namespace

std::vector<std::string> why_changed(const record::Trajectory& before,
                                     const record::Trajectory& now) {
  std::vector<std::string> out;
  const record::Provenance& a = before.provenance;
  const record::Provenance& b = now.provenance;
  const auto differs = [&](const char* what, const std::string& x, const std::string& y) {
    if (x != y) {
      out.push_back(fmt::format("{}: {} before, {} now",
                                what,
                                x.empty() ? "(not recorded)" : util::printable(x),
                                y.empty() ? "(none)" : util::printable(y)));
    }
  };
  differs("the problem's files", short_hash(a.problem_sha256), short_hash(b.problem_sha256));
  differs("the seed", short_hash(a.seed_sha256), short_hash(b.seed_sha256));
  differs("sweep", a.sweep_version + " " + a.git_commit, b.sweep_version + " " + b.git_commit);
  differs("the judge", a.judge_version, b.judge_version);
  differs("the judge's rules", rules_of(before), rules_of(now));
  differs("the device", a.gpu_name, b.gpu_name);
  differs("the driver", a.driver, b.driver);
  differs("the compiler", a.compiler, b.compiler);
  if (now.outcome == "infra_error") {
    out.insert(out.begin(), "the harness failed now: " + util::printable(now.error));
  }
  if (before.final_result && now.final_result && passes(before.final_result->verdict) &&
      passes(now.final_result->verdict)) {
    if (std::string timing = timing_text(before, now); !timing.empty()) {
      out.push_back(std::move(timing));
    }
  } else if (out.empty()) {
    out.push_back(
        "nothing that is recorded differs: the kernel itself may not do the same each time (a "
        "race, "
        "memory that is not initialised)");
  }
  return out;
}

Reevaluated compared(const record::Trajectory& before, const record::Trajectory& now) {
  Reevaluated out;
  out.item = before.item_id;
  out.before = judgement_of(before);
  out.now = judgement_of(now);
  out.changed = out.before.verdict != out.now.verdict || out.before.outcome != out.now.outcome;
  if (out.changed) {
    out.why = why_changed(before, now);
  }
  return out;
}

nlohmann::json to_json(const Reevaluated& item) {
  return {{"item", item.item},
          {"skipped", item.skipped},
          {"before", judgement_json(item.before)},
          {"now", judgement_json(item.now)},
          {"changed", item.changed},
          {"why", item.why}};
}

}  // namespace sweep::queue
