#include "submission/parser.h"
#include "submission/plan_text.h"
#include "submission/words.h"

#include <algorithm>
#include <string>
#include <utility>

namespace sweep::submission {
namespace {

using expr::Node;
using expr::NodePtr;
using expr::Token;

}  // namespace

void PlanParser::problem() {
  const std::size_t offset = parser_.take().offset;
  if (!plan_.problem.empty()) {
    fail_parse("E_PLAN_TWICE", offset, "'problem' is given twice");
  }
  while (parser_.peek().kind == Token::Kind::name || parser_.peek().kind == Token::Kind::number ||
         parser_.at_symbol("/")) {
    plan_.problem += parser_.take().text;
  }
  const std::size_t slash = plan_.problem.find('/');
  if (slash == 0 || slash == std::string::npos || slash + 1 == plan_.problem.size() ||
      plan_.problem.find('/', slash + 1) != std::string::npos || plan_.problem.size() > 64) {
    fail_parse("E_PLAN_SYNTAX", offset, "'problem' needs an id", "as in: problem level1/3");
  }
}

Named PlanParser::declared_name(std::string_view what) {
  const Token& token = parser_.expect_name(what);
  const std::string name(token.text);
  if (is_reserved(name) || name.find('.') != std::string::npos) {
    fail_parse("E_PLAN_NAME_RESERVED",
               token.offset,
               "'" + name + "' cannot be declared: it is a word of the plan or of C++",
               "choose another name");
  }
  if (constants_.find(name) != constants_.end()) {
    fail_parse("E_PLAN_NAME_TAKEN",
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
    fail_parse(
        name ? "E_PLAN_NOT_CONST" : plan_code(error.code),
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
      fail_parse("E_PLAN_NAME_TAKEN",
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
        fail_parse("E_PLAN_FLAG",
                   value->offset,
                   "maxrregcount=" + std::to_string(count) + " is outside 16..255");
      }
      plan_.flags.maxrregcount = static_cast<int>(count);
    } else {
      fail_parse("E_PLAN_FLAG",
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
    fail_parse("E_PLAN_DTYPE",
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
    fail_parse("E_PLAN_SYNTAX",
               offset,
               std::string(word) + " takes " + (wanted == 1 ? "one buffer" : "two buffers"),
               wanted == 1 ? "zero(p)" : (word == "copy" ? "copy(dst, src)" : "swap(a, b)"));
  }
  return out;
}

}  // namespace sweep::submission
