#include "endpoint/client.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <vector>

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

// memmem, because std::string::find is slow where the first character is frequent.
void replace_all(std::string& text, const std::string& what) {
  std::size_t from = 0;
  while (const void* found =
             memmem(text.data() + from, text.size() - from, what.data(), what.size())) {
    const auto at = static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
    text.replace(at, what.size(), "[key]");
    from = at;
  }
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

std::string json_escaped(const std::string& text, std::string_view escaped) {
  std::string out;
  for (const char c : text) {
    if (escaped.find(c) != std::string_view::npos)
      out += '\\';
    out += c;
  }
  return out;
}

// Digits of `text` that stands `before` bytes into what is encoded: those that it alone decides, or
// all of them (`whole`). Without padding.
std::string base64(const std::string& text, std::size_t before, bool whole) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned buffer = 0;
  int bits = 0;
  for (const char c : std::string(before, '\0') + text) {
    buffer = (buffer << 8) | static_cast<unsigned char>(c);
    for (bits += 8; bits >= 6; bits -= 6)
      out += digits[(buffer >> (bits - 6)) & 63];
  }
  if (bits > 0 && whole)
    out += digits[(buffer << (6 - bits)) & 63];
  return out.substr((before * 8 + 5) / 6);
}

// Every form in which a text may give the key away, longer ones first.
std::vector<std::string> forms_of(const std::string& key) {
  std::vector<std::string> forms = {
      key, json_escaped(key, "\"\\/"), json_escaped(key, "\"\\"), url_encoded(key)};
  std::string small = forms.back();  // "%2f"
  for (std::size_t at = small.find('%'); at != std::string::npos; at = small.find('%', at + 1))
    for (const std::size_t digit : {at + 1, at + 2})
      small[digit] = static_cast<char>(std::tolower(static_cast<unsigned char>(small[digit])));
  forms.push_back(std::move(small));
  // Also inside something longer, as in "user:KEY"; each in both alphabets.
  for (const bool whole : {true, false})
    for (const std::size_t before : {0U, 1U, 2U}) {
      std::string digits = base64(key, before, whole);
      forms.push_back(digits);
      std::replace(digits.begin(), digits.end(), '+', '-');
      std::replace(digits.begin(), digits.end(), '/', '_');
      forms.push_back(std::move(digits));
    }
  std::sort(forms.begin(), forms.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  });
  forms.erase(std::unique(forms.begin(), forms.end()), forms.end());
  return forms;
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
  for (const std::string& form : forms_of(key))
    replace_all(text, form);
  return text;
}

}  // namespace sweep::endpoint
