// Tables as JSON.
#include "report/table.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <numeric>

#include <fmt/format.h>

namespace sweep::report {

namespace {

using record::Interval;

std::string_view type_name(Type type) {
  switch (type) {
    case Type::text:
      return "text";
    case Type::integer:
      return "integer";
    case Type::number:
      return "number";
    case Type::boolean:
      return "boolean";
    case Type::interval:
      return "interval";
    case Type::instant:
      return "instant";
  }
  return "";
}

nlohmann::json columns_json(const DataTable& table) {
  nlohmann::json columns = nlohmann::json::array();
  for (const Column& column : table.columns()) {
    nlohmann::json fields = {column.key};
    if (column.type == Type::interval) {
      fields = {column.key, column.key + "_low", column.key + "_high"};
    }
    columns.push_back({{"key", column.key},
                       {"title", column.title},
                       {"unit", column.unit},
                       {"type", type_name(column.type)},
                       {"description", column.description},
                       {"csv", std::move(fields)}});
  }
  return columns;
}

// As "\u202e"; beyond the first plane as two of them.
void append_escape(std::string& out, std::uint32_t code) {
  const auto unit = [&](std::uint32_t value) {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", value);
  };
  if (code < 0x10000) {
    unit(code);
  } else {
    unit(0xD7C0 + (code >> 10U));
    unit(0xDC00 + (code & 0x3FFU));
  }
}

void append_ascii(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      break;
    case '\\':
      out += "\\\\";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\t':
      out += "\\t";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\b':
      out += "\\b";
      break;
    case '\f':
      out += "\\f";
      break;
    default:
      append_escape(out, static_cast<unsigned char>(c));
  }
}

bool stands_as_it_is(char c) {
  return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
}

// A JSON text in ASCII. What is not valid UTF-8 becomes U+FFFD.
void append_json(std::string& out, std::string_view text) {
  out += '"';
  const auto plain_end = std::find_if_not(text.begin(), text.end(), stands_as_it_is);
  out.append(text.begin(), plain_end);
  if (plain_end != text.end()) {
    const std::string valid =
        util::to_valid_utf8(text.substr(static_cast<std::size_t>(plain_end - text.begin())));
    for (std::size_t at = 0; at < valid.size();) {
      const auto lead = static_cast<unsigned char>(valid[at]);
      const std::size_t bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
      if (stands_as_it_is(valid[at])) {
        out += valid[at];
      } else if (bytes == 1) {
        append_ascii(out, valid[at]);
      } else {
        std::uint32_t code = lead & (0x7FU >> bytes);
        for (std::size_t i = 1; i < bytes; ++i) {
          code = code << 6U | (static_cast<unsigned char>(valid[at + i]) & 0x3FU);
        }
        append_escape(out, code);
      }
      at += bytes;
    }
  }
  out += '"';
}

// The shortest decimal that reads back to the same number, and as no integer.
void append_json(std::string& out, double value) {
  const std::size_t before = out.size();
  fmt::format_to(std::back_inserter(out), "{}", value);
  if (out.find_first_not_of("-0123456789", before) == std::string::npos) {
    out += ".0";
  }
}

constexpr std::string_view kInRow = "\n   ";
constexpr std::string_view kInMember = "\n    ";

void append_json(std::string& out, const Interval& value) {
  const auto bound = [&](std::string_view key, double number) {
    out += kInMember;
    out += key;
    append_json(out, number);
  };
  out += '{';
  bound("\"high\": ", value.high);
  out += ',';
  bound("\"low\": ", value.low);
  out += ',';
  bound("\"point\": ", value.point);
  out += kInRow;
  out += '}';
}

void append_json(std::string& out, const Cell& cell) {
  std::visit(
      [&](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, Missing>) {
          out += "null";
        } else if constexpr (std::is_same_v<T, bool>) {
          out += value ? "true" : "false";
        } else if constexpr (std::is_same_v<T, std::int64_t>) {
          fmt::format_to(std::back_inserter(out), "{}", value);
        } else if constexpr (std::is_same_v<T, std::string>) {
          append_json(out, std::string_view(value));
        } else {
          append_json(out, value);
        }
      },
      cell.value);
}

// The columns' places by key, as an object has its members; a table's size stands for "missing".
std::vector<std::size_t> member_order(const DataTable& table) {
  std::vector<std::size_t> order(table.columns().size() + 1);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t i) {
    return i < table.columns().size() ? std::string_view(table.columns()[i].key) : "missing";
  };
  std::sort(
      order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

void append_reasons(std::string& out,
                    const DataTable& table,
                    const std::vector<Cell>& row,
                    const std::vector<std::size_t>& order) {
  out += "\"missing\": {";
  bool any = false;
  for (const std::size_t i : order) {
    const auto* none = i < row.size() ? std::get_if<Missing>(&row[i].value) : nullptr;
    if (none != nullptr) {
      out += any ? "," : "";
      out += kInMember;
      append_json(out, std::string_view(table.columns()[i].key));
      out += ": ";
      append_json(out, std::string_view(none->reason));
      any = true;
    }
  }
  out += any ? kInRow : "";
  out += '}';
}

void append_row(std::string& out,
                const DataTable& table,
                const std::vector<Cell>& row,
                const std::vector<std::size_t>& order) {
  out += "  {";
  for (const std::size_t i : order) {
    out += i == order.front() ? "" : ",";
    out += kInRow;
    if (i == row.size()) {
      append_reasons(out, table, row, order);
    } else {
      append_json(out, std::string_view(table.columns()[i].key));
      out += ": ";
      append_json(out, row[i]);
    }
  }
  out += "\n  }";
}

}  // namespace

// ASCII: no mark that reorders text and no line separator reaches a reader raw.
std::string json_rows(const DataTable& table) {
  const std::vector<std::size_t> order = member_order(table);
  std::string out;
  for (const auto& row : table.rows()) {
    out += out.empty() ? "" : ",\n";
    append_row(out, table, row, order);
  }
  return out;
}

JsonFrame json_frame(const DataTable& table) {
  const nlohmann::json empty = {{"schema", 1},
                                {"table", table.name()},
                                {"title", table.title()},
                                {"description", table.description()},
                                {"columns", columns_json(table)},
                                {"rows", nlohmann::json::array()}};
  const std::string whole =
      empty.dump(1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
  // Between quotes inside a text there would be backslashes.
  constexpr std::string_view rows = "\n \"rows\": [";
  const std::size_t end = whole.find(rows) + rows.size();
  return {whole.substr(0, end), whole.substr(end)};
}

std::string json_text(const DataTable& table) {
  const JsonFrame frame = json_frame(table);
  return frame.head + (table.rows().empty() ? "" : "\n" + json_rows(table) + "\n ") + frame.tail;
}

nlohmann::json to_json(const DataTable& table) {
  return nlohmann::json::parse(json_text(table));
}

nlohmann::json schema_of(const DataTable& table) {
  return {{"title", table.title()},
          {"description", table.description()},
          {"columns", columns_json(table)}};
}

}  // namespace sweep::report
