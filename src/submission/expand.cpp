#include "submission/ast.h"
#include "submission/names.h"
#include "submission/plan.h"
#include "submission/plan_text.h"
#include "submission/value.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace sweep::submission {
namespace {

using expr::Node;
using expr::NodePtr;

constexpr std::int64_t kMaxGridX = 2147483647;
constexpr std::int64_t kMaxGridYZ = 65535;
constexpr std::int64_t kMaxThreads = 1024;
constexpr std::int64_t kMaxBlockZ = 64;
constexpr std::int64_t kMaxShared = std::int64_t{1} << 20;  // above any device's limit
constexpr std::size_t kMaxScratchBuffers = 1024;
constexpr std::size_t kMaxArguments = 2'000'000;  // of all launches together: bounds memory

[[noreturn]] void fail(std::string code,
                       std::size_t offset,
                       std::string what,
                       std::string next = {}) {
  throw RunFault{std::move(code), offset, std::move(what), std::move(next)};
}

std::int64_t product(const std::vector<std::int64_t>& factors) {
  std::int64_t result = 1;
  for (const std::int64_t factor : factors) {
    result = expr::int_binary("*", result, factor, expr::Division::truncating);
  }
  return result;
}

const LaunchStatement* find_launch(const std::vector<Statement>& statements,
                                   const std::string& kernel) {
  for (const Statement& statement : statements) {
    const LaunchStatement* found = nullptr;
    if (const auto* launch = std::get_if<LaunchStatement>(&statement.what)) {
      found = launch->kernel == kernel ? launch : nullptr;
    } else if (const auto* loop = std::get_if<ForStatement>(&statement.what)) {
      found = find_launch(loop->body, kernel);
    } else if (const auto* choice = std::get_if<IfStatement>(&statement.what)) {
      found = find_launch(choice->yes, kernel);
      found = found != nullptr ? found : find_launch(choice->no, kernel);
    }
    if (found != nullptr) {
      return found;
    }
  }
  return nullptr;
}

class Machine {
 public:
  Machine(const Submission& submission,
          const Signature& signature,
          const Binding& binding,
          std::int64_t max_launches)
      : submission_(submission),
        binding_(binding),
        max_launches_(max_launches),
        tensors_(signature.tensors.size()),
        evaluator_(scope_, buffers_, [this](const Node& call) { return occupancy(call); }) {
    bind_names(signature);
  }

  Expansion run(const Signature& signature) {
    block(submission_.plan.statements);
    if (out_.steps.empty()) {
      refuse_nothing(signature);
    }
    return std::move(out_);
  }

