// Tables as CSV, LaTeX and Markdown.
#include "report/table.h"
#include "util/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace sweep::report {

namespace {

// One code point of valid UTF-8 and its bytes in it.
struct CodePoint {
  char32_t code = 0;
  std::string_view bytes;
};

std::vector<CodePoint> code_points(std::string_view valid) {
  std::vector<CodePoint> out;
  for (std::size_t at = 0; at < valid.size();) {
    const auto lead = static_cast<unsigned char>(valid[at]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    char32_t code = length == 1 ? lead : lead & (0x7FU >> length);
    for (std::size_t i = 1; i < length; ++i) {
      code = code << 6U | (static_cast<unsigned char>(valid[at + i]) & 0x3FU);
    }
    out.push_back({code, valid.substr(at, length)});
    at += length;
  }
  return out;
}

// Marks that change the direction of what follows, and separators of lines that are no newline.
bool reorders(char32_t code) {
  return (code >= 0x200E && code <= 0x200F) || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0x061C || code == 0x2028 || code == 0x2029 ||
         code == 0x85;
}

// Valid UTF-8 with control characters and reordering marks spelt out.
std::string spelt_out(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; })) {
    return std::string(text);
  }
  const std::string valid = util::printable(text);
  std::string out;
  for (const CodePoint& point : code_points(valid)) {
    if (reorders(point.code)) {
      out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(point.code));
    } else if (point.code > 0x7F && point.code < 0xA0) {
      out += fmt::format("\\x{:02x}", static_cast<std::uint32_t>(point.code));
    } else {
      out += point.bytes;
    }
  }
  return out;
}

// As it stands in one line: line breaks and tabs are blanks.
std::string one_line(std::string_view text) {
  std::string out = spelt_out(text);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return out;
}

bool like_formula(std::string_view text) {
  if (text.starts_with('\'') || text.starts_with('\n')) {
    return true;
  }
  const std::size_t first = text.find_first_not_of(" \n\u00A0");
  if (first == std::string_view::npos) {
    return false;
  }
  constexpr std::array<std::string_view, 9> starts = {
      "=", "+", "-", "@", "\t", "\uFF1D", "\uFF0B", "\uFF0D", "\uFF20"};
  return std::any_of(starts.begin(), starts.end(), [&](std::string_view start) {
    return text.substr(first).starts_with(start);
  });
}

bool plain_field(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return c > 0x20 && c < 0x7F && c != ',' && c != ';' && c != '"';
  });
}

void append_csv_field(std::string& out, std::string_view text) {
  constexpr std::string_view cautious = "'=+-@";
  if (plain_field(text) &&
      (text.empty() || cautious.find(text.front()) == std::string_view::npos)) {
    out += text;
  } else {
    out += csv_field(text);
  }
}

void append_value(std::string& out, const Column& column, const Cell& cell) {
  const auto to = std::back_inserter(out);
  if (const auto* range = std::get_if<record::Interval>(&cell.value)) {
    fmt::format_to(to, "{},{},{}", range->point, range->low, range->high);
  } else if (const auto* words = std::get_if<std::string>(&cell.value)) {
    append_csv_field(out, *words);
  } else if (const auto* whole = std::get_if<std::int64_t>(&cell.value)) {
    fmt::format_to(to, "{}", *whole);
  } else if (const auto* real = std::get_if<double>(&cell.value)) {
    fmt::format_to(to, "{}", *real);
  } else if (const auto* truth = std::get_if<bool>(&cell.value)) {
    out += *truth ? "true" : "false";
  } else {
    out += column.type == Type::interval ? ",," : "";
  }
}

std::string reasons_of(const DataTable& table, const std::vector<Cell>& row) {
  std::string out;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (const auto* none = std::get_if<Missing>(&row[i].value)) {
      out += out.empty() ? "" : "; ";
      out += table.columns()[i].key;
      out += ": ";
      out += none->reason;
    }
  }
  return out;
}

// How often each reason stands in a column that people see: "speedup: not timed (3)".
std::vector<std::string> notes_of(const DataTable& table) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    std::map<std::string, std::size_t> count;
    for (const auto& row : table.rows()) {
      const auto* none = std::get_if<Missing>(&row[i].value);
      count[none == nullptr || !row[i].words.empty() ? std::string() : none->reason] += 1;
    }
    for (const auto& [reason, rows] : count) {
      if (!reason.empty() && table.columns()[i].on_page) {
        out.push_back(fmt::format("{}: {} ({})", table.columns()[i].title, reason, rows));
      }
    }
  }
  return out;
}

std::string joined_notes(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) {
    out += (out.empty() ? "" : "; ") + part;
  }
  return out;
}

std::string_view latex_ascii(char c) {
  switch (c) {
    case '\\':
      return "\\textbackslash{}";
    case '{':
      return "\\{";
    case '}':
      return "\\}";
    case '$':
      return "\\$";
    case '&':
      return "\\&";
    case '#':
      return "\\#";
    case '%':
      return "\\%";
    case '_':
      return "\\_";
    case '^':
      return "\\textasciicircum{}";
    case '~':
      return "\\textasciitilde{}";
    case '<':
      return "\\textless{}";
    case '>':
      return "\\textgreater{}";
    case '|':
      return "\\textbar{}";
    case '"':
      return "\\char34{}";
    case '\'':
      return "\\textquotesingle{}";
    case '`':
      return "\\textasciigrave{}";
    // In braces: after the end of a row these would be its options, and doubled a ligature.
    case '[':
      return "{[}";
    case '*':
      return "{*}";
    case '-':
      return "{-}";
    default:
      return {};
  }
}

