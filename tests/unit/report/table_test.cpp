#include "report/table.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>

namespace sweep::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using Fields = std::vector<std::string>;

// A reader of RFC 4180 that knows nothing of the writer; throws where the text is no such file.
std::vector<Fields> read_csv(const std::string& text) {
  std::vector<Fields> lines(1);
  lines.back().emplace_back();
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '"') {
      for (++at;; ++at) {
        if (at >= text.size()) {
          throw std::runtime_error("a quoted field does not end");
        }
        if (text[at] == '"' && at + 1 < text.size() && text[at + 1] == '"') {
          ++at;
        } else if (text[at] == '"') {
          break;
        }
        lines.back().back() += text[at];
      }
      ++at;
    } else {
      while (at < text.size() && text[at] != ',' && text[at] != '\r') {
        if (text[at] == '"' || text[at] == '\n') {
          throw std::runtime_error("a bare quote or newline in a plain field");
        }
        lines.back().back() += text[at++];
      }
    }
    if (at < text.size() && text[at] == ',') {
      lines.back().emplace_back();
    } else if (text.compare(at, 2, "\r\n") == 0) {
      lines.emplace_back(1, std::string());
      ++at;
    } else {
      throw std::runtime_error("a field does not end in a comma or CRLF");
    }
    ++at;
  }
  lines.pop_back();
  return lines;
}

// Two texts, of which the first heads its row, and one of each other type.
DataTable sample(const std::string& first, const std::string& second) {
  DataTable table("results",
                  "Results",
                  "One row an item.",
                  {{"model", "model", "", Type::text, Show::plain, "The model.", true},
                   {"why", "why", "", Type::text, Show::plain, "Why.", true},
                   {"turns", "turns", "", Type::integer, Show::count, "Turns.", true},
                   {"share", "share", "1", Type::number, Show::percent, "A share.", true},
                   {"ok", "ok", "", Type::boolean, Show::plain, "Whether.", true},
                   {"speedup", "speedup", "1", Type::interval, Show::ratio, "Speedup.", true},
                   {"hash", "hash", "", Type::text, Show::plain, "A hash.", false}});
  table.add({cell(first),
             cell(second),
             cell(std::int64_t{1500}),
             cell(0.25),
             cell(true),
             cell(record::Interval{1.5, 1.4, 1.6}),
             cell("abc")});
  table.add({cell("second"),
             missing("none was handed in"),
             cell(std::int64_t{-3}),
             cell(std::numeric_limits<double>::quiet_NaN()),
             cell(false),
             missing("not timed"),
             cell("def")});
  return table;
}

TEST(Table, RefusesAWrongSchema) {
  const auto column = [](const std::string& key) {
    return Column{key, key, "", Type::text, Show::plain, "", true};
  };
  EXPECT_THROW(DataTable("Results", "", "", {column("a")}), std::logic_error);
  EXPECT_THROW(DataTable("../a", "", "", {column("a")}), std::logic_error);
  EXPECT_THROW(DataTable("a", "", "", {}), std::logic_error);
  EXPECT_THROW(DataTable("a", "", "", {column("b"), column("b")}), std::logic_error);
  EXPECT_THROW(DataTable("a", "", "", {column("missing")}), std::logic_error);
  DataTable table("a", "", "", {column("b")});
  EXPECT_THROW(table.add({}), std::logic_error);
  EXPECT_THROW(table.add({cell(std::int64_t{1})}), std::logic_error);
  table.add({missing("none")});
  EXPECT_EQ(table.rows().size(), 1U);
}

TEST(Table, IsWrittenAsCsv) {
  EXPECT_EQ(csv(sample("m", "a, \"b\"\nc")),
            "model,why,turns,share,ok,speedup,speedup_low,speedup_high,hash,missing\r\n"
            "m,\"a, \"\"b\"\"\nc\",1500,0.25,true,1.5,1.4,1.6,abc,\r\n"
            "second,,-3,,false,,,,def,\"why: none was handed in; share: not a finite number; "
            "speedup: not timed\"\r\n");
}

TEST(Table, MakesFormulasTextsInCsv) {
  for (const char* text : {"=1+1",
                           "+1",
                           "-1",
                           "@SUM(A1)",
                           "\t=1",
                           " =1",
                           "'x",
                           "\n=1",
                           " \n=1",
                           "\uFF1D1",
                           "\u00A0=1"}) {
    const Fields fields = read_csv(csv_field(text) + "\r\n").at(0);
    EXPECT_EQ(fields.at(0), "'" + std::string(text));
  }
  EXPECT_EQ(csv_field("\r=1"), "\\x0d=1");
  EXPECT_EQ(csv_field("a=1"), "a=1");
  // Numbers are typed and stay numbers.
  EXPECT_THAT(csv(sample("m", "w")), HasSubstr(",-3,"));
}

