#include "endpoint/arguments.h"
#include "endpoint/text_formats.h"
#include "util/text.h"

#include <cctype>

namespace sweep::endpoint {
namespace {

constexpr int kMaxDepth = 32;

// Reads Python call syntax with literal arguments. Nothing is evaluated.
class Python {
 public:
  Python(std::string_view text, const Offer& offer) : text_(text), offer_(offer) {}

  // [f(a=1), g(b="x")] or, with `single`, one call without brackets.
  std::optional<Found> calls(bool single) {
    Found found;
    blanks();
    const bool list = take("[");
    if (!list && !single)
      return std::nullopt;
    do {
      auto one = call();
      if (!one)
        return std::nullopt;
      found.calls.push_back(std::move(*one));
      blanks();
    } while (list && take(","));
    if (list && !take("]"))
      return std::nullopt;
    found.length = at_;
    return found;
  }

 private:
  void blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0)
      ++at_;
  }

  bool take(std::string_view token) {
    if (!text_.substr(at_).starts_with(token))
      return false;
    at_ += token.size();
    return true;
  }

  std::string_view identifier(bool dots) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  text_[at_] == '_' || (dots && text_[at_] == '.')))
      ++at_;
    return text_.substr(begin, at_ - begin);
  }

  std::optional<ToolCall> call() {
    blanks();
    std::string_view name = identifier(true);
    if (name.ends_with(".call"))
      name.remove_suffix(5);
    if (name.empty() || !take("("))
      return std::nullopt;
    Json arguments = Json::object();
    blanks();
    while (!take(")")) {
      const std::string key(identifier(false));
      blanks();
      if (key.empty() || arguments.contains(key) || !take("="))
        return std::nullopt;
      auto argument = value(0);
      if (!argument)
        return std::nullopt;
      arguments[key] = std::move(*argument);
      blanks();
      const bool more = take(",");
      blanks();
      if (!more && !text_.substr(at_).starts_with(')'))
        return std::nullopt;
    }
    return make_call(name, arguments, offer_, Markup::pythonic);
  }

  // Members of a list or of a dictionary up to its closing bracket.
  std::optional<Json> members(bool dictionary, int depth) {
    Json out = dictionary ? Json::object() : Json::array();
    const std::string_view end = dictionary ? "}" : "]";
    for (blanks(); !take(end); blanks()) {
      if (!out.empty() && !take(","))
        return std::nullopt;
      blanks();
      if (!out.empty() && take(end))
        break;
      auto first = value(depth + 1);
      if (!first)
        return std::nullopt;
      if (!dictionary) {
        out.push_back(std::move(*first));
        continue;
      }
      blanks();
      if (!first->is_string() || !take(":"))
        return std::nullopt;
      auto second = value(depth + 1);
      if (!second)
        return std::nullopt;
      out[first->get<std::string>()] = std::move(*second);
    }
    return out;
  }

  std::optional<Json> value(int depth) {
    blanks();
    if (depth > kMaxDepth || at_ >= text_.size())
      return std::nullopt;
    const char c = text_[at_];
    if (c == '"' || c == '\'' ||
        ((c == 'r' || c == 'R') && at_ + 1 < text_.size() &&
         (text_[at_ + 1] == '"' || text_[at_ + 1] == '\'')))
      return string();
    if (take("["))
      return members(false, depth);
    if (take("{"))
      return members(true, depth);
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  text_[at_] == '.' || text_[at_] == '+' || text_[at_] == '-'))
      ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word == "True" || word == "true")
      return Json(true);
    if (word == "False" || word == "false")
      return Json(false);
    if (word == "None" || word == "null")
      return Json(nullptr);
    auto number = parse_json(word);
    return number && number->is_number() ? number : std::nullopt;
  }

  // A literal of any quotes; a raw newline between single quotes is taken as it stands.
  std::optional<Json> string() {
    const bool raw = take("r") || take("R");
    const std::string quote = text_.substr(at_).starts_with("\"\"\"") ? "\"\"\""
                              : text_.substr(at_).starts_with("'''")  ? "'''"
                                                                      : std::string(1, text_[at_]);
    at_ += quote.size();
    std::string out;
    while (!take(quote)) {
      if (at_ >= text_.size())
        return std::nullopt;
      const char c = text_[at_++];
      const bool escaped = c == '\\';
      if (escaped && (at_ >= text_.size() || (!raw && !escape(out))))
        return std::nullopt;
      if (!escaped || raw)
        out += c;
      if (escaped && raw)
        out += text_[at_++];
    }
    return Json(util::to_valid_utf8(out));
  }

  bool escape(std::string& out) {
    const char c = text_[at_++];
    constexpr std::string_view plain = "\\'\"";
    constexpr std::string_view letters = "ntrabfv";
    constexpr std::string_view controls = "\n\t\r\a\b\f\v";
    if (c == '\n')
      return true;
    if (plain.find(c) != std::string_view::npos)
      out += c;
    else if (const auto known = letters.find(c); known != std::string_view::npos)
      out += controls[known];
    else if (c == 'x' || c == 'u')
      return code_point(out, c == 'x' ? 2 : 4);
    else if (c >= '0' && c <= '7')
      return false;  // octal: too easily something else
    else
      out += {'\\', c};
    return true;
  }

  bool code_point(std::string& out, std::size_t digits) {
    const std::string hex(text_.substr(at_, digits));
    if (hex.size() != digits ||
        hex.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
      return false;
    at_ += digits;
    // A pair of surrogates is read by JSON's own rules.
    std::string escaped = "\"\\u" + std::string(4 - digits, '0') + hex;
    const bool high = digits == 4 && (hex[0] == 'd' || hex[0] == 'D');
    if (high && text_.substr(at_).starts_with("\\u") && at_ + 6 <= text_.size()) {
      escaped += text_.substr(at_, 6);
      at_ += 6;
    }
    const auto json = parse_json(escaped + "\"");
    if (!json || !json->is_string())
      return false;
    out += json->get<std::string>();
    return true;
  }

  std::string_view text_;
  const Offer& offer_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<Found> read_pythonic(std::string_view text, const Offer& offer) {
  std::size_t before = 0;
  for (const std::string_view token : {"<|python_tag|>", "<|tool_call_start|>"})
    if (text.starts_with(token))
      before = token.size();
  std::string_view rest = text.substr(before);
  auto found = Python(rest, offer).calls(before > 0);
  if (!found && before > 0) {
    const std::string_view json = util::trim(rest);
    const std::size_t length = json_length(json);
    if (auto calls = calls_from_json(json.substr(0, length), offer, Markup::pythonic);
        !calls.empty())
      found = Found{std::move(calls), static_cast<std::size_t>(json.data() - rest.data()) + length};
  }
  if (!found)
    return std::nullopt;
  rest = rest.substr(found->length);
  constexpr std::string_view close = "<|tool_call_end|>";
  if (rest.starts_with(close))
    found->length += close.size();
  else if (!without_special_tokens(rest).empty())
    return std::nullopt;
  found->length += before;
  return found;
}

}  // namespace sweep::endpoint
