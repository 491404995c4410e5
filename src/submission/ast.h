#pragma once

#include "expr/ast.h"
#include "expr/dtype.h"

#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sweep::submission {

struct Statement;

// A name with its first byte in the source.
struct Named {
  std::string name;
  std::size_t offset = 0;
};

struct LaunchStatement {
  std::string kernel;  // name expression, template arguments evaluated
  std::vector<Named>
      types;  // template arguments that are passed on as types: no dim may hide there
  expr::NodePtr grid;
  expr::NodePtr block;
  expr::NodePtr shared;  // null: 0
  std::vector<expr::NodePtr> arguments;
  expr::NodePtr cluster;  // the call of `cluster`; null: as the kernel declares
  bool cooperative = false;
  bool pdl = false;
};

struct LetStatement {
  std::vector<std::pair<Named, expr::NodePtr>> values;
};

// tensormap name = tile(tensor, box(..), ..)
struct MapStatement {
  Named name;
  expr::NodePtr tensor;  // an expression with a buffer as value
  expr::NodePtr box;     // calls with the option's own arguments; only the box is never null
  expr::NodePtr steps;
  expr::NodePtr swizzle;
  expr::NodePtr l2;
  bool nan_outside = false;
};

struct ScratchStatement {
  expr::DType type{};
  std::vector<std::pair<Named, std::vector<expr::NodePtr>>> buffers;
};

// zero(p), copy(dst, src), swap(a, b).
struct ActionStatement {
  enum class Kind { zero, copy, swap };
  Kind kind = Kind::zero;
  std::vector<expr::NodePtr> arguments;
};

// for (variable = from; variable COMPARE to; variable += step)
struct ForStatement {
  Named variable;
  expr::NodePtr from;
  std::string compare;  // "<", "<=", ">" or ">="
  expr::NodePtr to;
  expr::NodePtr step;  // null: 1, or -1 when `down`
  bool down = false;
  std::vector<Statement> body;
};

struct IfStatement {
  expr::NodePtr condition;
  std::vector<Statement> yes;
  std::vector<Statement> no;
};

// Expression nodes carry offsets into the source.
struct Statement {
  std::size_t offset = 0;  // first byte
  std::variant<LaunchStatement,
               LetStatement,
               MapStatement,
               ScratchStatement,
               ActionStatement,
               ForStatement,
               IfStatement>
      what;
};

}  // namespace sweep::submission
