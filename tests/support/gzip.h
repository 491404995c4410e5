#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace sweep::test {

// A gzip member of stored blocks: a valid encoding of any text under 64 KiB that needs no
// compressor.
inline std::string gzip_of(std::string_view text) {
  const auto little = [](std::uint32_t value, int bytes) {
    std::string out;
    for (int i = 0; i < bytes; ++i)
      out += static_cast<char>((value >> (8 * i)) & 255U);
    return out;
  };
  std::uint32_t crc = ~0U;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
  }
  const auto size = static_cast<std::uint32_t>(text.size());
  const std::string head("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);
  return head + "\x01" + little(size, 2) + little(~size, 2) + std::string(text) + little(~crc, 4) +
         little(size, 4);
}

}  // namespace sweep::test
