#include "expr/ast.h"
#include "problem/reader.h"
#include "problem/signatures.h"

#include <algorithm>

// Names in expressions: every one exists and suits its place.
namespace sweep::problem {
namespace {

using Names = std::vector<std::string>;

class Validator {
 public:
  Validator(Reader& reader, const Problem& problem) : reader_(reader), problem_(problem) {}

  void run() {
    declared();
    dims();
    ranks();
    tensors();
    rules();
    texts();
  }

 private:
  void unknown(const Located& rule,
               std::size_t offset,
               const std::string& name,
               const Names& known) {
    Location where = rule.where;
    where.column += static_cast<int>(offset);
    reader_.error("E_PROBLEM_UNKNOWN_NAME",
                  where,
                  "unknown name '" + name.substr(0, 80) + "'",
                  suggestion(name, known));
  }

  void names(const Located& rule, const expr::Node& node, const Names& known) {
    if (node.kind == expr::Node::Kind::name &&
        std::find(known.begin(), known.end(), node.text) == known.end()) {
      unknown(rule, node.offset, node.text, known);
    }
    for (const auto& operand : node.operands) {
      names(rule, *operand, known);
    }
  }

  void names(const Located& rule, const Names& known) {
    if (!rule.expr.empty()) {
      names(rule, rule.expr.root(), known);
    }
  }

  void declared() {
    Names taken;
    for (const Dim& dim : problem_.dims) {
      check_name(reader_, dim.name, dim.rule.where, taken);
      dims_.push_back(dim.name);
    }
    values_ = dims_;
    for (const Scalar& scalar : problem_.scalars) {
      check_name(reader_, scalar.name, scalar.rule.where, taken);
      values_.push_back(scalar.name);
    }
    for (const Group& group : problem_.groups) {
      check_name(reader_, group.name, group.rule.where, taken);
    }
    for (const Tensor& tensor : problem_.tensors) {
      check_name(reader_, tensor.name, tensor.where, taken);
    }
    values_.emplace_back("sm_count");
    costs_ = values_;
    for (const Group& group : problem_.groups) {
      if (group.rule.expr.root().kind == expr::Node::Kind::call) {
        for (const std::string& part : group_statistics(group.rule.expr.root().text)) {
          costs_.push_back(group.name + "." + part);
        }
      }
    }
  }

  void dims() {
    Names before;
    for (const Dim& dim : problem_.dims) {
      if (dim.kind == Dim::Kind::derived) {
        names(dim.rule, before);
      }
      before.push_back(dim.name);
    }
    Names built_in = values_;
    built_in.insert(built_in.end(),
                    {"input_bytes",
                     "output_bytes",
                     "reference_bytes",
                     "reference_ops",
                     "reference_depth",
                     "device_bytes"});
    for (const Located& rule : problem_.constraints) {
      names(rule, built_in);
    }
    before = dims_;
    for (const Scalar& scalar : problem_.scalars) {
      names(scalar.rule, before);
      before.push_back(scalar.name);
    }
  }

  // `per rank` and ranks(..) need each other.
  void ranks() {
    const auto dim = std::find_if(problem_.dims.begin(), problem_.dims.end(), [](const Dim& each) {
      return each.kind == Dim::Kind::ranks;
    });
    const bool ranked = dim != problem_.dims.end();
    if (ranked && dim->name != "ranks") {
      reader_.error("E_PROBLEM_RANKS",
                    dim->rule.where,
                    "plans know the number of ranks as 'ranks', here it is '" + dim->name + "'",
                    "call the dim 'ranks'");
    }
    for (const Tensor& tensor : problem_.tensors) {
      const bool written = tensor.role == Role::output || tensor.role == Role::inout;
      if (tensor.per_rank && !ranked) {
        reader_.error("E_PROBLEM_RANKS",
                      tensor.where,
                      "'" + tensor.name + "' is per rank, but there are no ranks",
                      "add ranks = \"ranks(1, 2, 4, 8)\" to [dims]");
      }
      if (!tensor.per_rank && ranked && written) {
        reader_.error("E_PROBLEM_RANKS",
                      tensor.where,
                      "all ranks would write the one '" + tensor.name + "'",
                      "write 'per rank' after its shape");
      }
    }
    for (const Baseline& baseline : problem_.baselines) {
      if (ranked && !baseline.library.empty()) {
        reader_.error("E_PROBLEM_RANKS",
                      {reader_.file(), 0, 0},
                      "library baselines know one rank only",
                      "leave '" + baseline.name + "' out");
      }
    }
  }

  [[nodiscard]] const Group* group(std::string_view name) const {
    const auto found = std::find_if(problem_.groups.begin(),
                                    problem_.groups.end(),
                                    [&](const Group& g) { return g.name == name; });
    return found == problem_.groups.end() ? nullptr : &*found;
  }

  // GROUP.PART as a fill.
  void part(const Located& fill, const expr::Node& node) {
    const std::size_t dot = node.text.find('.');
    const Group* found = group(std::string_view(node.text).substr(0, dot));
    if (dot == std::string::npos || found == nullptr) {
      Names known;
      for (const Group& g : problem_.groups) {
        known.push_back(g.name);
      }
      unknown(fill, node.offset, node.text, known);
      return;
    }
    const Names known = group_parts(found->rule.expr.root().text);
    const std::string name = node.text.substr(dot + 1);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      unknown(fill, node.offset, node.text, known);
    }
  }

