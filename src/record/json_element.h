#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <string_view>

#include <simdjson.h>

// JSON as simdjson has read it, for records that need no tree. Only for sources of this module.
namespace sweep::record {

// A parser that keeps its memory from one text to the next.
class ElementParser {
 public:
  explicit ElementParser(int max_depth) : max_depth_(max_depth) {}

  // Valid until the next call. Empty for all that parse_fast() refuses.
  [[nodiscard]] std::optional<simdjson::dom::element> parse(std::string_view text);

 private:
  int max_depth_;
  simdjson::dom::parser parser_;
};

// The tree that nlohmann::json::parse() makes of it.
void convert(const simdjson::dom::element& from, nlohmann::json& to);

// Appends canonical() of its tree where that has its keys in the order of the text, each once.
// Otherwise false, and some of it was appended.
[[nodiscard]] bool append_canonical(const simdjson::dom::element& from, std::string& out);

}  // namespace sweep::record
