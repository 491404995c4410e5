#pragma once

#include "report/markup.h"
#include "report/row.h"

#include <string>
#include <vector>

namespace sweep::report {

// The figures that say something about these rows, under a heading; nothing where there are none.
[[nodiscard]] Markup figures_view(const std::vector<const Row*>& rows, const std::string& page);

}  // namespace sweep::report
