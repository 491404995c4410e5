#include "endpoint/text_formats.h"

#include "endpoint/arguments.h"
#include "util/text.h"

#include <algorithm>

namespace sweep::endpoint {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

// What is left to read of a text.
class Rest {
 public:
  explicit Rest(std::string_view text) : text_(text), whole_(text.size()) {}

  void skip_blanks() {
    text_.remove_prefix(std::min(text_.find_first_not_of(kBlank), text_.size()));
  }

  // Takes `token` if it comes next.
  bool take(std::string_view token) {
    if (!text_.starts_with(token))
      return false;
    text_.remove_prefix(token.size());
    return true;
  }

  // Takes `token` after blanks; without it nothing is taken.
  bool take_after_blanks(std::string_view token) {
    const std::string_view before = text_;
    skip_blanks();
    if (take(token))
      return true;
    text_ = before;
    return false;
  }

  // Everything before `token`, which is taken too.
  std::optional<std::string_view> until(std::string_view token) {
    const std::size_t at = text_.find(token);
    if (at == std::string_view::npos)
      return std::nullopt;
    const std::string_view out = text_.substr(0, at);
    text_.remove_prefix(at + token.size());
    return out;
  }

  // The same for the first `token` that one of `next` follows after blanks: values may hold text
  // that looks like their end.
  std::optional<std::string_view> until(std::string_view token,
                                        std::initializer_list<std::string_view> next) {
    for (std::size_t at = text_.find(token); at != std::string_view::npos;
         at = text_.find(token, at + 1)) {
      std::string_view after = text_.substr(at + token.size());
      after.remove_prefix(std::min(after.find_first_not_of(kBlank), after.size()));
      if (std::any_of(next.begin(), next.end(), [&](auto one) { return after.starts_with(one); })) {
        const std::string_view out = text_.substr(0, at);
        text_.remove_prefix(at + token.size());
        return out;
      }
    }
    return std::nullopt;
  }

  // A JSON object or list.
  std::optional<std::string_view> json() {
    const std::size_t length = json_length(text_);
    if (length == 0)
      return std::nullopt;
    const std::string_view out = text_.substr(0, length);
    text_.remove_prefix(length);
    return out;
  }

  [[nodiscard]] std::string_view text() const { return text_; }

  [[nodiscard]] std::size_t taken() const { return whole_ - text_.size(); }

 private:
  std::string_view text_;
  std::size_t whole_;
};

std::optional<Json> parse_with_controls(std::string_view text) {
  auto json = parse_json(text);
  if (!json)
    json = parse_json(escape_controls(text));
  if (json)
    restore(*json);
  return json;
}

// A value between tags: as it stands, less the newline that the tags' lines add, unless the schema
// says another type than string and it reads as one.
Json value_of(std::string_view text,
              const std::string& tool,
              const std::string& parameter,
              const Offer& offer) {
  const auto type = offer.types.find({tool, parameter});
  if (type != offer.types.end() && type->second != "string")
    if (auto json = parse_json(util::trim(text)); json && !json->is_string())
      return *json;
  if (text.starts_with("\r\n"))
    text.remove_prefix(2);
  else if (text.starts_with('\n'))
    text.remove_prefix(1);
  if (text.ends_with("\r\n"))
    text.remove_suffix(2);
  else if (text.ends_with('\n'))
    text.remove_suffix(1);
  return util::to_valid_utf8(text);
}

std::optional<ToolCall> call_of_json(const Json& json, const Offer& offer, Markup markup) {
  const Json* function = member(json, "function");
  const Json& body = function != nullptr && function->is_object() ? *function : json;
  std::string name = text_at(body, "name");
  if (name.empty())
    name = text_at(body, "tool");
  const Json* arguments = member(body, "arguments");
  if (arguments == nullptr)
    arguments = member(body, "parameters");
  auto call = make_call(name, arguments == nullptr ? Json::object() : *arguments, offer, markup);
  if (call && !call->problem.empty())
    return std::nullopt;
  return call;
}

// The parameters of <function=NAME>, up to and with </function>.
std::optional<Json> read_parameters(Rest& rest, const std::string& tool, const Offer& offer) {
  Json arguments = Json::object();
  while (!rest.take_after_blanks("</function>")) {
    if (!rest.take_after_blanks("<parameter="))
      return std::nullopt;
    const auto key = rest.until(">");
    const auto value = rest.until("</parameter>", {"<parameter=", "</function>"});
    if (!key || !value || arguments.contains(std::string(*key)))
      return std::nullopt;
    arguments[std::string(*key)] = value_of(*value, tool, std::string(*key), offer);
  }
  return arguments;
}

}  // namespace

std::optional<ToolCall> make_call(std::string_view name,
                                  const Json& arguments,
                                  const Offer& offer,
                                  Markup markup) {
  if (std::find(offer.tools.begin(), offer.tools.end(), name) == offer.tools.end())
    return std::nullopt;
  ToolCall call;
  call.name = name;
  call.from_text = true;
  call.markup = endpoint::name(markup);
  call.arguments = arguments.is_string() ? arguments.get<std::string>() : dump(arguments);
  check_arguments(call, false, Repair::safe);
  return call;
}

