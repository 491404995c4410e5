#include "evaluate/evaluation_json.h"

#include "device/info_json.h"
#include "evaluate/baselines.h"
#include "evaluate/confirmation.h"
#include "evaluate/json_fields.h"
#include "evaluate/metrics.h"
#include "util/text.h"
#include "wire/channel.h"

#include <nlohmann/json.hpp>

#include <array>

#include <fmt/format.h>

namespace sweep::evaluate {
namespace {

using nlohmann::json;
using wire::field;

constexpr std::array<std::string_view, 3> kDepths = {"fast", "standard", "full"};
constexpr std::array<std::string_view, 6> kStages = {
    "screen", "compile", "check", "stress", "time", "held-out"};

json to_json(const submission::PlanError& error) {
  return {{"code", error.code},
          {"file", util::to_valid_utf8(error.file)},
          {"line", error.line},
          {"column", error.column},
          {"what", util::to_valid_utf8(error.what)},
          {"next", util::to_valid_utf8(error.next)}};
}

submission::PlanError plan_error_from(const json& body) {
  submission::PlanError error;
  error.code = field<std::string>(body, "code");
  error.file = field<std::string>(body, "file");
  error.line = static_cast<int>(field<std::int64_t>(body, "line"));
  error.column = static_cast<int>(field<std::int64_t>(body, "column"));
  error.what = field<std::string>(body, "what");
  error.next = field<std::string>(body, "next");
  return error;
}

json to_json(const ScreenResult& result) {
  json errors = json::array();
  for (const submission::PlanError& error : result.errors) {
    errors.push_back(to_json(error));
  }
  return {{"bytes", result.bytes},
          {"errors", std::move(errors)},
          {"launches", result.launches},
          {"scratch_bytes", result.scratch_bytes},
          {"kernels", result.kernels},
          {"seconds", result.seconds}};
}

ScreenResult screen_from(const json& body) {
  ScreenResult result;
  result.bytes = field<std::uint64_t>(body, "bytes");
  for (const json& error : body.at("errors")) {
    result.errors.push_back(plan_error_from(error));
  }
  result.launches = field<std::int64_t>(body, "launches");
  result.scratch_bytes = field<std::int64_t>(body, "scratch_bytes");
  result.kernels = field<std::vector<std::string>>(body, "kernels");
  result.seconds = field<double>(body, "seconds");
  return result;
}

json to_json(const CompileResult& result) {
  json kernels = json::array();
  for (const KernelFacts& kernel : result.kernels) {
    kernels.push_back({{"name", kernel.name},
                       {"registers", kernel.registers},
                       {"spill_bytes", kernel.spill_bytes},
                       {"shared_bytes", kernel.shared_bytes},
                       {"stack_bytes", kernel.stack_bytes}});
  }
  json body = {{"status", result.status},
               {"log", util::to_valid_utf8(result.log)},
               {"kernels", std::move(kernels)},
               {"compiler", util::to_valid_utf8(result.compiler)},
               {"cached", result.cached},
               {"seconds", result.seconds}};
  if (!result.code_sha256.empty()) {
    body["code_sha256"] = result.code_sha256;
  }
  return body;
}

CompileResult compile_from(const json& body) {
  CompileResult result;
  result.status = field<std::string>(body, "status");
  result.log = field<std::string>(body, "log");
  for (const json& item : body.at("kernels")) {
    const auto number = [&item](const char* key) {
      return static_cast<int>(field<std::int64_t>(item, key));
    };
    result.kernels.push_back({field<std::string>(item, "name"),
                              number("registers"),
                              number("spill_bytes"),
                              number("shared_bytes"),
                              number("stack_bytes")});
  }
  // Results of 0.1.0 before it was stored lack it.
  result.compiler = body.contains("compiler") ? field<std::string>(body, "compiler") : "";
  result.code_sha256 = body.contains("code_sha256") ? field<std::string>(body, "code_sha256") : "";
  result.cached = field<bool>(body, "cached");
  result.seconds = field<double>(body, "seconds");
  return result;
}

// Samples and hidden facts only in the archive.
json stages_to_json(const Evaluation& e, View view) {
  json body = json::object();
  if (e.screen) {
    body["screen"] = to_json(*e.screen);
  }
  if (e.compile) {
    body["compile"] = to_json(*e.compile);
  }
  if (e.check) {
    body["check"] = to_json(*e.check);
  }
  if (e.stress) {
    body["stress"] = to_json(*e.stress, view);
  }
  if (e.time) {
    body["time"] = to_json(*e.time);
  }
  if (e.heldout) {
    body["heldout"] = to_json(*e.heldout, view);
  }
  if (const auto& again = e.confirmation.for_archive(); again && view == View::archive) {
    body["confirmation"] = to_json(*again);
  }
  return body;
}

void stages_from(Evaluation& e, const json& body) {
  if (body.contains("screen")) {
    e.screen = screen_from(body.at("screen"));
  }
  if (body.contains("compile")) {
    e.compile = compile_from(body.at("compile"));
  }
  if (body.contains("check")) {
    e.check = check_from_json(body.at("check"));
  }
  if (body.contains("stress")) {
    e.stress = stress_from_json(body.at("stress"));
  }
  if (body.contains("time")) {
    e.time = time_from_json(body.at("time"));
  }
  if (body.contains("heldout")) {
    e.heldout = heldout_from_json(body.at("heldout"));
  }
  if (body.contains("confirmation")) {
    e.confirmation = Hidden(std::optional(time_from_json(body.at("confirmation"))));
  }
}

Evaluation read(const json& body) {
  Evaluation e;
  if (const auto verdict = parse_verdict(field<std::string>(body, "verdict"))) {
    e.verdict = *verdict;
  } else {
    throw util::UsageError({"evaluation", "unknown verdict", "was it written by another version?"},
                           "E_EVALUATION_SCHEMA");
  }
  e.flags = field<std::vector<std::string>>(body, "flags");
  e.problem = field<std::string>(body, "problem");
  e.title = field<std::string>(body, "title");
  e.file = field<std::string>(body, "file");
  // Results of 0.1.0 before --vs was recorded lack it.
  e.versus = body.contains("versus") ? field<std::string>(body, "versus") : "";
  e.source_sha256 = field<std::string>(body, "source_sha256");
  e.plan.sha256 = field<std::string>(body, "plan_sha256");
  // Results of 0.1.0 before plans were stored lack it.
  if (const auto plan = body.find("plan"); plan != body.end() && plan->is_object()) {
    e.plan.text = plan->dump();
  }
  e.seed = field<std::uint64_t>(body, "seed");
  const auto depth = field<std::string>(body, "depth");
  for (std::size_t i = 0; i < kDepths.size(); ++i) {
    e.depth = kDepths.at(i) == depth ? static_cast<Depth>(i) : e.depth;
  }
  stages_from(e, body.at("stages"));
  if (body.contains("weakened")) {
    e.weakened = field<std::vector<std::string>>(body, "weakened");
  }
  e.device = field<std::string>(body, "device");
  e.device_info = device::info_from_json(body.at("device_info"));
  e.protections = protections_from_json(body.at("protections"));
  e.version = field<std::string>(body, "version");
  e.rules = rules_from_json(body);
  e.infra = field<std::string>(body, "infra");
  e.headline = field<std::string>(body, "headline");
  if (const auto metrics = body.find("metrics"); metrics != body.end()) {
    e.metrics = metrics_from_json(*metrics);
  }
  if (const auto baselines = body.find("baselines"); baselines != body.end()) {
    e.baselines = shown_from_json(*baselines);
  }
  if (const auto isa = body.find("isa"); isa != body.end()) {
    e.isa = isa_from_json(*isa);
  }
  e.reproduce = field<std::string>(body, "reproduce");
  e.next = field<std::string>(body, "next");
  for (const json& item : body.at("stage_seconds")) {
    if (const auto stage = parse_stage(field<std::string>(item, "stage"))) {
      e.stages.push_back({*stage, field<double>(item, "seconds")});
    }
  }
  e.seconds = field<double>(body, "seconds");
  // Results before 0.2.0 lack it.
  if (body.contains("lock_wait_seconds")) {
    e.lock_wait_seconds = field<double>(body, "lock_wait_seconds");
  }
  return e;
}

}  // namespace

std::string_view name(Stage stage) {
  return kStages.at(static_cast<std::size_t>(stage));
}

std::optional<Stage> parse_stage(std::string_view text) {
  for (std::size_t i = 0; i < kStages.size(); ++i) {
    if (kStages.at(i) == text) {
      return static_cast<Stage>(i);
    }
  }
  return std::nullopt;
}

int rules_from_json(const json& body) {
  const auto found = body.find("rules");
  if (found == body.end()) {
    return kFirstRules;
  }
  const int rules = int_from(body, "rules");
  if (rules < kFirstRules || rules > kMostRules) {
    broken(fmt::format("\"rules\" is not from {} to {}", kFirstRules, kMostRules));
  }
  return rules;
}

json to_json(const Evaluation& e, View view) {
  // With held-out shapes it says something of them.
  const bool shown = view == View::archive || !e.heldout;
  const std::optional<bool> win = shown ? practical_win(e) : std::nullopt;
  json stages = json::array();
  for (const StageTime& item : e.stages) {
    stages.push_back({{"stage", name(item.stage)}, {"seconds", item.seconds}});
  }
  json body = {{"schema", 1},
               {"verdict", name(e.verdict)},
               {"outcome", name(e.outcome())},
               {"flags", e.flags},
               {"problem", e.problem},
               {"title", e.title},
               {"file", util::to_valid_utf8(e.file)},
               {"versus", util::to_valid_utf8(e.versus)},
               {"source_sha256", e.source_sha256},
               {"plan_sha256", e.plan.sha256},
               {"plan", e.plan.text.empty() ? json(nullptr) : json::parse(e.plan.text)},
               {"seed", e.seed},
               {"depth", kDepths.at(static_cast<std::size_t>(e.depth))},
               {"stages", stages_to_json(e, view)},
               {"weakened", e.weakened},
               {"device", e.device},
               {"device_info", device::to_json(e.device_info)},
               {"protections", to_json(e.protections)},
               {"version", e.version},
               {"rules", e.rules},
               {"infra", util::to_valid_utf8(e.infra)},
               {"headline", util::to_valid_utf8(e.headline)},
               {"metrics", to_json(e.metrics)},
               {"baselines", to_json(e.baselines)},
               {"practical_win", win ? json(*win) : json(nullptr)},
               {"practical_win_reason", shown ? practical_win_reason(e) : "of held-out shapes"},
               {"reproduce", util::to_valid_utf8(e.reproduce)},
               {"next", util::to_valid_utf8(e.next)},
               {"stage_seconds", std::move(stages)},
               {"seconds", e.seconds},
               {"lock_wait_seconds", e.lock_wait_seconds}};
  if (e.isa) {
    body["isa"] = to_json(*e.isa);
  }
  return body;
}

Evaluation evaluation_from_json(const json& body) {
  if (!body.is_object() || !body.contains("schema") || body.at("schema") != 1) {
    throw util::UsageError(
        {"evaluation", "is not of schema 1", "was it written by another version?"},
        "E_EVALUATION_SCHEMA");
  }
  try {
    return read(body);
  } catch (const wire::WireError& error) {
    throw util::UsageError(
        {"evaluation", error.message().what, "was it written by another version?"},
        "E_EVALUATION_SCHEMA");
  } catch (const json::exception& error) {
    throw util::UsageError({"evaluation", error.what(), "was it written by another version?"},
                           "E_EVALUATION_SCHEMA");
  }
}

}  // namespace sweep::evaluate
