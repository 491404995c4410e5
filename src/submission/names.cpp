#include "submission/names.h"

#include "submission/ast.h"
#include "submission/plan_text.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace sweep::submission {
namespace {

using expr::Node;

struct NameFault {
  std::string code;
  std::size_t offset = 0;
  std::string what;
  std::string next;
};

class Checker {
 public:
  Checker(const Plan& plan, const Signature& signature) : signature_(signature) {
    for (const std::string& dim : signature.dims) {
      known_.push_back(dim);
    }
    for (const Scalar& scalar : signature.scalars) {
      known_.push_back(scalar.name);
    }
    for (const Tensor& tensor : signature.tensors) {
      known_.push_back(tensor.name);
    }
    given_ = known_.size();
    known_.emplace_back("sm_count");
    if (signature.ranked) {
      known_.emplace_back("rank");
    }
    for (const auto& [name, value] : plan.constants) {
      declare({name, std::string::npos});
    }
  }

  void block(const std::vector<Statement>& statements) {
    const std::size_t mark = known_.size();
    for (const Statement& statement : statements) {
      std::visit([this](const auto& what) { check(what); }, statement.what);
    }
    known_.resize(mark);
  }

 private:
  [[nodiscard]] bool knows(const std::string& name) const {
    return std::find(known_.begin(), known_.end(), name) != known_.end();
  }

  void declare(const Named& named) {
    const auto found = std::find(known_.begin(), known_.end(), named.name);
    if (found != known_.end()) {
      const bool problems =
          std::distance(known_.begin(), found) < static_cast<std::ptrdiff_t>(given_);
      throw NameFault{
          "E_PLAN_NAME_TAKEN",
          named.offset,
          "'" + named.name +
              (problems ? "' is a name of " + signature_.problem : "' is declared already"),
          "choose another name"};
    }
    known_.push_back(named.name);
  }

  // "(level1/3 has: row_ptr col | y | rows k)": read-only tensors, the others, dims and scalars.
  [[nodiscard]] std::string has() const {
    std::string inputs;
    std::string others;
    for (const Tensor& tensor : signature_.tensors) {
      (tensor.role == Role::input ? inputs : others) += " " + tensor.name;
    }
    std::string numbers;
    for (const std::string& dim : signature_.dims) {
      numbers += " " + dim;
    }
    for (const Scalar& scalar : signature_.scalars) {
      numbers += " " + scalar.name;
    }
    numbers += signature_.ranked ? " rank" : "";
    const std::string problem = signature_.problem.empty() ? "the problem" : signature_.problem;
    return "(" + problem + " has:" + inputs + " |" + others + " |" + numbers + ")";
  }

  void name(const Node& node, const std::string& kernel) const {
    if (knows(node.text)) {
      return;
    }
    const std::string near = suggestion(node.text, known_);
    throw NameFault{kernel.empty() ? "E_PLAN_UNKNOWN_NAME" : "E_PLAN_UNKNOWN_TENSOR",
                    node.offset,
                    kernel.empty()
                        ? "unknown name '" + node.text + "'"
                        : "unknown tensor '" + node.text + "' in " + kernel + "'s arguments",
                    near + (near.empty() ? "" : " ") + has()};
  }

  void expression(const Node& node, const std::string& kernel = {}) const {
    if (node.kind == Node::Kind::name) {
      name(node, kernel);
      return;
    }
    const bool call = node.kind == Node::Kind::call;
    if (call &&
        (node.text == "sizeof" ||
         (node.operands.size() == 1 && knows(node.text + "(" + node.operands[0]->text + ")")))) {
      return;
    }
    for (std::size_t i = call && node.text == "occupancy" ? 1 : 0; i < node.operands.size(); ++i) {
      expression(*node.operands[i]);
    }
  }

  void check(const LaunchStatement& launch) {
    for (const Named& type : launch.types) {
      if (knows(type.name)) {
        throw NameFault{"E_PLAN_NOT_CONST",
                        type.offset,
                        "template argument '" + type.name +
                            "' changes with the shape; templates need constants",
                        "pass it as a kernel argument, or choose among instances with if"};
      }
    }
    expression(*launch.grid);
    expression(*launch.block);
    if (launch.shared) {
      expression(*launch.shared);
    }
    if (launch.cluster) {
      expression(*launch.cluster);
    }
    for (const expr::NodePtr& argument : launch.arguments) {
      expression(*argument, launch.kernel);
    }
  }

  void check(const LetStatement& let) {
    for (const auto& [named, value] : let.values) {
      expression(*value);
      declare(named);
    }
  }

  void check(const MapStatement& map) {
    for (const expr::NodePtr& node : {map.tensor, map.box, map.steps, map.swizzle, map.l2}) {
      if (node) {
        expression(*node);
      }
    }
    declare(map.name);
  }

  void check(const ScratchStatement& scratch) {
    for (const auto& [named, shape] : scratch.buffers) {
      for (const expr::NodePtr& extent : shape) {
        expression(*extent);
      }
      declare(named);
    }
  }

  void check(const ActionStatement& action) {
    for (const expr::NodePtr& argument : action.arguments) {
      expression(*argument);
    }
  }

  void check(const ForStatement& loop) {
    const std::size_t mark = known_.size();
    expression(*loop.from);
    declare(loop.variable);
    expression(*loop.to);
    if (loop.step) {
      expression(*loop.step);
    }
    block(loop.body);
    known_.resize(mark);
  }

  void check(const IfStatement& choice) {
    expression(*choice.condition);
    block(choice.yes);
    block(choice.no);
  }

  const Signature& signature_;
  std::vector<std::string> known_;
  std::size_t given_ = 0;  // the first names of `known_` are the problem's
};

}  // namespace

std::optional<PlanError> check_names(const Submission& submission, const Signature& signature) {
  try {
    Checker(submission.plan, signature).block(submission.plan.statements);
    return std::nullopt;
  } catch (const NameFault& fault) {
    if (fault.offset == std::string::npos) {
      return PlanError{fault.code, submission.file, 0, 0, "const " + fault.what, fault.next};
    }
    return error_at(
        submission.file, submission.source, fault.offset, fault.code, fault.what, fault.next);
  }
}

}  // namespace sweep::submission
