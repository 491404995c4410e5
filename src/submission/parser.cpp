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

[[noreturn]] void fail(std::string code,
                       std::size_t offset,
                       std::string what,
                       std::string next = {}) {
  throw ParseFault{std::move(code), offset, std::move(what), std::move(next)};
}

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
      fail("E_PLAN_SYNTAX", parser_.peek().offset, "'}' closes nothing");
    }
    statement(Where::top, plan_.statements);
  }
  for (const auto& [name, value] : overrides_) {
    if (overridden_.find(name) == overridden_.end()) {
      std::vector<std::string> known;
      for (const auto& [constant, unused] : plan_.constants) {
        known.push_back(constant);
      }
      fail("E_PLAN_OVERRIDE",
           std::string::npos,
           "no const '" + name + "' to set to " + std::to_string(value),
           suggestion(name, known));
    }
  }
  if (!not_yet_.empty()) {
    throw not_yet_.front();
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
                      "use plain launches until a later version"});
}

std::vector<Statement> PlanParser::body(Where where) {
  if (++blocks_ > kMaxBlocks) {
    fail("E_PLAN_DEPTH", parser_.peek().offset, "blocks nested more than 64 deep");
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
    fail("E_PLAN_LIMIT", parser_.peek().offset, "plan has more than 4,096 statements");
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
    const std::string word(first.text);
    fail("E_PLAN_STATEMENT",
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
    fail("E_PLAN_PLACE",
         offset,
         "'" + std::string(word) + "' cannot stand in a block",
         "move it to the top of the plan");
  }
  if (word == "scratch" && where == Where::loop) {
    fail("E_PLAN_PLACE", offset, "'scratch' cannot stand in a loop", "declare it before the loop");
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
    tensormap();
  } else if (word == "zero" || word == "copy" || word == "swap") {
    out.push_back({offset, action(word)});
  } else {
    return false;
  }
  end_statement();
  return true;
}

void PlanParser::problem() {
  const std::size_t offset = parser_.take().offset;
  if (!plan_.problem.empty()) {
    fail("E_PLAN_TWICE", offset, "'problem' is given twice");
  }
  while (parser_.peek().kind == Token::Kind::name || parser_.peek().kind == Token::Kind::number ||
         parser_.at_symbol("/")) {
    plan_.problem += parser_.take().text;
  }
  const std::size_t slash = plan_.problem.find('/');
  if (slash == 0 || slash == std::string::npos || slash + 1 == plan_.problem.size() ||
      plan_.problem.find('/', slash + 1) != std::string::npos || plan_.problem.size() > 64) {
    fail("E_PLAN_SYNTAX", offset, "'problem' needs an id", "as in: problem level1/3");
  }
}

Named PlanParser::declared_name(std::string_view what) {
  const Token& token = parser_.expect_name(what);
  const std::string name(token.text);
  if (is_reserved(name) || name.find('.') != std::string::npos) {
    fail("E_PLAN_NAME_RESERVED",
         token.offset,
         "'" + name + "' cannot be declared: it is a word of the plan or of C++",
         "choose another name");
  }
  if (constants_.find(name) != constants_.end()) {
    fail("E_PLAN_NAME_TAKEN",
         token.offset,
         "'" + name + "' is a const already",
         "choose another name");
  }
  return {name, token.offset};
}

std::int64_t PlanParser::constant(const Node& node) const {
  try {
    return expr::eval_int(node, constants_, expr::Division::truncating);
  } catch (const expr::EvalError& error) {
    const bool name = error.code == "E_EXPR_UNKNOWN_NAME";
    std::vector<std::string> known;
    for (const auto& [constant, value] : constants_) {
      known.push_back(constant);
    }
    const auto start = error.what.find('\'');
    const std::string near =
        name ? suggestion(error.what.substr(start + 1, error.what.rfind('\'') - start - 1), known)
             : "";
    fail(name ? "E_PLAN_NOT_CONST" : plan_code(error.code),
         error.offset,
         name ? error.what + " in a constant: only numbers and earlier consts have a value here"
              : error.what,
         name && near.empty() ? "shape-dependent values go into let and kernel arguments" : near);
  }
}

void PlanParser::constants() {
  parser_.take();
  do {
    Named name = declared_name("a constant's name");
    if (std::find(lets_.begin(), lets_.end(), name.name) != lets_.end()) {
      fail("E_PLAN_NAME_TAKEN",
           name.offset,
           "'" + name.name + "' is a let or scratch already",
           "choose another name");
    }
    parser_.expect("=");
    const NodePtr value = parser_.expression();
    const auto given = overrides_.find(name.name);
    const std::int64_t result = given == overrides_.end() ? constant(*value) : given->second;
    if (given != overrides_.end()) {
      overridden_[name.name] = true;
    }
    constants_[name.name] = result;
    plan_.constants.emplace_back(std::move(name.name), result);
  } while (parser_.accept(","));
}

void PlanParser::flags() {
  parser_.take();
  do {
    const Token& flag = parser_.expect_name("maxrregcount or fast_math");
    if (flag.text == "fast_math") {
      plan_.flags.fast_math = true;
    } else if (flag.text == "maxrregcount") {
      parser_.expect("=");
      const NodePtr value = parser_.expression();
      const std::int64_t count = constant(*value);
      if (count < 16 || count > 255) {
        fail("E_PLAN_FLAG",
             value->offset,
             "maxrregcount=" + std::to_string(count) + " is outside 16..255");
      }
      plan_.flags.maxrregcount = static_cast<int>(count);
    } else {
      fail("E_PLAN_FLAG",
           flag.offset,
           "unknown flag '" + std::string(flag.text) + "'",
           "known are maxrregcount=N and fast_math");
    }
  } while (parser_.accept(","));
}

LetStatement PlanParser::let() {
  parser_.take();
  LetStatement out;
  do {
    Named name = declared_name("a name");
    parser_.expect("=");
    lets_.push_back(name.name);
    out.values.emplace_back(std::move(name), parser_.expression());
  } while (parser_.accept(","));
  return out;
}

ScratchStatement PlanParser::scratch() {
  parser_.take();
  const Token& type = parser_.expect_name("an element type");
  const auto parsed = expr::parse_dtype(type.text);
  if (!parsed) {
    fail("E_PLAN_DTYPE",
         type.offset,
         "unknown element type '" + std::string(type.text) + "'",
         "known are f64 f32 f16 bf16 e4m3 e5m2 i64 i32 i16 i8 u64 u32 u16 u8 bool c64 c128");
  }
  ScratchStatement out{*parsed, {}};
  do {
    Named name = declared_name("the scratch buffer's name");
    lets_.push_back(name.name);
    std::vector<NodePtr> shape;
    parser_.expect("[");
    do {
      shape.push_back(parser_.expression());
    } while (parser_.accept(",") && shape.size() < 16);
    parser_.expect("]");
    out.buffers.emplace_back(std::move(name), std::move(shape));
  } while (parser_.accept(","));
  return out;
}

ActionStatement PlanParser::action(std::string_view word) {
  const std::size_t offset = parser_.take().offset;
  ActionStatement out;
  out.kind = word == "zero"   ? ActionStatement::Kind::zero
             : word == "copy" ? ActionStatement::Kind::copy
                              : ActionStatement::Kind::swap;
  parser_.expect("(");
  do {
    out.arguments.push_back(parser_.expression());
  } while (parser_.accept(",") && out.arguments.size() < 8);
  parser_.expect(")");
  const std::size_t wanted = word == "zero" ? 1 : 2;
  if (out.arguments.size() != wanted) {
    fail("E_PLAN_SYNTAX",
         offset,
         std::string(word) + " takes " + (wanted == 1 ? "one buffer" : "two buffers"),
         wanted == 1 ? "zero(p)" : (word == "copy" ? "copy(dst, src)" : "swap(a, b)"));
  }
  return out;
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
    fail(
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
    fail("E_PLAN_SYNTAX", offset, "the loop's step must change '" + variable + "'");
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
    fail("E_PLAN_SYNTAX",
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
