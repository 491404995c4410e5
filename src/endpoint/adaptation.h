#pragma once

#include "endpoint/client.h"
#include "endpoint/failure.h"
#include "endpoint/json.h"

#include <optional>
#include <set>
#include <string>

namespace sweep::endpoint {

// What this target turned out not to take; learnt from its 400s and kept for the endpoint's life.
struct Adaptation {
  std::set<std::string> dropped;  // parameters left out: "stream_options", "temperature", ...
  std::optional<TokenField> token_field;      // in place of the profile's
  std::optional<EmptyContent> empty_content;  // in place of the profile's
};

// An answer of status 400 or 422 that names a parameter of the request `body` as one it does not
// take: from now on it is left out or goes by its other name. Each at most once; with the profile's
// strict_params never. True: the same conversation may be sent again.
[[nodiscard]] bool learn(Adaptation& adaptation,
                         int status,
                         const WireError& error,
                         const Json& body,
                         const Profile& profile);

// Flags of what was learnt and of settings that the profile withholds ("param_dropped:temperature",
// "param_renamed:max_tokens"): both change what is measured.
void flag_changes(const Adaptation& adaptation,
                  const Profile& profile,
                  const Settings& settings,
                  Completion& completion);

// Keys out of the texts, estimated usage where none came, flags for a surprising model.
void finish_completion(Completion& completion, const Target& target, std::size_t request_bytes);

}  // namespace sweep::endpoint
