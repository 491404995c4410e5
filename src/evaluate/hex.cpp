#include "evaluate/hex.h"

#include "util/error.h"

namespace sweep::evaluate {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

unsigned digit(char c) {
  const std::size_t value = kDigits.find(c);
  if (value == std::string_view::npos) {
    throw util::InfraError({"message between roles", "a byte is not two hex digits", ""},
                           "E_JUDGE_PROTOCOL");
  }
  return static_cast<unsigned>(value);
}

}  // namespace

std::string to_hex(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4U];
    text += kDigits[std::to_integer<unsigned>(byte) & 15U];
  }
  return text;
}

std::string to_hex(std::string_view text) {
  return to_hex(std::as_bytes(std::span(text)));
}

std::vector<std::byte> bytes_from_hex(std::string_view hex) {
  std::vector<std::byte> bytes;
  bytes.reserve(hex.size() / 2);
  if (hex.size() % 2 != 0) {
    (void)digit('\0');
  }
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(digit(hex[i]) * 16 + digit(hex[i + 1])));
  }
  return bytes;
}

std::string text_from_hex(std::string_view hex) {
  const std::vector<std::byte> bytes = bytes_from_hex(hex);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace sweep::evaluate
