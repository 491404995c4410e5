#include "config/price_table.h"
#include "config/schema.h"
#include "config/toml_reader.h"
#include "util/text.h"

#include <algorithm>
#include <array>

namespace sweep::config {

namespace {

bool is_variable_name(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && name.size() <= 128 && letter(name[0]) &&
         std::all_of(
             name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

bool has(std::string_view text, char low, char high) {
  return std::any_of(text.begin(), text.end(), [&](char c) { return c >= low && c <= high; });
}

// Keys of some providers could be names of variables.
bool looks_like_a_key(std::string_view name) {
  constexpr std::size_t kLong = 20;     // longer names of variables are of one case
  constexpr std::size_t kOneWord = 32;  // hexadecimal keys
  constexpr std::size_t kShortest = 6;  // behind a provider's prefix
  const bool digit = has(name, '0', '9');
  const bool upper = has(name, 'A', 'Z');
  const bool lower = has(name, 'a', 'z');
  if ((name.size() >= kLong && digit && upper && lower) ||
      (name.size() >= kOneWord && digit && name.find('_') == std::string_view::npos)) {
    return true;
  }
  constexpr std::array<std::string_view, 14> prefixes = {"hf_",
                                                         "gsk_",
                                                         "glpat_",
                                                         "ghp_",
                                                         "github_pat_",
                                                         "sk_",
                                                         "pk_",
                                                         "r8_",
                                                         "fw_",
                                                         "pplx_",
                                                         "nvapi_",
                                                         "xai_",
                                                         "tgp_v1_",
                                                         "AIza"};
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view prefix) {
    const std::string_view rest = name.substr(std::min(prefix.size(), name.size()));
    return name.starts_with(prefix) && rest.size() >= kShortest &&
           (has(rest, '0', '9') || has(rest, 'A', 'Z')) &&
           (rest.find('_') == std::string_view::npos || rest.size() >= kLong);
  });
}

// The name of the key's variable; empty when it is none. What may be a key is not repeated.
bool read_key_name(TomlReader& reader, const toml::table& table, std::string& into) {
  if (!reader.text(table, "api_key_env", into)) {
    return false;
  }
  if (!is_variable_name(into)) {
    reader.error(place_of(table, "api_key_env"),
                 "api_key_env is no variable name",
                 "it must name an environment variable; the key itself never stands in a file");
    into.clear();
  } else if (looks_like_a_key(into)) {
    reader.error(
        place_of(table, "api_key_env"),
        "api_key_env looks like a key itself (not shown)",
        "put the key into a variable or .env, and name that variable here; a key that stood "
        "in a file should be replaced");
    into.clear();
  }
  return true;
}

// Host of an http(s) URL without port; empty when it is none.
std::string host_of(std::string_view url) {
  const std::size_t scheme = url.starts_with("http://")           ? 7
                             : url.starts_with("https://")        ? 8
                             : url.starts_with("http+unix://%2F") ? 12
                                                                  : 0;
  if (scheme == 0) {
    return {};
  }
  std::string_view host = url.substr(scheme, url.find_first_of("/?#", scheme) - scheme);
  if (host.starts_with('[')) {
    return std::string(host.substr(0, host.find(']') + 1));
  }
  return std::string(host.substr(0, host.find(':')));
}

bool is_loopback(std::string_view host) {
  return host.starts_with("%2F") ||  // a Unix socket
         host == "localhost" || host == "[::1]" || host.starts_with("127.");
}

}  // namespace

bool on_this_machine(std::string_view base_url) {
  return is_loopback(host_of(base_url));
}

namespace {

void check_url(TomlReader& reader, const toml::table& table, Model& model, bool has_key) {
  const auto place = place_of(table, "base_url");
  if (scripted(model)) {
    if (model.base_url.size() == 8) {
      reader.error(place, "builtin: names no scripts", "write  base_url = \"builtin:demo\"");
    }
    if (!model.price) {
      model.price = Price{};
      model.price->free = true;
    }
    return;
  }
  const std::string host = host_of(model.base_url);
  const bool odd = std::any_of(model.base_url.begin(), model.base_url.end(), [](char c) {
    return static_cast<unsigned char>(c) <= ' ';
  });
  if (host.empty() || odd) {
    reader.error(place,
                 "base_url is no http(s) address",
                 "write it as \"https://host/v1\", or \"builtin:demo\"");
    return;
  }
  const std::size_t path = model.base_url.find('/', 8);
  if (model.base_url.substr(0, path).find('@') != std::string::npos) {
    // The text is not repeated: it may hold a secret.
    reader.error(place,
                 "base_url holds a user name or key",
                 "put the key into a variable and name it with api_key_env");
    return;
  }
  if (!has_key && !is_loopback(host)) {
    reader.error(table.source(),
                 "model '" + util::printable(model.name) + "' has no api_key_env",
                 "add  api_key_env = \"NAME_OF_VARIABLE\"");
  }
  if (has_key && model.base_url.starts_with("http://") && !is_loopback(host)) {
    reader.warn_once("http " + model.name,
                     place,
                     "the key of '" + util::printable(model.name) + "' would travel unencrypted",
                     "use https://");
  }
}

void read_reserve(TomlReader& reader, const toml::table& table, Model& model) {
  std::string reserve = "p90";
  if (reader.text(table, "reserve", reserve) && reserve != "p90" && reserve != "full") {
    reader.error(place_of(table, "reserve"),
                 "reserve '" + util::printable(reserve.substr(0, 80)) + "' is unknown",
                 "\"p90\" or \"full\" is expected");
  }
  model.reserve_full = reserve == "full";
  reader.number(table, "burst_s", model.burst_s, 0.1, 60);
  reader.text(table, "limits_group", model.limits_group);
}

void read_kind(TomlReader& reader, const toml::table& table, Model& model) {
  std::string kind = "openai";
  reader.text(table, "api_kind", kind);
  if (kind == "openai_chat") {
    model.api_kind = ApiKind::chat;
  } else if (kind != "openai") {
    reader.error(place_of(table, "api_kind"),
                 "api_kind '" + util::printable(kind.substr(0, 80)) + "' is unknown",
                 "\"openai\" (Responses) or \"openai_chat\" (Chat Completions) is expected");
  }
}

Model read_model(TomlReader& reader,
                 const toml::table& table,
                 const Agent& agent,
                 const PriceTable& prices) {
  reader.check_keys(table, "models");
  Model model;
  if (!reader.text(table, "name", model.name) || model.name.empty()) {
    reader.error(table.source(), "a model without a name", "add  name = \"...\"");
  }
  if (!reader.text(table, "base_url", model.base_url) && table.get("base_url") == nullptr) {
    reader.error(table.source(),
                 "model '" + util::printable(model.name) + "' has no base_url",
                 "add  base_url = \"https://host/v1\"");
  }
  model.deployment_name = model.name;
  reader.text(table, "deployment_name", model.deployment_name);
  read_kind(reader, table, model);
  const bool has_key = read_key_name(reader, table, model.api_key_env);
  model.reasoning_effort = agent.reasoning_effort;
  reader.optional(table, "reasoning_effort", model.reasoning_effort);
  reader.boolean(table, "omit_responses_reasoning", model.omit_responses_reasoning);
  reader.boolean(table, "omit_chat_run_meta", model.omit_chat_run_meta);
  reader.boolean(table, "stream", model.stream);
  reader.number(table, "request_timeout_s", model.request_timeout_s, 1, 86400);
  reader.optional(table, "rpm", model.rpm, std::int64_t{1});
  reader.optional(table, "tpm", model.tpm, std::int64_t{1}, std::int64_t{1} << 40);
  model.max_concurrency = std::clamp<std::int64_t>(model.tpm.value_or(250000) / 25000, 2, 10);
  reader.integer(table, "max_concurrency", model.max_concurrency, 1, 1024);
  reader.integer(table, "priority", model.priority, -1000, 1000);
  read_reserve(reader, table, model);
  if (const toml::table* sampling = reader.table(table, "sampling")) {
    reader.check_keys(*sampling, "models.sampling");
    reader.optional(*sampling, "temperature", model.sampling.temperature, 0.0, 2.0);
    reader.optional(*sampling, "top_p", model.sampling.top_p, 0.0, 1.0);
    reader.optional(
        *sampling, "max_tokens", model.sampling.max_tokens, std::int64_t{1}, std::int64_t{1} << 30);
    reader.optional(*sampling, "seed", model.sampling.seed, std::int64_t{0}, std::int64_t{1} << 53);
  }
  if (const toml::table* price = reader.table(table, "price")) {
    model.price = read_price(reader, *price, "models.price");
  } else {
    model.price = prices.find(model.deployment_name, host_of(model.base_url));
  }
  read_endpoint(reader, table, model.endpoint);
  if (!model.base_url.empty()) {
    check_url(reader, table, model, has_key);
  }
  return model;
}

}  // namespace

void read_models(TomlReader& reader,
                 const toml::table& root,
                 const Agent& agent,
                 const PriceTable& prices,
                 std::vector<Model>& models) {
  const toml::node* node = root.get("models");
  if (node == nullptr) {
    reader.error_in_file("no [[models]]", "add at least one with name and base_url");
    return;
  }
  const toml::array* list = node->as_array();
  if (list == nullptr) {
    reader.error(
        node->source(), "models is not a list of tables", "write [[models]] with two brackets");
    return;
  }
  if (list->empty() || list->size() > 1000) {
    reader.error(node->source(), "models is empty or longer than 1000", "add [[models]] tables");
    return;
  }
  for (const toml::node& element : *list) {
    const toml::table* table = element.as_table();
    if (table == nullptr) {
      reader.error(element.source(),
                   "models holds something that is no table",
                   "write [[models]] with two brackets");
      continue;
    }
    Model model = read_model(reader, *table, agent, prices);
    const bool twice = std::any_of(models.begin(), models.end(), [&](const Model& other) {
      return !model.name.empty() && other.name == model.name;
    });
    if (twice) {
      reader.error(place_of(*table, "name"),
                   "model '" + util::printable(model.name) + "' is there twice",
                   "give one of them another name; deployment_name may be equal");
    }
    models.push_back(std::move(model));
  }
}

bool scripted(const Model& model) {
  return model.base_url.starts_with("builtin:");
}

}  // namespace sweep::config
