#include "util/text.h"
#include "wire/channel.h"
#include "wire/json_guard.h"

#include <nlohmann/json.hpp>

#include <limits>

namespace sweep::wire {

bool JsonGuard::open() {
  if (keys_.size() >= max_depth_) {
    complaint_ = "nested deeper than " + std::to_string(max_depth_);
    return false;
  }
  keys_.emplace_back();
  return true;
}

bool JsonGuard::start_object(std::size_t /*elements*/) {
  return open();
}

bool JsonGuard::start_array(std::size_t /*elements*/) {
  return open();
}

bool JsonGuard::key(string_t& name) {
  if (!keys_.back().insert(name).second) {
    complaint_ =
        "key \"" + util::head_and_tail(util::printable(name), 100) + "\" twice in one object";
    return false;
  }
  return true;
}

bool JsonGuard::end_object() {
  keys_.pop_back();
  return true;
}

bool JsonGuard::end_array() {
  keys_.pop_back();
  return true;
}

bool JsonGuard::parse_error(std::size_t position,
                            const std::string& /*last_token*/,
                            const nlohmann::detail::exception& /*error*/) {
  // The parser's own text quotes the input; the position is enough.
  complaint_ = "not JSON at byte " + std::to_string(position);
  return false;
}

nlohmann::json parse_object(const std::string& text, const std::string& where) {
  JsonGuard guard(kMaxDepth);
  if (!nlohmann::json::sax_parse(text, &guard)) {
    throw WireError({where, "bad message: " + guard.complaint(), "the sender is broken or hostile"},
                    "E_WIRE_JSON");
  }
  nlohmann::json body = nlohmann::json::parse(text, nullptr, false);
  if (!body.is_object()) {
    throw WireError({where, "bad message: not an object", "the sender is broken or hostile"},
                    "E_WIRE_JSON");
  }
  return body;
}

namespace {

[[noreturn]] void bad_field(const char* key, const char* expected) {
  throw WireError({std::string("field \"") + key + "\"",
                   std::string("expected ") + expected,
                   "the sender is broken or hostile"},
                  "E_WIRE_FIELD");
}

void read(const nlohmann::json& value, const char* key, bool& out) {
  if (!value.is_boolean()) {
    bad_field(key, "true or false");
  }
  out = value.get<bool>();
}

void read(const nlohmann::json& value, const char* key, std::string& out) {
  if (!value.is_string()) {
    bad_field(key, "a string");
  }
  out = value.get<std::string>();
}

void read(const nlohmann::json& value, const char* key, std::uint64_t& out) {
  if (!value.is_number_unsigned()) {
    bad_field(key, "a whole number from 0");
  }
  out = value.get<std::uint64_t>();
}

void read(const nlohmann::json& value, const char* key, std::int64_t& out) {
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  // A value built in memory may be signed and not negative; a parsed one is unsigned then.
  const bool fits = value.is_number_integer() &&
                    !(value.is_number_unsigned() && value.get<std::uint64_t>() > kMax);
  if (!fits) {
    bad_field(key, "a whole number of 64 bits");
  }
  out = value.get<std::int64_t>();
}

void read(const nlohmann::json& value, const char* key, double& out) {
  if (!value.is_number()) {
    bad_field(key, "a number");
  }
  out = value.get<double>();
}

template <typename T>
void read(const nlohmann::json& value, const char* key, std::vector<T>& out) {
  if (!value.is_array()) {
    bad_field(key, "an array");
  }
  for (const nlohmann::json& item : value) {
    read(item, key, out.emplace_back());
  }
}

}  // namespace

template <typename T>
T field(const nlohmann::json& body, const char* key) {
  const auto at = body.find(key);
  if (at == body.end()) {
    bad_field(key, "it to be there");
  }
  T out{};
  read(*at, key, out);
  return out;
}

template bool field<bool>(const nlohmann::json&, const char*);
template std::string field<std::string>(const nlohmann::json&, const char*);
template std::int64_t field<std::int64_t>(const nlohmann::json&, const char*);
template std::uint64_t field<std::uint64_t>(const nlohmann::json&, const char*);
template double field<double>(const nlohmann::json&, const char*);
template std::vector<double> field<std::vector<double>>(const nlohmann::json&, const char*);
template std::vector<std::int64_t> field<std::vector<std::int64_t>>(const nlohmann::json&,
                                                                    const char*);
template std::vector<std::string> field<std::vector<std::string>>(const nlohmann::json&,
                                                                  const char*);

}  // namespace sweep::wire
