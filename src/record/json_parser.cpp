#include "record/json_parser.h"

#include <nlohmann/json.hpp>

#include <simdjson.h>

namespace sweep::record {

namespace {

using Json = nlohmann::json;
using simdjson::dom::element_type;

// Moves a parsed element over. simdjson has bounded the depth.
void convert(const simdjson::dom::element& from, Json& to) {
  switch (from.type()) {
    case element_type::OBJECT: {
      to = Json::object();
      auto& members = to.get_ref<Json::object_t&>();
      for (const auto& [key, value] : simdjson::dom::object(from)) {
        // Keys are mostly sorted. Of equal keys the last counts.
        convert(value, members.emplace_hint(members.end(), key, nullptr)->second);
      }
      return;
    }
    case element_type::ARRAY: {
      to = Json::array();
      auto& elements = to.get_ref<Json::array_t&>();
      const simdjson::dom::array values(from);
      // As many as were parsed, so no more than the text has; lists of few numbers are most of it.
      elements.reserve(values.size());
      for (const simdjson::dom::element value : values) {
        convert(value, elements.emplace_back(nullptr));
      }
      return;
    }
    case element_type::STRING:
      to = std::string_view(from);
      return;
    case element_type::INT64:
      // nlohmann's parser calls what has no sign unsigned.
      if (const std::int64_t number = from; number < 0) {
        to = number;
      } else {
        to = static_cast<std::uint64_t>(number);
      }
      return;
    case element_type::UINT64:
      to = std::uint64_t(from);
      return;
    case element_type::DOUBLE:
      to = double(from);
      return;
    case element_type::BOOL:
      to = bool(from);
      return;
    case element_type::NULL_VALUE:
      to = nullptr;
      return;
  }
}

}  // namespace

bool parse_fast(std::string_view text, int max_depth, nlohmann::json& out) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  // Its depth leaves out an innermost container that is empty.
  if (parser.allocate(std::max<std::size_t>(text.size(), 64),
                      static_cast<std::size_t>(max_depth)) != simdjson::SUCCESS ||
      parser.parse(text.data(), text.size()).get(root) != simdjson::SUCCESS) {
    return false;
  }
  convert(root, out);
  return true;
}

}  // namespace sweep::record
