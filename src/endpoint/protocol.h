#pragma once

#include "endpoint/adaptation.h"
#include "endpoint/client.h"
#include "endpoint/failure.h"
#include "endpoint/json.h"
#include "endpoint/sse.h"
#include "endpoint/tool_text.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sweep::endpoint {

// What a request asked for, as far as its answer is read by it.
struct Asked {
  Offer offer;
  std::string model;
  std::size_t turn = 0;   // assistant messages before
  std::size_t calls = 0;  // tool calls before
  std::optional<std::int64_t> max_output_tokens;
  Profile profile;
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

// Adds a piece of text or reasoning to its count and its end.
void note_piece(Progress& progress, bool reasoning, std::string_view piece);

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
  [[nodiscard]] virtual std::unique_ptr<Assembler> assembler(const Asked& asked) const = 0;

  // The answer in a document; WireError where it holds none.
  [[nodiscard]] virtual std::variant<Completion, WireError> interpret(Json document,
                                                                      const Asked& asked) const = 0;

  // Read back out of a request's body, so that a recorded answer is read as it was when it came.
  [[nodiscard]] virtual Asked asked(const Json& request, const Profile& profile) const = 0;
};

[[nodiscard]] std::unique_ptr<Protocol> make_protocol(Api api);
[[nodiscard]] std::unique_ptr<Protocol> make_chat();
[[nodiscard]] std::unique_ptr<Protocol> make_responses();

// Shared by both. Usage in one convention; oddities are flagged.
[[nodiscard]] Usage usage_of(const Json* usage, std::vector<std::string>& flags);

// Checks arguments, finds calls in the text, gives ids where none came and flags what is odd.
void settle_calls(Completion& completion, const Asked& asked);

// The members of Asked that both bodies hold alike.
[[nodiscard]] Asked asked_in(const Json& request, const Profile& profile);

// tool_choice and parallel_tool_calls, if the body has tools.
void add_tool_choice(Json& body, const Profile& profile, const Settings& settings);

// The members that settings and profile add, less those that the profile or its server refuses.
void finish_body(Json& body,
                 const Target& target,
                 const Settings& settings,
                 const Adaptation& adaptation);

// The error of an answer by another model than was asked for, where the profile makes it one.
[[nodiscard]] std::optional<WireError> wrong_model(const std::string& model, const Asked& asked);

// Adds a tool and the types of its parameters.
void add_offered(Offer& offer, const Json& function);

// Copies the members of the JSON object `extra_json`; members already in `body` win.
void add_extra(Json& body, const std::string& extra_json);

}  // namespace sweep::endpoint
