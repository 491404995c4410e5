#pragma once

#include "record/trajectory.h"
#include "report/markup.h"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sweep::report {

// A table as data: built once, written as HTML for a page and as CSV, JSON, LaTeX and Markdown for
// whoever takes it elsewhere. Texts of cells are hostile; each writer makes them harmless.

// Why a cell has no value: "not timed".
struct Missing {
  std::string reason;
};

// What the values of a column are. An interval is a point with its two ends.
enum class Type { text, integer, number, boolean, interval, instant };

// How a number is written for people; data files always have the plain value in the column's unit.
enum class Show {
  plain,    // at most four significant digits
  ratio,    // "1.52x"
  percent,  // a share of 1 as "53%"
  count,    // "1.23k"
  seconds,  // "2.40 s"; the value is in seconds
  micros,   // the same; the value is in microseconds
  dollars,  // "$0.0312"
  bytes,    // "1.50 KiB"
};

struct Column {
  std::string key;    // stable, [a-z][a-z0-9_]*: the name in CSV and JSON
  std::string title;  // head of the column on pages
  std::string
      unit;  // of the plain value: "s", "us", "usd", "seed time / kernel time"; may be empty
  Type type = Type::text;
  Show show = Show::plain;
  std::string description;  // one sentence for the schema
  bool on_page = true;      // false: in CSV and JSON only
};

struct Cell {
  std::variant<Missing, std::string, std::int64_t, double, bool, record::Interval> value;
  std::string words;  // shown to people in the value's place; empty: the value by Column::show
  std::string page;   // link on pages, relative to the report folder; empty: none
  std::string badge;  // class of a coloured label on pages ("faster"); empty: none
  std::string note;   // tooltip on pages; empty: none
};

[[nodiscard]] Cell missing(std::string reason);
[[nodiscard]] Cell cell(std::string_view text);
[[nodiscard]] Cell cell(const char* text);  // or a literal would be taken for a bool
[[nodiscard]] Cell cell(bool value);
[[nodiscard]] Cell cell(std::int64_t value);
[[nodiscard]] Cell cell(std::size_t value);
// Missing where the value is not finite.
[[nodiscard]] Cell cell(double value);
[[nodiscard]] Cell cell(const record::Interval& value);
// `reason` stands where there is no value.
[[nodiscard]] Cell cell(const std::optional<double>& value, std::string reason);
[[nodiscard]] Cell cell(const std::optional<record::Interval>& value, std::string reason);

// Columns, order and name are the schema, which does not depend on the rows.
class DataTable {
 public:
  // `name` is the stable file name, [a-z][a-z0-9_]*; keys are distinct and none is "missing".
  // std::logic_error otherwise.
  DataTable(std::string name,
            std::string title,
            std::string description,
            std::vector<Column> columns);

  // One cell a column, missing or of the column's type; std::logic_error otherwise. A number that
  // is not finite becomes missing.
  void add(std::vector<Cell> row);

  [[nodiscard]] const std::string& name() const { return name_; }

  [[nodiscard]] const std::string& title() const { return title_; }

  // One or two sentences: what a row is, and over what.
  [[nodiscard]] const std::string& description() const { return description_; }

  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }

  [[nodiscard]] const std::vector<std::vector<Cell>>& rows() const { return rows_; }

 private:
  std::string name_, title_, description_;
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// What a reader sees in a cell; an em dash where the value is missing.
[[nodiscard]] std::string shown(const Column& column, const Cell& cell);

struct HtmlOptions {
  std::string id;    // of the table; empty: its name
  std::string page;  // that it stands on, relative to the report folder: links start there
  bool caption = false;
};

// <table class="sortable" data-export=NAME> in a scrolling box. The first column heads its row. A
// missing value has its reason as a tooltip; numbers sort by their plain value.
[[nodiscard]] Markup html(const DataTable& table, const HtmlOptions& options);

// RFC 4180, UTF-8, a head line of keys, CRLF. An interval takes three fields, KEY, KEY_low and
// KEY_high. A missing value is an empty field, and the last field of the row, `missing`, has "key:
// reason" of each, separated by "; ". Numbers are shortest decimals that read back to the same
// value. Control characters are spelt \xNN, marks that reorder text \uNNNN. A text that a
// spreadsheet would take for a formula (= + - @, a tab or a line break in front, blanks before them
// not counted), or that begins with ', gets a ' in front.
[[nodiscard]] std::string csv(const DataTable& table);
[[nodiscard]] std::string csv_field(std::string_view text);

// csv() in two parts, so that a long table can be written piece by piece.
[[nodiscard]] std::string csv_head(const DataTable& table);
[[nodiscard]] std::string csv_rows(const DataTable& table);

// {"schema": 1, "table", "title", "description", "columns", "rows"}: one object a row by key; an
// interval is {"point", "low", "high"}; a missing value is null and the row's "missing" has its
// reason by key.
[[nodiscard]] nlohmann::json to_json(const DataTable& table);
[[nodiscard]] std::string json_text(const DataTable& table);

// json_text() in parts: the head up to the list of rows, the rows with ",\n" between them, and the
// tail from the list's end on. "\n" stands before the first row and "\n " after the last.
struct JsonFrame {
  std::string head, tail;
};

[[nodiscard]] JsonFrame json_frame(const DataTable& table);
[[nodiscard]] std::string json_rows(const DataTable& table);

// What describes the columns: {"title", "description", "columns": [{"key", "title", "unit", "type",
// "description", "csv"}]}, where csv are the names of its fields there.
[[nodiscard]] nlohmann::json schema_of(const DataTable& table);

// A tabular with booktabs' rules inside a table float, with what a reader sees; needs
// \usepackage{booktabs} and LaTeX of 2020 or later. All that LaTeX would act on is escaped;
// characters outside Latin-1 that are not known here become [U+XXXX].
[[nodiscard]] std::string latex(const DataTable& table);
[[nodiscard]] std::string latex_text(std::string_view text);

// A GitHub-flavoured table with what a reader sees; nothing in a cell is markup.
[[nodiscard]] std::string markdown(const DataTable& table);
[[nodiscard]] std::string markdown_text(std::string_view text);

}  // namespace sweep::report
