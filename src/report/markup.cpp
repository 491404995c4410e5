#include "report/markup.h"

#include "util/text.h"

#include <stdexcept>

namespace sweep::report {

namespace {

void append_escaped(std::string& out, std::string_view plain) {
  for (const char c : plain) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t') {
          out += c;
        }
    }
  }
}

bool safe_address(std::string_view value) {
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
      : html_("<" + std::string(tag)) {
    for (const auto& [name, value] : attributes) {
      if ((name == "href" || name == "src") && !safe_address(value)) {
        throw std::logic_error("unsafe address in a page: " + value);
      }
      html_ += " " + std::string(name) + "=\"";
      append_escaped(html_, util::to_valid_utf8(value));
      html_ += '"';
    }
    html_ += '>';
  }

  [[nodiscard]] Markup close(std::string_view tag, const Markup& inner) && {
    return Markup(std::move(html_) + inner.html() + "</" + std::string(tag) + ">");
  }

  [[nodiscard]] Markup open() && { return Markup(std::move(html_)); }

 private:
  std::string html_;
};

Markup text(std::string_view plain) {
  std::string out;
  append_escaped(out, util::to_valid_utf8(plain));
  return Markup(std::move(out));
}

Markup json_block(std::string_view id, std::string_view json) {
  std::string safe;
  for (const char c : json) {
    // Inside a script element only "<" can end it; JSON strings may spell it as an escape.
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
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