std::vector<ToolCall> calls_from_json(std::string_view text, const Offer& offer, Markup markup) {
  const auto json = parse_with_controls(without_special_tokens(text));
  if (!json || !(json->is_object() || json->is_array()))
    return {};
  std::vector<ToolCall> calls;
  for (const Json& one : json->is_array() ? *json : Json::array({*json})) {
    auto call = call_of_json(one, offer, markup);
    if (!call)
      return {};
    calls.push_back(std::move(*call));
  }
  return calls;
}

std::optional<Found> read_hermes(std::string_view text, const Offer& offer) {
  Rest rest(text);
  const bool tools = rest.take("<tools>");
  if (!tools && !rest.take("<tool_call>"))
    return std::nullopt;
  rest.skip_blanks();
  const auto json = rest.json();
  if (!json)
    return std::nullopt;
  Found found{calls_from_json(*json, offer, Markup::hermes), 0};
  // The closing tag is a stop token of some models and is then cut off with the rest.
  const bool closed = rest.take_after_blanks(tools ? "</tools>" : "</tool_call>") ||
                      without_special_tokens(rest.text()).empty();
  if (found.calls.empty() || !closed)
    return std::nullopt;
  found.length = rest.taken();
  return found;
}

std::optional<Found> read_qwen3_xml(std::string_view text, const Offer& offer) {
  Rest rest(text);
  const bool wrapped = rest.take("<tool_call>");
  if (!rest.take_after_blanks("<function="))
    return std::nullopt;
  const auto name = rest.until(">");
  if (!name)
    return std::nullopt;
  std::optional<Json> arguments;
  rest.skip_blanks();
  if (const auto json = rest.json()) {
    arguments = parse_with_controls(*json);
    if (!arguments || !arguments->is_object() || !rest.take_after_blanks("</function>"))
      return std::nullopt;
  } else {
    arguments = read_parameters(rest, std::string(*name), offer);
  }
  if (!arguments)
    return std::nullopt;
  if (wrapped && !rest.take_after_blanks("</tool_call>") &&
      !without_special_tokens(rest.text()).empty())
    return std::nullopt;
  auto call = make_call(*name, *arguments, offer, Markup::qwen3_xml);
  if (!call)
    return std::nullopt;
  return Found{{std::move(*call)}, rest.taken()};
}

std::optional<Found> read_glm(std::string_view text, const Offer& offer) {
  Rest rest(text);
  if (!rest.take("<tool_call>"))
    return std::nullopt;
  const std::size_t end = std::min(rest.text().find('<'), rest.text().size());
  const std::string name(util::trim(rest.text().substr(0, end)));
  rest.take(rest.text().substr(0, end));
  Json arguments = Json::object();
  while (!rest.take_after_blanks("</tool_call>")) {
    if (!rest.take_after_blanks("<arg_key>"))
      return std::nullopt;
    const auto key = rest.until("</arg_key>");
    if (!key || !rest.take_after_blanks("<arg_value>"))
      return std::nullopt;
    const auto value = rest.until("</arg_value>", {"<arg_key>", "</tool_call>"});
    const std::string parameter(util::trim(*key));
    if (!value || arguments.contains(parameter))
      return std::nullopt;
    arguments[parameter] = value_of(*value, name, parameter, offer);
  }
  auto call = make_call(name, arguments, offer, Markup::glm);
  if (!call)
    return std::nullopt;
  return Found{{std::move(*call)}, rest.taken()};
}

std::optional<Found> read_kimi(std::string_view text, const Offer& offer) {
  Rest rest(text);
  const bool section = rest.take("<|tool_calls_section_begin|>");
  Found found;
  while (rest.take_after_blanks("<|tool_call_begin|>")) {
    const auto id = rest.until("<|tool_call_argument_begin|>");
    if (!id)
      return std::nullopt;
    rest.skip_blanks();
    const auto json = rest.json();
    const auto arguments = json ? parse_with_controls(*json) : std::nullopt;
    if (!arguments || !arguments->is_object() || !rest.take_after_blanks("<|tool_call_end|>"))
      return std::nullopt;
    std::string_view name = util::trim(*id);
    const std::string whole_id(name);
    if (name.starts_with("functions."))
      name.remove_prefix(10);
    name = name.substr(0, name.rfind(':'));
    auto call = make_call(name, *arguments, offer, Markup::kimi);
    if (!call)
      return std::nullopt;
    call->id = whole_id;
    found.calls.push_back(std::move(*call));
  }
  if (found.calls.empty() || (section && !rest.take_after_blanks("<|tool_calls_section_end|>") &&
                              !without_special_tokens(rest.text()).empty()))
    return std::nullopt;
  found.length = rest.taken();
  return found;
}

}  // namespace sweep::endpoint
