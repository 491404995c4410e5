#include "report/table.h"

#include "report/page.h"
#include "util/text.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace sweep::report {

namespace {

using record::Interval;

bool is_key(std::string_view text) {
  const auto word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && text.front() >= 'a' && text.front() <= 'z' &&
         std::all_of(text.begin(), text.end(), word);
}

bool fits(Type type, const Cell& cell) {
  switch (type) {
    case Type::text:
    case Type::instant:
      return std::holds_alternative<std::string>(cell.value);
    case Type::integer:
      return std::holds_alternative<std::int64_t>(cell.value);
    case Type::number:
      return std::holds_alternative<double>(cell.value);
    case Type::boolean:
      return std::holds_alternative<bool>(cell.value);
    case Type::interval:
      return std::holds_alternative<Interval>(cell.value);
  }
  return false;
}

bool is_numeric(Type type) {
  return type == Type::integer || type == Type::number || type == Type::interval;
}

std::string shown_number(Show show, double value) {
  switch (show) {
    case Show::ratio:
      return util::human_ratio(value);
    case Show::percent:
      return fmt::format("{:.0f}%", 100 * value);
    case Show::seconds:
      return util::human_seconds(value);
    case Show::micros:
      return util::human_seconds(value * 1e-6);
    case Show::dollars:
      return fmt::format("${:.4f}", value);
    case Show::count:
    case Show::bytes:
      // Beyond 2^53 and below zero there is no such count; the plain number says what is there.
      if (value >= 0 && value < 9007199254740992.0) {
        const auto whole = static_cast<std::uint64_t>(value);
        return show == Show::count ? util::human_count(whole) : util::human_bytes(whole);
      }
      break;
    case Show::plain:
      break;
  }
  return fmt::format("{:.4g}", value);
}

std::string shown_interval(Show show, const Interval& value) {
  if (show == Show::percent) {
    return fmt::format(
        "{:.0f}% [{:.0f}, {:.0f}]", 100 * value.point, 100 * value.low, 100 * value.high);
  }
  if (show == Show::ratio || show == Show::plain) {
    const auto [low, high] = util::human_bounds(value.low, value.high);
    return fmt::format("{} [{}, {}]", shown_number(show, value.point), low, high);
  }
  return fmt::format("{} [{}, {}]",
                     shown_number(show, value.point),
                     shown_number(show, value.low),
                     shown_number(show, value.high));
}

// What the script sorts by; empty: the text itself.
std::string sort_key_of(const Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell.value)) {
    return std::to_string(*whole);
  }
  if (const auto* real = std::get_if<double>(&cell.value)) {
    return fmt::format("{}", *real);
  }
  if (const auto* range = std::get_if<Interval>(&cell.value)) {
    return fmt::format("{}", range->point);
  }
  return {};
}

Markup cell_content(const Column& column, const Cell& cell, const HtmlOptions& options) {
  Markup out = text(shown(column, cell));
  const auto* none = std::get_if<Missing>(&cell.value);
  const std::string& note = cell.note.empty() && none != nullptr ? none->reason : cell.note;
  if (!cell.badge.empty()) {
    out = element("span", {{"class", "badge " + cell.badge}}, out);
  }
  if (!cell.page.empty()) {
    out = element("a", {{"href", relative(options.page, cell.page)}}, out);
  }
  return note.empty() ? out : element("span", {{"title", note}}, out);
}

Markup html_cell(const Column& column, const Cell& cell, const HtmlOptions& options, bool head) {
  const std::string_view tag = head ? "th" : "td";
  const std::string kind = is_numeric(column.type) ? "num" : "txt";
  const Markup inner = cell_content(column, cell, options);
  const std::string key = sort_key_of(cell);
  if (head) {
    return key.empty()
               ? element(tag, {{"scope", "row"}, {"class", kind}}, inner)
               : element(tag, {{"scope", "row"}, {"class", kind}, {"data-sort", key}}, inner);
  }
  return key.empty() ? element(tag, {{"class", kind}}, inner)
                     : element(tag, {{"class", kind}, {"data-sort", key}}, inner);
}

Markup html_head(const DataTable& table) {
  Markup head;
  for (const Column& column : table.columns()) {
    if (column.on_page) {
      head += element("th",
                      {{"scope", "col"},
                       {"class", is_numeric(column.type) ? "num" : "txt"},
                       {"data-key", column.key},
                       {"title", column.description}},
                      text(column.title));
    }
  }
  return element("thead", element("tr", head));
}

}  // namespace

