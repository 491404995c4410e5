#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace sweep::evaluate {

// What a run says of the salt of its held-out draws before the salt is known: SHA-256, in hex, of
// "sweep salt commitment 1\n" and the salt. The salt has at least 32 random bytes, so the
// commitment tells nothing of it.
[[nodiscard]] std::string salt_commitment(std::string_view salt);

// The bytes of a salt file that was revealed. UsageError E_SALT for fewer than 32 bytes, and what
// util::read_file() throws.
[[nodiscard]] std::string read_revealed_salt(const std::filesystem::path& file);

}  // namespace sweep::evaluate
