#include "submission/parser.h"
#include "submission/plan_text.h"

#include <algorithm>
#include <array>
#include <utility>

namespace sweep::submission {
namespace {

using expr::Node;
using expr::NodePtr;
using expr::Token;

constexpr std::size_t kMaxKernelName = 512;
constexpr std::size_t kMaxArguments = 64;

bool is_attribute(const Node& node) {
  return (node.kind == Node::Kind::name && (node.text == "cooperative" || node.text == "pdl")) ||
         (node.kind == Node::Kind::call && node.text == "cluster");
}

void refuse_named(const Node& call) {
  for (const std::string& name : call.argument_names) {
    if (!name.empty()) {
      fail_parse(
          "E_PLAN_FUNCTION", call.offset, call.text + " takes no argument named '" + name + "'");
    }
  }
}

void add_attribute(LaunchStatement& launch, const NodePtr& attribute) {
  const bool again = attribute->text == "cluster"       ? launch.cluster != nullptr
                     : attribute->text == "cooperative" ? launch.cooperative
                                                        : launch.pdl;
  if (again) {
    fail_parse("E_PLAN_TWICE", attribute->offset, "'" + attribute->text + "' is given twice");
  }
  if (attribute->text == "cluster") {
    refuse_named(*attribute);
    if (attribute->operands.empty() || attribute->operands.size() > 3) {
      fail_parse("E_PLAN_SYNTAX",
                 attribute->offset,
                 "a cluster has one to three extents",
                 "as in: cluster(2) or cluster(2, 1, 1)");
    }
    launch.cluster = attribute;
  } else {
    (attribute->text == "pdl" ? launch.pdl : launch.cooperative) = true;
  }
}

// One of tile's options: its place in the statement, and how many arguments it takes.
struct TileOption {
  std::string_view name;
  NodePtr MapStatement::*slot;
  std::size_t arguments;  // at most
};

constexpr std::array<TileOption, 4> kTileOptions{{{"box", &MapStatement::box, 5},
                                                  {"stride", &MapStatement::steps, 5},
                                                  {"swizzle", &MapStatement::swizzle, 1},
                                                  {"l2", &MapStatement::l2, 1}}};

void add_outside(MapStatement& map, const Node& option, bool& given) {
  const bool one = option.operands.size() == 1 && option.operands[0]->kind == Node::Kind::name;
  const std::string word = one ? option.operands[0]->text : "";
  if (word != "zero" && word != "nan") {
    fail_parse(
        "E_PLAN_SYNTAX", option.offset, "oob takes what lies outside: oob(zero) or oob(nan)");
  }
  if (std::exchange(given, true)) {
    fail_parse("E_PLAN_TWICE", option.offset, "'oob' is given twice");
  }
  map.nan_outside = word == "nan";
}

void add_option(MapStatement& map, const NodePtr& option) {
  const auto* const known = std::find_if(kTileOptions.begin(),
                                         kTileOptions.end(),
                                         [&](const auto& o) { return o.name == option->text; });
  if (option->kind != Node::Kind::call || known == kTileOptions.end()) {
    fail_parse("E_PLAN_SYNTAX",
               option->offset,
               "tile takes box(..) swizzle(..) l2(..) oob(..) stride(..)",
               "as in: tile(a, box(64, 32), swizzle(128))");
  }
  refuse_named(*option);
  const std::size_t count = option->operands.size();
  if (count == 0 || count > known->arguments) {
    fail_parse("E_PLAN_SYNTAX",
               option->offset,
               option->text +
                   (known->arguments == 1 ? " takes one number" : " takes one to five numbers"));
  }
  if (map.*(known->slot) != nullptr) {
    fail_parse("E_PLAN_TWICE", option->offset, "'" + option->text + "' is given twice");
  }
  map.*(known->slot) = option;
}

bool is_type_word(std::string_view word) {
  constexpr std::array<std::string_view, 10> kWords{
      "unsigned", "signed", "long", "short", "int", "char", "float", "double", "bool", "void"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

}  // namespace

// NAME {"::" NAME} ["<" argument {"," argument} ">"], spelled as the compiler's name expression.
std::string PlanParser::kernel_name(std::vector<Named>& types) {
  const std::size_t offset = parser_.peek().offset;
  std::string name(parser_.expect_name("a kernel's name").text);
  while (parser_.accept("::")) {
    name += "::" + std::string(parser_.expect_name("a name").text);
  }
  if (parser_.accept("<")) {
    name += '<';
    do {
      name += (name.back() == '<' ? "" : ", ") + template_argument(types);
    } while (name.size() <= kMaxKernelName && parser_.accept(","));
    parser_.expect(">");
    name += '>';
  }
  if (name.size() > kMaxKernelName) {
    fail_parse("E_PLAN_LIMIT", offset, "kernel name is longer than 512 characters");
  }
  return name;
}

// A constant expression, `true`, `false`, an element type (spelled in C++) or a C++ type name.
std::string PlanParser::template_argument(std::vector<Named>& types) {
  const Token& first = parser_.peek();
  const Token& second = parser_.peek(1);
  const bool ends = second.kind == Token::Kind::symbol &&
                    (second.text == "," || second.text == ">" || second.text == "::");
  const bool is_type = first.kind == Token::Kind::name && (ends || is_type_word(first.text)) &&
                       constants_.find(first.text) == constants_.end();
  if (!is_type) {
    const NodePtr value = parser_.template_argument();
    return std::to_string(constant(*value));
  }
  std::string out(parser_.take().text);
  if (std::find(lets_.begin(), lets_.end(), out) != lets_.end()) {
    fail_parse("E_PLAN_NOT_CONST",
               first.offset,
               "template argument '" + out + "' is a let; templates need constants",
               "make it a const, or choose among instances with if");
  }
  while (parser_.accept("::")) {
    out += "::" + std::string(parser_.expect_name("a name").text);
  }
  while (is_type_word(out.substr(out.rfind(' ') + 1)) && parser_.peek().kind == Token::Kind::name &&
         is_type_word(parser_.peek().text)) {
    out += ' ' + std::string(parser_.take().text);
  }
  if (const auto type = expr::parse_dtype(out)) {
    return std::string(expr::cpp_name(*type));
  }
  types.push_back({out, first.offset});
  return out;
}

LaunchStatement PlanParser::launch() {
  LaunchStatement out;
  out.kernel = kernel_name(out.types);
  launch_slots(out);
  parser_.expect("(");
  while (!parser_.accept(")")) {
    if (!out.arguments.empty()) {
      if (!parser_.at_symbol(",")) {
        parser_.fail_expected("',' or ')'");
      }
      parser_.take();
    }
    if (out.arguments.size() == kMaxArguments) {
      fail_parse("E_PLAN_LIMIT", parser_.peek().offset, "a launch takes at most 64 arguments");
    }
    out.arguments.push_back(parser_.expression());
  }
  return out;
}

void PlanParser::launch_slots(LaunchStatement& out) {
  const std::size_t open = parser_.expect("<<<").offset;
  out.grid = parser_.expression();
  parser_.expect(",");
  out.block = parser_.expression();
  for (std::size_t slot = 2; parser_.accept(","); ++slot) {
    const NodePtr value = parser_.expression();
    if (is_attribute(*value)) {
      add_attribute(out, value);
    } else if (slot == 2) {
      out.shared = value;
    } else {
      fail_parse("E_PLAN_SYNTAX",
                 value->offset,
                 "only grid, block, shared bytes and attributes stand between <<< and >>>",
                 "attributes are cluster(x), cooperative and pdl; there are no streams");
    }
  }
  if (at_end()) {
    fail_parse("E_PLAN_SYNTAX", open, "'<<<' is not closed by '>>>'");
  }
  parser_.expect(">>>");
}

// occupancy(KERNEL [, threads [, shared bytes]]): operand 0 is a name node that holds the name
// expression.
NodePtr PlanParser::occupancy(expr::Parser& parser) {
  if (!at_word("occupancy") || parser.peek(1).kind != Token::Kind::symbol ||
      parser.peek(1).text != "(") {
    return nullptr;
  }
  Node node;
  node.kind = Node::Kind::call;
  node.offset = parser.peek().offset;
  node.text = parser.take().text;
  parser.take();
  Node kernel;
  kernel.kind = Node::Kind::name;
  kernel.offset = parser.peek().offset;
  std::vector<Named> types;
  kernel.text = kernel_name(types);
  node.operands.push_back(std::make_shared<const Node>(std::move(kernel)));
  while (parser.accept(",") && node.operands.size() < 3) {
    node.operands.push_back(parser.expression());
  }
  parser.expect(")");
  node.argument_names.resize(node.operands.size());
  for (const NodePtr& operand : node.operands) {
    node.depth = std::max(node.depth, operand->depth + 1);
  }
  return std::make_shared<const Node>(std::move(node));
}

// tensormap NAME = tile(TENSOR, box(..), options)
MapStatement PlanParser::tensor_map() {
  parser_.take();
  MapStatement out;
  out.name = declared_name("the tensor map's name");
  lets_.push_back(out.name.name);
  parser_.expect("=");
  const NodePtr value = parser_.expression();
  if (value->kind != Node::Kind::call || value->text != "tile" || value->operands.empty()) {
    fail_parse("E_PLAN_SYNTAX", value->offset, "a tensormap is made by tile(TENSOR, box(..), ...)");
  }
  out.tensor = value->operands[0];
  bool outside = false;
  for (std::size_t i = 1; i < value->operands.size(); ++i) {
    const NodePtr& option = value->operands[i];
    if (option->kind == Node::Kind::call && option->text == "oob") {
      add_outside(out, *option, outside);
    } else {
      add_option(out, option);
    }
  }
  if (out.box == nullptr) {
    fail_parse("E_PLAN_SYNTAX",
               value->offset,
               "tile needs a box: how many elements of each dim a copy moves",
               "as in: tile(a, box(64, 32))");
  }
  return out;
}

void PlanParser::prepare() {
  const std::size_t offset = parser_.take().offset;
  if (!parser_.at_symbol("{")) {
    parser_.fail_expected("'{'");
  }
  static_cast<void>(body(Where::branch));
  not_yet(offset, "'prepare'");
}

}  // namespace sweep::submission
