#include "report/figure.h"

#include <fmt/format.h>

namespace sweep::report {

Markup html(const Figure& figure, const std::string& page) {
  const std::string id = "fig-" + figure.name;
  Markup inner = element("figcaption",
                         {{"id", id + "-caption"}},
                         element("strong", text(figure.title)) + text(" ") + text(figure.caption));
  if (!figure.empty.empty()) {
    inner += element("p", {{"class", "nodata"}}, text("Nothing to draw: " + figure.empty + "."));
  }
  const std::size_t rows = figure.table.rows().size();
  if (rows > 0) {
    inner += element(
        "details",
        {{"id", id + "-table"}},
        element("summary", text(fmt::format("Table, {} row{}", rows, rows == 1 ? "" : "s"))) +
            html(figure.table, HtmlOptions{id + "-rows", page, false}));
  }
  if (figure.empty.empty()) {
    nlohmann::json data = figure.data;
    data["schema"] = 1;
    data["title"] = figure.title;
    data["caption"] = figure.caption;
    data["csv"] = csv(figure.table);
    inner += json_block(id + "-data",
                        data.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
  }
  return element("figure",
                 {{"class", "chart"},
                  {"id", id},
                  {"data-figure", figure.name},
                  {"aria-labelledby", id + "-caption"}},
                 inner);
}

}  // namespace sweep::report
