#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace sweep::record {

// Canonical JSON: UTF-8, keys sorted by bytes, no blanks, shortest round-trip numbers, invalid
// UTF-8 replaced by U+FFFD.
[[nodiscard]] std::string canonical(const nlohmann::json& json);

// Parses outside text: bounded size and depth, no trailing text; of equal keys the last counts.
// InfraError E_JSON naming `where` and the byte.
[[nodiscard]] nlohmann::json parse_bounded(std::string_view text,
                                           const std::string& where,
                                           std::size_t max_bytes = std::size_t{256} << 20,
                                           int max_depth = 100);

// UTC now as "2026-01-31T12:00:00.123Z".
[[nodiscard]] std::string utc_now();

}  // namespace sweep::record
