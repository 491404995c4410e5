#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sweep::report {

// HTML that is safe to put into a page. The only ways to make one are text() and attribute values,
// which escape, and element(), which nests: no string from outside reaches a page unescaped.
class Markup {
 public:
  Markup() = default;

  [[nodiscard]] const std::string& html() const { return html_; }

  [[nodiscard]] bool empty() const { return html_.empty(); }

  Markup& operator+=(const Markup& other) {
    html_ += other.html_;
    return *this;
  }

  friend Markup operator+(Markup left, const Markup& right) {
    left += right;
    return left;
  }

 private:
  explicit Markup(std::string html) : html_(std::move(html)) {}

  friend Markup text(std::string_view plain);
  friend Markup json_block(std::string_view id, std::string_view json);
  friend class Element;

  std::string html_;
};

// What cannot be seen, made visible: control characters but newline and tab, and the characters
// that turn the direction of text, join, or take no room, become their code, U+202E in single angle
// quotes. A carriage return before a newline is dropped, invalid UTF-8 becomes U+FFFD. text() and
// attribute values do this by themselves; data for scripts must be passed through it.
[[nodiscard]] std::string visible(std::string_view plain);

// Escapes & < > " ' of visible().
[[nodiscard]] Markup text(std::string_view plain);

// <script type="application/json" id=...> with "</" made harmless: data for the page's script,
// never executed.
[[nodiscard]] Markup json_block(std::string_view id, std::string_view json);

using Attribute = std::pair<std::string_view, std::string>;

// element("td", {{"class", "num"}}, text("1.5")). Tag and attribute names are constants of this
// module. href and src values must be relative, '#...' or http(s) addresses; anything else throws
// std::logic_error.
[[nodiscard]] Markup element(std::string_view tag,
                             std::initializer_list<Attribute> attributes,
                             const Markup& inner = {});
[[nodiscard]] Markup element(std::string_view tag, const Markup& inner);
// A tag that has no end tag, such as <meta>, <link>, <br>.
[[nodiscard]] Markup void_element(std::string_view tag,
                                  std::initializer_list<Attribute> attributes);

// A table with a header row; `numeric[i]` right-aligns column i. `id` names it for downloads and
// links.
struct Table {
  std::string id;
  std::string caption;
  std::vector<std::string> header;
  std::vector<bool> numeric;
  std::vector<std::vector<Markup>> rows;
};

[[nodiscard]] Markup render(const Table& table);

}  // namespace sweep::report