TEST(Table, SpellsOutMarksThatReorderText) {
  EXPECT_EQ(csv_field("a\u202Eb\u2066c\u200Fd\u0085e"), "a\\u202eb\\u2066c\\u200fd\\u0085e");
  EXPECT_EQ(csv_field(std::string("a\x01\x00\x7F"
                                  "b",
                                  5)),
            "a\\x01\\x00\\x7fb");
  EXPECT_EQ(csv_field("\xC2\x9B"
                      "31m"),
            "\\x9b31m");
  EXPECT_THAT(json_text(sample("a\u202Eb", "")), HasSubstr("a\\u202eb"));
  EXPECT_THAT(latex_text("a\u202Eb"), HasSubstr("\\textbackslash{}u202e"));
  EXPECT_THAT(markdown_text("a\u202Eb"), HasSubstr("a\\\\u202eb"));
}

TEST(Table, IsWrittenAsJsonWithReasons) {
  const nlohmann::json json = nlohmann::json::parse(json_text(sample("m", "w")));
  EXPECT_EQ(json.at("schema"), 1);
  EXPECT_EQ(json.at("table"), "results");
  const auto& rows = json.at("rows");
  EXPECT_EQ(rows[0]["speedup"]["low"], 1.4);
  EXPECT_EQ(rows[0]["missing"], nlohmann::json::object());
  EXPECT_TRUE(rows[1]["share"].is_null());
  EXPECT_EQ(rows[1]["missing"]["speedup"], "not timed");
  EXPECT_EQ(json.at("columns")[5]["csv"],
            nlohmann::json({"speedup", "speedup_low", "speedup_high"}));
  EXPECT_EQ(json.at("columns"), schema_of(sample("", "")).at("columns"));
}

TEST(Table, IsWrittenAsHtml) {
  DataTable table = sample("<b>m</b>", "w");
  Cell linked = cell("a");
  linked.page = "m/a.html";
  linked.badge = "faster";
  table.add({linked,
             cell("w"),
             cell(std::int64_t{1}),
             cell(0.5),
             cell(true),
             missing("not \"timed\""),
             cell("x")});
  const std::string out = html(table, {"", "t/x/page.html", true}).html();
  EXPECT_THAT(out, HasSubstr("<table id=\"results\" class=\"sortable\" data-export=\"results\">"));
  EXPECT_THAT(out, HasSubstr("<caption>Results</caption>"));
  EXPECT_THAT(out, HasSubstr("&lt;b&gt;m&lt;/b&gt;"));
  EXPECT_THAT(out, HasSubstr("<a href=\"../../m/a.html\"><span class=\"badge faster\">a</span>"));
  EXPECT_THAT(out, HasSubstr("data-sort=\"1500\">1.50k<"));
  EXPECT_THAT(out, HasSubstr("data-sort=\"1.5\">1.50x [1.40, 1.60]<"));
  EXPECT_THAT(out, HasSubstr("<span title=\"not timed\">\u2014</span>"));
  EXPECT_THAT(out, HasSubstr("title=\"not &quot;timed&quot;\""));
  EXPECT_THAT(out, Not(HasSubstr("abc")));  // for data files only
}

TEST(Table, IsWrittenAsLatex) {
  const std::string out =
      latex(sample("a_b & c%", "{x} \\y $z$ ~ ^ # [1] *2 -- <q> | \"r\" 's' `t`"));
  EXPECT_THAT(out, HasSubstr("\\begin{tabular}{llrrlr}\n\\toprule\n"));
  EXPECT_THAT(out,
              HasSubstr("a\\_b \\& c\\% & \\{x\\} \\textbackslash{}y \\$z\\$ \\textasciitilde{} "
                        "\\textasciicircum{} \\# {[}1] {*}2 {-}{-} \\textless{}q\\textgreater{} "
                        "\\textbar{} \\char34{}r\\char34{} \\textquotesingle{}s"));
  EXPECT_THAT(out, HasSubstr("25\\% & yes & 1.50x {[}1.40, 1.60] \\\\\n"));
  EXPECT_THAT(out, HasSubstr("speedup: not timed (1)"));
  EXPECT_EQ(latex_text("\u00FC \u00B5s \u4F60\u00D0"), "\u00FC $\\mu$s {[}U+4F60]{[}U+00D0]");
}

TEST(Table, IsWrittenAsMarkdown) {
  const std::string out = markdown(sample("a|b", "[x](http://e.com) <img> `c` *d*\n| e"));
  EXPECT_THAT(out,
              HasSubstr("| model | why | turns | share | ok | speedup |\n"
                        "| --- | --- | ---: | ---: | --- | ---: |\n"));
  EXPECT_THAT(
      out,
      HasSubstr("| a\\|b | \\[x\\](http\\://e\\.com) &lt;img\\> \\`c\\` \\*d\\* \\| e | 1.50k |"));
}

