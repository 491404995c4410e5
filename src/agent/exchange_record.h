#pragma once

#include "endpoint/client.h"
#include "record/item_services.h"

#include <functional>
#include <string>

namespace sweep::agent {

// Stores every try of a request: the bodies as artifacts of their own and one artifact that names
// them with status, headers and times (docs/run_format.md). Returns its hash; empty without a try.
[[nodiscard]] std::string put_exchange(record::ItemServices& record,
                                       const endpoint::Exchange& exchange);

// The bytes of an artifact of that name.
using GetArtifact = std::function<std::string(const std::string& sha256)>;

// Reverses put_exchange. InfraError E_EXCHANGE_RECORD naming the field that is not as written
// there, E_JSON, or what `get` throws.
[[nodiscard]] endpoint::Exchange get_exchange(const GetArtifact& get, const std::string& sha256);

}  // namespace sweep::agent