Cell missing(std::string reason) {
  return {Missing{std::move(reason)}, {}, {}, {}, {}};
}

Cell cell(std::string_view text) {
  return {std::string(text), {}, {}, {}, {}};
}

Cell cell(const char* text) {
  return cell(std::string_view(text));
}

Cell cell(bool value) {
  return {value, {}, {}, {}, {}};
}

Cell cell(std::int64_t value) {
  return {value, {}, {}, {}, {}};
}

Cell cell(std::size_t value) {
  return cell(static_cast<std::int64_t>(value));
}

Cell cell(double value) {
  return {value, {}, {}, {}, {}};
}

Cell cell(const Interval& value) {
  return {value, {}, {}, {}, {}};
}

Cell cell(const std::optional<double>& value, std::string reason) {
  return value ? cell(*value) : missing(std::move(reason));
}

Cell cell(const std::optional<Interval>& value, std::string reason) {
  return value ? cell(*value) : missing(std::move(reason));
}

DataTable::DataTable(std::string name,
                     std::string title,
                     std::string description,
                     std::vector<Column> columns)
    : name_(std::move(name)),
      title_(std::move(title)),
      description_(std::move(description)),
      columns_(std::move(columns)) {
  std::set<std::string> keys = {"missing"};
  const bool good = is_key(name_) && !columns_.empty() &&
                    std::all_of(columns_.begin(), columns_.end(), [&](const Column& column) {
                      return is_key(column.key) && keys.insert(column.key).second;
                    });
  if (!good) {
    throw std::logic_error("table '" + name_ + "': a bad name, or a key that is bad or twice");
  }
}

void DataTable::add(std::vector<Cell> row) {
  if (row.size() != columns_.size()) {
    throw std::logic_error(
        fmt::format("table '{}': {} cells for {} columns", name_, row.size(), columns_.size()));
  }
  for (std::size_t i = 0; i < row.size(); ++i) {
    const auto* real = std::get_if<double>(&row[i].value);
    const auto* range = std::get_if<Interval>(&row[i].value);
    if ((real != nullptr && !std::isfinite(*real)) ||
        (range != nullptr && !(std::isfinite(range->point) && std::isfinite(range->low) &&
                               std::isfinite(range->high)))) {
      row[i] = missing("not a finite number");
    }
    if (!std::holds_alternative<Missing>(row[i].value) && !fits(columns_[i].type, row[i])) {
      throw std::logic_error("table '" + name_ + "': a cell of another type in '" +
                             columns_[i].key + "'");
    }
  }
  rows_.push_back(std::move(row));
}

std::string shown(const Column& column, const Cell& cell) {
  if (!cell.words.empty()) {
    return cell.words;
  }
  if (std::holds_alternative<Missing>(cell.value)) {
    return "\u2014";
  }
  if (const auto* words = std::get_if<std::string>(&cell.value)) {
    return *words;
  }
  if (const auto* truth = std::get_if<bool>(&cell.value)) {
    return *truth ? "yes" : "no";
  }
  if (const auto* whole = std::get_if<std::int64_t>(&cell.value)) {
    return column.show == Show::plain ? std::to_string(*whole)
                                      : shown_number(column.show, static_cast<double>(*whole));
  }
  if (const auto* range = std::get_if<Interval>(&cell.value)) {
    return shown_interval(column.show, *range);
  }
  return shown_number(column.show, std::get<double>(cell.value));
}

Markup html(const DataTable& table, const HtmlOptions& options) {
  Markup body;
  for (const auto& row : table.rows()) {
    Markup cells;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (table.columns()[i].on_page) {
        cells += html_cell(table.columns()[i], row[i], options, cells.empty());
      }
    }
    body += element("tr", cells);
  }
  Markup inner = options.caption ? element("caption", text(table.title())) : Markup{};
  inner += html_head(table) + element("tbody", body);
  return element("div",
                 {{"class", "scroll"}},
                 element("table",
                         {{"id", options.id.empty() ? table.name() : options.id},
                          {"class", "sortable"},
                          {"data-export", table.name()}},
                         inner));
}

}  // namespace sweep::report
