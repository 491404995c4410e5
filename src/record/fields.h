#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

// Fields of rows and files that a hostile hand may have written: what is of another type counts as
// nothing.
namespace sweep::record {

[[nodiscard]] inline std::string text_in(const nlohmann::json& data, const char* key) {
  const auto found = data.find(key);
  return found != data.end() && found->is_string() ? found->get<std::string>() : std::string();
}

[[nodiscard]] inline std::int64_t number_in(const nlohmann::json& data, const char* key) {
  const auto found = data.find(key);
  return found != data.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

}  // namespace sweep::record
