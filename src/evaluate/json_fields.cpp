#include "evaluate/json_fields.h"

#include "evaluate/evaluation_json.h"
#include "wire/channel.h"

#include <cmath>
#include <cstdint>

namespace sweep::evaluate {

using nlohmann::json;
using wire::field;

[[noreturn]] void broken(const std::string& what) {
  throw wire::WireError({"evaluation", what, "was it written by another version?"}, "E_WIRE_FIELD");
}

// JSON has no infinities and no NaN: they travel as text.
json number(double value) {
  if (std::isfinite(value)) {
    return value;
  }
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

double number_from(const json& body, const char* key) {
  const auto found = body.find(key);
  if (found != body.end() && found->is_string()) {
    const auto text = found->get<std::string>();
    if (text == "nan") {
      return std::nan("");
    }
    return text == "inf" ? HUGE_VAL : text == "-inf" ? -HUGE_VAL : (broken("not a number"), 0.0);
  }
  return field<double>(body, key);
}

int int_from(const json& body, const char* key) {
  const auto value = field<std::int64_t>(body, key);
  if (value < INT32_MIN || value > INT32_MAX) {
    broken(std::string("'") + key + "' is out of range");
  }
  return static_cast<int>(value);
}

Verdict verdict_from(const json& body, const char* key) {
  const auto verdict = parse_verdict(field<std::string>(body, key));
  return verdict ? *verdict : (broken("unknown verdict"), Verdict::review);
}

expr::IntEnv dims_from(const json& body, const char* key) {
  expr::IntEnv dims;
  if (!body.contains(key) || !body.at(key).is_object()) {
    broken("dims are missing");
  }
  for (const auto& [name, value] : body.at(key).items()) {
    if (!value.is_number_integer()) {
      broken("a dim is no integer");
    }
    dims[name] = value.get<std::int64_t>();
  }
  return dims;
}

json dims_to_json(const expr::IntEnv& dims) {
  json body = json::object();
  for (const auto& [name, value] : dims) {
    body[name] = value;
  }
  return body;
}

const json& list_in(const json& body, const char* key) {
  const auto found = body.find(key);
  if (found == body.end() || !found->is_array()) {
    broken(std::string("list '") + key + "' is missing");
  }
  return *found;
}

std::optional<Failure> optional_failure(const json& body, const char* key) {
  const auto found = body.find(key);
  return found == body.end() || found->is_null() ? std::nullopt
                                                 : std::optional(failure_from_json(*found));
}

}  // namespace sweep::evaluate
