#pragma once

#include "endpoint/protocol.h"

#include <memory>

namespace sweep::endpoint {

// Assembler of `chat.completion.chunk` events. Tool-call deltas are told apart by id, then index,
// then by being last, since servers leave out or repeat either.
[[nodiscard]] std::unique_ptr<Assembler> make_chat_stream(const Asked& asked);

}  // namespace sweep::endpoint
