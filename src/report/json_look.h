#pragma once

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace sweep::report {

// Reading of records that may hold anything: what is missing or has another type is absent, and
// nothing throws. A path of no keys is `in` itself.
using Keys = std::initializer_list<std::string_view>;

[[nodiscard]] const nlohmann::json* look(const nlohmann::json& in, Keys path);  // null: absent
[[nodiscard]] std::optional<double> look_number(const nlohmann::json& in, Keys path);
[[nodiscard]] std::string look_text(const nlohmann::json& in, Keys path);  // empty: absent
[[nodiscard]] bool look_true(const nlohmann::json& in, Keys path);
// The elements of a list; none where there is no list. They live as long as `in`.
[[nodiscard]] const nlohmann::json::array_t& look_list(const nlohmann::json& in, Keys path);

// "k=64,rows=4096" of an object of whole numbers, in the order of its keys; empty: none.
[[nodiscard]] std::string sizes_text(const nlohmann::json& dims);

}  // namespace sweep::report
