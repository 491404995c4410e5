#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string_view>

namespace sweep::record {

// Parses valid JSON as nlohmann::json::parse() does, several times as fast. False, with `out` in
// any state, for everything else: no JSON, nested deeper than max_depth or (full containers) just
// as deep, a number that neither 64 bits nor a double hold.
[[nodiscard]] bool parse_fast(std::string_view text, int max_depth, nlohmann::json& out);

}  // namespace sweep::record
