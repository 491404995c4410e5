#include "record/json.h"

#include "record/json_parser.h"
#include "util/clock.h"
#include "util/error.h"

#include <nlohmann/json.hpp>

namespace sweep::record {

namespace {

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  throw util::InfraError({where, what, "the file is damaged or was not written by this program"},
                         "E_JSON");
}

// Deepest nesting of brackets outside strings; the parser then cannot go deeper.
int nesting(std::string_view text) {
  int depth = 0;
  int deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

}  // namespace

std::string canonical(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

nlohmann::json parse_bounded(std::string_view text,
                             const std::string& where,
                             std::size_t max_bytes,
                             int max_depth) {
  if (text.size() > max_bytes) {
    fail(where,
         "JSON of " + std::to_string(text.size()) + " bytes, at most " + std::to_string(max_bytes) +
             " are read");
  }
  nlohmann::json parsed;
  if (parse_fast(text, max_depth, parsed)) {
    return parsed;
  }
  // What is wrong with it, and where.
  if (nesting(text) > max_depth) {
    fail(where, "JSON nested deeper than " + std::to_string(max_depth));
  }
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    fail(where, "not JSON at byte " + std::to_string(error.byte));
  } catch (const nlohmann::json::exception&) {
    fail(where, "JSON with a number out of range");
  }
}

std::string utc_now() {
  util::RealClock clock;
  return util::iso_time(clock.wall());
}

}  // namespace sweep::record
