#include "report/json_look.h"

#include <fmt/format.h>

namespace sweep::report {

const nlohmann::json* look(const nlohmann::json& in, Keys path) {
  const nlohmann::json* at = &in;
  for (const std::string_view key : path) {
    if (!at->is_object()) {
      return nullptr;
    }
    const auto found = at->find(key);
    if (found == at->end()) {
      return nullptr;
    }
    at = &*found;
  }
  return at;
}

std::optional<double> look_number(const nlohmann::json& in, Keys path) {
  const nlohmann::json* found = look(in, path);
  return found != nullptr && found->is_number() ? std::optional(found->get<double>())
                                                : std::nullopt;
}

std::string look_text(const nlohmann::json& in, Keys path) {
  const nlohmann::json* found = look(in, path);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

bool look_true(const nlohmann::json& in, Keys path) {
  const nlohmann::json* found = look(in, path);
  return found != nullptr && *found == true;
}

const nlohmann::json::array_t& look_list(const nlohmann::json& in, Keys path) {
  static const nlohmann::json::array_t none;
  const nlohmann::json* found = look(in, path);
  return found != nullptr && found->is_array() ? found->get_ref<const nlohmann::json::array_t&>()
                                               : none;
}

std::string sizes_text(const nlohmann::json& dims) {
  std::string out;
  if (dims.is_object()) {
    for (const auto& [name, value] : dims.items()) {
      if (value.is_number_integer()) {
        out += fmt::format("{}{}={}", out.empty() ? "" : ", ", name, value.get<std::int64_t>());
      }
    }
  }
  return out;
}

}  // namespace sweep::report
