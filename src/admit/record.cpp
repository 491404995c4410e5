#include "admit/record.h"

#include "util/error.h"
#include "util/file.h"
#include "wire/channel.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace sweep::admit {
namespace {

using evaluate::admission::RuleResult;
using evaluate::admission::State;
using nlohmann::json;
using wire::field;

constexpr int kSchema = 1;
constexpr std::size_t kMostBytes = std::size_t{4} << 20U;

[[noreturn]] void unreadable(const std::filesystem::path& file, const std::string& what) {
  throw util::UsageError({file.string(), what, "run `sweep problems admit` again"},
                         "E_ADMISSION_FILE");
}

std::string device_text(const Admission& admission) {
  return admission.cuda ? admission.device : "cpu";
}

std::string refusal(const Admission& admission) {
  if (!admission.failure.empty()) {
    return admission.failure;
  }
  std::vector<std::string> failed;
  for (const RuleResult& rule : admission.rules) {
    if (rule.state == State::fails) {
      failed.emplace_back(evaluate::admission::info(rule.rule).name);
    }
  }
  return failed.empty() ? "not all rules were measured"
                        : fmt::format("fails {}", fmt::join(failed, ", "));
}

}  // namespace

bool Admission::admitted() const {
  return failure.empty() && rules.size() == evaluate::admission::rules().size() &&
         std::ranges::all_of(rules, [this](const RuleResult& rule) {
           using evaluate::admission::Rule;
           const bool spared = !cuda && (rule.rule == Rule::work || rule.rule == Rule::draws);
           return rule.state == State::holds || (spared && rule.state == State::not_measured);
         });
}

std::string_view name(Status status) {
  constexpr std::array kNames =
      std::to_array<std::string_view>({"-", "admitted", "not admitted", "stale", "unreadable"});
  return kNames.at(static_cast<std::size_t>(status));
}

json to_json(const Admission& admission) {
  json rules = json::array();
  for (const RuleResult& rule : admission.rules) {
    rules.push_back(evaluate::admission::to_json(rule));
  }
  return {{"problem", admission.problem},
          {"admitted", admission.admitted()},
          {"kind", admission.cuda ? "cuda" : "cpu"},
          {"device", admission.device},
          {"driver", admission.driver},
          {"version", admission.version},
          {"made", admission.made},
          {"problem_sha256", admission.hashes.problem},
          {"reference_sha256", admission.hashes.reference},
          {"seed_sha256", admission.hashes.seed},
          {"golden_sha256", admission.hashes.golden},
          {"failure", admission.failure},
          {"rules", std::move(rules)}};
}

Admission admission_from_json(const json& body) {
  Admission made;
  made.problem = field<std::string>(body, "problem");
  made.cuda = field<std::string>(body, "kind") == "cuda";
  made.device = field<std::string>(body, "device");
  made.driver = field<std::string>(body, "driver");
  made.version = field<std::string>(body, "version");
  made.made = field<std::string>(body, "made");
  made.hashes = {field<std::string>(body, "problem_sha256"),
                 field<std::string>(body, "reference_sha256"),
                 field<std::string>(body, "seed_sha256"),
                 field<std::string>(body, "golden_sha256")};
  made.failure = field<std::string>(body, "failure");
  for (const json& rule : body.at("rules")) {
    made.rules.push_back(evaluate::admission::rule_result_from_json(rule));
  }
  return made;
}

std::vector<Admission> read_record(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / kRecordFile;
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    return {};
  }
  try {
    const json body = wire::parse_object(util::read_file(file, kMostBytes), file.string());
    if (body.at("schema") != kSchema) {
      unreadable(file, "is of another version");
    }
    std::vector<Admission> made;
    for (const json& one : body.at("admissions")) {
      made.push_back(admission_from_json(one));
    }
    return made;
  } catch (const json::exception& error) {
    unreadable(file, error.what());
  } catch (const wire::WireError& error) {
    unreadable(file, error.message().what);
  }
}

void store(const std::filesystem::path& folder, const Admission& admission) {
  std::vector<Admission> all;
  try {
    all = read_record(folder);
  } catch (const util::UsageError&) {
    all.clear();
  }
  std::erase_if(all, [&](const Admission& other) { return other.cuda == admission.cuda; });
  all.push_back(admission);
  std::ranges::sort(all, {}, &Admission::cuda);
  json list = json::array();
  for (const Admission& one : all) {
    list.push_back(to_json(one));
  }
  const json body = {{"schema", kSchema}, {"admissions", std::move(list)}};
  util::write_file_atomic(folder / kRecordFile,
                          body.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
}

Standing standing(const std::filesystem::path& folder, const Hashes& now) {
  std::vector<Admission> all;
  try {
    all = read_record(folder);
  } catch (const util::Error& error) {
    return {Status::unreadable, error.what()};
  }
  if (all.empty()) {
    return {};
  }
  std::ranges::sort(all, std::greater<>{}, &Admission::cuda);
  const auto fresh =
      std::ranges::find_if(all, [&](const Admission& one) { return one.hashes == now; });
  if (fresh == all.end()) {
    return {Status::stale,
            fmt::format("stale: the problem, its seed or its golden vectors changed since {} ({})",
                        all.front().made,
                        device_text(all.front()))};
  }
  if (fresh->admitted()) {
    return {Status::admitted, "admitted on " + device_text(*fresh)};
  }
  return {Status::refused, "not admitted on " + device_text(*fresh) + ": " + refusal(*fresh)};
}

}  // namespace sweep::admit
