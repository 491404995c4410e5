#include "expr/ast.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace sweep::expr {
namespace {

constexpr int kMaxNesting = 64;
constexpr int kMaxTreeDepth = 1024;
constexpr std::size_t kMaxText = std::size_t{64} << 10;
constexpr std::size_t kMaxArguments = 64;

// Levels of binary operators, loosest first; level 0 is the conditional.
constexpr int kCompare = 3;
constexpr int kBit = 4;
constexpr int kUnary = 7;
using Level = std::array<std::string_view, 6>;
constexpr std::array<Level, kUnary> kLevels{{{},
                                             {"||"},
                                             {"&&"},
                                             {"==", "!=", "<", "<=", ">", ">="},
                                             {"<<", ">>", "&", "|"},
                                             {"+", "-"},
                                             {"*", "/", "%"}}};

[[noreturn]] void fail(std::string code, std::size_t offset, std::string what) {
  throw SyntaxError{std::move(code), offset, std::move(what)};
}

NodePtr finish(Node node) {
  for (const NodePtr& operand : node.operands) {
    node.depth = std::max(node.depth, operand->depth + 1);
  }
  if (node.depth > kMaxTreeDepth) {
    fail("E_EXPR_DEPTH", node.offset, "expression has more than 1024 operations in a row");
  }
  return std::make_shared<const Node>(std::move(node));
}

NodePtr make(Node::Kind kind, const Token& token, std::vector<NodePtr> operands) {
  Node node;
  node.kind = kind;
  node.offset = token.offset;
  node.text = std::string(token.text);
  node.operands = std::move(operands);
  return finish(std::move(node));
}

// A `&` or `|` that no parentheses protect from its neighbours.
bool is_bare_bits(const Node& node) {
  return node.kind == Node::Kind::binary && !node.parenthesised &&
         (node.text == "&" || node.text == "|");
}

// C's binding strength inside the grammar's one bit level.
int c_strength(std::string_view text) {
  return text == "|" ? 0 : (text == "&" ? 1 : 2);
}

std::string_view without_suffix(std::string_view text, std::string_view letters) {
  while (!text.empty() && letters.find(text.back()) != std::string_view::npos) {
    text.remove_suffix(1);
  }
  return text;
}

// C spellings: decimal and hexadecimal integers with u, l suffixes; decimal floats with f, l.
NodePtr number(const Token& token) {
  Node node;
  node.kind = Node::Kind::number;
  node.offset = token.offset;
  node.text = std::string(token.text);
  const std::string_view text = token.text;
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const bool real = !hex && text.find_first_of(".eE") != std::string_view::npos;
  if (real) {
    const std::string_view body = without_suffix(text, "fFlL");
    const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), node.real);
    if (error != std::errc() || end != body.data() + body.size()) {
      fail("E_EXPR_NUMBER", token.offset, "'" + node.text + "' is no number that fits a double");
    }
    return finish(std::move(node));
  }
  if (!hex && text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9') {
    fail("E_EXPR_NUMBER",
         token.offset,
         "'" + node.text + "' is octal in C; write it without the leading 0");
  }
  const std::string_view body = without_suffix(hex ? text.substr(2) : text, "uUlL");
  const auto [end, error] =
      std::from_chars(body.data(), body.data() + body.size(), node.integer, hex ? 16 : 10);
  if (error != std::errc() || end != body.data() + body.size()) {
    fail("E_EXPR_NUMBER", token.offset, "'" + node.text + "' is no number that fits 64 bits");
  }
  node.integral = true;
  node.real = static_cast<double>(node.integer);
  return finish(std::move(node));
}

std::string shown(const Token& token) {
  switch (token.kind) {
    case Token::Kind::end:
      return "the end";
    case Token::Kind::newline:
      return "the line's end";
    case Token::Kind::invalid: {
      const auto byte = static_cast<unsigned char>(token.text.front());
      if (byte < 0x20 || byte > 0x7e) {
        return "byte " + std::to_string(byte);
      }
      break;
    }
    default:
      break;
  }
  return "'" + std::string(token.text.substr(0, 40)) + "'";
}

}  // namespace

struct Parser::Deeper {
  explicit Deeper(Parser& parser) : parser_(parser) {
    if (++parser_.nesting_ > kMaxNesting) {
      --parser_.nesting_;
      fail("E_EXPR_DEPTH", parser_.peek().offset, "nested more than 64 deep");
    }
  }

  ~Deeper() { --parser_.nesting_; }

  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;

 private:
  Parser& parser_;
};

Parser::Parser(std::span<const Token> tokens, Options options)
    : tokens_(tokens), options_(std::move(options)) {}

const Token& Parser::peek(std::size_t ahead) const {
  std::size_t at = at_;
  for (;; ++at) {
    if (tokens_[at].kind == Token::Kind::end) {
      return tokens_[at];
    }
    if ((options_.newlines_end || tokens_[at].kind != Token::Kind::newline) && ahead-- == 0) {
      return tokens_[at];
    }
  }
}

const Token& Parser::take() {
  while (!options_.newlines_end && tokens_[at_].kind == Token::Kind::newline) {
    ++at_;
  }
  const Token& token = tokens_[at_];
  take_raw();
  return token;
}

void Parser::take_raw() {
  if (tokens_[at_].kind != Token::Kind::end) {
    ++at_;
  }
}

bool Parser::at_symbol(std::string_view symbol) const {
  return peek().kind == Token::Kind::symbol && peek().text == symbol;
}

bool Parser::accept(std::string_view symbol) {
  if (!at_symbol(symbol)) {
    return false;
  }
  take();
  return true;
}

const Token& Parser::expect(std::string_view symbol) {
  if (!at_symbol(symbol)) {
    fail_expected("'" + std::string(symbol) + "'");
  }
  return take();
}

