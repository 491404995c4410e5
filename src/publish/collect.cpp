#include "publish/collect.h"

#include "record/artifacts.h"
#include "record/ledger.h"
#include "util/error.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <set>

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

namespace sweep::publish {

namespace fs = std::filesystem;

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::string text_of(const nlohmann::json& json, const char* key) {
  if (!json.is_object()) {
    return {};
  }
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string short_name(const std::string& host) {
  return host.substr(0, host.find('.'));
}

// Gathers names under rules and numbers their placeholders in order of appearance.
class Names {
 public:
  void add(const std::string& rule, const std::string& text) {
    if (text.empty() || !seen_.insert(rule + "\n" + text).second) {
      return;
    }
    const std::size_t number = ++numbers_[rule];
    secrets.push_back({rule, text, fmt::format("redacted-{}-{}", rule, number)});
  }

  void add_host(const std::string& host) {
    const std::string bare = host.substr(0, host.find(':'));
    const bool digits = bare.find_first_not_of("0123456789.") == std::string::npos;
    add("host", bare);
    if (!digits) {
      add("host", short_name(bare));
    }
  }

  void add_endpoint(const std::string& base_url,
                    const std::string& deployment,
                    const std::string& model) {
    if (!is_private_endpoint(base_url)) {
      return;
    }
    add("endpoint", base_url);
    const std::string authority = authority_of(base_url);
    add("endpoint", authority);
    const std::string host = authority.substr(0, authority.find(':'));
    if (host != "localhost" && host != "127") {
      add_host(host);
    }
    if (deployment != model) {
      add("deployment", deployment);
    }
  }

  std::vector<Secret> secrets;

 private:
  std::map<std::string, std::size_t> numbers_;
  std::set<std::string> seen_;
};

// Shapes below a `heldout`, as explicit dims: "rows=77,cols=5".
void add_held_out(const nlohmann::json& json, bool inside, Names& names) {
  if (!json.is_structured()) {
    return;
  }
  if (json.is_object() && inside) {
    const std::string shape = text_of(json, "shape");
    if (shape.find('=') != std::string::npos) {
      names.add("held-out", shape);
    }
  }
  for (const auto& [key, value] : json.items()) {
    add_held_out(value, inside || key == "heldout", names);
  }
}

void add_people(const std::string& text, Names& names) {
  for (const std::string& name : people_in(text)) {
    names.add("user", name);
  }
}

void add_trajectory(const std::string& text, const CollectOptions& options, Names& names) {
  add_people(text, names);
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) {
    return;
  }
  const auto found = json.find("provenance");
  if (found != json.end()) {
    names.add_host(text_of(*found, "host"));
    names.add_endpoint(text_of(*found, "base_url"),
                       text_of(*found, "deployment_name"),
                       text_of(json, "model_name"));
    names.add("gpu", text_of(*found, "gpu_uuid"));
  }
  if (!options.reveal_held_out) {
    add_held_out(json, false, names);
  }
}

// The configuration in an identity artifact.
void add_identity(const std::string& text, Names& names) {
  add_people(text, names);
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  const nlohmann::json::json_pointer where("/config/models");
  if (!json.is_object() || !json.contains(where) || !json.at(where).is_object()) {
    return;
  }
  for (const auto& [name, model] : json.at(where).items()) {
    names.add_endpoint(text_of(model, "base_url"), text_of(model, "deployment_name"), name);
    const std::string variable = text_of(model, "api_key_env");
    if (!variable.empty()) {
      names.add("key", environment(variable.c_str()));
    }
  }
}

void add_configuration(const record::RunDir& run, Names& names) {
  const record::Artifacts artifacts(run.artifacts_folder());
  for (const record::Row& row : record::verify_ledger(run.ledger_file()).read) {
    for (const char* key : {"identity_sha256", "toml_sha256"}) {
      const std::string hash = text_of(row.data, key);
      if (record::is_sha256(hash) && artifacts.has(hash)) {
        add_identity(artifacts.get(hash), names);
      }
    }
  }
}

// "process 12 on HOST".
void add_lock(const record::RunDir& run, Names& names) {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(run.lock_file(), error))) {
    return;
  }
  std::string text = record::read_whole(run.lock_file(), 4096);
  const std::size_t at = text.find(" on ");
  if (at != std::string::npos) {
    text = text.substr(at + 4);
    names.add_host(text.substr(0, text.find_first_of(" \n")));
  }
}

}  // namespace

Surroundings surroundings_of_process(const record::RunDir& run) {
  Surroundings out;
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) == 0) {
    out.hosts.emplace_back(name.data());
  }
  out.users = {environment("USER"), environment("LOGNAME")};
  if (const passwd* entry = ::getpwuid(::getuid()); entry != nullptr) {
    out.users.emplace_back(entry->pw_name);
    out.paths.emplace_back(entry->pw_dir);
  }
  std::error_code error;
  out.paths.push_back(environment("HOME"));
  out.paths.push_back(fs::current_path(error).string());
  out.paths.push_back(fs::weakly_canonical(run.folder(), error).string());
  return out;
}

std::string authority_of(const std::string& base_url) {
  const std::size_t scheme = base_url.find("://");
  if (scheme == std::string::npos) {
    return {};
  }
  const std::string rest = base_url.substr(scheme + 3);
  const std::string authority = rest.substr(0, rest.find_first_of("/?#"));
  return authority.substr(authority.rfind('@') == std::string::npos ? 0 : authority.rfind('@') + 1);
}

bool is_private_endpoint(const std::string& base_url) {
  constexpr std::array<std::string_view, 18> known = {"api.openai.com",
                                                      "api.anthropic.com",
                                                      "generativelanguage.googleapis.com",
                                                      "openrouter.ai",
                                                      "api.together.xyz",
                                                      "api.together.ai",
                                                      "api.fireworks.ai",
                                                      "api.deepseek.com",
                                                      "api.mistral.ai",
                                                      "api.groq.com",
                                                      "api.x.ai",
                                                      "integrate.api.nvidia.com",
                                                      "api.cohere.com",
                                                      "api.moonshot.ai",
                                                      "api.cerebras.ai",
                                                      "api.deepinfra.com",
                                                      "api.perplexity.ai",
                                                      "dashscope-intl.aliyuncs.com"};
  const std::string authority = authority_of(base_url);
  if (authority.empty()) {
    return false;  // built in, or none
  }
  // What is between the scheme and the host, or behind a question mark, may be a credential.
  const bool plain =
      base_url.find('@') == std::string::npos && base_url.find('?') == std::string::npos;
  return !plain || std::find(known.begin(), known.end(), authority) == known.end();
}

std::vector<Secret> secrets_of(const record::RunDir& run,
                               const Surroundings& surroundings,
                               const CollectOptions& options) {
  Names names;
  for (const std::string& text : options.given) {
    names.add("given", text);
  }
  add_configuration(run, names);
  for (const fs::path& file : run.trajectory_files()) {
    add_trajectory(record::read_whole(file), options, names);
  }
  add_lock(run, names);
  for (const std::string& host : surroundings.hosts) {
    names.add_host(host);
  }
  for (const std::string& user : surroundings.users) {
    names.add("user", user);
  }
  for (const std::string& path : surroundings.paths) {
    // A single folder, such as /root or /tmp, is the patterns' business.
    if (std::count(path.begin(), path.end(), '/') > 1) {
      names.add("path", path);
    }
  }
  return names.secrets;
}

}  // namespace sweep::publish
