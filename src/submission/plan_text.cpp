#include "submission/plan_text.h"

#include "util/text.h"

#include <algorithm>
#include <array>

namespace sweep::submission {
namespace {

constexpr std::size_t kShownColumns = 120;

std::size_t line_end(std::string_view text, std::size_t at) {
  return std::min(text.find('\n', at), text.size());
}

// Copies plan text of one line; a C comment inside it becomes blanks, a line comment stays for the
// tokenizer.
void copy_line(std::string_view source, std::size_t at, std::size_t end, std::string& out) {
  while (at < end) {
    if (source.substr(at, 2) == "//") {
      return;
    }
    if (source.substr(at, 2) == "/*") {
      const std::size_t close = source.find("*/", at + 2);
      at = close == std::string_view::npos || close + 2 > end ? end : close + 2;
      continue;
    }
    out[at] = source[at];
    ++at;
  }
}

}  // namespace

std::variant<std::string, PlanError> plan_text(const std::string& file, std::string_view source) {
  std::string out(source.size(), ' ');
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\n') {
      out[i] = '\n';
    }
  }
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  std::size_t at = source.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  while (at < source.size()) {
    std::size_t end = line_end(source, at);
    const std::size_t first = std::min(source.find_first_not_of(" \t\r", at), end);
    if (source.substr(first, 3) == "//@") {
      copy_line(source, first + 3, end, out);
    } else if (source.substr(first, 3) == "/*@") {
      const std::size_t close = source.find("*/", first + 3);
      if (close == std::string_view::npos) {
        return error_at(file,
                        source,
                        first,
                        "E_PLAN_COMMENT",
                        "plan block '/*@' has no end",
                        "close it with '*/'");
      }
      for (std::size_t line = first + 3; line < close;) {
        const std::size_t stop = std::min(line_end(source, line), close);
        copy_line(source, line, stop, out);
        line = stop + 1;
      }
      end = line_end(source, close);
    }
    at = end + 1;
  }
  return out;
}

std::pair<int, int> position(std::string_view source, std::size_t offset) {
  const std::string_view before = source.substr(0, std::min(offset, source.size()));
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
  return {static_cast<int>(lines) + 1, static_cast<int>(before.size() - start) + 1};
}

PlanError error_at(const std::string& file,
                   std::string_view source,
                   std::size_t offset,
                   std::string code,
                   std::string what,
                   std::string next) {
  const auto [line, column] = position(source, offset);
  return PlanError{std::move(code), file, line, column, std::move(what), std::move(next)};
}

std::string plan_code(std::string_view expr_code) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kCodes{{
      {"E_EXPR_EXPECTED", "E_PLAN_SYNTAX"},
      {"E_EXPR_MIXED", "E_PLAN_SYNTAX"},
      {"E_EXPR_NUMBER", "E_PLAN_NUMBER"},
      {"E_EXPR_DEPTH", "E_PLAN_DEPTH"},
      {"E_EXPR_OVERFLOW", "E_PLAN_OVERFLOW"},
      {"E_EXPR_ZERO_DIVISION", "E_PLAN_ZERO_DIVISION"},
      {"E_EXPR_UNKNOWN_NAME", "E_PLAN_UNKNOWN_NAME"},
      {"E_EXPR_FUNCTION", "E_PLAN_FUNCTION"},
      {"E_EXPR_DOMAIN", "E_PLAN_DOMAIN"},
      {"E_EXPR_NOT_INTEGER", "E_PLAN_TYPE"},
      {"E_EXPR_LENGTH", "E_PLAN_LIMIT"},
  }};
  for (const auto& [from, to] : kCodes) {
    if (from == expr_code) {
      return std::string(to);
    }
  }
  return "E_PLAN_SYNTAX";
}

std::string suggestion(std::string_view name, const std::vector<std::string>& candidates) {
  const auto near = util::closest(name, candidates);
  return near ? "did you mean '" + *near + "'?" : "";
}

std::string PlanError::text(std::string_view source) const {
  std::string out = file;
  if (line > 0) {
    out += (out.empty() ? "" : ":") + std::to_string(line);
    out += column > 0 ? ":" + std::to_string(column) : "";
  }
  out += (out.empty() ? "" : ": ") + what + (next.empty() ? "" : "; " + next);
  if (line <= 0 || column <= 0) {
    return out;
  }
  std::size_t start = 0;
  for (int i = 1; i < line && start <= source.size(); ++i) {
    start = line_end(source, start) + 1;
  }
  if (start > source.size()) {
    return out;
  }
  std::string_view shown = source.substr(start, line_end(source, start) - start);
  auto caret = std::min(static_cast<std::size_t>(column) - 1, shown.size());
  if (caret >= kShownColumns) {  // a long line: show its part around the caret
    const std::size_t cut = caret - kShownColumns / 2;
    shown.remove_prefix(cut);
    caret -= cut;
  }
  shown = shown.substr(0, kShownColumns);
  std::string pad(shown.substr(0, caret));
  std::replace_if(
      pad.begin(), pad.end(), [](char c) { return c != '\t'; }, ' ');
  return out + "\n" + util::printable(shown) + "\n" + pad + "^";
}

}  // namespace sweep::submission