const Token& Parser::expect_name(std::string_view what) {
  if (peek().kind != Token::Kind::name) {
    fail_expected(what);
  }
  return take();
}

void Parser::fail_expected(std::string_view what) const {
  fail("E_EXPR_EXPECTED",
       peek().offset,
       "expected " + std::string(what) + ", found " + shown(peek()));
}

NodePtr Parser::expression() {
  const Deeper deeper(*this);
  NodePtr condition = level(1);
  if (!at_symbol("?")) {
    return condition;
  }
  const Token& question = take();
  NodePtr yes = expression();
  expect(":");
  NodePtr no = expression();
  return make(
      Node::Kind::conditional, question, {std::move(condition), std::move(yes), std::move(no)});
}

NodePtr Parser::template_argument() {
  const bool before = std::exchange(greater_ends_, true);
  NodePtr node = level(1);
  greater_ends_ = before;
  return node;
}

std::string_view Parser::operator_at(int precedence) const {
  const Token& token = peek();
  if (token.kind != Token::Kind::symbol || (greater_ends_ && token.text.front() == '>')) {
    return {};
  }
  const Level& candidates = kLevels.at(static_cast<std::size_t>(precedence));
  const auto* const found = std::find(candidates.begin(), candidates.end(), token.text);
  return found == candidates.end() ? std::string_view() : *found;
}

NodePtr Parser::level(int precedence) {
  if (precedence == kUnary) {
    return unary();
  }
  NodePtr left = level(precedence + 1);
  while (!operator_at(precedence).empty()) {
    const Token& op = take();
    NodePtr right = level(precedence + 1);
    const bool bits = precedence == kCompare && (is_bare_bits(*left) || is_bare_bits(*right));
    const bool mixed =
        precedence == kBit && is_bare_bits(*left) && c_strength(left->text) < c_strength(op.text);
    if (bits || mixed) {
      fail("E_EXPR_MIXED",
           op.offset,
           "put parentheses around the '&' or '|' beside '" + std::string(op.text) + "'");
    }
    left = make(Node::Kind::binary, op, {std::move(left), std::move(right)});
    if (precedence == kCompare) {
      break;
    }
  }
  return left;
}

NodePtr Parser::unary() {
  if (!at_symbol("-") && !at_symbol("!")) {
    return atom();
  }
  const Deeper deeper(*this);
  const Token& op = take();
  return make(Node::Kind::unary, op, {unary()});
}

NodePtr Parser::parenthesised() {
  const Token& open = take();
  const bool before = std::exchange(greater_ends_, false);
  std::vector<NodePtr> items{expression()};
  while (options_.tuples && items.size() < kMaxArguments && accept(",")) {
    items.push_back(expression());
  }
  expect(")");
  greater_ends_ = before;
  if (items.size() > 1) {
    Node node;
    node.kind = Node::Kind::call;
    node.offset = open.offset;
    node.text = "dim3";
    node.argument_names.resize(items.size());
    node.operands = std::move(items);
    return finish(std::move(node));
  }
  Node node = *items.front();
  node.parenthesised = true;
  return finish(std::move(node));
}

NodePtr Parser::call(const Token& name) {
  Node node;
  node.kind = Node::Kind::call;
  node.offset = name.offset;
  const bool list = name.text == "[";
  node.text = list ? "list" : std::string(name.text);
  const std::string_view closer = list ? "]" : ")";
  const bool before = std::exchange(greater_ends_, false);
  while (!accept(closer)) {
    if (!node.operands.empty()) {
      if (!at_symbol(",")) {
        fail_expected("',' or '" + std::string(closer) + "'");
      }
      take();
    }
    if (node.operands.size() == kMaxArguments) {
      fail("E_EXPR_FUNCTION", node.offset, "more than 64 arguments");
    }
    std::string named;
    if (peek().kind == Token::Kind::name && peek(1).kind == Token::Kind::symbol &&
        peek(1).text == "=") {
      named = std::string(take().text);
      take();
    }
    node.argument_names.push_back(std::move(named));
    node.operands.push_back(expression());
  }
  greater_ends_ = before;
  return finish(std::move(node));
}

NodePtr Parser::atom() {
  const Token& token = peek();
  if (token.kind == Token::Kind::number) {
    return number(take());
  }
  if (token.kind == Token::Kind::name) {
    if (options_.primary) {
      if (NodePtr own = options_.primary(*this)) {
        return own;
      }
    }
    const Token& name = take();
    return accept("(") ? call(name) : make(Node::Kind::name, name, {});
  }
  if (at_symbol("(")) {
    return parenthesised();
  }
  if (options_.lists && at_symbol("[")) {
    return call(take());
  }
  fail_expected("a number, a name or '('");
}

Expr::Expr(std::shared_ptr<const Node> root, std::string text)
    : root_(std::move(root)), text_(std::move(text)) {}

std::variant<Expr, SyntaxError> parse(std::string_view text) {
  if (text.size() > kMaxText) {
    return SyntaxError{"E_EXPR_LENGTH", kMaxText, "expression is longer than 65,536 bytes"};
  }
  try {
    const std::vector<Token> tokens = tokenize(text, Comments::none);
    Parser parser(tokens, {});
    NodePtr root = parser.expression();
    if (parser.peek().kind != Token::Kind::end) {
      parser.fail_expected("an operator or the end");
    }
    return Expr(std::move(root), std::string(text));
  } catch (const SyntaxError& error) {
    return error;
  }
}

const Node* named_argument(const Node& call, std::string_view name) {
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    if (call.argument_names[i] == name) {
      return call.operands[i].get();
    }
  }
  return nullptr;
}

}  // namespace sweep::expr
