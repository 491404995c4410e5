#pragma once

#include "endpoint/conversation.h"
#include "endpoint/profile.h"

#include <cstddef>
#include <string_view>

namespace sweep::endpoint {

// The longest arguments that are taken, in bytes.
inline constexpr std::size_t kMaxArguments = std::size_t{1} << 20;

// Checks the arguments of a call as they came. Absent, blank and null ones become "{}". With
// Repair::safe, repairs that cannot change their meaning are made: white space, special tokens and
// stray quotes behind the object, raw control characters inside strings, an object that was encoded
// as a string. What is still no object gets a `problem` for the model and stays as it came; open
// strings or brackets are never closed, and of two objects none is taken.
void check_arguments(ToolCall& call, bool cut_by_limit, Repair repair);

// `text` without white space and special tokens at its end and white space at its start.
[[nodiscard]] std::string_view without_special_tokens(std::string_view text);

// Raw newlines and tabs inside strings, which models write and JSON forbids, become escapes.
[[nodiscard]] std::string escape_controls(std::string_view text);

// Length of the JSON object or list that `text` begins with; 0: it begins with none, or the last
// bracket is missing. What is between the brackets is not checked.
[[nodiscard]] std::size_t json_length(std::string_view text);

}  // namespace sweep::endpoint
