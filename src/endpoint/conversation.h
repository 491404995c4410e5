#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sweep::endpoint {

// A function the model may call. `parameters_json` is a JSON Schema object as text.
struct ToolDefinition {
  std::string name;
  std::string description;
  std::string parameters_json;
};

// A call as the model made it. `arguments` is JSON text of an object unless `problem` says
// otherwise; text that no meaning-preserving repair makes an object is left as it came.
struct ToolCall {
  std::string id;
  std::string name;
  std::string arguments;
  std::string problem{};      // empty: well formed; else what is wrong, written for the model
  bool from_text = false;     // found in the answer's text, not in its tool_calls
  bool synthetic_id = false;  // the endpoint gave none
  bool repaired = false;      // arguments differ from the bytes received
  std::string markup{};       // of a call in text: "hermes", "pythonic", ...; else empty
};

enum class Speaker { system, user, assistant, tool };

// One message. An assistant message keeps the endpoint's own JSON (`raw`: the Chat Completions
// message object, or the Responses output items as an array) and is replayed from it, unknown
// fields included.
struct Message {
  Speaker speaker = Speaker::user;
  std::string text{};
  std::string reasoning{};        // assistant only; recorded, never executed or parsed for code
  std::vector<ToolCall> calls{};  // assistant only
  std::string call_id{};          // tool only: the call that this answers
  std::string tool_name{};        // tool only
  std::string raw{};              // assistant only; empty: built from the fields above
};

using Conversation = std::vector<Message>;

// Tokens as the endpoint counted them; -1 = not said. `cached` is a part of `input`, `reasoning` of
// `output` (OpenAI's convention; other conventions are converted).
struct Usage {
  std::int64_t input = -1;
  std::int64_t cached = -1;
  std::int64_t output = -1;
  std::int64_t reasoning = -1;
  bool estimated = false;         // made from byte counts because the endpoint said nothing
  std::int64_t cache_write = -1;  // a part of `input`
  std::optional<std::int64_t> provider_nano_usd{};  // what the endpoint says it charged
};

// Why the answer ended.
enum class Finish { stop, tool_calls, length, content_filter, other };

[[nodiscard]] std::string_view name(Finish finish);
[[nodiscard]] std::string_view name(Speaker speaker);

// The conversation as servers take it: one system message, first, of all system texts; after an
// assistant's message exactly one result for each of its native calls, in their order, with a
// result that says so where none came. Results of calls found in text, and results without their
// call, become one user message. Assistant messages are left as they are.
[[nodiscard]] Conversation settled(const Conversation& conversation);

// A called tool's name as a request may repeat it: servers refuse a history with other names, and a
// model may have invented any. Letters, digits, '_' and '-' stay, other bytes become '_'; at most
// 64; "unknown" for none.
[[nodiscard]] std::string sendable_name(std::string_view name);

// Conversations as JSON for trajectories and prompts; from_json throws util::InfraError
// (E_ENDPOINT_RECORD).
[[nodiscard]] nlohmann::ordered_json to_json(const Message& message);
[[nodiscard]] Message message_from_json(const nlohmann::ordered_json& json);
[[nodiscard]] nlohmann::ordered_json to_json(const Usage& usage);
[[nodiscard]] Usage usage_from_json(const nlohmann::ordered_json& json);

}  // namespace sweep::endpoint
