#pragma once

#include "profile/unavailable.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace sweep::profile {

// First part of an opcode ("HGMMA") -> threads that executed it with its predicate true, summed
// over all profiled launches.
using ExecutedOpcodes = std::map<std::string, double, std::less<>>;

// Reads `ncu --import F --csv --page source --print-source sass`: for each kernel a row with its
// name, a row of column names, a row for each instruction. Takes any text; one without such a table
// is Unavailable.
[[nodiscard]] Result<ExecutedOpcodes> parse_ncu_source(std::string_view text);

}  // namespace sweep::profile
