#include "endpoint/json.h"

#include "util/text.h"

#include <cmath>

namespace sweep::endpoint {
namespace {

// Byte B (0x80..0xFF) that is no UTF-8 travels as U+10FF00 + B: the last plane's end, private use.
constexpr std::string_view kCarrierHead = "\xF4\x8F\xBC";  // U+10FF00..U+10FF3F

// U+10FF80..BF is F4 8F BE xx, U+10FFC0..FF is F4 8F BF xx.

std::string carry(unsigned char byte) {
  const char third = byte < 0xC0 ? '\xBE' : '\xBF';
  return {kCarrierHead[0], kCarrierHead[1], third, static_cast<char>(0x80 | (byte & 0x3F))};
}

// Length of the well-formed character at the start of `text`, 0 when there is none.
std::size_t character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xC2 ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length == 0 || text.size() < length)
    return 0;
  return length == 1 || util::valid_utf8(text.substr(0, length)) ? length : 0;
}

std::string carry_invalid(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() + 16);
  while (!bytes.empty()) {
    if (const std::size_t length = character(bytes); length > 0) {
      out.append(bytes.substr(0, length));
      bytes.remove_prefix(length);
    } else {
      out += carry(static_cast<unsigned char>(bytes[0]));
      bytes.remove_prefix(1);
    }
  }
  return out;
}

int hex4(std::string_view text) {
  if (text.size() < 4)
    return -1;
  int value = 0;
  for (char c : text.substr(0, 4)) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0)
      return -1;
    value = value * 16 + digit;
  }
  return value;
}

// Surrogate escapes without their partner become \ufffd: the parser would refuse the whole text.
void mend_surrogates(std::string& text) {
  for (std::size_t i = 0; i + 5 < text.size(); ++i) {
    if (text[i] != '\\')
      continue;
    if (text[i + 1] != 'u') {
      ++i;
      continue;
    }
    const int unit = hex4(std::string_view(text).substr(i + 2));
    const bool high = unit >= 0xD800 && unit < 0xDC00;
    const bool low = unit >= 0xDC00 && unit < 0xE000;
    const std::string_view rest = std::string_view(text).substr(i + 6);
    const int next = rest.starts_with("\\u") ? hex4(rest.substr(2)) : -1;
    if (high && next >= 0xDC00 && next < 0xE000)
      i += 11;
    else if (high || low)
      text.replace(i + 2, 4, "fffd"), i += 5;
    else
      i += 5;
  }
}

bool too_deep(std::string_view text) {
  bool deep = false;
  walk_brackets(text, [&](std::int64_t depth, std::size_t) {
    deep = depth > kMaxJsonDepth;
    return deep;
  });
  return deep;
}

}  // namespace

std::optional<Json> parse_json(std::string_view bytes) {
  if (too_deep(bytes))
    return std::nullopt;
  std::string text = util::valid_utf8(bytes) ? std::string(bytes) : carry_invalid(bytes);
  if (text.find("\\u") != std::string::npos)
    mend_surrogates(text);
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded())
    return std::nullopt;
  return json;
}

std::string restore(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool carried = i + 3 < text.size() && text[i] == '\xF4' && text[i + 1] == '\x8F' &&
                         (text[i + 2] == '\xBE' || text[i + 2] == '\xBF');
    if (carried) {
      const int high = text[i + 2] == '\xBE' ? 0x80 : 0xC0;
      out += static_cast<char>(high | (static_cast<unsigned char>(text[i + 3]) & 0x3F));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return util::to_valid_utf8(out);
}

void restore(Json& json) {
  if (json.is_string()) {
    json = restore(json.get_ref<const std::string&>());
  } else if (json.is_array()) {
    for (Json& item : json)
      restore(item);
  } else if (json.is_object()) {
    Json out = Json::object();
    for (auto& [key, value] : json.items()) {
      restore(value);
      out[restore(key)] = std::move(value);
    }
    json = std::move(out);
  }
}

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const Json* member(const Json& object, std::string_view key) {
  if (!object.is_object())
    return nullptr;
  const auto found = object.find(std::string(key));
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::string text_at(const Json& object, std::string_view key) {
  const Json* value = member(object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

std::int64_t integer_at(const Json& object, std::string_view key, std::int64_t absent) {
  const Json* value = member(object, key);
  if (value == nullptr || !value->is_number())
    return absent;
  if (value->is_number_float()) {
    const double real = value->get<double>();
    return std::isfinite(real) && std::fabs(real) < 9e15 ? static_cast<std::int64_t>(real) : absent;
  }
  if (value->is_number_unsigned() && value->get<std::uint64_t>() > INT64_MAX)
    return absent;
  return value->get<std::int64_t>();
}

}  // namespace sweep::endpoint
