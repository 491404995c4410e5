#include "evaluate/isa.h"

#include "wire/channel.h"

#include <nlohmann/json.hpp>

#include <array>

#include <fmt/format.h>

namespace sweep::evaluate {
namespace {

using nlohmann::json;
using wire::field;

constexpr std::array<std::string_view, 4> kLevels = {"none", "text", "compiled", "executed"};

std::string evidence_text(const IsaResult& result, const IsaEvidence& one) {
  std::string text = fmt::format("  {}: ", one.family);
  if (one.compiled) {
    text +=
        fmt::format("{} in the compiled code of {}",
                    *one.compiled == 0 ? "none" : std::to_string(*one.compiled),
                    result.kernels.empty() ? "the plan's kernels"
                                           : fmt::format("{}", fmt::join(result.kernels, ", ")));
  } else {
    text += fmt::format("{} the PTX; compiled code not looked at ({})",
                        one.in_text ? "in" : "not in",
                        result.not_compiled);
  }
  text += one.executed ? fmt::format("; executed by {:.0f} threads", *one.executed)
                       : "; whether executed was not measured";
  return text + fmt::format(" [level: {}]\n", name(one.level()));
}

}  // namespace

std::string_view name(IsaLevel level) {
  return kLevels.at(static_cast<std::size_t>(level));
}

IsaLevel IsaEvidence::level() const {
  if (executed && *executed > 0) {
    return IsaLevel::executed;
  }
  if (compiled && *compiled > 0) {
    return IsaLevel::compiled;
  }
  return in_text ? IsaLevel::text : IsaLevel::none;
}

std::vector<std::string> IsaResult::missing() const {
  std::vector<std::string> out;
  for (const IsaEvidence& one : families) {
    if (one.compiled && *one.compiled == 0) {
      out.push_back(one.family);
    }
  }
  return out;
}

std::string isa_text(const IsaResult& result) {
  std::string text =
      fmt::format("instructions that the problem {} (policy {}):\n",
                  result.policy == problem::IsaPolicy::gate ? "requires" : "asks for",
                  problem::name(result.policy));
  for (const IsaEvidence& one : result.families) {
    text += evidence_text(result, one);
  }
  return text;
}

json to_json(const IsaResult& result) {
  json families = json::array();
  for (const IsaEvidence& one : result.families) {
    families.push_back({{"family", one.family},
                        {"level", name(one.level())},
                        {"in_text", one.in_text},
                        {"compiled", one.compiled ? json(*one.compiled) : json(nullptr)},
                        {"executed", one.executed ? json(*one.executed) : json(nullptr)}});
  }
  return {{"policy", problem::name(result.policy)},
          {"families", std::move(families)},
          {"kernels", result.kernels},
          {"not_compiled", result.not_compiled},
          {"not_executed", result.not_executed}};
}

IsaResult isa_from_json(const json& body) {
  IsaResult out;
  out.policy = problem::parse_isa_policy(field<std::string>(body, "policy"))
                   .value_or(problem::IsaPolicy::off);
  for (const json& item : body.at("families")) {
    IsaEvidence one;
    one.family = field<std::string>(item, "family");
    one.in_text = field<bool>(item, "in_text");
    if (item.at("compiled").is_number_integer()) {
      one.compiled = item.at("compiled").get<std::int64_t>();
    }
    if (item.at("executed").is_number()) {
      one.executed = item.at("executed").get<double>();
    }
    out.families.push_back(std::move(one));
  }
  out.kernels = field<std::vector<std::string>>(body, "kernels");
  out.not_compiled = field<std::string>(body, "not_compiled");
  out.not_executed = field<std::string>(body, "not_executed");
  return out;
}

}  // namespace sweep::evaluate
