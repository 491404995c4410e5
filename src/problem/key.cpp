#include "problem/draw.h"
#include "util/sha256.h"

namespace sweep::problem {

Key Key::from_seed(std::uint64_t seed) {
  return {util::sha256("sweep seed\n" + std::to_string(seed))};
}

Key Key::from_secret(std::string_view secret, std::string_view label) {
  return {util::hmac_sha256(secret, label)};
}

Key Key::derive(std::string_view label) const {
  std::string secret;
  for (const std::uint8_t byte : bytes) {
    secret.push_back(static_cast<char>(byte));
  }
  return from_secret(secret, label);
}

std::uint64_t Key::word(int i) const {
  std::uint64_t out = 0;
  for (int k = 7; k >= 0; --k) {
    out = out << 8 |
          bytes[std::size_t{8} * static_cast<std::size_t>(i) + static_cast<std::size_t>(k)];
  }
  return out;
}

std::string Key::hex() const {
  return util::to_hex(bytes);
}

}  // namespace sweep::problem
