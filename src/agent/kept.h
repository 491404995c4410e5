#pragma once

#include "endpoint/conversation.h"
#include "endpoint/json.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace sweep::agent {

// A text as trajectories hold it: over 64 KiB its head and tail. The artifacts have the whole.
[[nodiscard]] std::string bounded(const std::string& text);

// An endpoint's JSON with its members in the order of trajectories: by name.
[[nodiscard]] nlohmann::json plain(const endpoint::Json& ordered);

// Messages as a trajectory holds them. A turn names all that was sent, so a long text (over 16 KiB)
// stands where it came first and is named from there on; else a file would grow with the square of
// its turns. System prompt and task always stand, the artifacts of requests have everything whole.
class KeptMessages {
 public:
  // What was sent in `turn` (from 0). Of a turn that is sent twice the last counts.
  [[nodiscard]] nlohmann::json sent(const endpoint::Conversation& conversation, std::int64_t turn);
  // An answer as items of Responses.
  [[nodiscard]] nlohmann::json answer(const endpoint::Message& message, std::int64_t turn);

 private:
  std::string once(const std::string& text, std::int64_t turn);

  std::map<std::string, std::int64_t> first_;  // SHA-256 of a long text, and its turn
};

}  // namespace sweep::agent
