#include "report/markup.h"

#include "util/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>

#include <fmt/format.h>

namespace sweep::report {

namespace {

constexpr std::string_view escape_of(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

// Whether visible() may change it: beyond ASCII, or a control character that is seen by nobody.
constexpr bool may_hide(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x7F || (byte < 0x20 && c != '\n' && c != '\t');
}

enum class Care : unsigned char { none, escape, look };

constexpr std::size_t kBytes = 256;

using Cares = std::array<Care, kBytes>;

// What text() must do about each byte.
constexpr Cares kCares = [] {
  Cares out{};
  for (std::size_t i = 0; i < kBytes; ++i) {
    const char c = static_cast<char>(i);
    out[i] = may_hide(c) ? Care::look : escape_of(c).empty() ? Care::none : Care::escape;
  }
  return out;
}();

// Appends visible() with its markup characters escaped, in one pass: nearly all text is plain.
void append_text(std::string& out, std::string_view plain) {
  const auto care_at = [&](std::size_t i) { return kCares[static_cast<unsigned char>(plain[i])]; };
  for (std::size_t at = 0; at < plain.size();) {
    std::size_t end = at;
    while (end < plain.size() && care_at(end) == Care::none) {
      ++end;
    }
    out.append(plain, at, end - at);
    at = end;
    while (at < plain.size() && care_at(at) == Care::escape) {
      out += escape_of(plain[at++]);
    }
    for (end = at; end < plain.size() && care_at(end) == Care::look;) {
      ++end;
    }
    if (end > at) {
      // With what follows: of a carriage return that decides. ASCII ends an ill-formed character.
      const bool line_end = end < plain.size() && plain[end] == '\n';
      out += visible(plain.substr(at, end - at + (line_end ? 1 : 0)));
      at = end + (line_end ? 1 : 0);
    }
  }
}

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
};

// The character at `at` of valid UTF-8.
Character character_at(std::string_view valid, std::size_t at) {
  const auto lead = static_cast<unsigned char>(valid[at]);
  if (lead < 0x80) {
    return {lead, 1};
  }
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  std::uint32_t code = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    code = code << 6U | (static_cast<unsigned char>(valid[at + i]) & 0x3FU);
  }
  return {code, bytes};
}

bool unseen(std::uint32_t code) {
  struct Range {
    std::uint32_t from, to;
  };

  // Unicode: controls, then Default_Ignorable and Bidi_Control characters that text can hide
  // behind.
  constexpr std::array<Range, 12> kUnseen = {Range{0x00, 0x08},
                                             Range{0x0B, 0x1F},
                                             Range{0x7F, 0x9F},
                                             Range{0xAD, 0xAD},
                                             Range{0x61C, 0x61C},
                                             Range{0x180E, 0x180E},
                                             Range{0x200B, 0x200F},
                                             Range{0x2028, 0x202E},
                                             Range{0x2060, 0x206F},
                                             Range{0xFEFF, 0xFEFF},
                                             Range{0xFFF9, 0xFFFB},
                                             Range{0xE0000, 0xE007F}};
  return std::any_of(kUnseen.begin(), kUnseen.end(), [code](const Range& range) {
    return code >= range.from && code <= range.to;
  });
}

bool safe_address(std::string_view value) {
  if (value == "data:,") {  // nothing: an icon that a browser need not ask for
    return true;
  }
  if (value.starts_with("https://") || value.starts_with("http://") || value.starts_with("#")) {
    return true;
  }
  return value.substr(0, value.find_first_of("/?#")).find(':') == std::string_view::npos &&
         !value.starts_with("//");
}

}  // namespace

class Element {
 public:
  explicit Element(std::string_view tag, std::initializer_list<Attribute> attributes)
      : html_(1, '<') {
    html_ += tag;
    for (const auto& [name, value] : attributes) {
      if ((name == "href" || name == "src") && !safe_address(value)) {
        throw std::logic_error("unsafe address in a page: " + value);
      }
      html_ += ' ';
      html_ += name;
      html_ += "=\"";
      append_text(html_, value);
      html_ += '"';
    }
    html_ += '>';
  }

  [[nodiscard]] Markup close(std::string_view tag, const Markup& inner) && {
    html_.reserve(html_.size() + inner.html().size() + tag.size() + 3);
    html_ += inner.html();
    html_ += "</";
    html_ += tag;
    html_ += '>';
    return Markup(std::move(html_));
  }

  [[nodiscard]] Markup open() && { return Markup(std::move(html_)); }

 private:
  std::string html_;
};

std::string visible(std::string_view plain) {
  if (std::none_of(plain.begin(), plain.end(), may_hide)) {
    return std::string(plain);
  }
  const std::string valid = util::to_valid_utf8(plain);
  std::string out;
  out.reserve(valid.size());
  for (std::size_t at = 0; at < valid.size();) {
    const auto byte = static_cast<unsigned char>(valid[at]);
    if (byte >= 0x20 && byte < 0x7F) {
      out += valid[at++];
      continue;
    }
    const Character character = character_at(valid, at);
    if (unseen(character.code)) {
      const bool line_end = byte == '\r' && at + 1 < valid.size() && valid[at + 1] == '\n';
      out += line_end ? std::string() : fmt::format("\u2039U+{:04X}\u203A", character.code);
    } else {
      out.append(valid, at, character.bytes);
    }
    at += character.bytes;
  }
  return out;
}

Markup text(std::string_view plain) {
  std::string out;
  out.reserve(plain.size());
  append_text(out, plain);
  return Markup(std::move(out));
}

Markup json_block(std::string_view id, std::string_view json) {
  std::string safe;
  safe.reserve(json.size());
  // Inside a script element only "<" can end it; JSON strings may spell it as an escape.
  for (std::size_t at = json.find('<'); at != std::string_view::npos; at = json.find('<')) {
    safe.append(json, 0, at);
    safe += "\\u003c";
    json.remove_prefix(at + 1);
  }
  safe += json;
  return Markup("<script type=\"application/json\" id=\"" + text(id).html() + "\">" + safe +
                "</script>");
}

Markup element(std::string_view tag,
               std::initializer_list<Attribute> attributes,
               const Markup& inner) {
  return Element(tag, attributes).close(tag, inner);
}

Markup element(std::string_view tag, const Markup& inner) {
  return element(tag, {}, inner);
}

Markup void_element(std::string_view tag, std::initializer_list<Attribute> attributes) {
  return Element(tag, attributes).open();
}

Markup render(const Table& table) {
  Markup head;
  for (std::size_t i = 0; i < table.header.size(); ++i) {
    head += element("th",
                    {{"scope", "col"}, {"class", table.numeric[i] ? "num" : "txt"}},
                    text(table.header[i]));
  }
  Markup body;
  for (const auto& row : table.rows) {
    Markup cells;
    for (std::size_t i = 0; i < row.size(); ++i) {
      cells += element("td", {{"class", table.numeric[i] ? "num" : "txt"}}, row[i]);
    }
    body += element("tr", cells);
  }
  Markup inner = table.caption.empty() ? Markup{} : element("caption", text(table.caption));
  inner += element("thead", element("tr", head)) + element("tbody", body);
  return element("div",
                 {{"class", "scroll"}},
                 element("table", {{"id", table.id}, {"class", "sortable"}}, inner));
}

}  // namespace sweep::report
