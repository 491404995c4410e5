#include "expr/ast.h"

#include <array>

namespace sweep::expr {
namespace {

// Longest first, so that the first match is the longest.
constexpr std::array<std::string_view, 33> kSymbols{"<<<", ">>>", "++", "--", "+=", "-=", "<<",
                                                    ">>",  "<=",  ">=", "==", "!=", "&&", "||",
                                                    "::",  "<",   ">",  "=",  "!",  "&",  "|",
                                                    "+",   "-",   "*",  "/",  "%",  "?",  ":",
                                                    ",",   ";",   "(",  ")",  "{"};
constexpr std::array<std::string_view, 3> kClosers{"}", "[", "]"};

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::size_t identifier_end(std::string_view text, std::size_t at) {
  while (at < text.size() && (is_letter(text[at]) || is_digit(text[at]))) {
    ++at;
  }
  return at;
}

// A C preprocessing number: digits, letters, dots and signs after an exponent. The parser judges
// its form.
std::size_t number_end(std::string_view text, std::size_t at) {
  const bool hex = text.substr(at, 2) == "0x" || text.substr(at, 2) == "0X";
  while (at < text.size()) {
    const char c = text[at];
    const bool exponent = !hex && (c == 'e' || c == 'E');
    if (exponent && at + 1 < text.size() && (text[at + 1] == '+' || text[at + 1] == '-')) {
      at += 2;
    } else if (is_digit(c) || is_letter(c) || c == '.') {
      ++at;
    } else {
      break;
    }
  }
  return at;
}

std::size_t skip_blank(std::string_view text, std::size_t at, Comments comments) {
  while (at < text.size()) {
    const char c = text[at];
    if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++at;
    } else if (comments == Comments::line && text.substr(at, 2) == "//") {
      const std::size_t end = text.find('\n', at);
      at = end == std::string_view::npos ? text.size() : end;
    } else {
      break;
    }
  }
  return at;
}

std::size_t symbol_length(std::string_view rest) {
  for (const std::string_view symbol : kSymbols) {
    if (rest.starts_with(symbol)) {
      return symbol.size();
    }
  }
  for (const std::string_view symbol : kClosers) {
    if (rest.starts_with(symbol)) {
      return symbol.size();
    }
  }
  return 0;
}

Token token_at(std::string_view text, std::size_t at) {
  const auto make = [&](Token::Kind kind, std::size_t end) {
    return Token{kind, text.substr(at, end - at), at};
  };
  const char c = text[at];
  if (c == '\n') {
    return make(Token::Kind::newline, at + 1);
  }
  if (is_letter(c)) {
    std::size_t end = identifier_end(text, at);
    if (end + 1 < text.size() && text[end] == '.' && is_letter(text[end + 1])) {
      end = identifier_end(text, end + 1);
    }
    return make(Token::Kind::name, end);
  }
  if (is_digit(c) || (c == '.' && at + 1 < text.size() && is_digit(text[at + 1]))) {
    return make(Token::Kind::number, number_end(text, at));
  }
  const std::size_t length = symbol_length(text.substr(at));
  return length == 0 ? make(Token::Kind::invalid, at + 1) : make(Token::Kind::symbol, at + length);
}

}  // namespace

std::vector<Token> tokenize(std::string_view text, Comments comments) {
  std::vector<Token> tokens;
  std::size_t at = skip_blank(text, 0, comments);
  while (at < text.size()) {
    tokens.push_back(token_at(text, at));
    at = skip_blank(text, at + tokens.back().text.size(), comments);
  }
  tokens.push_back({Token::Kind::end, text.substr(text.size()), text.size()});
  return tokens;
}

}  // namespace sweep::expr
