#pragma once

#include "endpoint/conversation.h"
#include "endpoint/json.h"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::endpoint {

struct ScriptCall {
  std::string tool;
  std::string arguments;  // JSON object
};

// What goes wrong before a turn is answered; the faults of a turn are played in order, one a try.
struct ScriptFault {
  int status = 0;           // answer with this status ...
  std::string retry_after;  // ... and this header, if not empty
  std::string body;         // ... and this body; empty: a JSON error
  double cut = 0;  // else: this share (0..1) of the answer's bytes, then the connection ends
};

struct ScriptTurn {
  std::string reasoning;
  std::string text;
  std::vector<ScriptCall> calls;
  std::vector<ScriptFault> faults;
  int delay_ms = 0;    // before the first byte
  int pace_ms = 0;     // between pieces of a stream
  std::string finish;  // overrides finish_reason
};

// What a model says about one problem ("*": any problem without a script of its own).
struct ScriptConversation {
  std::string problem;
  std::vector<ScriptTurn> turns;
};

struct Script {
  std::string model;
  std::string file;
  std::vector<ScriptConversation> conversations;
};

// All *.toml of `folder`, sorted by name; format in docs/scripts.md. Kernel files are looked for in
// the folder and may not leave it. util::UsageError E_SCRIPT_* with file, line and column.
[[nodiscard]] std::vector<Script> load_scripts(const std::filesystem::path& folder);

// A request of either format, as far as a script needs it.
struct ScriptRequest {
  std::string model;
  std::string text;      // of all user messages
  std::size_t turn = 0;  // assistant turns that the conversation already holds
  bool stream = false;
};

[[nodiscard]] ScriptRequest read_chat_request(const Json& body);
[[nodiscard]] ScriptRequest read_responses_request(const Json& body);

struct ScriptMiss {
  std::string why;  // for the client's error message
};

// The turn that is due, or why there is none.
[[nodiscard]] const ScriptTurn* find_turn(const std::vector<Script>& scripts,
                                          const ScriptRequest& request,
                                          ScriptMiss& miss);

// The answers in both formats, as one document or as a list of events of a stream.
struct AnswerContext {
  std::string model;
  std::size_t turn = 0;
  std::size_t request_bytes = 0;
};

[[nodiscard]] Json chat_document(const ScriptTurn& turn, const AnswerContext& context);
[[nodiscard]] std::vector<std::string> chat_events(const ScriptTurn& turn,
                                                   const AnswerContext& context);
[[nodiscard]] Json responses_document(const ScriptTurn& turn, const AnswerContext& context);
[[nodiscard]] std::vector<std::string> responses_events(const ScriptTurn& turn,
                                                        const AnswerContext& context);

}  // namespace sweep::endpoint
