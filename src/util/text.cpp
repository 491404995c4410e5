#include "util/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

namespace sweep::util {

namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_continuation(unsigned char c) {
  return (c & 0xC0U) == 0x80U;
}

struct Lead {
  std::size_t length = 0;  // 0: not a lead byte
  unsigned char low = 0x80;
  unsigned char high = 0xBF;  // range of the second byte (Unicode table 3-7)
};

Lead lead_of(unsigned char c) {
  if (c < 0x80) {
    return {1};
  }
  if (c >= 0xC2 && c <= 0xDF) {
    return {2};
  }
  if (c >= 0xE0 && c <= 0xEF) {
    return {3,
            static_cast<unsigned char>(c == 0xE0 ? 0xA0 : 0x80),
            static_cast<unsigned char>(c == 0xED ? 0x9F : 0xBF)};
  }
  if (c >= 0xF0 && c <= 0xF4) {
    return {4,
            static_cast<unsigned char>(c == 0xF0 ? 0x90 : 0x80),
            static_cast<unsigned char>(c == 0xF4 ? 0x8F : 0xBF)};
  }
  return {};
}

struct Piece {
  std::size_t bytes;
  bool valid;
};

// The character, or the maximal ill-formed part, at `at`.
Piece next_piece(std::string_view text, std::size_t at) {
  const Lead lead = lead_of(static_cast<unsigned char>(text[at]));
  if (lead.length == 0) {
    return {1, false};
  }
  for (std::size_t i = 1; i < lead.length; ++i) {
    if (at + i >= text.size()) {
      return {i, false};
    }
    const auto c = static_cast<unsigned char>(text[at + i]);
    const bool fits = i == 1 ? c >= lead.low && c <= lead.high : is_continuation(c);
    if (!fits) {
      return {i, false};
    }
  }
  return {lead.length, true};
}

// Where the run of ASCII characters from `at` on ends, or before.
std::size_t ascii_end(std::string_view text, std::size_t at) {
  constexpr std::uint64_t high = 0x8080808080808080U;
  for (std::uint64_t eight = 0; text.size() - at >= sizeof eight; at += sizeof eight) {
    std::memcpy(&eight, text.data() + at, sizeof eight);
    if ((eight & high) != 0) {
      break;
    }
  }
  return at;
}

bool is_plain(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// Significant digits, trailing zeros kept, never an exponent: 0.0123, 1.23, 45.6, 789, 1234.
std::string significant(double value, int digits) {
  constexpr int kMostDecimals = 15;
  if (!std::isfinite(value) || value == 0) {
    return fmt::format("{:.{}f}", value, digits - 1);
  }
  // The exponent after rounding: 9.996 has the one of 10.0.
  const std::string rounded = fmt::format("{:.{}e}", value, digits - 1);
  const int exponent = std::stoi(rounded.substr(rounded.find('e') + 1));
  return fmt::format("{:.{}f}", value, std::clamp(digits - 1 - exponent, 0, kMostDecimals));
}

std::string three_digits(double value) {
  return significant(value, 3);
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    last[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
          lower(a[i - 2]) == lower(b[j - 1])) {
        now[j] = std::min(now[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

std::optional<std::string> closest(std::string_view name, std::span<const std::string> candidates) {
  constexpr std::size_t kLongest = 256;
  std::optional<std::string> best;
  std::size_t best_distance = 0;
  if (name.size() > kLongest) {
    return best;
  }
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongest) {
      continue;
    }
    const std::size_t allowed =
        std::max<std::size_t>(1, std::max(name.size(), candidate.size()) / 3);
    const std::size_t distance = edit_distance(name, candidate);
    if (distance <= allowed && (!best || distance < best_distance)) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

bool valid_utf8(std::string_view text) {
  for (std::size_t at = ascii_end(text, 0); at < text.size(); at = ascii_end(text, at)) {
    const Piece piece = next_piece(text, at);
    if (!piece.valid) {
      return false;
    }
    at += piece.bytes;
  }
  return true;
}

std::string to_valid_utf8(std::string_view text) {
  if (valid_utf8(text)) {
    return std::string(text);
  }
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Piece piece = next_piece(text, at);
    out += piece.valid ? text.substr(at, piece.bytes) : std::string_view("\xEF\xBF\xBD");
    at += piece.bytes;
  }
  return out;
}

std::string encode_path_part(std::string_view text) {
  if (text.empty()) {
    return "%";
  }
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_plain(text[i]) && !(i == 0 && text[i] == '.')) {
      out += text[i];
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(text[i]));
    }
  }
  return out;
}

std::optional<std::string> decode_path_part(std::string_view text) {
  if (text == "%") {
    return std::string();
  }
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size() || hex_value(text[i + 1]) < 0 || hex_value(text[i + 2]) < 0) {
      return std::nullopt;
    }
    out += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
    i += 2;
  }
  // Only texts that the encoder makes are accepted, so two parts never mean the same name.
  return encode_path_part(out) == text ? std::optional(out) : std::nullopt;
}

std::string head_and_tail(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) {
    return std::string(text);
  }
  std::size_t head = max_bytes - max_bytes / 3;
  std::size_t tail = text.size() - max_bytes / 3;
  // A character has at most 4 bytes; in ill-formed text the cut may fall anywhere.
  for (int i = 0; i < 3 && head > 0 && is_continuation(static_cast<unsigned char>(text[head]));
       ++i) {
    --head;
  }
  for (int i = 0;
       i < 3 && tail < text.size() && is_continuation(static_cast<unsigned char>(text[tail]));
       ++i) {
    ++tail;
  }
  return fmt::format(
      "{}\n... {} bytes left out ...\n{}", text.substr(0, head), tail - head, text.substr(tail));
}

std::string human_seconds(double seconds) {
  if (!std::isfinite(seconds)) {
    return std::isnan(seconds) ? "unknown" : seconds > 0 ? "for ever" : "-for ever";
  }
  if (seconds < 0) {
    return "-" + human_seconds(-seconds);
  }
  if (seconds == 0) {
    return "0 s";
  }
  if (seconds < 999.5e-9) {
    return fmt::format("{:.0f} ns", seconds * 1e9);
  }
  if (seconds < 999.5e-6) {
    return three_digits(seconds * 1e6) + " us";
  }
  if (seconds < 999.5e-3) {
    return three_digits(seconds * 1e3) + " ms";
  }
  if (seconds < 59.95) {
    return three_digits(seconds) + " s";
  }
  const double whole = std::min(std::round(seconds), 1e15);
  const auto total = static_cast<std::uint64_t>(whole);
  if (total < 3600) {
    return fmt::format("{} min {} s", total / 60, total % 60);
  }
  return fmt::format("{} h {} min", total / 3600, total % 3600 / 60);
}

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) {
    return fmt::format("{} B", bytes);
  }
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1023.5 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return three_digits(value) + " " + kUnits[unit];
}

std::string human_count(std::uint64_t count) {
  constexpr std::array<const char*, 6> kUnits = {"k", "M", "G", "T", "P", "E"};
  if (count < 1000) {
    return std::to_string(count);
  }
  double value = static_cast<double>(count) / 1000;
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return three_digits(value) + kUnits[unit];
}

std::string human_ratio(double ratio) {
  return three_digits(ratio) + "x";
}

std::pair<std::string, std::string> human_bounds(double low, double high) {
  constexpr int kMostDigits = 6;
  int digits = 3;
  while (digits < kMostDigits && significant(low, digits) == significant(high, digits)) {
    ++digits;
  }
  return {significant(low, digits), significant(high, digits)};
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(at + 1);
  }
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : to_valid_utf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace sweep::util
