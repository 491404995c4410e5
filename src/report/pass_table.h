#pragma once

#include "report/figure_rows.h"
#include "report/markup.h"

#include <string>

namespace sweep::report {

// "pass_at_k": one row a model (and harness and variant, where there are several) and k: the chance
// that at least one of k attempts at a problem is correct, with a bootstrap over problems. k goes
// from 1 over powers of two to the most attempts that a problem has. Where attempts are not
// independent of each other, or fewer than k, there is no value, and `why` says so.
[[nodiscard]] DataTable pass_table(const Rows& rows);

// The same with a heading, for `page`; nothing where nothing was judged.
[[nodiscard]] Markup pass_view(const Rows& rows, const std::string& page);

}  // namespace sweep::report
