#include "submission/value.h"

#include "submission/plan_text.h"

#include <algorithm>
#include <utility>

namespace sweep::submission {
namespace {

using expr::Node;

constexpr std::int64_t kMaxSteps = 8'000'000;

double as_real(const Value& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  return integer != nullptr ? static_cast<double>(*integer) : std::get<double>(value);
}

void refuse_buffer(const Value& value, const Node& node, std::string_view place) {
  if (std::holds_alternative<BufferValue>(value)) {
    fail_run("E_PLAN_TYPE",
             node.offset,
             "a buffer has no value in " + std::string(place),
             "pass it as a whole, or a part of it with offset(T, n)");
  }
  if (std::holds_alternative<MapValue>(value) || std::holds_alternative<PeersValue>(value)) {
    fail_run("E_PLAN_TYPE",
             node.offset,
             std::string(std::holds_alternative<MapValue>(value) ? "a tensor map" : "peers(T)") +
                 " has no value in " + std::string(place),
             "pass it to a kernel");
  }
}

}  // namespace

void Scope::add(std::string name, Value value, bool swappable) {
  entries_.push_back({std::move(name), std::move(value), swappable});
}

Scope::Entry* Scope::find(std::string_view name) {
  const auto found = std::find_if(
      entries_.rbegin(), entries_.rend(), [&](const Entry& e) { return e.name == name; });
  return found == entries_.rend() ? nullptr : &*found;
}

std::vector<std::string> Scope::names() const {
  std::vector<std::string> out;
  for (const Entry& entry : entries_) {
    out.push_back(entry.name);
  }
  return out;
}

Evaluator::Evaluator(Scope& scope,
                     const std::vector<BufferFacts>& buffers,
                     Occupancy occupancy,
                     std::int64_t share)
    : scope_(scope),
      buffers_(buffers),
      occupancy_(std::move(occupancy)),
      most_(kMaxSteps / std::max<std::int64_t>(share, 1)) {}

void Evaluator::count(std::size_t offset) {
  if (++steps_ > most_) {
    fail_run("E_PLAN_TOO_LONG",
             offset,
             "the plan needs more than 8 million steps to expand",
             "shorten its loops");
  }
}

Value Evaluator::value(const Node& node) {
  count(node.offset);
  try {
    return evaluate(node);
  } catch (const expr::EvalError& error) {
    fail_run(plan_code(error.code), error.located ? error.offset : node.offset, error.what);
  }
}

std::int64_t Evaluator::integer(const Node& node) {
  const Value result = value(node);
  refuse_buffer(result, node, "arithmetic");
  if (std::holds_alternative<double>(result)) {
    fail_run("E_PLAN_TYPE", node.offset, "a real number stands where an integer is needed");
  }
  return std::get<std::int64_t>(result);
}

BufferValue Evaluator::buffer(const Node& node) {
  const Value result = value(node);
  if (const auto* buffer = std::get_if<BufferValue>(&result)) {
    return *buffer;
  }
  const std::string_view found = std::holds_alternative<MapValue>(result)     ? "a tensor map"
                                 : std::holds_alternative<PeersValue>(result) ? "peers(T)"
                                                                              : "a number";
  fail_run("E_PLAN_TYPE", node.offset, std::string(found) + " stands where a buffer is needed");
}

bool Evaluator::truth(const Node& node) {
  const Value result = value(node);
  refuse_buffer(result, node, "a condition");
  return as_real(result) != 0;
}

Value Evaluator::evaluate(const Node& node) {
  switch (node.kind) {
    case Node::Kind::number:
      return node.integral ? Value{node.integer} : Value{node.real};
    case Node::Kind::name:
      return name(node);
    case Node::Kind::unary:
      return unary(node);
    case Node::Kind::binary:
      return binary(node);
    case Node::Kind::conditional:
      return value(*node.operands[truth(*node.operands[0]) ? 1 : 2]);
    case Node::Kind::call:
      break;
  }
  return call(node);
}

Value Evaluator::name(const Node& node) {
  if (const Scope::Entry* entry = scope_.find(node.text)) {
    return entry->value;
  }
  fail_run("E_PLAN_UNKNOWN_NAME",
           node.offset,
           "unknown name '" + node.text + "'",
           suggestion(node.text, scope_.names()));
}

Value Evaluator::unary(const Node& node) {
  const Value operand = value(*node.operands[0]);
  refuse_buffer(operand, node, "arithmetic");
  if (const auto* integer = std::get_if<std::int64_t>(&operand)) {
    return expr::int_unary(node.text, *integer);
  }
  const double result = expr::real_unary(node.text, std::get<double>(operand));
  return node.text == "!" ? Value{result != 0 ? std::int64_t{1} : std::int64_t{0}} : Value{result};
}

Value Evaluator::binary(const Node& node) {
  const auto flag = [](bool set) { return Value{set ? std::int64_t{1} : std::int64_t{0}}; };
  if (node.text == "&&" || node.text == "||") {
    const bool left = truth(*node.operands[0]);
    return flag(left == (node.text == "||") ? left : truth(*node.operands[1]));
  }
  const Value left = value(*node.operands[0]);
  const Value right = value(*node.operands[1]);
  refuse_buffer(left, node, "arithmetic");
  refuse_buffer(right, node, "arithmetic");
  try {
    if (std::holds_alternative<std::int64_t>(left) && std::holds_alternative<std::int64_t>(right)) {
      return expr::int_binary(node.text,
                              std::get<std::int64_t>(left),
                              std::get<std::int64_t>(right),
                              expr::Division::truncating);
    }
    if (node.text == "<<" || node.text == ">>" || node.text == "&" || node.text == "|") {
      fail_run("E_PLAN_TYPE", node.offset, "'" + node.text + "' needs integers");
    }
    const double result = expr::real_binary(node.text, as_real(left), as_real(right));
    const bool compares =
        node.text.front() == '<' || node.text.front() == '>' || node.text.back() == '=';
    return compares ? flag(result != 0) : Value{result};
  } catch (const expr::EvalError& error) {
    fail_run(plan_code(error.code), node.offset, error.what);
  }
}

Value Evaluator::call(const Node& node) {
  for (const std::string& named : node.argument_names) {
    if (!named.empty()) {
      fail_run(
          "E_PLAN_FUNCTION", node.offset, node.text + " takes no argument named '" + named + "'");
    }
  }
  if (node.text == "offset") {
    return offset_call(node);
  }
  if (node.text == "view") {
    return view_call(node);
  }
  if (node.text == "occupancy") {
    return occupancy_(node);
  }
  if (node.text == "sizeof") {
    return expr::eval_int(node, {}, expr::Division::truncating);
  }
  if (node.text == "dim3" || node.text == "list") {
    fail_run("E_PLAN_TYPE", node.offset, "several numbers stand where one is needed");
  }
  if (node.text == "peers") {
    return peers_call(node);
  }
  // check.cu names tensors by oracle(y), got(y) and error(y).
  if (node.operands.size() == 1 && node.operands[0]->kind == Node::Kind::name) {
    if (const Scope::Entry* entry = scope_.find(node.text + "(" + node.operands[0]->text + ")")) {
      return entry->value;
    }
  }
  return function(node);
}

Value Evaluator::offset_call(const Node& node) {
  if (node.operands.size() != 2) {
    fail_run("E_PLAN_FUNCTION",
             node.offset,
             "offset takes a buffer and a number of elements",
             "offset(T, n)");
  }
  BufferValue out = buffer(*node.operands[0]);
  const std::int64_t by = integer(*node.operands[1]);
  const BufferFacts& facts = buffers_[out.buffer];
  if (by < -out.elements || by > facts.elements - out.elements) {
    fail_run("E_PLAN_OFFSET",
             node.operands[1]->offset,
             "offset " + std::to_string(by) + " leaves '" + facts.name + "', which has " +
                 std::to_string(facts.elements) + " elements");
  }
  out.elements += by;
  out.shape = nullptr;
  return out;
}

// peers(T): every rank's pointer to T.
Value Evaluator::peers_call(const Node& node) {
  if (node.operands.size() != 1) {
    fail_run("E_PLAN_FUNCTION", node.offset, "peers takes one buffer", "peers(T)");
  }
  const BufferValue of = buffer(*node.operands[0]);
  if (of.elements != 0 || of.shape != nullptr) {
    fail_run("E_PLAN_TYPE",
             node.offset,
             "peers takes a whole tensor or scratch buffer, no offset and no view",
             "let the kernel add the offset to the pointer that it takes from the array");
  }
  const BufferFacts& facts = buffers_[of.buffer];
  if (!facts.per_rank) {
    fail_run("E_PLAN_RANKS",
             node.offset,
             "'" + facts.name + "' is no buffer that each rank has for itself",
             "pass '" + facts.name + "' itself: every rank sees the same");
  }
  return PeersValue{of.buffer};
}

// view(T, [a, b]): the same memory with another shape.
Value Evaluator::view_call(const Node& node) {
  const bool list = node.operands.size() == 2 && node.operands[1]->kind == Node::Kind::call &&
                    node.operands[1]->text == "list";
  if (!list) {
    fail_run("E_PLAN_FUNCTION", node.offset, "view takes a buffer and a shape", "view(T, [a, b])");
  }
  BufferValue out = buffer(*node.operands[0]);
  std::vector<std::int64_t> shape;
  std::int64_t elements = 1;
  for (const expr::NodePtr& operand : node.operands[1]->operands) {
    shape.push_back(integer(*operand));
    if (shape.back() < 0) {
      fail_run("E_PLAN_VIEW", operand->offset, "a view has an extent below zero");
    }
    elements = expr::int_binary("*", elements, shape.back(), expr::Division::truncating);
  }
  const BufferFacts& facts = buffers_[out.buffer];
  if (elements > facts.elements - out.elements) {
    fail_run("E_PLAN_VIEW",
             node.operands[1]->offset,
             "a view of " + std::to_string(elements) + " elements leaves '" + facts.name +
                 "', which has " + std::to_string(facts.elements - out.elements) + " from there on",
             "a view holds at most the elements of its tensor");
  }
  out.shape = std::make_shared<const std::vector<std::int64_t>>(std::move(shape));
  return out;
}

Value Evaluator::function(const Node& node) {
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
  for (const expr::NodePtr& operand : node.operands) {
    const Value argument = value(*operand);
    refuse_buffer(argument, *operand, node.text + "()");
    if (const auto* integer = std::get_if<std::int64_t>(&argument)) {
      integers.push_back(*integer);
    }
    reals.push_back(as_real(argument));
  }
  try {
    if (integers.size() == reals.size()) {
      return expr::int_function(node.text, integers);
    }
    return expr::real_function(node.text, reals);
  } catch (const expr::EvalError& error) {
    const auto known = expr::function_names();
    std::vector<std::string> names(known.begin(), known.end());
    names.insert(names.end(), {"sizeof", "occupancy", "offset", "view", "peers"});
    const bool unknown = std::find(names.begin(), names.end(), node.text) == names.end();
    fail_run(plan_code(error.code),
             node.offset,
             error.what,
             unknown ? suggestion(node.text, names) : "");
  }
}

}  // namespace sweep::submission
