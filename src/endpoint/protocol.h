#pragma once

#include "endpoint/client.h"
#include "endpoint/failure.h"
#include "endpoint/json.h"
#include "endpoint/sse.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sweep::endpoint {

// What this target turned out not to take; learnt from its 400s and kept for the endpoint's life.
struct Adaptation {
  std::set<std::string> dropped;  // parameters left out: "stream_options", "temperature", ...
  bool old_token_limit = false;   // max_tokens in place of max_completion_tokens
};

// Puts the pieces of one stream together into the document that the same request without streaming
// gives.
class Assembler {
 public:
  virtual ~Assembler() = default;

  // True when the event carried model output (it re-arms the idle clock).
  virtual bool add(const SseEvent& event) = 0;

  // The terminator was seen: finish_reason or [DONE]; response.completed, .incomplete or .failed.
  [[nodiscard]] virtual bool complete() const = 0;

  // An error sent inside the stream.
  [[nodiscard]] virtual const std::optional<WireError>& error() const = 0;
  [[nodiscard]] virtual Progress progress() const = 0;

  // The document; ends the assembler.
  [[nodiscard]] virtual Json take() = 0;
};

// One of the two wire formats. Stateless.
class Protocol {
 public:
  virtual ~Protocol() = default;
  [[nodiscard]] virtual std::string_view path() const = 0;  // "/chat/completions"
  [[nodiscard]] virtual Json request(const Target& target,
                                     const Conversation& conversation,
                                     const std::vector<ToolDefinition>& tools,
                                     const Settings& settings,
                                     const Adaptation& adaptation) const = 0;
  [[nodiscard]] virtual std::unique_ptr<Assembler> assembler() const = 0;

  // The answer in a document; WireError where it holds none. `tools` are the names offered.
  [[nodiscard]] virtual std::variant<Completion, WireError> interpret(
      Json document, const std::vector<std::string>& tools) const = 0;

  // Names of the tools in a request body.
  [[nodiscard]] virtual std::vector<std::string> tool_names(const Json& request) const = 0;
};

[[nodiscard]] std::unique_ptr<Protocol> make_protocol(Api api);
[[nodiscard]] std::unique_ptr<Protocol> make_chat();
[[nodiscard]] std::unique_ptr<Protocol> make_responses();

// Shared by both: usage in either convention, arguments and text calls, flags.
[[nodiscard]] Usage usage_of(const Json* usage);
void settle_calls(Completion& completion, const std::vector<std::string>& tools);

// Copies what the model may set from Settings::extra_json; members already in `body` win.
void add_extra(Json& body, const std::string& extra_json);

// True when message `index` answers a call that was found in text (it is then sent as a user
// message).
[[nodiscard]] bool answers_text_call(const Conversation& conversation, std::size_t index);

}  // namespace sweep::endpoint
