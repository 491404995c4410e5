#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace sweep::util {

using Digest = std::array<std::uint8_t, 32>;

// SHA-256 (FIPS 180-4) of a stream of bytes.
class Sha256 {
 public:
  Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  Sha256& update(std::string_view bytes);
  Sha256& update(const void* data, std::size_t bytes);

  // Ends the stream; the object may only be destroyed or assigned after it.
  [[nodiscard]] Digest finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

[[nodiscard]] Digest sha256(std::string_view bytes);

// 64 lower-case hex digits.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

// Of a file's content, read in pieces. InfraError when it cannot be read.
[[nodiscard]] std::string sha256_file(const std::filesystem::path& path);

// HMAC-SHA256 (RFC 2104).
[[nodiscard]] Digest hmac_sha256(std::string_view key, std::string_view bytes);

[[nodiscard]] std::string to_hex(const Digest& digest);

// The first 8 bytes as a little-endian number: seeds derived from a digest.
[[nodiscard]] std::uint64_t leading_u64(const Digest& digest);

// Cryptographic random bytes (getrandom), e.g. for salts and tokens.
[[nodiscard]] std::string random_bytes(std::size_t bytes);

}  // namespace sweep::util
