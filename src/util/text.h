#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sweep::util {

// Edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`, case ignored (ASCII):
// optimal string alignment distance.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate nearest to `name`, for "did you mean"; none when all are further than a third of
// the longer length (at least 1 edit is always allowed, names above 256 bytes never match). First
// one wins a tie.
[[nodiscard]] std::optional<std::string> closest(std::string_view name,
                                                 std::span<const std::string> candidates);

// Whether `what` stands anywhere in `text`; an empty one does.
[[nodiscard]] inline bool contains(std::string_view text, std::string_view what) {
  return text.find(what) != std::string_view::npos;
}

// Well-formed UTF-8 (RFC 3629): no overlong forms, surrogates or values above U+10FFFF.
[[nodiscard]] bool valid_utf8(std::string_view text);

// Every maximal ill-formed part becomes one U+FFFD; valid text returns unchanged.
[[nodiscard]] std::string to_valid_utf8(std::string_view text);

// Bytes outside [A-Za-z0-9._-] become %XX, as do "." and ".." and a leading '.': the result is one
// safe, reversible path part. The empty string becomes "%".
[[nodiscard]] std::string encode_path_part(std::string_view text);

// Reverses encode_path_part; none when it is not such a text.
[[nodiscard]] std::optional<std::string> decode_path_part(std::string_view text);

// At most `max_bytes` of text plus one marker line "... N bytes left out ..." in the middle; cuts
// fall between UTF-8 characters. Shorter text returns unchanged. Two thirds of the room go to the
// head.
[[nodiscard]] std::string head_and_tail(std::string_view text, std::size_t max_bytes);

// "812 ns", "1.23 us", "45.6 ms", "7.89 s", "3 min 20 s", "2 h 5 min": three digits, negative and
// non-finite as text.
[[nodiscard]] std::string human_seconds(double seconds);

// "512 B", "1.50 KiB", "80.0 GiB".
[[nodiscard]] std::string human_bytes(std::uint64_t bytes);

// "999", "1.23k", "45.6M", "7.89G".
[[nodiscard]] std::string human_count(std::uint64_t count);

// "0.0148x", "0.665x", "2.80x", "1234x": a ratio with three significant digits.
[[nodiscard]] std::string human_ratio(double ratio);

// An interval of ratios, as "{} .. {}" or "[{}, {}]" take them: three significant digits each, more
// (at most six) where both ends would read the same.
[[nodiscard]] std::pair<std::string, std::string> human_bounds(double low, double high);

// Parts between separators; "" gives one empty part.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

// Without ASCII white space at both ends.
[[nodiscard]] std::string_view trim(std::string_view text);

// Printable on a terminal: control characters except newline and tab become \xNN, ill-formed UTF-8
// U+FFFD.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace sweep::util
