#pragma once

#include "problem/catalog.h"

#include <string>
#include <vector>

namespace sweep::cli {

// The page docs/catalogue.md: a table of each level with id, title, domain, slate, the timed shape
// that needs most by its work model, its floor at datasheet rates, and where the problem stands
// with admission; planned ones by their titles. Throws util::UsageError for a problem that cannot
// be read.
[[nodiscard]] std::string catalogue_markdown(const std::vector<const problem::Entry*>& entries);

}  // namespace sweep::cli
