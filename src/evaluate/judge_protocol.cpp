#include "evaluate/judge_protocol.h"

#include "evaluate/hex.h"
#include "util/text.h"
#include "wire/channel.h"

#include <nlohmann/json.hpp>

namespace sweep::evaluate {
namespace {

using nlohmann::json;
using wire::field;

int small(const json& body, const char* key) {
  const auto value = field<std::int64_t>(body, key);
  if (value < 0 || value > 1000000) {
    throw util::InfraError({"judge", std::string("'") + key + "' is out of range", ""},
                           "E_JUDGE_PROTOCOL");
  }
  return static_cast<int>(value);
}

json floors_to_json(const std::optional<NoiseFloors>& floors) {
  if (!floors) {
    return nullptr;
  }
  return {{"id", floors->id}, {"age_seconds", floors->age_seconds}, {"bands", floors->bands}};
}

std::optional<NoiseFloors> floors_from_json(const json& body) {
  if (body.is_null()) {
    return std::nullopt;
  }
  return NoiseFloors{field<std::string>(body, "id"),
                     field<double>(body, "age_seconds"),
                     body.at("bands").get<std::vector<std::pair<double, double>>>()};
}

}  // namespace

json problem_to_json(const problem::Problem& problem) {
  json files = json::object();
  const auto add = [&files](const char* name, const std::optional<problem::Text>& text) {
    if (text) {
      files[name] = to_hex(text->text);
    }
  };
  add("reference.cu", problem.reference);
  add("inputs.cu", problem.inputs_cu);
  add("check.cu", problem.check_cu);
  add("source.cu", problem.source_cu);
  add("expert.cu", problem.expert_cu);
  return {{"id", problem.id}, {"toml", to_hex(problem.toml.text)}, {"files", std::move(files)}};
}

problem::Problem problem_from_json(const json& body) {
  std::map<std::string, std::string> files;
  for (const auto& [name, hex] : body.at("files").items()) {
    files[name] = text_from_hex(hex.get<std::string>());
  }
  problem::Loaded loaded = problem::parse(text_from_hex(field<std::string>(body, "toml")), files);
  if (!loaded.problem) {
    const std::string what =
        loaded.mistakes.empty() ? "cannot be read" : loaded.mistakes.front().text();
    throw util::UsageError({field<std::string>(body, "id"), what, "run `sweep problems check`"},
                           "E_PROBLEM");
  }
  return std::move(*loaded.problem);
}

json options_to_json(const StageOptions& options) {
  json places = json::array();
  for (const Place& place : options.places) {
    json dims = json::object();
    for (const auto& [name, value] : place.free) {
      dims[name] = value;
    }
    places.push_back({{"name", place.name}, {"free", std::move(dims)}});
  }
  return {{"seed", options.seed},
          {"places", std::move(places)},
          {"check_seeds", options.check_seeds},
          {"stress_draws", options.stress_draws},
          {"replicates", options.replicates},
          {"pilot", options.pilot},
          {"confirm", options.confirm},
          {"blocks", options.blocks},
          {"pairs_ahead", options.pairs_ahead},
          {"may_say_faster", options.may_say_faster},
          {"energy", options.energy},
          {"throughput", options.throughput},
          {"floors", floors_to_json(options.floors)},
          {"session", options.session},
          {"salt", to_hex(options.salt)},
          {"epoch", options.epoch},
          {"admit", options.admit ? admission::to_json(*options.admit) : json(nullptr)}};
}

StageOptions options_from_json(const json& body) {
  StageOptions options;
  options.seed = field<std::uint64_t>(body, "seed");
  for (const json& item : body.at("places")) {
    Place place;
    place.name = field<std::string>(item, "name");
    for (const auto& [name, value] : item.at("free").items()) {
      place.free[name] = value.get<std::int64_t>();
    }
    options.places.push_back(std::move(place));
  }
  options.check_seeds = small(body, "check_seeds");
  options.stress_draws = small(body, "stress_draws");
  options.replicates = small(body, "replicates");
  options.pilot = field<bool>(body, "pilot");
  options.confirm = field<bool>(body, "confirm");
  options.blocks = small(body, "blocks");
  options.pairs_ahead = small(body, "pairs_ahead");
  options.may_say_faster = field<bool>(body, "may_say_faster");
  options.energy = field<bool>(body, "energy");
  options.throughput = field<bool>(body, "throughput");
  options.floors = floors_from_json(body.at("floors"));
  options.session = field<std::string>(body, "session");
  options.salt = text_from_hex(field<std::string>(body, "salt"));
  options.epoch = field<std::int64_t>(body, "epoch");
  if (!body.at("admit").is_null()) {
    options.admit = admission::options_from_json(body.at("admit"));
  }
  return options;
}

json guards_to_json(const std::vector<util::Protection>& list) {
  json out = json::array();
  for (const util::Protection& item : list) {
    out.push_back({{"name", item.name},
                   {"mandatory", item.mandatory},
                   {"active", item.active},
                   {"detail", item.detail}});
  }
  return out;
}

std::vector<util::Protection> guards_from_json(const json& list) {
  std::vector<util::Protection> out;
  for (const json& item : list) {
    out.push_back({field<std::string>(item, "name"),
                   field<bool>(item, "mandatory"),
                   field<bool>(item, "active"),
                   field<std::string>(item, "detail")});
  }
  return out;
}

json error_to_json(const std::exception& error) {
  const auto* known = dynamic_cast<const util::Error*>(&error);
  if (known == nullptr) {
    return {{"kind", "infra"},
            {"where", "judge"},
            {"what", util::to_valid_utf8(error.what())},
            {"next", ""},
            {"code", "E_JUDGE"}};
  }
  return {{"kind", dynamic_cast<const util::UsageError*>(known) != nullptr ? "usage" : "infra"},
          {"where", util::to_valid_utf8(known->message().where)},
          {"what", util::to_valid_utf8(known->message().what)},
          {"next", util::to_valid_utf8(known->message().next)},
          {"code", known->code()}};
}

void throw_error(const json& body) {
  const util::Message message{field<std::string>(body, "where"),
                              field<std::string>(body, "what"),
                              field<std::string>(body, "next")};
  if (field<std::string>(body, "kind") == "usage") {
    throw util::UsageError(message, field<std::string>(body, "code"));
  }
  throw util::InfraError(message, field<std::string>(body, "code"));
}

}  // namespace sweep::evaluate
