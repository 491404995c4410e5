#pragma once

#include "cli/style.h"
#include "queue/status.h"

#include <string>

namespace sweep::cli {

// `sweep status` for a terminal of `width` columns; 0: no limit. `now`: UTC seconds, for how long
// ago things were. Texts of the run are made printable.
[[nodiscard]] std::string status_text(const queue::RunStatus& status,
                                      const record::RunDir& run,
                                      double now,
                                      const Style& style,
                                      std::size_t width);

}  // namespace sweep::cli
