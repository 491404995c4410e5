#pragma once

#include "report/markup.h"
#include "report/row.h"

#include <functional>
#include <string>
#include <vector>

namespace sweep::report {

using RowList = std::vector<const Row*>;

// Tables as pages show them, with links and filters; report/data has the same facts with every
// column. `page` is the page that they stand on.

// One row an item, at most kMostItems, in the order given; more are named as left out. With
// `filters` above it a reader chooses by outcome, model, level, domain and words.
inline constexpr std::size_t kMostItems = 2000;
[[nodiscard]] Markup items_view(const RowList& rows, const std::string& page, bool filters);

// One row a group of the rows: what `key` gives, in order of first appearance. `link` is the
// group's page, or empty. `word` heads the first column ("model").
struct GroupView {
  std::string name;  // stable name of the table: "models"
  std::string word;
  std::function<std::string(const Row&)> key;
  std::function<std::string(const std::string&)> link;
};

[[nodiscard]] Markup groups_view(const RowList& rows,
                                 const GroupView& view,
                                 const std::string& page);

[[nodiscard]] GroupView by_models();
[[nodiscard]] GroupView by_problems();
[[nodiscard]] GroupView by_levels();
[[nodiscard]] GroupView by_variants();
[[nodiscard]] GroupView by_domains();

// Rows by what `key` gives, in order of first appearance.
struct RowGroup {
  std::string name;
  RowList rows;
};

[[nodiscard]] std::vector<RowGroup> grouped(const RowList& rows,
                                            const std::function<std::string(const Row&)>& key);

}  // namespace sweep::report
