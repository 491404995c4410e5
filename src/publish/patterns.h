#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sweep::publish {

// What a pattern found at a place of a text.
struct Found {
  std::size_t length = 0;
  std::string_view rule;
  std::string_view placeholder;
};

// The private thing that begins at `at`, if one does. `at` < text.size().
[[nodiscard]] std::optional<Found> private_at(std::string_view text, std::size_t at);

// The byte before `at`; a blank at the begin, and after an escape such as "\\n" of a quoted text.
[[nodiscard]] char before(std::string_view text, std::size_t at);

// A byte of a word: letters, digits and '_'.
[[nodiscard]] bool is_word(char c);

}  // namespace sweep::publish