 private:
  void bind_names(const Signature& signature) {
    for (const std::string& dim : signature.dims) {
      const auto found = binding_.dims.find(dim);
      if (found == binding_.dims.end()) {
        fail("E_PLAN_BINDING", 0, "dim '" + dim + "' has no value");
      }
      scope_.add(dim, found->second, false);
    }
    for (const Scalar& scalar : signature.scalars) {
      const auto found = binding_.scalars.find(scalar.name);
      if (found == binding_.scalars.end()) {
        fail("E_PLAN_BINDING", 0, "scalar '" + scalar.name + "' has no value");
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
      buffers_.push_back({tensor.name, tensor.type, writable, product(shape)});
    }
    scope_.add("sm_count", binding_.sm_count, false);
    for (const auto& [name, value] : submission_.plan.constants) {
      scope_.add(name, value, false);
    }
  }

  void refuse_nothing(const Signature& signature) const {
    for (std::size_t i = 0; i < tensors_; ++i) {
      if (signature.tensors[i].role == Role::output && buffers_[i].elements > 0) {
        fail("E_PLAN_NOTHING_LAUNCHED",
             submission_.plan.statements.front().offset,
             "the plan launches nothing, but '" + buffers_[i].name + "' has " +
                 std::to_string(buffers_[i].elements) + " elements",
             out_.skipped_launches > 0
                 ? std::to_string(out_.skipped_launches) + " launches have an empty grid"
                 : "");
      }
    }
  }

  void block(const std::vector<Statement>& statements) {
    const std::size_t mark = scope_.mark();
    for (const Statement& statement : statements) {
      evaluator_.count(statement.offset);
      offset_ = statement.offset;
      std::visit([this](const auto& what) { run(what); }, statement.what);
    }
    scope_.drop_to(mark);
  }

  void run(const LetStatement& let) {
    for (const auto& [named, node] : let.values) {
      const Value value = evaluator_.value(*node);
      scope_.add(named.name, value, std::holds_alternative<BufferValue>(value));
    }
  }

  void run(const ScratchStatement& scratch) {
    for (const auto& [named, shape] : scratch.buffers) {
      std::vector<std::int64_t> extents;
      for (const NodePtr& node : shape) {
        extents.push_back(evaluator_.integer(*node));
        if (extents.back() < 0) {
          fail(
              "E_PLAN_SCRATCH", node->offset, "scratch '" + named.name + "' has a negative extent");
        }
      }
      if (out_.scratch.size() == kMaxScratchBuffers) {
        fail("E_PLAN_LIMIT", named.offset, "more than 1,024 scratch buffers");
      }
      const std::int64_t elements = located([&] { return product(extents); }, named.offset);
      extents.push_back(static_cast<std::int64_t>(expr::size_of(scratch.type)));
      const std::int64_t bytes = located([&] { return product(extents); }, named.offset);
      out_.scratch_bytes = located(
          [&] {
            return expr::int_binary("+", out_.scratch_bytes, bytes, expr::Division::truncating);
          },
          named.offset);
      scope_.add(named.name, BufferValue{buffers_.size(), 0}, false);
      buffers_.push_back({named.name, scratch.type, true, elements});
      out_.scratch.push_back({named.name, scratch.type, bytes});
    }
  }

  template <typename Compute>
  static std::int64_t located(const Compute& compute, std::size_t offset) {
    try {
      return compute();
    } catch (const expr::EvalError& error) {
      fail(plan_code(error.code), offset, error.what);
    }
  }

  void run(const ActionStatement& action) {
    if (action.kind == ActionStatement::Kind::swap) {
      swap(action);
      return;
    }
    const std::size_t to = whole(*action.arguments[0]);
    if (!buffers_[to].writable) {
      fail("E_PLAN_READ_ONLY",
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
      fail("E_PLAN_COPY_SIZE",
           action.arguments[0]->offset,
           "copy needs equal sizes: '" + buffers_[to].name + "' has " + std::to_string(bytes(to)) +
               " bytes (" + std::string(expr::name(buffers_[to].type)) + "), '" +
               buffers_[from].name + "' has " + std::to_string(bytes(from)) + " (" +
               std::string(expr::name(buffers_[from].type)) + ")",
           "write a kernel that converts or copies a part");
    }
    add_step(Copy{to, from, bytes(to)});
  }

  std::size_t whole(const Node& node) {
    const BufferValue value = evaluator_.buffer(node);
    if (value.elements != 0) {
      fail("E_PLAN_TYPE", node.offset, "zero and copy work on whole buffers, not on an offset");
    }
    return value.buffer;
  }

  [[nodiscard]] std::int64_t bytes(std::size_t buffer) const {
    return buffers_[buffer].elements *
           static_cast<std::int64_t>(expr::size_of(buffers_[buffer].type));
  }

  void swap(const ActionStatement& action) {
    std::array<Scope::Entry*, 2> entries{};
    for (std::size_t i = 0; i < 2; ++i) {
      const Node& node = *action.arguments[i];
      entries[i] = node.kind == Node::Kind::name ? scope_.find(node.text) : nullptr;
      if (entries[i] == nullptr || !entries[i]->swappable) {
        fail("E_PLAN_SWAP",
             node.offset,
             "swap exchanges two let buffers only; tensor names never change meaning",
             "write let src = a, dst = b and swap(src, dst)");
      }
    }
    std::swap(entries[0]->value, entries[1]->value);
  }

  void run(const ForStatement& loop) {
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
        fail("E_PLAN_LOOP",
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

  void run(const IfStatement& choice) {
    block(evaluator_.truth(*choice.condition) ? choice.yes : choice.no);
  }

  std::array<std::int64_t, 3> extents(const Node& node) {
    std::array<std::int64_t, 3> out{1, 1, 1};
    if (node.kind != Node::Kind::call || node.text != "dim3") {
      out[0] = evaluator_.integer(node);
      return out;
    }
    if (node.operands.empty() || node.operands.size() > 3) {
      fail("E_PLAN_SYNTAX", node.offset, "a grid or block has one to three extents");
    }
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      out.at(i) = evaluator_.integer(*node.operands[i]);
    }
    return out;
  }

  static void check_extents(const Launch& launch, const LaunchStatement& statement) {
    const auto text = [](const std::array<std::int64_t, 3>& e) {
      return "(" + std::to_string(e[0]) + ", " + std::to_string(e[1]) + ", " +
             std::to_string(e[2]) + ")";
    };
    const auto& g = launch.grid;
    const auto& b = launch.block;
    if (std::min({g[0], g[1], g[2]}) < 0 || g[0] > kMaxGridX || std::max(g[1], g[2]) > kMaxGridYZ) {
      fail("E_PLAN_GRID",
           statement.grid->offset,
           launch.kernel + "'s grid is " + text(g),
           "x is at most 2147483647, y and z 65535: put the large extent first");
    }
    const bool too_large =
        std::max(b[0], b[1]) > kMaxThreads || b[2] > kMaxBlockZ || b[0] * b[1] * b[2] > kMaxThreads;
    if (std::min({b[0], b[1], b[2]}) < 1 || too_large) {
      fail("E_PLAN_BLOCK",
           statement.block->offset,
           launch.kernel + "'s block is " + text(b),
           "a block has 1 to 1024 threads, z at most 64");
    }
    if (launch.shared_bytes < 0 || launch.shared_bytes > kMaxShared) {
      fail("E_PLAN_SHARED",
           statement.shared->offset,
           launch.kernel + " asks for " + std::to_string(launch.shared_bytes) +
               " bytes of shared memory");
    }
  }

  void run(const LaunchStatement& statement) {
    const std::size_t offset = offset_;
    Launch launch;
    launch.kernel = statement.kernel;
    launch.grid = extents(*statement.grid);
    launch.block = extents(*statement.block);
    launch.shared_bytes = statement.shared ? evaluator_.integer(*statement.shared) : 0;
    check_extents(launch, statement);
    for (const NodePtr& node : statement.arguments) {
      launch.arguments.push_back(argument(evaluator_.value(*node)));
    }
    if (*std::min_element(launch.grid.begin(), launch.grid.end()) == 0) {
      ++out_.skipped_launches;
      return;
    }
    arguments_ += launch.arguments.size();
    if (arguments_ > kMaxArguments) {
      fail("E_PLAN_TOO_LONG", offset, "more than 2 million kernel arguments in one expansion");
    }
    launch.site = site(statement, offset);
    std::tie(launch.line, launch.column) = positions_.at(launch.site);
    add_step(std::move(launch));
  }

  Argument argument(const Value& value) const {
    if (const auto* buffer = std::get_if<BufferValue>(&value)) {
      const BufferFacts& facts = buffers_[buffer->buffer];
      return BufferRef{buffer->buffer,
                       buffer->elements * static_cast<std::int64_t>(expr::size_of(facts.type)),
                       facts.writable,
                       facts.type};
    }
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      return *integer;
    }
    return std::get<double>(value);
  }

  std::size_t site(const LaunchStatement& statement, std::size_t offset) {
    const auto [found, fresh] = sites_.try_emplace(&statement, out_.sites.size());
    if (fresh) {
      Site site;
      for (const NodePtr& node : statement.arguments) {
        site.arguments.push_back(position(submission_.source, node->offset));
      }
      out_.sites.push_back(std::move(site));
      positions_.push_back(position(submission_.source, offset));
    }
    return found->second;
  }

  void add_step(Step step) {
    if (static_cast<std::int64_t>(out_.steps.size()) >= max_launches_) {
      fail("E_PLAN_TOO_MANY_LAUNCHES",
           offset_,
           "more than " + std::to_string(max_launches_) + " launches",
           "loop inside the kernel");
    }
    out_.steps.push_back(std::move(step));
  }

  std::int64_t occupancy(const Node& call) {
    const std::string& kernel = call.operands[0]->text;
    const LaunchStatement* launch = find_launch(submission_.plan.statements, kernel);
    if (launch == nullptr) {
      fail("E_PLAN_OCCUPANCY",
           call.operands[0]->offset,
           "the plan never launches '" + kernel + "'",
           suggestion(kernel, name_expressions(submission_.plan)));
    }
    if (!binding_.occupancy) {
      fail("E_PLAN_OCCUPANCY",
           call.offset,
           "occupancy is not known before the kernels are compiled");
    }
    std::int64_t threads = 0;
    if (call.operands.size() > 1) {
      threads = evaluator_.integer(*call.operands[1]);
    } else {
      const std::array<std::int64_t, 3> block = extents(*launch->block);
      threads = located(
          [&] {
            return product({block[0], block[1], block[2]});
          },
          launch->block->offset);
    }
    if (threads < 1 || threads > kMaxThreads) {
      fail("E_PLAN_BLOCK",
           call.offset,
           "occupancy of a block of " + std::to_string(threads) + " threads",
           "a block has 1 to 1024 threads");
    }
    const bool own = call.operands.size() > 2;
    const NodePtr shared = own ? call.operands[2] : launch->shared;
    return binding_.occupancy(kernel, threads, shared ? evaluator_.integer(*shared) : 0);
  }

  const Submission& submission_;
  const Binding& binding_;
  std::int64_t max_launches_;
  std::size_t tensors_;
  Scope scope_;
  std::vector<BufferFacts> buffers_;
  Evaluator evaluator_;
  Expansion out_;
  std::unordered_map<const LaunchStatement*, std::size_t> sites_;
  std::vector<std::pair<int, int>> positions_;
  std::size_t arguments_ = 0;
  std::size_t offset_ = 0;  // of the statement that runs
};

std::string shape_text(const Signature& signature, const Binding& binding) {
  std::string out;
  for (const std::string& dim : signature.dims) {
    const auto found = binding.dims.find(dim);
    if (found != binding.dims.end()) {
      out += " " + dim + "=" + std::to_string(found->second);
    }
  }
  return out.empty() ? out : " at" + out;
}

}  // namespace

std::variant<Expansion, PlanError> expand(const Submission& submission,
                                          const Signature& signature,
                                          const Binding& binding,
                                          std::int64_t max_launches) {
  if (auto error = check_names(submission, signature)) {
    return std::move(*error);
  }
  try {
    return Machine(submission, signature, binding, max_launches).run(signature);
  } catch (const RunFault& fault) {
    return error_at(submission.file,
                    submission.source,
                    fault.offset,
                    fault.code,
                    fault.what + shape_text(signature, binding),
                    fault.next);
  } catch (const expr::EvalError& error) {
    return PlanError{
        "E_PLAN_BINDING",
        submission.file,
        0,
        0,
        "a tensor's shape cannot be computed: " + error.what + shape_text(signature, binding),
        ""};
  }
}

}  // namespace sweep::submission
