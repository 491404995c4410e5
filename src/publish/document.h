#pragma once

#include "publish/redact.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

// Files of a run without what is private.
namespace sweep::publish {

struct Cleaned {
  std::string bytes;
  Counts counts;          // empty: the bytes are the original's
  bool withheld = false;  // the bytes say so, and nothing of the original is left
};

// Of a JSON document each string and key is redacted, fields that hold a host, an endpoint or a
// GPU's UUID as a whole, headers of answers but for harmless ones, and below `heldout` the draws
// unless `reveal`. Other texts are redacted as they stand. A stream of events whose text holds
// something private only when it is put together is withheld. Untouched documents keep their bytes.
[[nodiscard]] Cleaned cleaned(std::string_view bytes, const Redactor& redactor, bool reveal);

// The same for one parsed document.
[[nodiscard]] nlohmann::json cleaned(const nlohmann::json& document,
                                     const Redactor& redactor,
                                     bool reveal,
                                     Counts& counts);

}  // namespace sweep::publish
