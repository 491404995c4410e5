#include "endpoint/client.h"

#include <array>
#include <cctype>
#include <cstring>

namespace sweep::endpoint {
namespace {

constexpr std::size_t kShortestSecret = 8;

// Overwrites the characters, also those of a short string kept inside the object.
void wipe(std::string& text) {
  text.resize(text.capacity());
  if (!text.empty())
    explicit_bzero(text.data(), text.size());
  text.clear();
}

void replace_all(std::string& text, const std::string& what) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at))
    text.replace(at, what.size(), "[key]");
}

std::string url_encoded(const std::string& text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || std::strchr("-._~", c) != nullptr)
      out += c;
    else
      (out += '%') += {digits[byte >> 4], digits[byte & 15]};
  }
  return out;
}

std::string json_escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '/')
      out += '\\';
    out += c;
  }
  return out;
}

// Without padding, which only says where the text ended.
std::string base64(const std::string& text) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned buffer = 0;
  int bits = 0;
  for (const char c : text) {
    buffer = (buffer << 8) | static_cast<unsigned char>(c);
    for (bits += 8; bits >= 6; bits -= 6)
      out += digits[(buffer >> (bits - 6)) & 63];
  }
  if (bits > 0)
    out += digits[(buffer << (6 - bits)) & 63];
  return out;
}

}  // namespace

Secret::Secret(Secret&& other) noexcept : value_(std::move(other.value_)) {
  wipe(other.value_);
}

Secret& Secret::operator=(Secret&& other) noexcept {
  if (this != &other) {
    wipe(value_);
    value_ = std::move(other.value_);
    wipe(other.value_);
  }
  return *this;
}

Secret::~Secret() {
  wipe(value_);
}

std::string redact(std::string text, const Secret& secret) {
  const std::string& key = secret.reveal();
  if (key.size() < kShortestSecret)
    return text;
  for (const std::string& form : {key, json_escaped(key), url_encoded(key), base64(key)})
    replace_all(text, form);
  return text;
}

}  // namespace sweep::endpoint
