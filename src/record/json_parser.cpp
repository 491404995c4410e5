#include "record/json_parser.h"

#include "record/json.h"
#include "record/json_element.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace sweep::record {

namespace {

using Json = nlohmann::json;
using simdjson::dom::element_type;

constexpr std::string_view kHexDigits = "0123456789abcdef";

// A text as nlohmann writes it. simdjson takes valid UTF-8 only.
void append_text(std::string_view from, std::string& out) {
  const auto is_plain = [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\';
  };
  out += '"';
  for (std::size_t at = 0; at < from.size();) {
    const auto* begin = from.data() + at;
    const auto* end = std::find_if_not(begin, from.data() + from.size(), is_plain);
    out.append(begin, end);
    at += static_cast<std::size_t>(end - begin);
    if (at == from.size()) {
      break;
    }
    const char c = from[at++];
    constexpr std::string_view kShort = "\"\\\b\f\n\r\t";
    constexpr std::string_view kLetters = "\"\\bfnrt";
    out += '\\';
    if (const std::size_t letter = kShort.find(c); letter != std::string_view::npos) {
      out += kLetters[letter];
    } else {
      out += "u00";
      out += kHexDigits[static_cast<unsigned char>(c) >> 4U];
      out += kHexDigits[static_cast<unsigned char>(c) & 15U];
    }
  }
  out += '"';
}

bool append_members(const simdjson::dom::object& from, std::string& out) {
  out += '{';
  std::string_view before;
  bool any = false;
  for (const auto& [key, value] : from) {
    if (any && key <= before) {
      return false;
    }
    out += any ? "," : "";
    append_text(key, out);
    out += ':';
    if (!append_canonical(value, out)) {
      return false;
    }
    before = key;
    any = true;
  }
  out += '}';
  return true;
}

}  // namespace

bool append_canonical(const simdjson::dom::element& from, std::string& out) {
  switch (from.type()) {
    case element_type::OBJECT:
      return append_members(simdjson::dom::object(from), out);
    case element_type::ARRAY: {
      char mark = '[';
      for (const simdjson::dom::element value : simdjson::dom::array(from)) {
        out += mark;
        mark = ',';
        if (!append_canonical(value, out)) {
          return false;
        }
      }
      out += mark == '[' ? "[]" : "]";
      return true;
    }
    case element_type::STRING:
      append_text(std::string_view(from), out);
      return true;
    case element_type::INT64:
      out += std::to_string(std::int64_t(from));
      return true;
    case element_type::UINT64:
      out += std::to_string(std::uint64_t(from));
      return true;
    case element_type::DOUBLE:
      out += canonical(double(from));
      return true;
    case element_type::BOOL:
      out += bool(from) ? "true" : "false";
      return true;
    case element_type::NULL_VALUE:
      out += "null";
      return true;
  }
  return false;
}

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

std::optional<simdjson::dom::element> ElementParser::parse(std::string_view text) {
  simdjson::dom::element root;
  // Its depth leaves out an innermost container that is empty.
  if (parser_.capacity() < text.size() || parser_.capacity() == 0) {
    if (parser_.allocate(std::max<std::size_t>(text.size(), 64),
                         static_cast<std::size_t>(max_depth_)) != simdjson::SUCCESS) {
      return std::nullopt;
    }
  }
  return parser_.parse(text.data(), text.size()).get(root) == simdjson::SUCCESS
             ? std::optional(root)
             : std::nullopt;
}

bool parse_fast(std::string_view text, int max_depth, nlohmann::json& out) {
  ElementParser parser(max_depth);
  const auto root = parser.parse(text);
  if (root) {
    convert(*root, out);
  }
  return root.has_value();
}

}  // namespace sweep::record