// Texts made of what any of the writers could trip over.
std::string hostile(std::mt19937& random) {
  static const std::vector<std::string> parts = {"\"",
                                                 ",",
                                                 ";",
                                                 "\r",
                                                 "\n",
                                                 "\t",
                                                 "=",
                                                 "+",
                                                 "-",
                                                 "@",
                                                 "'",
                                                 "\\",
                                                 "{",
                                                 "}",
                                                 "$",
                                                 "&",
                                                 "#",
                                                 "%",
                                                 "_",
                                                 "^",
                                                 "~",
                                                 "<",
                                                 ">",
                                                 "|",
                                                 "[",
                                                 "]",
                                                 "*",
                                                 "`",
                                                 "\\end{tabular}",
                                                 "</table>",
                                                 "<script>",
                                                 "]]>",
                                                 "\u202E",
                                                 "\xFF",
                                                 "\xED\xA0\x80",
                                                 std::string(1, '\0'),
                                                 "\x1B[31m",
                                                 "a",
                                                 "1",
                                                 " ",
                                                 "\u4F60",
                                                 "www.example.com",
                                                 "http://e.com",
                                                 "\\\\",
                                                 "--",
                                                 "\u2028",
                                                 "\uFF1D"};
  std::string out;
  for (std::size_t left = random() % 12; left > 0; --left) {
    out += random() % 8 == 0 ? std::string(1, static_cast<char>(random() % 256))
                             : parts[random() % parts.size()];
  }
  return out;
}

// The LaTeX of a text, as far as it acts: none but these commands, braces in pairs, no bare
// special.
bool harmless_latex(const std::string& text) {
  static const std::set<std::string> known = {"textbackslash",
                                              "textasciicircum",
                                              "textasciitilde",
                                              "textless",
                                              "textgreater",
                                              "textbar",
                                              "char",
                                              "textquotesingle",
                                              "textasciigrave",
                                              "textendash",
                                              "textemdash",
                                              "ldots",
                                              "mu",
                                              "cdot",
                                              "times",
                                              "le",
                                              "ge"};
  int depth = 0;
  int maths = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      std::string command;
      while (i + 1 < text.size() && std::isalpha(static_cast<unsigned char>(text[i + 1])) != 0) {
        command += text[++i];
      }
      if (command.empty() ? i + 1 >= text.size() || std::string_view("{}$&#%_").find(text[++i]) ==
                                                        std::string_view::npos
                          : !known.contains(command)) {
        return false;
      }
    } else if (text[i] == '{' || text[i] == '}') {
      depth += text[i] == '{' ? 1 : -1;
    } else if (text[i] == '$') {
      ++maths;
    } else if (text[i] == '[' || text[i] == '*') {
      if (i == 0 || text[i - 1] != '{') {
        return false;
      }
    } else if (std::string_view("&#%_^<>|\"`\n\r").find(text[i]) != std::string_view::npos ||
               static_cast<unsigned char>(text[i]) < 0x20) {
      return false;
    }
    if (depth < 0) {
      return false;
    }
  }
  return depth == 0 && maths % 2 == 0;
}

// Cells of a Markdown row, split at bars that no backslash takes the meaning of.
std::size_t markdown_cells(const std::string& line) {
  std::size_t bars = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\') {
      ++i;
    } else if (line[i] == '|') {
      ++bars;
    }
  }
  return bars - 1;
}

TEST(Table, HoldsItsShapeWhateverStandsInItsCells) {
  std::mt19937 random(8);  // NOLINT: the same texts each time
  for (int round = 0; round < 3000; ++round) {
    const std::string first = hostile(random);
    const std::string second = hostile(random);
    const DataTable table = sample(first, second);
    SCOPED_TRACE(testing::PrintToString(first) + testing::PrintToString(second));
    const auto lines = read_csv(csv(table));
    ASSERT_EQ(lines.size(), 3U);
    for (const Fields& fields : lines) {
      ASSERT_EQ(fields.size(), 10U);
      for (std::size_t i : {std::size_t{0}, std::size_t{1}}) {
        const std::size_t start = fields[i].find_first_not_of(" \n");
        ASSERT_TRUE(start == std::string::npos || fields[i][0] == '\'' ||
                    std::string_view("=+-@\t\r").find(fields[i][start]) == std::string::npos);
      }
    }
    const nlohmann::json json = nlohmann::json::parse(json_text(table));
    ASSERT_EQ(json.at("rows").size(), 2U);
    const std::string page = html(table, {"", "index.html", false}).html();
    ASSERT_EQ(page.find("<script"), std::string::npos);
    // div, table, thead, tbody, 3 rows, 6 cells a row, spans of three missing: each begins and
    // ends.
    ASSERT_EQ(std::count(page.begin(), page.end(), '<'), 2 * (4 + 3 + 3 * 6 + 3));
    ASSERT_TRUE(harmless_latex(latex_text(first))) << latex_text(first);
    const std::string text = markdown(table);
    const std::size_t row = text.find(" ---: |\n");
    const std::string line = text.substr(row + 8, text.find('\n', row + 8) - row - 8);
    ASSERT_EQ(markdown_cells(line), 6U) << line;
    ASSERT_EQ(std::count(text.begin(), text.end(), '\n'), 8);
  }
}

}  // namespace
}  // namespace sweep::report
