#pragma once

#include "util/wrap.h"

#include <string>
#include <string_view>

namespace sweep::cli {

// Terminal colour for one stream: on only where the stream is a terminal, NO_COLOR is unset and
// TERM is not "dumb".
class Style {
 public:
  [[nodiscard]] static Style for_stdout();
  [[nodiscard]] static Style for_stderr();

  [[nodiscard]] static Style plain() { return Style(false); }

  [[nodiscard]] std::string good(std::string_view text) const { return paint("32", text); }

  [[nodiscard]] std::string bad(std::string_view text) const { return paint("31", text); }

  [[nodiscard]] std::string warn(std::string_view text) const { return paint("33", text); }

  [[nodiscard]] std::string dim(std::string_view text) const { return paint("2", text); }

  [[nodiscard]] std::string strong(std::string_view text) const { return paint("1", text); }

  [[nodiscard]] bool colour() const { return colour_; }

 private:
  explicit Style(bool colour) : colour_(colour) {}

  [[nodiscard]] std::string paint(std::string_view code, std::string_view text) const;

  bool colour_;
};

// `text` padded with blanks to `width` columns (UTF-8 code points counted as one column).
[[nodiscard]] std::string pad_right(const std::string& text, std::size_t width);
[[nodiscard]] std::string pad_left(const std::string& text, std::size_t width);

using util::wrapped;

// Columns of the terminal that standard output is, at least 40; 0 when it is none.
[[nodiscard]] std::size_t output_columns();

}  // namespace sweep::cli
