#pragma once

#include "endpoint/adaptation.h"
#include "endpoint/protocol.h"

#include <gmock/gmock.h>

#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

// Requests and answers of both APIs without a network: what goes out for a conversation, and what
// is made of the bytes that came.
namespace sweep::endpoint::test {

inline Profile profile_of(const std::string& name) {
  config::EndpointKeys keys;
  keys.profile = name;
  return resolve(keys, "");
}

inline Asked asked(Profile profile = {}) {
  Asked out;
  out.offer.tools = {"submit_kernel", "look"};
  out.model = "m";
  out.profile = std::move(profile);
  return out;
}

using Answer = std::variant<Completion, WireError>;

inline Completion completion(Answer answer) {
  if (const auto* error = std::get_if<WireError>(&answer))
    throw std::runtime_error(error->code + ": " + error->message);
  return std::get<Completion>(std::move(answer));
}

inline Answer read(const std::string& json, const Asked& request = asked(), Api api = Api::chat) {
  return make_protocol(api)->interpret(parse_json(json).value_or(Json()), request);
}

// An answer of Chat Completions with this message.
inline Completion answer(
    const std::string& message,
    const std::string& reason = "stop",
    const Asked& request = asked(),
    const std::string& usage = R"({"prompt_tokens":1,"completion_tokens":1})") {
  return completion(read(R"({"model":"m","choices":[{"index":0,"finish_reason":")" + reason +
                             R"(","message":)" + message + R"(}],"usage":)" + usage + "}",
                         request));
}

// A message with one call of `name`.
inline std::string call(const std::string& arguments,
                        const std::string& name = "submit_kernel",
                        const std::string& id = "c") {
  return R"({"content":null,"tool_calls":[{"id":")" + id +
         R"(","type":"function","function":{"name":")" + name + R"(","arguments":)" + arguments +
         "}}]}";
}

// A stream of these deltas; the last chunk says `reason`.
inline Completion streamed(const std::vector<std::string>& deltas,
                           const std::string& reason = "stop",
                           const Asked& request = asked()) {
  const auto protocol = make_protocol(Api::chat);
  const auto assembler = protocol->assembler(request);
  for (const std::string& delta : deltas)
    assembler->add({"", R"({"choices":[{"index":0,"delta":)" + delta + "}]}"});
  assembler->add({"", R"({"choices":[{"index":0,"delta":{},"finish_reason":")" + reason + "\"}]}"});
  assembler->add({"", "[DONE]"});
  EXPECT_TRUE(assembler->complete());
  return completion(protocol->interpret(assembler->take(), request));
}

// Deltas of tool_calls.
inline std::string calls(const std::string& list) {
  return R"({"tool_calls":[)" + list + "]}";
}

inline const std::vector<ToolDefinition>& tools() {
  static const std::vector<ToolDefinition> all = {
      {"submit_kernel",
       "Submits.",
       R"({"type":"object","properties":{"kernel_code":{"type":"string"}}})"},
      {"look", "Looks.", R"({"type":"object","properties":{}})"}};
  return all;
}

// The body that goes out.
inline Json body(const Conversation& conversation,
                 const Profile& profile = {},
                 const Settings& settings = {},
                 Api api = Api::chat,
                 const Adaptation& adaptation = {}) {
  Target target;
  target.api = api;
  target.model = "m";
  target.profile = profile;
  return make_protocol(api)->request(target, conversation, tools(), settings, adaptation);
}

inline Message user(const std::string& text) {
  return {Speaker::user, text};
}

inline Message result(const std::string& id, const std::string& text) {
  return {Speaker::tool, text, "", {}, id, "submit_kernel", ""};
}

}  // namespace sweep::endpoint::test