std::string latex_wide(const CodePoint& point) {
  switch (point.code) {
    case 0xA0:
      return "~";
    case 0xB5:
    case 0x3BC:
      return "$\\mu$";
    case 0xB7:
      return "$\\cdot$";
    case 0xD7:
      return "$\\times$";
    case 0x2013:
      return "\\textendash{}";
    case 0x2014:
      return "\\textemdash{}";
    case 0x2026:
      return "\\ldots{}";
    case 0x2264:
      return "$\\le$";
    case 0x2265:
      return "$\\ge$";
    default:
      break;
  }
  // Letters that every encoding of the kernel sets; eth and thorn are not among them.
  const bool letter = point.code >= 0xC0 && point.code <= 0xFF && point.code != 0xD0 &&
                      point.code != 0xF0 && point.code != 0xDE && point.code != 0xFE &&
                      point.code != 0xF7;
  return letter ? std::string(point.bytes)
                : fmt::format("{{[}}U+{:04X}]", static_cast<std::uint32_t>(point.code));
}

std::vector<std::size_t> page_columns(const DataTable& table) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    if (table.columns()[i].on_page) {
      out.push_back(i);
    }
  }
  return out;
}

bool to_the_right(const Column& column) {
  return column.type == Type::integer || column.type == Type::number ||
         column.type == Type::interval;
}

}  // namespace

std::string csv_field(std::string_view text) {
  std::string clean = spelt_out(text);
  if (like_formula(clean)) {
    clean.insert(clean.begin(), '\'');
  }
  // Other separators are quoted too: some spreadsheets split at them.
  if (clean.find_first_of(",;\t\"\r\n") == std::string::npos) {
    return clean;
  }
  std::string out = "\"";
  for (const char c : clean) {
    out += c;
    out += c == '"' ? "\"" : "";
  }
  return out + "\"";
}

std::string csv_head(const DataTable& table) {
  std::string out;
  for (const Column& column : table.columns()) {
    out += column.key + ",";
    if (column.type == Type::interval) {
      out += column.key + "_low," + column.key + "_high,";
    }
  }
  return out + "missing\r\n";
}

std::string csv_rows(const DataTable& table) {
  std::string out;
  for (const auto& row : table.rows()) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      append_value(out, table.columns()[i], row[i]);
      out += ',';
    }
    append_csv_field(out, reasons_of(table, row));
    out += "\r\n";
  }
  return out;
}

std::string csv(const DataTable& table) {
  return csv_head(table) + csv_rows(table);
}

std::string latex_text(std::string_view text) {
  const std::string line = one_line(text);
  std::string out;
  for (const CodePoint& point : code_points(line)) {
    const std::string_view ascii =
        point.code < 0x80 ? latex_ascii(static_cast<char>(point.code)) : std::string_view{};
    out += point.code >= 0x80 ? latex_wide(point)
           : ascii.empty()    ? std::string(point.bytes)
                              : std::string(ascii);
  }
  return out;
}

std::string latex(const DataTable& table) {
  const auto columns = page_columns(table);
  std::string layout;
  std::string head;
  for (const std::size_t i : columns) {
    const Column& column = table.columns()[i];
    layout += to_the_right(column) ? 'r' : 'l';
    head += (head.empty() ? "" : " & ") + latex_text(column.title);
  }
  std::string out = "% needs \\usepackage{booktabs}\n\\begin{table}\n\\centering\n\\caption{" +
                    latex_text(table.title() + ". " + table.description()) +
                    "}\n\\label{tab:" + table.name() + "}\n\\begin{tabular}{" + layout +
                    "}\n\\toprule\n" + head + " \\\\\n\\midrule\n";
  for (const auto& row : table.rows()) {
    std::string line;
    for (const std::size_t i : columns) {
      line += (i == columns.front() ? "" : " & ") + latex_text(shown(table.columns()[i], row[i]));
    }
    out += line + " \\\\\n";
  }
  out += "\\bottomrule\n\\end{tabular}\n";
  const auto notes = notes_of(table);
  if (!notes.empty()) {
    out += "\n\\smallskip\\footnotesize " + latex_text(joined_notes(notes)) + "\n";
  }
  return out + "\\end{table}\n";
}

std::string markdown_text(std::string_view text) {
  // Each of these is written as itself after a backslash (CommonMark); "&" and "<" as entities,
  // for readers that take HTML first. A dot between letters would make a link of a host name.
  constexpr std::string_view active = "\\`*_{}[]#!|~:@>$";
  const auto letter = [](char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; };
  const std::string line = one_line(text);
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else {
      const bool link =
          c == '.' && i > 0 && i + 1 < line.size() && letter(line[i - 1]) && letter(line[i + 1]);
      out += link || active.find(c) != std::string_view::npos ? "\\" : "";
      out += c;
    }
  }
  return out;
}

std::string markdown(const DataTable& table) {
  const auto columns = page_columns(table);
  std::string head = "|";
  std::string rule = "|";
  for (const std::size_t i : columns) {
    head += " " + markdown_text(table.columns()[i].title) + " |";
    rule += to_the_right(table.columns()[i]) ? " ---: |" : " --- |";
  }
  std::string out = "**" + markdown_text(table.title()) + "**. " +
                    markdown_text(table.description()) + "\n\n" + head + "\n" + rule + "\n";
  for (const auto& row : table.rows()) {
    out += "|";
    for (const std::size_t i : columns) {
      out += " " + markdown_text(shown(table.columns()[i], row[i])) + " |";
    }
    out += "\n";
  }
  const auto notes = notes_of(table);
  return notes.empty() ? out : out + "\n" + markdown_text(joined_notes(notes)) + "\n";
}

}  // namespace sweep::report
