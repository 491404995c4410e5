// The one-file summary of a run.
#include "embedded_report_assets.h"
#include "report/exports.h"
#include "report/page.h"
#include "report/summary.h"
#include "stats/resample.h"
#include "util/sha256.h"
#include "util/text.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <strings.h>

namespace sweep::report {

namespace {

// Rows of the largest table that the page takes; the data files have all of them.
constexpr std::size_t kMostRows = 1000;

std::string base64_of(const util::Digest& digest) {
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t at = 0; at < digest.size(); at += 3) {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bits =
          bits << 8U | (at + i < digest.size() ? static_cast<std::uint32_t>(digest[at + i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      out += at + i <= digest.size() ? letters[bits >> (18U - 6U * i) & 63U] : '=';
    }
  }
  return out;
}

std::string embedded_asset(std::string_view name) {
  for (const embedded::File& file : embedded::report_assets()) {
    if (file.name == name) {
      return std::string(file.text);
    }
  }
  return {};
}

// A script in which nothing ends its element. Only strings and expressions can hold what does, and
// both take the escapes; a lone "</" may be code: the end of /</.
std::string inert_script(std::string script) {
  constexpr const char* end = "</script";
  for (std::size_t at = 0; (at = script.find("</", at)) != std::string::npos; at += 2) {
    if (::strncasecmp(script.c_str() + at, end, std::strlen(end)) == 0) {
      script.replace(at, 2, "<\\/");
    }
  }
  for (std::size_t at = 0; (at = script.find("<!--", at)) != std::string::npos; at += 4) {
    script.replace(at, 4, "<\\x21--");
  }
  return script;
}

// The page stands alone: a link to a page of the report would lead nowhere.
DataTable without_links(const DataTable& table, std::size_t most) {
  DataTable out(table.name(), table.title(), table.description(), table.columns());
  for (std::size_t i = 0; i < std::min(most, table.rows().size()); ++i) {
    std::vector<Cell> row = table.rows()[i];
    for (Cell& cell : row) {
      cell.page.clear();
    }
    out.add(std::move(row));
  }
  return out;
}

// `rows`: of the whole table, of which the first are given.
Markup table_section(const DataTable& table, std::size_t rows) {
  Markup out = element("h2", text(table.title())) +
               element("p", {{"class", "meta"}}, text(table.description()));
  if (table.rows().empty()) {
    return out + element("p", text("None."));
  }
  out += html(without_links(table, kMostRows), {"", "summary.html", false});
  if (rows > kMostRows) {
    out += element(
        "p",
        {{"class", "meta"}},
        text(fmt::format(
            "The first {} of {} rows; {}.csv has all of them.", kMostRows, rows, table.name())));
  }
  return out;
}

Markup whole_section(const DataTable& table) {
  return table_section(table, table.rows().size());
}

Markup summary_cards(const RowPointers& rows) {
  std::size_t finished = 0;
  std::size_t correct = 0;
  std::size_t faster = 0;
  for (const Row* row : rows) {
    finished += row->finished() ? 1U : 0U;
    correct += counts(*row) && row->outcome == "correct" ? 1U : 0U;
    faster += counts(*row) && row->verdict == "PASS_FASTER" ? 1U : 0U;
  }
  return element("div",
                 {{"class", "cards"}},
                 card(fmt::format("{} / {}", finished, rows.size()), "items finished") +
                     card(std::to_string(correct), "correct") +
                     card(std::to_string(faster), "judged faster than the seed"));
}

Markup summary_citation(const Source& source) {
  std::string words = fmt::format("sweep {}, run {}", source.version, source.run);
  words += source.as_of.empty() ? "" : ", state of " + source.as_of;
  words +=
      source.ledger_head.empty()
          ? std::string(".")
          : fmt::format(". Ledger of {} rows, head {}.", source.ledger_rows, source.ledger_head);
  return element("h2", text("Cite")) + element("p", element("code", text(words)));
}

}  // namespace

std::string meaning(const Source& source, const RowPointers& rows) {
  std::int64_t attempts = 1;
  stats::Numbering problems;
  for (const Row* row : rows) {
    attempts = std::max(attempts, row->attempt);
    (void)problems.of(row->variant + "/" + row->problem);
  }
  std::string out = fmt::format(
      "Speedup is the time of the problem's seed kernel over the time of the kernel, timed side by "
      "side in one session{}; intervals are 95%. {} problem{}, {} item{}, at most {} attempt{} "
      "each.",
      source.device.empty() ? "" : " on " + source.device,
      problems.size(),
      problems.size() == 1 ? "" : "s",
      rows.size(),
      rows.size() == 1 ? "" : "s",
      attempts,
      attempts == 1 ? "" : "s");
  out += source.on_cpu ? " Times of the cpu device are no GPU times." : "";
  out +=
      source.scripted ? " Some models are scripts: their numbers say nothing about a model." : "";
  return out;
}

std::string summary_page(const Source& source, const RowPointers& rows) {
  const std::string style = embedded_asset("report.css");
  const std::string script = inert_script(embedded_asset("report.js"));
  const std::string policy = fmt::format(
      "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}' 'unsafe-inline'; img-src "
      "data:; base-uri 'none'; form-action 'none'",
      base64_of(util::sha256(script)),
      base64_of(util::sha256(style)));
  const Markup head =
      void_element("meta", {{"charset", "utf-8"}}) +
      void_element("meta",
                   {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}}) +
      void_element("meta", {{"http-equiv", "Content-Security-Policy"}, {"content", policy}}) +
      element("title", text("Results \u00b7 " + source.run));
  const RowPointers first(
      rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(std::min(rows.size(), kMostRows)));
  const Markup body =
      element("main",
              {{"id", "main"}},
              element("h1", text(source.run)) + element("p", text(meaning(source, rows))) +
                  summary_cards(rows) + whole_section(models_table(rows)) +
                  whole_section(problems_table(rows)) +
                  table_section(items_table(first), rows.size()) +
                  whole_section(failures_table(rows)) + summary_citation(source)) +
      element("footer", element("p", text("evaluation-only/do-not-train.")));
  return "<!doctype html>\n<html lang=\"en\"><head>" + head.html() + "<style>" + style +
         "</style></head><body data-refresh=\"0\">" + body.html() + "<script>" + script +
         "</script></body></html>\n";
}

}  // namespace sweep::report