  void fill(const Located& fill, const expr::Node& node, const Names& inputs) {
    if (node.kind == expr::Node::Kind::name) {
      part(fill, node);
      return;
    }
    Arguments arguments;
    if (!bound(fill, node, fill_signatures(), arguments)) {
      return;
    }
    for (const auto& [name, nodes] : arguments) {
      for (const expr::Node* argument : nodes) {
        if (node.text == "sorted" && name == "fill") {
          this->fill(fill, *argument, inputs);
        } else if ((node.text == "copy" && name == "name") ||
                   (node.text == "prefix" && name == "lengths")) {
          names(fill, *argument, inputs);
        } else if (node.text == "formula") {
          Names known = values_;
          known.insert(known.end(), {"i0", "i1", "i2", "i3", "i4", "i5", "i6", "i7"});
          names(fill, *argument, known);
        } else {
          names(fill, *argument, values_);
        }
      }
    }
  }

  bool bound(const Located& rule,
             const expr::Node& node,
             std::span<const Signature> signatures,
             Arguments& out) {
    try {
      out = bind(node, signatures);
      return true;
    } catch (const BindError& fault) {
      Location where = rule.where;
      where.column += static_cast<int>(fault.offset);
      reader_.error("E_PROBLEM_FILL", where, fault.what, fault.next);
      return false;
    }
  }

  void tensors() {
    for (const Group& g : problem_.groups) {
      Arguments arguments;
      if (bound(g.rule, g.rule.expr.root(), group_signatures(), arguments)) {
        for (const auto& operand : g.rule.expr.root().operands) {
          names(g.rule, *operand, values_);
        }
      }
    }
    Names before;
    for (const Tensor& tensor : problem_.tensors) {
      for (const Located& extent : tensor.shape) {
        names(extent, dims_);
      }
      if (tensor.fill) {
        fill(*tensor.fill, tensor.fill->expr.root(), before);
        before.push_back(tensor.name);
      }
    }
    for (const Check& check : problem_.checks) {
      for (const Located& extent : check.shape) {
        names(extent, dims_);
      }
    }
    contents();
  }

  void contents() {
    Names inputs;
    for (const Tensor& tensor : problem_.tensors) {
      if (tensor.fill) {
        inputs.push_back(tensor.name);
      }
    }
    for (const Content& content : problem_.contents) {
      for (const auto& [name, rule] : content.fills) {
        if (std::find(inputs.begin(), inputs.end(), name) == inputs.end()) {
          unknown(rule, 0, name, inputs);
        }
        fill(rule, rule.expr.root(), inputs);
      }
    }
  }

  void samplers(const std::vector<Sampler>& list) {
    for (const Sampler& sampler : list) {
      Names before;
      for (const Dim& dim : problem_.dims) {
        if (dim.name == sampler.dim) {
          break;
        }
        before.push_back(dim.name);
      }
      names(sampler.rule, before);
    }
  }

  void optional(const std::optional<Located>& rule) {
    if (rule) {
      names(*rule, costs_);
    }
  }

  void rules() {
    samplers(problem_.stress);
    samplers(problem_.heldout);
    const Work& work = problem_.work;
    names(work.flops, costs_);
    names(work.reference_ops, costs_);
    for (const auto* rule : {&work.special,
                             &work.bytes,
                             &work.nominal_bytes,
                             &work.link_bytes,
                             &work.reference_scratch,
                             &work.reference_depth}) {
      optional(*rule);
    }
    if (problem_.limits.scratch) {
      Names known = costs_;
      known.insert(known.end(), {"input_bytes", "output_bytes"});
      names(*problem_.limits.scratch, known);
    }
    Names with_aux = values_;
    for (const Tensor& tensor : problem_.tensors) {
      if (tensor.role == Role::aux) {
        with_aux.push_back(tensor.name);
      }
    }
    for (const auto& [name, tolerance] : problem_.tolerances) {
      if (tolerance.unless) {
        names(*tolerance.unless, with_aux);
      }
    }
  }

  void texts() {
    const auto made =
        std::any_of(problem_.tensors.begin(), problem_.tensors.end(), [](const Tensor& tensor) {
          return tensor.fill && tensor.fill->expr.root().text == "made";
        });
    if (made != problem_.inputs_cu.has_value()) {
      reader_.error("E_PROBLEM_FILE",
                    {reader_.file(), 0, 0},
                    made ? "an input is made() but inputs.cu is missing"
                         : "inputs.cu is there but no input is made()",
                    made ? "add inputs.cu" : "remove inputs.cu or write x = \"f32[n] = made()\"");
    }
    if (problem_.checks.empty() == problem_.check_cu.has_value()) {
      reader_.error(
          "E_PROBLEM_FILE",
          {reader_.file(), 0, 0},
          problem_.check_cu ? "check.cu is there but [check] is not" : "[check] needs check.cu",
          problem_.check_cu ? "add [check]" : "add check.cu");
    }
    const bool source = problem_.source_cu && problem_.expert_cu;
    if (problem_.translation && !source) {
      reader_.warn("E_PROBLEM_FILE",
                   {reader_.file(), 0, 0},
                   "[translation] needs source.cu and expert.cu",
                   "add them");
    }
  }

  Reader& reader_;
  const Problem& problem_;
  Names dims_, values_, costs_;
};

}  // namespace

void validate_names(Reader& reader, const Problem& problem) {
  Validator(reader, problem).run();
}

}  // namespace sweep::problem
