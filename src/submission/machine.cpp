#include "submission/machine.h"

#include "submission/plan_text.h"

#include <algorithm>
#include <string>
#include <utility>

namespace sweep::submission {
namespace {

using expr::Node;
using expr::NodePtr;

constexpr std::size_t kMaxScratchBuffers = 1024;

// Gives an arithmetic error its place.
template <typename Compute>
std::int64_t located(const Compute& compute, std::size_t offset) {
  try {
    return compute();
  } catch (const expr::EvalError& error) {
    fail_run(plan_code(error.code), offset, error.what);
  }
}

// Ranks of a plan; 1 where there are none.
std::int64_t ranks_of(const Signature& signature, const Binding& binding) {
  const auto found = binding.dims.find("ranks");
  return signature.ranked && found != binding.dims.end() ? std::max<std::int64_t>(found->second, 1)
                                                         : 1;
}

}  // namespace

std::int64_t product(const std::vector<std::int64_t>& factors) {
  std::int64_t result = 1;
  for (const std::int64_t factor : factors) {
    result = expr::int_binary("*", result, factor, expr::Division::truncating);
  }
  return result;
}

Machine::Machine(const Submission& submission,
                 const Signature& signature,
                 const Binding& binding,
                 std::int64_t max_launches,
                 std::int64_t rank)
    : submission_(submission),
      binding_(binding),
      share_(ranks_of(signature, binding)),
      max_launches_(max_launches / share_),
      tensors_(signature.tensors.size()),
      evaluator_(
          scope_, buffers_, [this](const Node& call) { return occupancy(call); }, share_) {
  bind_names(signature, rank);
}

Expansion Machine::run(const Signature& signature) {
  block(submission_.plan.statements);
  if (out_.steps.empty()) {
    refuse_nothing(signature);
  }
  turns_.push_back(turn_);
  return std::move(out_);
}

void Machine::bind_names(const Signature& signature, std::int64_t rank) {
  for (const std::string& dim : signature.dims) {
    const auto found = binding_.dims.find(dim);
    if (found == binding_.dims.end()) {
      fail_run("E_PLAN_BINDING", 0, "dim '" + dim + "' has no value");
    }
    scope_.add(dim, found->second, false);
  }
  for (const Scalar& scalar : signature.scalars) {
    const auto found = binding_.scalars.find(scalar.name);
    if (found == binding_.scalars.end()) {
      fail_run("E_PLAN_BINDING", 0, "scalar '" + scalar.name + "' has no value");
    }
    scope_.add(scalar.name, std::visit([](auto v) { return Value{v}; }, found->second), false);
  }
  for (const Tensor& tensor : signature.tensors) {
    std::vector<std::int64_t> shape;
    for (const expr::Expr& extent : tensor.shape) {
      shape.push_back(expr::eval_int(extent, binding_.dims, expr::Division::exact));
    }
    const bool writable =
        tensor.role == Role::output || tensor.role == Role::inout || tensor.role == Role::aux;
    scope_.add(tensor.name, BufferValue{buffers_.size(), 0}, false);
    buffers_.push_back(
        {tensor.name, tensor.type, writable, product(shape), shape, tensor.per_rank});
  }
  scope_.add("sm_count", binding_.sm_count, false);
  ranked_ = signature.ranked;
  if (ranked_) {
    scope_.add("rank", rank, false);
  }
  for (const auto& [name, value] : submission_.plan.constants) {
    scope_.add(name, value, false);
  }
}

void Machine::refuse_nothing(const Signature& signature) const {
  for (std::size_t i = 0; i < tensors_; ++i) {
    if (signature.tensors[i].role == Role::output && buffers_[i].elements > 0) {
      fail_run("E_PLAN_NOTHING_LAUNCHED",
               submission_.plan.statements.front().offset,
               "the plan launches nothing, but '" + buffers_[i].name + "' has " +
                   std::to_string(buffers_[i].elements) + " elements",
               out_.skipped_launches > 0
                   ? std::to_string(out_.skipped_launches) + " launches have an empty grid"
                   : "");
    }
  }
}

void Machine::block(const std::vector<Statement>& statements) {
  const std::size_t mark = scope_.mark();
  for (const Statement& statement : statements) {
    evaluator_.count(statement.offset);
    offset_ = statement.offset;
    std::visit([this](const auto& what) { run(what); }, statement.what);
  }
  scope_.drop_to(mark);
}

void Machine::run(const LetStatement& let) {
  for (const auto& [named, node] : let.values) {
    const Value value = evaluator_.value(*node);
    scope_.add(named.name, value, std::holds_alternative<BufferValue>(value));
  }
}

void Machine::run(const ScratchStatement& scratch) {
  for (const auto& [named, shape] : scratch.buffers) {
    std::vector<std::int64_t> extents;
    for (const NodePtr& node : shape) {
      extents.push_back(evaluator_.integer(*node));
      if (extents.back() < 0) {
        fail_run(
            "E_PLAN_SCRATCH", node->offset, "scratch '" + named.name + "' has a negative extent");
      }
    }
    if (out_.scratch.size() >= kMaxScratchBuffers / static_cast<std::size_t>(share_)) {
      fail_run("E_PLAN_LIMIT", named.offset, "more than 1,024 scratch buffers");
    }
    const std::int64_t elements = located([&] { return product(extents); }, named.offset);
    const std::vector<std::int64_t> dims = extents;
    extents.push_back(static_cast<std::int64_t>(expr::size_of(scratch.type)));
    const std::int64_t bytes = located([&] { return product(extents); }, named.offset);
    out_.scratch_bytes = located(
        [&] {
          return expr::int_binary("+", out_.scratch_bytes, bytes, expr::Division::truncating);
        },
        named.offset);
    scope_.add(named.name, BufferValue{buffers_.size(), 0}, false);
    buffers_.push_back({named.name, scratch.type, true, elements, dims, ranked_});
    out_.scratch.push_back({named.name, scratch.type, bytes});
  }
}

void Machine::run(const ActionStatement& action) {
  if (action.kind == ActionStatement::Kind::swap) {
    swap(action);
    return;
  }
  const std::size_t to = whole(*action.arguments[0]);
  if (!buffers_[to].writable) {
    fail_run("E_PLAN_READ_ONLY",
             action.arguments[0]->offset,
             "'" + buffers_[to].name + "' is a read-only input",
             "write to scratch or an output");
  }
  if (action.kind == ActionStatement::Kind::zero) {
    add_step(Zero{to, bytes(to)});
    return;
  }
  const std::size_t from = whole(*action.arguments[1]);
  if (bytes(to) != bytes(from)) {
    fail_run("E_PLAN_COPY_SIZE",
             action.arguments[0]->offset,
             "copy needs equal sizes: '" + buffers_[to].name + "' has " +
                 std::to_string(bytes(to)) + " bytes (" +
                 std::string(expr::name(buffers_[to].type)) + "), '" + buffers_[from].name +
                 "' has " + std::to_string(bytes(from)) + " (" +
                 std::string(expr::name(buffers_[from].type)) + ")",
             "write a kernel that converts or copies a part");
  }
  add_step(Copy{to, from, bytes(to)});
}

std::size_t Machine::whole(const Node& node) {
  const BufferValue value = evaluator_.buffer(node);
  if (value.elements != 0 || value.shape != nullptr) {
    fail_run("E_PLAN_TYPE",
             node.offset,
             "zero and copy work on whole buffers, not on an offset or a view");
  }
  return value.buffer;
}

std::int64_t Machine::bytes(std::size_t buffer) const {
  return buffers_[buffer].elements *
         static_cast<std::int64_t>(expr::size_of(buffers_[buffer].type));
}

void Machine::swap(const ActionStatement& action) {
  std::array<Scope::Entry*, 2> entries{};
  for (std::size_t i = 0; i < 2; ++i) {
    const Node& node = *action.arguments[i];
    entries[i] = node.kind == Node::Kind::name ? scope_.find(node.text) : nullptr;
    if (entries[i] == nullptr || !entries[i]->swappable) {
      fail_run("E_PLAN_SWAP",
               node.offset,
               "swap exchanges two let buffers only; tensor names never change meaning",
               "write let src = a, dst = b and swap(src, dst)");
    }
  }
  std::swap(entries[0]->value, entries[1]->value);
}

void Machine::run(const ForStatement& loop) {
  std::int64_t i = evaluator_.integer(*loop.from);
  const std::size_t mark = scope_.mark();
  for (;;) {
    scope_.add(loop.variable.name, i, false);
    const std::int64_t end = evaluator_.integer(*loop.to);
    if (expr::int_binary(loop.compare, i, end, expr::Division::truncating) == 0) {
      break;
    }
    block(loop.body);
    const std::int64_t step = loop.step ? evaluator_.integer(*loop.step) : 1;
    if (step <= 0) {
      fail_run("E_PLAN_LOOP",
               loop.variable.offset,
               "the loop's step is " + std::to_string(step) + "; it must be above 0");
    }
    i = located(
        [&] {
          return expr::int_binary(loop.down ? "-" : "+", i, step, expr::Division::truncating);
        },
        loop.variable.offset);
    scope_.drop_to(mark);
  }
  scope_.drop_to(mark);
}

void Machine::run(const IfStatement& choice) {
  block(evaluator_.truth(*choice.condition) ? choice.yes : choice.no);
}

}  // namespace sweep::submission
