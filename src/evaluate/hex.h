#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Bytes in JSON: two lower-case hex digits each. Texts of submissions travel so too, as they need
// not be UTF-8.
namespace sweep::evaluate {

[[nodiscard]] std::string to_hex(std::span<const std::byte> bytes);
[[nodiscard]] std::string to_hex(std::string_view text);

// util::InfraError "E_JUDGE_PROTOCOL" for anything but pairs of hex digits.
[[nodiscard]] std::vector<std::byte> bytes_from_hex(std::string_view hex);
[[nodiscard]] std::string text_from_hex(std::string_view hex);

}  // namespace sweep::evaluate
