#include "submission/parser.h"

#include "submission/plan_text.h"
#include "submission/words.h"

#include <algorithm>
#include <array>
#include <utility>

namespace sweep::submission {
namespace {

using expr::Node;
using expr::NodePtr;
using expr::Token;

constexpr int kMaxBlocks = 64;
constexpr int kMaxStatements = 4096;
constexpr std::size_t kQuotedWord = 80;  // bytes of a word that a message repeats

// Drops line ends inside round, square and launch brackets, where a statement goes on.
std::vector<Token> joined(std::string_view text) {
  std::vector<Token> out;
  int open = 0;
  for (const Token& token : expr::tokenize(text, expr::Comments::line)) {
    if (token.kind == Token::Kind::newline && open > 0) {
      continue;
    }
    if (token.kind == Token::Kind::symbol) {
      if (token.text == "(" || token.text == "[" || token.text == "<<<") {
        ++open;
      } else if (token.text == ")" || token.text == "]" || token.text == ">>>") {
        open = std::max(0, open - 1);
      } else if (token.text == "{" || token.text == "}") {
        open = 0;
      }
    }
    out.push_back(token);
  }
  return out;
}

}  // namespace

PlanParser::PlanParser(std::string_view text, const std::map<std::string, std::int64_t>& overrides)
    : tokens_(joined(text)),
      parser_(tokens_,
              {.tuples = true,
               .newlines_end = true,
               .lists = true,
               .primary = [this](expr::Parser& parser) { return occupancy(parser); }}),
      overrides_(overrides) {}

Plan PlanParser::plan() {
  for (skip_empty(); !at_end(); skip_empty()) {
    if (parser_.at_symbol("}")) {
      fail_parse("E_PLAN_SYNTAX", parser_.peek().offset, "'}' closes nothing");
    }
    statement(Where::top, plan_.statements);
  }
  for (const auto& [name, value] : overrides_) {
    if (overridden_.find(name) == overridden_.end()) {
      std::vector<std::string> known;
      for (const auto& [constant, unused] : plan_.constants) {
        known.push_back(constant);
      }
      fail_parse("E_PLAN_OVERRIDE",
                 std::string::npos,
                 "no const '" + name + "' to set to " + std::to_string(value),
                 suggestion(name, known));
    }
  }
  if (!not_yet_.empty()) {
    throw ParseFault(not_yet_.front());
  }
  return std::move(plan_);
}

bool PlanParser::at_end() const {
  return parser_.peek().kind == Token::Kind::end;
}

bool PlanParser::at_word(std::string_view word) const {
  return parser_.peek().kind == Token::Kind::name && parser_.peek().text == word;
}

void PlanParser::skip_empty() {
  while (parser_.peek().kind == Token::Kind::newline || parser_.at_symbol(";")) {
    parser_.take();
  }
}

void PlanParser::end_statement() {
  if (parser_.peek().kind != Token::Kind::newline && !at_end() && !parser_.at_symbol(";") &&
      !parser_.at_symbol("}")) {
    parser_.fail_expected("';' or the line's end");
  }
}

void PlanParser::not_yet(std::size_t offset, std::string_view what) {
  not_yet_.push_back({"E_PLAN_NOT_YET",
                      offset,
                      std::string(what) + " is understood but cannot be run yet",
                      "leave it out until a later version"});
}

std::vector<Statement> PlanParser::body(Where where) {
  if (++blocks_ > kMaxBlocks) {
    fail_parse("E_PLAN_DEPTH", parser_.peek().offset, "blocks nested more than 64 deep");
  }
  while (parser_.peek().kind == Token::Kind::newline) {
    parser_.take();
  }
  std::vector<Statement> out;
  if (parser_.accept("{")) {
    for (skip_empty(); !parser_.accept("}"); skip_empty()) {
      if (at_end()) {
        parser_.fail_expected("'}'");
      }
      statement(where, out);
    }
  } else if (!parser_.accept(";")) {
    statement(where, out);
  }
  --blocks_;
  return out;
}

void PlanParser::statement(Where where, std::vector<Statement>& out) {
  if (++statements_ > kMaxStatements) {
    fail_parse("E_PLAN_LIMIT", parser_.peek().offset, "plan has more than 4,096 statements");
  }
  const Token& first = parser_.peek();
  if (first.kind != Token::Kind::name) {
    parser_.fail_expected("a statement (a launch, let, const, scratch, if, for, zero, copy, swap)");
  }
  const bool launches = parser_.peek(1).kind == Token::Kind::symbol &&
                        (parser_.peek(1).text == "<" || parser_.peek(1).text == "<<<" ||
                         parser_.peek(1).text == "::");
  if (!launches && keyword_statement(first.text, where, out)) {
    return;
  }
  if (!launches) {
    const bool assigns = parser_.peek(1).kind == Token::Kind::symbol && parser_.peek(1).text == "=";
    const std::string word(first.text.substr(0, kQuotedWord));
    fail_parse("E_PLAN_STATEMENT",
               first.offset,
               assigns ? "'" + word + "' is assigned, but a name keeps its value"
                       : "'" + word + "' starts no statement",
               assigns ? "write let " + word + " = ..., or swap(a, b) for buffers"
                       : (suggestion(word, statement_words()).empty()
                              ? "a launch is NAME<<<grid, block>>>(arguments)"
                              : suggestion(word, statement_words())));
  }
  const std::size_t offset = first.offset;
  out.push_back({offset, launch()});
  end_statement();
}

bool PlanParser::keyword_statement(std::string_view word,
                                   Where where,
                                   std::vector<Statement>& out) {
  const std::size_t offset = parser_.peek().offset;
  const bool top_only =
      word == "const" || word == "flags" || word == "problem" || word == "prepare";
  if (top_only && where != Where::top) {
    fail_parse("E_PLAN_PLACE",
               offset,
               "'" + std::string(word) + "' cannot stand in a block",
               "move it to the top of the plan");
  }
  if (word == "scratch" && where == Where::loop) {
    fail_parse(
        "E_PLAN_PLACE", offset, "'scratch' cannot stand in a loop", "declare it before the loop");
  }
  if (word == "if") {
    out.push_back({offset, choice(where)});
    return true;
  }
  if (word == "for") {
    out.push_back({offset, loop()});
    return true;
  }
  if (word == "prepare") {
    prepare();
    return true;
  }
  if (word == "problem") {
    problem();
  } else if (word == "const") {
    constants();
  } else if (word == "flags") {
    flags();
  } else if (word == "let") {
    out.push_back({offset, let()});
  } else if (word == "scratch") {
    out.push_back({offset, scratch()});
  } else if (word == "tensormap") {
    out.push_back({offset, tensor_map()});
  } else if (word == "zero" || word == "copy" || word == "swap") {
    out.push_back({offset, action(word)});
  } else {
    return false;
  }
  end_statement();
  return true;
}

ForStatement PlanParser::loop() {
  parser_.take();
  parser_.expect("(");
  if (at_word("int") || at_word("let")) {
    parser_.take();
  }
  ForStatement out;
  out.variable = declared_name("the loop's variable");
  const std::string& name = out.variable.name;
  parser_.expect("=");
  out.from = parser_.expression();
  parser_.expect(";");
  const NodePtr test = parser_.expression();
  constexpr std::array<std::string_view, 4> kCompare{"<", "<=", ">", ">="};
  if (test->kind != Node::Kind::binary ||
      std::find(kCompare.begin(), kCompare.end(), test->text) == kCompare.end() ||
      test->operands[0]->kind != Node::Kind::name || test->operands[0]->text != name) {
    fail_parse(
        "E_PLAN_SYNTAX", test->offset, "a loop's condition is '" + name + " < END' (or <=, >, >=)");
  }
  out.compare = test->text;
  out.to = test->operands[1];
  parser_.expect(";");
  loop_step(out, name);
  parser_.expect(")");
  out.body = body(Where::loop);
  return out;
}

void PlanParser::loop_step(ForStatement& out, const std::string& variable) {
  const std::size_t offset = parser_.peek().offset;
  bool prefix = parser_.accept("++");
  if (!prefix && parser_.accept("--")) {
    prefix = out.down = true;
  }
  if (parser_.expect_name("the loop's variable").text != variable) {
    fail_parse("E_PLAN_SYNTAX", offset, "the loop's step must change '" + variable + "'");
  }
  if (!prefix && parser_.accept("+=")) {
    out.step = parser_.expression();
  } else if (!prefix && parser_.accept("-=")) {
    out.down = true;
    out.step = parser_.expression();
  } else if (!prefix && parser_.accept("--")) {
    out.down = true;
  } else if (!prefix) {
    parser_.expect("++");
  }
  if (out.down != (out.compare.front() == '>')) {
    fail_parse(
        "E_PLAN_SYNTAX",
        offset,
        "the loop's step and its condition '" + out.compare + "' run in different directions");
  }
}

IfStatement PlanParser::choice(Where where) {
  parser_.take();
  parser_.expect("(");
  IfStatement out;
  out.condition = parser_.expression();
  parser_.expect(")");
  const Where inside = where == Where::loop ? where : Where::branch;
  out.yes = body(inside);
  std::size_t ahead = 0;
  while (parser_.peek(ahead).kind == Token::Kind::newline ||
         (parser_.peek(ahead).kind == Token::Kind::symbol && parser_.peek(ahead).text == ";")) {
    ++ahead;
  }
  if (parser_.peek(ahead).kind == Token::Kind::name && parser_.peek(ahead).text == "else") {
    skip_empty();
    parser_.take();
    out.no = body(inside);
  }
  return out;
}

}  // namespace sweep::submission
