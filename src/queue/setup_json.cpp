#include "device/info_json.h"
#include "queue/worker.h"

namespace sweep::queue {

namespace {

nlohmann::json services_json(const evaluate::Services& s) {
  std::vector<std::string> more;
  for (const auto& folder : s.more_problems) {
    more.push_back(folder.string());
  }
  return {{"problems", s.problems.string()},
          {"more_problems", more},
          {"seeds", s.seeds.string()},
          {"golden", s.golden.string()},
          {"cache", s.cache.string()},
          {"locks", s.locks.string()},
          {"salt", s.salt.string()},
          {"program", s.program.string()},
          {"compilers", s.compilers}};
}

evaluate::Services services_from(const nlohmann::json& j) {
  evaluate::Services s;
  s.problems = wire::field<std::string>(j, "problems");
  for (const std::string& folder : wire::field<std::vector<std::string>>(j, "more_problems")) {
    s.more_problems.emplace_back(folder);
  }
  s.seeds = wire::field<std::string>(j, "seeds");
  s.golden = wire::field<std::string>(j, "golden");
  s.cache = wire::field<std::string>(j, "cache");
  s.locks = wire::field<std::string>(j, "locks");
  s.salt = wire::field<std::string>(j, "salt");
  s.program = wire::field<std::string>(j, "program");
  s.compilers = wire::field<std::int64_t>(j, "compilers");
  return s;
}

}  // namespace

nlohmann::json to_json(const WorkerSetup& s) {
  std::vector<std::string> dotenv;
  for (const auto& file : s.surroundings.dotenv) {
    dotenv.push_back(file.string());
  }
  const record::Provenance& p = s.surroundings.provenance;
  return {{"toml", s.toml},
          {"file", s.file},
          {"root", s.root},
          {"run_name", s.run_name},
          {"run_folder", s.run_folder},
          {"items_folder", s.items_folder},
          {"task", s.task},
          {"tasks", s.tasks},
          {"device", device::text(s.surroundings.device)},
          {"device_info", device::to_json(s.surroundings.device_info)},
          {"evaluation", services_json(s.surroundings.evaluation)},
          {"dotenv", dotenv},
          {"allow_unsandboxed", s.surroundings.allow_unsandboxed},
          {"builtin_urls", s.builtin_urls},
          {"version", p.sweep_version},
          {"commit", p.git_commit},
          {"config_sha256", p.config_sha256},
          {"host", p.host}};
}

WorkerSetup setup_from_json(const nlohmann::json& json) {
  WorkerSetup s;
  s.toml = wire::field<std::string>(json, "toml");
  s.file = wire::field<std::string>(json, "file");
  s.root = wire::field<std::string>(json, "root");
  s.run_name = wire::field<std::string>(json, "run_name");
  s.run_folder = wire::field<std::string>(json, "run_folder");
  s.items_folder = wire::field<std::string>(json, "items_folder");
  s.task = wire::field<std::string>(json, "task");
  s.tasks = wire::field<std::int64_t>(json, "tasks");
  s.surroundings.device = device::parse_id(wire::field<std::string>(json, "device"));
  s.surroundings.device_info = device::info_from_json(json.at("device_info"));
  s.surroundings.evaluation = services_from(json.at("evaluation"));
  for (const std::string& file : wire::field<std::vector<std::string>>(json, "dotenv")) {
    s.surroundings.dotenv.emplace_back(file);
  }
  s.surroundings.allow_unsandboxed = wire::field<bool>(json, "allow_unsandboxed");
  s.surroundings.provenance.sweep_version = wire::field<std::string>(json, "version");
  s.surroundings.provenance.git_commit = wire::field<std::string>(json, "commit");
  s.surroundings.provenance.config_sha256 = wire::field<std::string>(json, "config_sha256");
  s.surroundings.provenance.host = wire::field<std::string>(json, "host");
  for (const auto& [name, url] : json.at("builtin_urls").items()) {
    s.builtin_urls[name] = url.get<std::string>();
  }
  return s;
}

}  // namespace sweep::queue
