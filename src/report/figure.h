#pragma once

#include "report/markup.h"
#include "report/table.h"

#include <nlohmann/json.hpp>

#include <string>

namespace sweep::report {

// A figure as data. The page's script draws it; without the script the table says the same.
// A figure's data are aggregated before they reach it, so that 10,000 rows make no larger page
// than 100.
struct Figure {
  std::string name;     // [a-z_]+; names the script's drawing and, on a page, id "fig-NAME"
  std::string title;    // a few words
  std::string caption;  // what is shown, n, interval, what failures do
  std::string empty;    // why there is nothing to draw; empty: there is something
  nlohmann::json data;  // what the script draws; "schema" and "csv" are added by html()
  DataTable table;      // the same numbers; also what "CSV" downloads
};

// <figure class="chart" id="fig-NAME" data-figure="NAME"> with caption, folded table, and the data
// in <script type="application/json" id="fig-NAME-data">. `page` is where it stands, relative to
// the report folder. A page has each figure once.
[[nodiscard]] Markup html(const Figure& figure, const std::string& page);

}  // namespace sweep::report
