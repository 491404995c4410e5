#include "record/json_parser.h"

#include "util/text.h"

#include <nlohmann/json.hpp>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace sweep::record {

namespace {

using Json = nlohmann::json;

// True when one of 8 bytes ends a plain run of a string: a quote, a backslash, a control character,
// or one outside ASCII.
bool has_special(std::uint64_t word) {
  constexpr std::uint64_t ones = 0x0101010101010101U, high = 0x8080808080808080U;
  const auto zero_byte = [](std::uint64_t x) { return (x - ones) & ~x & high; };
  return ((word & high) | zero_byte(word ^ (ones * '"')) | zero_byte(word ^ (ones * '\\')) |
          ((word - ones * 0x20U) & ~word & high)) != 0;
}

class FastParser {
 public:
  FastParser(std::string_view text, int max_depth)
      : at_(text.data()), end_(text.data() + text.size()), max_depth_(max_depth) {}

  bool document(Json& out) {
    if (!value(out, 0)) {
      return false;
    }
    skip_blanks();
    return at_ == end_;
  }

 private:
  void skip_blanks() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) {
      ++at_;
    }
  }

  bool take(char c) {
    skip_blanks();
    if (at_ == end_ || *at_ != c) {
      return false;
    }
    ++at_;
    return true;
  }

  bool word(std::string_view text) {
    if (!std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with(text)) {
      return false;
    }
    at_ += text.size();
    return true;
  }

  bool value(Json& out, int depth) {
    skip_blanks();
    if (at_ == end_) {
      return false;
    }
    switch (*at_) {
      case '{':
        return depth < max_depth_ && object(out, depth + 1);
      case '[':
        return depth < max_depth_ && array(out, depth + 1);
      case '"':
        out = std::string();
        return string(out.get_ref<std::string&>());
      case 't':
        out = true;
        return word("true");
      case 'f':
        out = false;
        return word("false");
      case 'n':
        out = nullptr;
        return word("null");
      default:
        return number(out);
    }
  }

  bool object(Json& out, int depth) {
    ++at_;
    out = Json::object();
    auto& members = out.get_ref<Json::object_t&>();
    if (take('}')) {
      return true;
    }
    do {
      skip_blanks();
      std::string key;
      if (at_ == end_ || *at_ != '"' || !string(key) || !take(':')) {
        return false;
      }
      // Keys are mostly sorted. Of equal keys the last counts.
      const auto member = members.emplace_hint(members.end(), std::move(key), nullptr);
      if (!value(member->second, depth)) {
        return false;
      }
    } while (take(','));
    return take('}');
  }

  bool array(Json& out, int depth) {
    ++at_;
    out = Json::array();
    auto& elements = out.get_ref<Json::array_t&>();
    if (take(']')) {
      return true;
    }
    do {
      if (!value(elements.emplace_back(nullptr), depth)) {
        return false;
      }
    } while (take(','));
    return take(']');
  }

  // The run of plain characters from here on; `ascii` is cleared at others.
  const char* plain_end(bool& ascii) const {
    const char* p = at_;
    for (;;) {
      std::uint64_t eight = 0;
      while (end_ - p >= 8) {
        std::memcpy(&eight, p, 8);
        if (has_special(eight)) {
          break;
        }
        p += 8;
      }
      while (p != end_ && *p != '"' && *p != '\\' && static_cast<unsigned char>(*p) >= 0x20) {
        const bool high = static_cast<unsigned char>(*p) >= 0x80;
        ascii = ascii && !high;
        ++p;
        if (!high && end_ - p >= 8) {
          std::memcpy(&eight, p, 8);
          if (!has_special(eight)) {
            break;
          }
        }
      }
      if (p == end_ || *p == '"' || *p == '\\' || static_cast<unsigned char>(*p) < 0x20) {
        return p;
      }
    }
  }

  bool string(std::string& out) {
    ++at_;
    bool ascii = true;
    for (;;) {
      const char* run = plain_end(ascii);
      out.append(at_, run);
      at_ = run;
      if (at_ == end_ || static_cast<unsigned char>(*at_) < 0x20) {
        return false;
      }
      if (*at_++ == '"') {
        return ascii || util::valid_utf8(out);
      }
      if (!escape(out)) {
        return false;
      }
    }
  }

  bool escape(std::string& out) {
    if (at_ == end_) {
      return false;
    }
    constexpr std::string_view names = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    const char c = *at_++;
    if (const std::size_t which = names.find(c); which != std::string_view::npos) {
      out.push_back(meanings[which]);
      return true;
    }
    unsigned code = 0;
    if (c != 'u' || !hex(code)) {
      return false;
    }
    if (code >= 0xD800 && code < 0xDC00) {
      unsigned low = 0;
      if (!word("\\u") || !hex(low) || low < 0xDC00 || low > 0xDFFF) {
        return false;
      }
      code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
    } else if (code >= 0xDC00 && code <= 0xDFFF) {
      return false;
    }
    append_utf8(code, out);
    return true;
  }

  bool hex(unsigned& code) {
    if (end_ - at_ < 4) {
      return false;
    }
    const auto [end, error] = std::from_chars(at_, at_ + 4, code, 16);
    const bool whole = error == std::errc() && end == at_ + 4;
    at_ += 4;
    return whole;
  }

  static void append_utf8(unsigned code, std::string& out) {
    const auto put = [&](unsigned byte) { out.push_back(static_cast<char>(byte)); };
    if (code < 0x80) {
      put(code);
    } else if (code < 0x800) {
      put(0xC0U | code >> 6U);
      put(0x80U | (code & 0x3FU));
    } else if (code < 0x10000) {
      put(0xE0U | code >> 12U);
      put(0x80U | (code >> 6U & 0x3FU));
      put(0x80U | (code & 0x3FU));
    } else {
      put(0xF0U | code >> 18U);
      put(0x80U | (code >> 12U & 0x3FU));
      put(0x80U | (code >> 6U & 0x3FU));
      put(0x80U | (code & 0x3FU));
    }
  }

  bool digits() {
    const char* begin = at_;
    while (at_ != end_ && *at_ >= '0' && *at_ <= '9') {
      ++at_;
    }
    return at_ != begin;
  }

  bool number(Json& out) {
    const char* begin = at_;
    const bool negative = *at_ == '-';
    at_ += negative ? 1 : 0;
    const bool zero = at_ != end_ && *at_ == '0';
    if (!digits() || (zero && at_ - begin > (negative ? 2 : 1))) {
      return false;
    }
    bool whole = true;
    if (at_ != end_ && *at_ == '.') {
      ++at_;
      whole = false;
      if (!digits()) {
        return false;
      }
    }
    if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
      ++at_;
      whole = false;
      at_ += at_ != end_ && (*at_ == '+' || *at_ == '-') ? 1 : 0;
      if (!digits()) {
        return false;
      }
    }
    return whole && negative ? whole_or_real<std::int64_t>(begin, out)
           : whole           ? whole_or_real<std::uint64_t>(begin, out)
                             : real(begin, out);
  }

  template <class T>
  bool whole_or_real(const char* begin, Json& out) {
    T number = 0;
    if (std::from_chars(begin, at_, number).ec != std::errc()) {
      return real(begin, out);
    }
    out = number;
    return true;
  }

  bool real(const char* begin, Json& out) {
    double number = 0;
    if (std::from_chars(begin, at_, number).ec != std::errc() || !std::isfinite(number)) {
      return false;  // also what is too small to be told from 0
    }
    out = number;
    return true;
  }

  const char* at_;
  const char* end_;
  int max_depth_;
};

}  // namespace

bool parse_fast(std::string_view text, int max_depth, nlohmann::json& out) {
  return FastParser(text, max_depth).document(out);
}

}  // namespace sweep::record
